// Tables: predictions for many new graphs, and the graphs of the data.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

const saved = async (page, name) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(`#view-many:not([hidden]) [aria-label="Export as ${name}"], ` +
    `#view-table:not([hidden]) [aria-label="Export as ${name}"]`).click()]);
  return readFileSync(await download.path(), "utf8");
};

const cells = (page, view, column) => page.locator(`#${view} tbody tr`).evaluateAll((rows, k) => rows.map((r) => r.children[k].textContent), column);

test("many molecules are predicted at once: the table is sorted, filtered and saved; a row goes to the map; a reload keeps it", limit, async () => {
  const at = await serve(file("chains.csv", chains(300)));
  const page = await open("", { at });
  await settled(page);
  await page.locator("#tab-many").click();
  const many = Array.from({ length: 240 }, (_, i) => `${"C".repeat(1 + i % 40)}${["O", "N", "F", "Cl", "c1ccccc1", "C#N"][i % 6]} new${i}`);
  await page.locator("#many-text").fill([...many, "C(", "N[C@@H](C)C(=O)O alanine"].join("\n"));
  await page.locator("#many button", { hasText: "Predict" }).click();
  await page.locator("#many tbody tr").first().waitFor();
  await page.locator("#notice").filter({ hasText: "1 row skipped, the first in line 241" }).waitFor();
  assert.match(await page.locator("#many-head").innerText(), /241 graphs of pasted\.smi/);
  await page.locator("#many tbody .structure path").first().waitFor();
  const names = await page.locator("#many thead th").allInnerTexts();
  for (const name of ["predicted logP", "±", "low 90 %", "high 90 %", "similarity", "remark"]) assert.ok(names.includes(name), `${name} in ${names}`);
  const column = names.indexOf("predicted logP");
  await page.locator("#many thead th", { hasText: "predicted logP" }).locator("button").focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Enter"); // the focus stays
  assert.equal(await page.locator("#many thead th", { hasText: "predicted logP" }).getAttribute("aria-sort"), "descending");
  const values = (await cells(page, "many", column)).map((t) => Number(t.replace("−", "-")));
  assert.deepEqual(values, [...values].sort((a, b) => b - a));
  await page.locator('#many [aria-label="predicted logP from"]').fill("0.5");
  await page.locator('#many [aria-label="predicted logP to"]').fill("9");
  await page.locator('#many [aria-label="name contains"]').fill("new1");
  const csv = (await saved(page, "CSV")).trim().split("\n"); // has what was just typed, though the rows on screen follow later
  const shown = csv.length - 1;
  await page.waitForFunction((n) => document.getElementById("many-head").innerText.startsWith(`${n} of 241 graphs`), shown);
  assert.ok(shown > 0 && shown < 111);
  assert.equal(await page.locator("#many tbody tr").count(), shown);
  assert.match(csv[0], /^id,smiles,line,predicted logP,deviation,low 90 %,high 90 %,similarity/);
  for (const line of csv.slice(1)) assert.ok(line.startsWith("new1") && Number(line.split(",")[3]) >= 0.5, line);
  assert.equal((await saved(page, "SDF")).split("$$$$\n").length, shown + 1);
  if (shots) await page.screenshot({ path: join(shots, "many.png") });
  await page.locator("#many-head button", { hasText: "Clear filters" }).click();
  assert.equal(await page.locator('#many [aria-label="name contains"]').inputValue(), "");
  await page.locator('#many [aria-label="name contains"]').fill("alanine");
  await page.waitForFunction(() => document.querySelectorAll("#many tbody tr").length === 1);
  await page.locator("#many tbody button").focus();
  await page.keyboard.press("Enter");
  await page.locator("#detail h2").filter({ hasText: "N[C@@H](C)C(=O)O" }).waitFor();
  assert.ok(await value(page, "app.state.asked.length === 1 && app.map.extra.length === 1"));
  await page.reload();
  await page.locator("#many tbody tr").first().waitFor();
  assert.match(await page.locator("#many-head").innerText(), /241 graphs of pasted\.smi/);
  await page.locator("#many-head button", { hasText: "New list" }).click();
  await page.locator("#many-file").setInputFiles(file("broken.smi", "C(\nC((\n"));
  await page.locator("#toast").filter({ hasText: "no graph can be read; the first error is in line 1" }).waitFor();
  await close(page);
});

test("the filters of the table are those of the map; on a phone and in the dark the table scrolls within itself", limit, async () => {
  const at = await serve(file("chains.csv", chains(300)));
  const page = await open("", { at });
  await settled(page);
  await page.locator("#tab-table").click();
  await page.locator('#table [aria-label="logP from"]').fill("1");
  await until(page, "app.map.kept !== null");
  const kept = await value(page, "app.map.kept.size");
  assert.equal(kept, await value(page, "app.source.value.filter((v) => v >= 1).length"));
  assert.equal((await saved(page, "CSV")).trim().split("\n").length, kept + 1);
  await page.locator("#tab-map").click();
  await page.locator("#selection").filter({ hasText: `${kept} pass the filters` }).waitFor();
  assert.ok(await value(page, "app.map.shown([...app.map.kept][0]) && !app.map.shown(app.source.value.findIndex((v) => v < 1))"));
  if (shots) await page.screenshot({ path: join(shots, "filtered.png") });
  await page.locator("#tab-table").click();
  await page.locator('#table [aria-label="logP to"]').fill("-99");
  await page.locator('#table-head [aria-label="Export as CSV"]').click();
  await page.locator("#toast").filter({ hasText: "No graph passes the filters." }).waitFor();
  await page.locator('#table [aria-label="logP to"]').fill("");
  await page.locator("#table-head b", { hasText: `${kept} of ` }).waitFor();
  await page.locator("#table-head button", { hasText: "Select them" }).click();
  assert.equal(await value(page, "app.state.picked.length"), kept);
  await page.locator("#selection button", { hasText: "Clear filters" }).click();
  await until(page, "app.map.kept === null");
  await close(page);
  const phone = await open("#view=table", { at, viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" });
  await phone.locator("#table tbody tr").first().waitFor();
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(phone, "table-phone");
});

test("columns of the file are predicted beside the target, and saved", limit, async () => {
  const rows = chains(300).trim().split("\n").map((l, i) => `${l},${i ? `${(Math.sin(i) * 3).toFixed(2)},${["low", "high"][i % 2]}` : "potency,dose"}\n`).join("");
  const page = await open("", { at: await serve(file("two.csv", rows), "--target", "logP") });
  await settled(page);
  await page.locator("#tab-many").click();
  await page.locator("#many-text").fill("CCCCCCCCCO one\nCCCCCCCCCN two");
  await page.locator("#many button", { hasText: "Predict" }).click();
  await page.locator("#many tbody tr").first().waitFor();
  await page.locator("#many-endpoints summary").click();
  for (const name of ["potency", "dose"]) await page.locator("#many-endpoints label", { hasText: name }).locator("input").check();
  await page.locator("#many thead th", { hasText: "dose probability" }).waitFor();
  const names = await page.locator("#many thead tr:first-child th").allInnerTexts();
  for (const name of ["predicted logP", "predicted potency", "potency low 90 %", "predicted dose"]) assert.ok(names.includes(name), `${name} in ${names}`);
  assert.match((await cells(page, "many", names.indexOf("predicted dose")))[0], /^(low|high)$/);
  const csv = (await saved(page, "CSV")).trim().split("\n");
  assert.match(csv[0], /predicted potency,potency deviation,potency low 90 %,potency high 90 %,predicted dose,dose probability$/);
  assert.equal(csv.length, 3);
  if (shots) await page.screenshot({ path: join(shots, "endpoints.png") });
  await page.reload();
  await page.locator("#many thead th", { hasText: "dose probability" }).waitFor();
  await close(page);
});
