// How far predictions can be trusted, and what is done with a part of the data.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, hash, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

test("classes: reliability, error against likeness, ROC and precision-recall, by single graphs, scaffolds and groups", limit, async () => {
  const page = await open("#view=predictions");
  await page.locator("#trust .chart").nth(3).waitFor();
  const titles = () => page.locator("#trust figcaption").allInnerTexts();
  const all = await titles();
  for (const t of [/^Reliability/, /^Error against likeness/, /^ROC of /, /^Precision and recall of /]) assert.ok(all.some((x) => t.test(x)), `${t} in ${all}`);
  const right = await page.locator("#trust .says").innerText();
  assert.match(right, /^\d\d\.\d % right · always the largest class 1\d\.\d %/);
  await page.locator("#trust-class").selectOption("steroid");
  await page.locator("#trust figcaption", { hasText: "ROC of steroid" }).waitFor();
  await page.locator('[data-split="scaffold"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#trust", { hasText: "left out by cluster" }).waitFor();
  assert.equal(hash(page).get("split"), "cluster");
  assert.notEqual(await page.locator("#trust .says").innerText(), right);
  await page.reload();
  await page.locator("#trust", { hasText: "left out by cluster" }).waitFor();
  await page.locator("#trust").scrollIntoViewIfNeeded();
  if (shots) await page.screenshot({ path: join(shots, "trust.png") });
  await close(page);
});

test("values: coverage of intervals and error against likeness, on a phone and in the dark", limit, async () => {
  const at = await serve(file("chains.csv", chains(300)));
  const page = await open("#view=predictions", { at, viewport: { width: 390, height: 844 }, colorScheme: "dark" });
  await page.locator("#trust .chart").nth(1).waitFor();
  assert.match(await page.locator("#trust").innerText(), /Error \d[^]*guessing the mean[^]*Coverage of intervals[^]*of the measured values lie in their intervals of 90 %[^]*Error against likeness/);
  assert.equal(await page.locator("#trust .chart").first().locator("circle").count(), 11);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await page.locator("#trust .chart").first().scrollIntoViewIfNeeded();
  await close(page, "trust-phone");
});
