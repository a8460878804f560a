// Rows of several structures and numbers: chosen in the dialog, drawn together, asked with semicolons.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { close, file, limit, open, settled, shots } from "./browser.mjs";

const rows = Array.from({ length: 40 }, (_, i) => ["C".repeat(1 + i % 8) + ["O", "N"][i % 2], ["O", "CO", "CC#N", ""][i % 4], 280 + 5 * (i % 7),
  ((i % 8) * 0.5 + (i % 7) * 0.1).toFixed(2)]);
const table = `solute,solvent,T,y\n${rows.map((r) => r.join(",")).join("\n")}\n`;

test("columns of structures and numbers are chosen, and a row is asked", limit, async () => {
  const page = await open("");
  await settled(page);
  await page.locator("#own-file").setInputFiles(file("rows.csv", table));
  const dialog = page.locator("#data");
  await dialog.getByText("Make a new map").click();
  await dialog.locator("legend").filter({ hasText: /^Rows are compared by \w+\. Compare also:/ }).waitFor();
  await dialog.locator("#data-structure").selectOption("solute");
  await dialog.locator("#data-target").selectOption("y");
  await dialog.locator("input[name=beside-solvent]").check();
  await dialog.locator("legend").filter({ hasText: "Rows are compared by solute, solvent." }).waitFor();
  await dialog.locator("input[name=beside-T]").check();
  await dialog.locator("legend").filter({ hasText: "Rows are compared by solute, solvent, T." }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "rows-dialog.png") });
  await dialog.locator("button.primary").click();
  await page.locator("#score b").filter({ hasText: /^R² / }).waitFor();
  await settled(page);
  await page.locator("#ask-label").filter({ hasText: "Type solute; solvent; T:" }).waitFor();
  await page.locator("#facts").filter({ hasText: "40 rows." }).waitFor();
  assert.equal(await page.locator("#ask-text").getAttribute("placeholder"), "solute; solvent; T");
  await page.locator("#ask-text").fill("CCCCO; O; 300");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#asked li").filter({ hasText: "CCCCO; O; 300" }).locator("button").first().click();
  await page.locator("#detail .paper .drawing [data-vertex='5']").waitFor(); // five atoms of the solute, one of the solvent
  if (shots) await page.screenshot({ path: join(shots, "rows-asked.png") });
  await page.locator("#ask-text").fill("CCO");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#asked li.failed, #ask-error").filter({ hasText: /1 part, want 3/ }).first().waitFor();
  await page.locator("#tab-many").click();
  await page.locator("#many p").filter({ hasText: "the names of the columns first: solute, solvent, T" }).waitFor();
  await page.locator("#many-text").fill("solute,solvent,T\nCCCCO,O,300\nCCN,CO,290\n");
  await page.locator("#many button", { hasText: "Predict" }).click();
  await page.locator("#many tbody tr").nth(1).waitFor();
  const [a, b] = await page.locator("#many tbody tr").allInnerTexts();
  assert.match(a + b, /\d\.\d/);
  if (shots) await page.screenshot({ path: join(shots, "rows-many.png") });
  await close(page, "rows");
});
