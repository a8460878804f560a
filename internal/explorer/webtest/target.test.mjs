// What is predicted, chosen on the page; and what of the data could not be read.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { close, file, limit, open, serve, settled, shots, until } from "./browser.mjs";

const rows = Array.from({ length: 60 }, (_, i) => [`m${i}`, `${"C".repeat(1 + i % 15)}${["O", "N", "Cl", "C(=O)O"][i % 4]}`,
  i % 20 === 7 ? ">10" : ((i % 15) * 0.5 - (i % 4) * 0.3).toFixed(2), ((i % 4) * 1.5 + (i % 15) * 0.01).toFixed(2), "ABC"[i % 3]]);
const several = `id,smiles,logS,assay,series\n${rows.map((r) => r.join(",")).join("\n")}\nm60,C((,1,1,A\n`;

test("data with several columns have a target once one is chosen, from the head or in Predictions", limit, async () => {
  const page = await open("", { at: await serve(file("several.csv", several)) });
  await until(page, "app.places !== null");
  await page.locator("#remarks summary").filter({ hasText: "2 remarks on the data" }).click();
  const remarks = await page.locator("#remarks .popup").innerText();
  assert.match(remarks, /1 row cannot be read[^]*line 62 .*SMILES position 3/);
  assert.match(remarks, /the column logS counts as numbers: 3 of its values are not, such as ">10", and count as not measured/);
  if (shots) await page.screenshot({ path: join(shots, "target-remarks.png") });
  await page.locator("#color").selectOption("column:logS");
  await page.locator("#legend .bar-legend").waitFor(); // numbers, not classes
  await page.locator("#legend .unknown").filter({ hasText: /no value\s3/ }).waitFor();
  await page.locator("#tab-predictions").click();
  await page.locator("#predictions").filter({ hasText: "No column is chosen as the target, so nothing is predicted. The data have 3 columns to choose from." }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "target-none.png") });
  await page.locator("#choose-target").click();
  await page.locator("#data b").filter({ hasText: "60 graphs with a value" }).waitFor();
  assert.equal(await page.locator("#data-target").inputValue(), "assay", "the last column of numbers");
  await page.locator("#data-target").selectOption("logS");
  await page.locator("#data .skipped").filter({ hasText: "3 values not taken for a number" }).waitFor();
  assert.match(await page.locator("#data .skipped").innerText(), /line 9 logS: ">10" is not a number/);
  await page.locator("#data-name").fill("log S in mol/L");
  await page.locator("#data-name").press("Tab");
  if (shots) await page.screenshot({ path: join(shots, "target-dialog.png") });
  await page.locator("#data button.primary").click();
  await page.locator("#score b").filter({ hasText: /^R² / }).waitFor();
  await settled(page);
  assert.ok(await page.locator("#no-target").isHidden());
  assert.equal(await page.locator("#name").innerText(), "several: log S in mol/L");
  assert.match(await page.locator("#predictions .scatter").getAttribute("aria-label"), /log S in mol\/L of 57 graphs/);
  await page.locator("#choose-target").filter({ hasText: "Choose another target" }).click(); // what was the target is a column now
  await page.locator("#data-target").selectOption("series");
  await page.locator("#data p").filter({ hasText: "60 graphs with a value in 3 classes" }).waitFor();
  assert.match(await page.locator("#data-target").innerText(), /assay/);
  await page.locator("#data button.primary").click();
  await page.locator("#score b").filter({ hasText: /right|AUC/ }).waitFor();
  assert.equal(await page.locator("#name").innerText(), "several: series");
  assert.match(await page.locator("#color").innerText(), /log S in mol\/L/);
  await page.locator("#source").selectOption({ index: 0 });
  await page.locator("#no-target").filter({ hasText: "Choose what to predict" }).click();
  await page.locator("#data-target").waitFor();
  await page.keyboard.press("Escape");
  await close(page, "target");
});
