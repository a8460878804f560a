// The structure of the data: groups with a typical graph each, and lists that lead to pairs.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { spawnSync } from "node:child_process";
import { chains, close, command, file, folder, hash, limit, open, serve, shots, until, value } from "./browser.mjs";

// series are chains with values that follow their length: two duplicates with different values, a cliff, an outlier.
const rows = Array.from({ length: 60 }, (_, i) => [`m${i}`, `${"C".repeat(1 + i % 20)}${["O", "N", "c1ccccc1"][Math.floor(i / 20)]}`, (i % 20) / 4]);
rows[8][2] = 9; // far from its neighbours
rows.push(["twin", "OCCCCCC", 3.5]); // m5 again
const series = `name,smiles,y\n${rows.map((r) => r.join(",")).join("\n")}\n`;

test("groups have a typical graph and can be selected; cliffs, duplicates and outliers lead to pairs", limit, async () => {
  const page = await open("", { at: await serve(file("series.csv", series), "--target", "y") });
  await page.locator("#tab-structure").click();
  await page.locator("#groups .group .structure path").first().waitFor();
  assert.ok(await page.locator("#groups .group").count() >= 2);
  const sizes = (await page.locator("#groups .group b").allInnerTexts()).map((t) => Number(t.split(" ")[0]));
  assert.equal(sizes.reduce((a, b) => a + b), 61, "each graph is in one cluster");
  if (shots) await page.screenshot({ path: join(shots, "clusters.png") });
  await page.locator("#groups .group").first().locator("button", { hasText: "Select" }).click();
  assert.equal(await value(page, "app.state.picked.length"), sizes[0]);
  await page.locator("#selection", { hasText: "cluster of" }).waitFor();
  await page.locator("#tab-structure").click();

  await page.locator('[data-list="clusters"]').focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#groups", { hasText: "same rings" }).waitFor();
  assert.equal(hash(page).get("list"), "scaffolds");
  const scaffolds = await page.locator("#groups .group b").allInnerTexts();
  assert.deepEqual(scaffolds.map((t) => Number(t.split(" ")[0])).sort((a, b) => b - a), [41, 20]);

  await page.locator('[data-list="cliffs"]').click();
  const first = page.locator("#groups .group").first();
  assert.match(await first.innerText(), /m8/);
  if (shots) await page.screenshot({ path: join(shots, "cliffs.png") });
  await first.locator(".two").focus();
  await page.keyboard.press("Enter");
  await page.locator("#pair .pair-value").waitFor();
  assert.ok([hash(page).get("open"), hash(page).get("with")].includes("8"));

  await page.goBack();
  await page.locator('[data-list="duplicates"]').click();
  assert.match(await page.locator("#groups .group").first().innerText(), /2 graphs[^]*y 1\.25 to 3\.5, mean 2\.38/);
  await page.locator("#groups .group button", { hasText: "Compare" }).first().click();
  await page.locator("#pair", { hasText: "twin" }).waitFor();
  await page.goBack();

  await page.locator('[data-list="outliers"]').click();
  assert.match(await page.locator("#groups .group").first().innerText(), /m8[^]*standard deviations/);
  await page.reload();
  await page.locator("#groups .group", { hasText: "m8" }).first().waitFor();
  await close(page, "outliers");
});

test("the structure of classes, on a phone and in the dark", limit, async () => {
  const phone = await open("#view=structure&list=cliffs", { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" });
  await phone.locator("#groups .group", { hasText: "different classes" }).first().waitFor();
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(phone, "structure-phone");
});

test("the structure does not wait for the learner; outliers come when it is there", limit, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(2340))) });
  await until(page, "app.places !== null");
  let held = null;
  await page.route("**/api/v1/outliers**", (route) => (held = route));
  await page.locator("#tab-structure").click();
  await page.locator("#groups .group .structure path").first().waitFor();
  await page.locator('[data-list="outliers"]').filter({ hasText: "…" }).click();
  await page.locator("#groups .empty").filter({ hasText: "The learner is being trained." }).waitFor();
  while (!held) await page.waitForTimeout(20);
  held.continue();
  await page.locator('[data-list="outliers"]').filter({ hasText: /Outliers \d/ }).waitFor({ timeout: 40000 });
  await page.locator("#groups .empty", { hasText: "being trained" }).waitFor({ state: "detached" });
  assert.match(await page.locator('[data-list="cliffs"]').innerText(), /Cliffs \d/);
  await close(page);
});

test("a model has outliers once it is cross-validated", limit, async () => {
  const path = join(folder, "series.mlg");
  const trained = spawnSync(command, ["train", file("series.csv", series), "--quick", "--target", "y", "-o", path], { encoding: "utf8" });
  assert.equal(trained.status, 0, trained.stderr);
  const page = await open("#view=structure&list=outliers", { at: await serve(path) });
  await page.locator("#groups .empty").filter({ hasText: "Cross-validate the model in Predictions" }).waitFor();
  await page.locator("#tab-predictions").click();
  await page.locator("#cross-validate").click();
  await page.locator(".scatter").waitFor();
  await page.locator("#tab-structure").click();
  await page.locator("#groups .group", { hasText: "m8" }).first().waitFor();
  await close(page);
});
