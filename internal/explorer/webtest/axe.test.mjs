// Every view is accessible, as far as axe can tell: light and dark, on a desktop, a small screen and a phone.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createRequire } from "node:module";
import { chains, close, file, limit, open, serve, settled, shots, until } from "./browser.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

// faults returns what axe finds serious or worse.
async function faults(page) {
  await page.evaluate(axe);
  return page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations
    .filter((v) => ["serious", "critical"].includes(v.impact))
    .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.target.join(" ")}: ${n.failureSummary.split("\n").slice(1, 3).join(" ")}`)));
}

const views = ["map", "table", "structure", "many", "next", "predictions", "matrix", "pair"];
const ready = { table: "#table tbody tr", structure: "#groups .group", many: "#many-text, #many tbody tr", next: ".suggestion", predictions: "#trust .chart",
  pair: "#pair .levels, #pair .empty" };

const looks = [
  ["desktop", { viewport: { width: 1280, height: 800 } }], ["small", { viewport: { width: 1024, height: 700 }, colorScheme: "dark" }],
  ["phone", { viewport: { width: 390, height: 844 }, hasTouch: true }], ["night", { viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" }],
];

for (const [name, look] of looks) {
  test(`axe finds no serious fault in any view: ${name}`, { timeout: 120000 }, async () => {
    const [head, ...rows] = chains(200).trim().split("\n");
    const some = rows.map((r, i) => `${i % 2 ? r : `${r.slice(0, r.lastIndexOf(","))},`},${i % 3},${["red", "blue"][i % 2]}`);
    const page = await open("", { at: await serve(file("some.csv", `${head},series,lamp\n${some.join("\n")}\n`), "--target", "logP"), ...look });
    await settled(page);
    const found = [];
    for (const view of views) {
      await page.evaluate(async (v) => (await import("/app.js")).app.show(v), view);
      if (ready[view]) await page.locator(ready[view]).first().waitFor();
      if (view === "map") await until(page, "app.coloring !== null");
      found.push(...(await faults(page)).map((f) => `${view}: ${f}`));
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${view}: nothing to scroll sideways`);
      for (const list of view === "structure" ? ["scaffolds", "cliffs", "duplicates", "outliers"] : []) {
        await page.locator(`[data-list="${list}"]`).click();
        found.push(...(await faults(page)).map((f) => `${list}: ${f}`));
      }
      if (shots && view === "next") await page.screenshot({ path: `${shots}/next-${name}.png` });
    }
    await page.evaluate(async () => (await import("/app.js")).app.open("3"));
    await page.locator("#detail .says").waitFor();
    found.push(...(await faults(page)).map((f) => `open graph: ${f}`));
    await page.evaluate(async () => (await import("/app.js")).app.open(null));
    if (await page.locator("#tools-button").isVisible()) await page.locator("#tools-button").click();
    await page.locator("#session-button").click();
    found.push(...(await faults(page)).map((f) => `session: ${f}`));
    await page.keyboard.press("Escape");
    await page.evaluate(() => (document.getElementById("settings").open = true));
    await page.locator("#kernel-fields .field").first().waitFor();
    found.push(...(await faults(page)).map((f) => `kernel: ${f}`));
    await page.evaluate(() => (document.getElementById("settings").open = false));
    await page.evaluate(async () => (await import("/app.js")).app.show("table"));
    for (const more of ["#table-columns", "#table-plot"]) await page.locator(`${more} summary`).first().click();
    await page.locator("#table-plot svg").waitFor();
    found.push(...(await faults(page)).map((f) => `plot: ${f}`));
    await page.evaluate(async () => (await import("/app.js")).app.predictMany(new File(["CCCO one\nCCCCN two\nc1ccccc1C three\n"], "few.smi")));
    await page.locator("#many tbody tr").first().waitFor();
    found.push(...(await faults(page)).map((f) => `many: ${f}`));
    await page.locator("#own-file").setInputFiles(file("own.csv", `${head},series,lamp\n${some.join("\n")}\nbad,C((,1,2,red\n`));
    await page.locator("#data button").filter({ hasText: "Make a new map" }).click();
    await page.locator("#data .fields").waitFor();
    found.push(...(await faults(page)).map((f) => `file: ${f}`));
    await page.keyboard.press("Escape");
    await page.evaluate(async () => { // a round of suggesting and measuring
      const { app } = await import("/app.js");
      app.show("next");
    });
    await page.locator(".suggestion").first().waitFor();
    await page.locator("#next-more").selectOption("series");
    await page.locator("#next-other-0-low").waitFor();
    await page.locator(".suggestion").filter({ hasText: "All limits hold" }).first().waitFor();
    found.push(...(await faults(page)).map((f) => `goals: ${f}`));
    const accept = page.locator(".suggestion [aria-label^=Accept]").first();
    await accept.click();
    await page.locator(".suggestion .measured input").first().fill("1.5");
    await page.locator("#next-head button", { hasText: "Learn from 1 value" }).click();
    await page.locator("#next-rounds table").waitFor();
    await settled(page);
    found.push(...(await faults(page)).map((f) => `rounds: ${f}`));
    assert.deepEqual(found, []);
    await close(page);
  });
}

test("the views are reached and used by keyboard alone", limit, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(200))) });
  await settled(page);
  await page.locator("#tab-map").focus();
  for (const view of views.slice(1)) {
    await page.keyboard.press("ArrowRight");
    await page.locator(`#view-${view}:not([hidden])`).waitFor();
  }
  for (let k = 0; k < 2; k++) await page.keyboard.press("ArrowLeft"); // predictions
  await page.locator("#trust .chart").first().waitFor();
  const reached = new Set();
  for (let k = 0; k < 60; k++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement.id || document.activeElement.dataset.split || document.activeElement.className));
  }
  for (const want of ["random", "versus-data", "versus-kernel"]) assert.ok(reached.has(want), `${want} in ${[...reached]}`);
  await close(page);
});
