// What to measure next: suggestions, decisions, values that were measured, and the model that learns from them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

// partly returns a table of chains whose values are known for some, and all values by name.
function partly(n) {
  const [head, ...rows] = chains(n).trim().split("\n");
  const all = new Map(rows.map((r) => [r.split(",")[0], r.split(",")[2]]));
  const some = rows.map((r, i) => (i % 5 === 0 ? r : `${r.slice(0, r.lastIndexOf(","))},`));
  return [`${head}\n${some.join("\n")}\n`, all];
}

test("suggestions are cards and points; a goal by sliders; accepted ones are measured, and the model gets better", limit, async () => {
  const [table, truth] = partly(300);
  const page = await open("", { at: await serve(file("partly.csv", table)) });
  await settled(page);
  await page.locator("#tab-next").click();
  await page.locator(".suggestion").first().waitFor();
  assert.equal(await page.locator(".suggestion").count(), 12);
  const first = page.locator(".suggestion").first();
  assert.match(await first.innerText(), /logP −?[\d.]+ ± [\d.]+/);
  assert.match(await first.innerText(), /90 %: −?[\d.]+ to −?[\d.]+/);
  assert.match(await first.innerText(), /(better than|may be better than|No measured)/);
  assert.match(await first.innerText(), /Nearest: m\d+, −?[\d.]+, similarity [01]\.\d\d/);
  await page.locator(".suggestion .structure path").first().waitFor({ state: "attached" });
  const discs = await value(page, "app.nextMap.discs.map((d) => d.at)");
  assert.equal(discs.length, 12);
  for (const [i, [x, y]] of discs.entries()) {
    for (const [u, v] of discs.slice(0, i)) assert.ok(Math.hypot(x - u, y - v) > 18, "numbers do not cover each other");
  }
  assert.equal(await value(page, "app.nextMap.marked.length"), 0, "the map of suggestions has no other names");
  if (shots) await page.screenshot({ path: join(shots, "next.png") });
  const large = await value(page, "app.source.ids[app.nextMap.ranked[0].ref]");
  await page.locator("#next-kind").selectOption("reach");
  await page.locator("#next-low").focus();
  for (let k = 0; k < 8; k++) await page.keyboard.press("ArrowLeft");
  await page.locator(".suggestion").first().waitFor();
  await until(page, "app.state.next.low !== null");
  await page.locator("#next-kind").selectOption("max");
  await page.locator(".suggestion .rank").first().waitFor();
  await until(page, `app.nextMap.ranked[0] && app.source.ids[app.nextMap.ranked[0].ref] === ${JSON.stringify(large)}`);
  const names = () => page.locator(".suggestion .cut").allInnerTexts();
  const before = await names();
  await page.locator(`[aria-label="Reject ${before[0]}"]`).click();
  await page.waitForFunction((n) => ![...document.querySelectorAll(".suggestion .cut")].some((e) => e.textContent === n), before[0]);
  await page.locator("#next-head", { hasText: "Take back 1 rejected" }).waitFor();
  await page.locator("#next-head button", { hasText: "Accept all" }).click();
  const accepted = await names();
  assert.equal(accepted.length, 12);
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#next-export").click()]);
  const csv = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.equal(csv.length, 13);
  assert.match(csv[0], /^id,smiles,predicted,deviation,low 90 %,high 90 %,gain,why,nearest,similarity,logP$/);
  const given = await value(page, "app.source.targets.filter(Boolean).length");
  for (const name of accepted.slice(0, 11)) await page.locator(`[aria-label="Measured logP of ${name}"]`).fill(truth.get(name));
  await page.reload(); // what was typed is kept
  await page.locator(`[aria-label="Measured logP of ${accepted[0]}"]`).waitFor();
  assert.equal(await page.locator(`[aria-label="Measured logP of ${accepted[0]}"]`).inputValue(), truth.get(accepted[0]));
  await settled(page);
  await page.locator(`[aria-label="Measured logP of ${accepted[11]}"]`).fill("much");
  await page.locator("#next-head button", { hasText: "Learn from 12 values" }).click();
  await page.locator("#toast").filter({ hasText: "“much” is not a number" }).waitFor();
  await page.locator(`[aria-label="Measured logP of ${accepted[11]}"]`).fill(truth.get(accepted[11]));
  await page.locator("#next-head button", { hasText: "Learn from 12 values" }).click();
  await page.locator(".rounds summary").filter({ hasText: "Rounds: 1" }).waitFor();
  assert.equal(await value(page, "app.source.targets.filter(Boolean).length"), given + 12);
  await page.locator(".rounds p").filter({ hasText: "than before the first round" }).waitFor();
  const rows = await page.locator(".rounds tbody tr").allInnerTexts();
  assert.equal(rows.length, 2);
  assert.match(rows[1], new RegExp(`^1\\s+${given + 12}\\s`));
  const best = (k) => Number(rows[k].split(/\s+/)[4].replace("−", "-"));
  assert.ok(best(1) >= best(0), `the best value so far: ${best(0)}, then ${best(1)}`);
  await page.locator(".suggestion").first().waitFor();
  assert.ok((await names()).every((n) => !accepted.includes(n)), "measured graphs are not suggested again");
  await close(page, "rounds");
});

test("graphs of a batch are suggested for a class; one opens with reasons; on a phone cards stand below each other", limit, async () => {
  const page = await open();
  await page.locator("#tab-next").click();
  await page.locator("#next-cards button", { hasText: "To Many" }).click();
  const smiles = ["CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35 known", "CN1CCC23C4Oc5c(OCC)ccc(CC1C2C=CC4O)c35 near", "CCO ethanol", "CCCO propanol"];
  await page.locator("#many-text").fill(smiles.join("\n"));
  await page.locator("#many button", { hasText: "Predict" }).click();
  await page.locator("#many tbody tr").first().waitFor();
  await page.locator("#tab-next").click();
  await page.locator("#next-class").selectOption("opioid");
  await page.locator('[aria-label="Accept near"]').waitFor();
  await page.locator(".suggestion", { hasText: "propanol" }).filter({ hasText: /opioid \d %/ }).waitFor(); // the probability is of the wanted class
  await page.locator("#next-head").filter({ hasText: "1 equal to measured ones" }).waitFor();
  assert.equal(await value(page, "app.map.extra.length"), 3);
  await page.locator("#tab-map").click();
  const [x, y] = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const box = document.getElementById("map").getBoundingClientRect();
    const [u, v] = app.map.at("s0");
    return [box.x + u, box.y + v];
  });
  await page.mouse.move(x, y);
  await page.locator("#tip b").filter({ hasText: /near|ethanol|propanol/ }).waitFor();
  await page.mouse.click(x, y);
  await page.locator("#view-next:not([hidden])").waitFor();
  await page.locator("#next-cards .open", { hasText: "Open near" }).click();
  await page.locator("#detail h2").filter({ hasText: "CN1CCC23" }).waitFor();
  await page.locator('[aria-label="Accept near"]').click();
  await page.locator('[aria-label="Measured class of near"]').fill("opioid");
  await page.locator("#next-head button", { hasText: "Learn from 1 value" }).click();
  await page.locator(".rounds summary").filter({ hasText: "Rounds: 1" }).waitFor();
  await page.locator("#facts").filter({ hasText: "235 molecules" }).waitFor();
  await page.locator("#next-head").filter({ hasText: "2 equal to measured ones" }).waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(page, "next-phone");
});

test("several targets: a limit by sliders beside the goal; both are predicted, measured and learned", limit, async () => {
  const [table, truth] = partly(200);
  const [head, ...rows] = table.trim().split("\n");
  const sol = (r, i) => (i % 3 ? (5 - r.split(",")[1].length * 0.2).toFixed(2) : "");
  const page = await open("", { at: await serve(file("two.csv", [`${head},sol`, ...rows.map((r, i) => `${r},${sol(r, i)}`)].join("\n")), "--target", "logP") });
  await settled(page);
  await page.locator("#tab-next").click();
  await page.locator(".suggestion").first().waitFor();
  const lacking = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const other = await app.column("sol");
    return app.source.targets.filter((t, i) => !t || other[i] === null).length;
  });
  await page.locator("#next-more").selectOption("sol");
  await page.locator("#next-other-0-low").waitFor();
  await page.locator("#next-pool").filter({ hasText: `${lacking} unmeasured` }).waitFor({ state: "attached" });
  const card = page.locator(".suggestion").first();
  await card.filter({ hasText: /logP −?[\d.]+ ± [\d.]+[^]*sol −?[\d.]+ ± [\d.]+/ }).waitFor();
  await card.filter({ hasText: "All limits hold with" }).waitFor();
  assert.equal(await page.locator("#next-kind option[value=learn]").count(), 0, "what tells most is for one target");
  await page.locator("#next-other-0-low").focus(); // by keyboard
  for (let k = 0; k < 60; k++) await page.keyboard.press("ArrowRight");
  await until(page, "app.state.next.others[0].low > app.info.columns[0].range[0]");
  await card.filter({ hasText: "All limits hold with" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "next-several.png") });
  const [name] = await page.locator(".suggestion .cut").allInnerTexts();
  await page.locator(`[aria-label="Accept ${name}"]`).click();
  await page.locator(`[aria-label="Measured sol of ${name}"]`).fill("3,5");
  await page.locator(`[aria-label="Measured logP of ${name}"]`).fill(truth.get(name));
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#next-export").click()]);
  const csv = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.match(csv[0], /^id,smiles,logP predicted,.*sol predicted,.*,similarity,logP,sol$/);
  assert.match(csv[1], new RegExp(`,${truth.get(name).replace(".", "\\.")},"3,5"$`));
  await page.locator("#next-head button", { hasText: "Learn from 1 value" }).click();
  await page.locator(".rounds summary").filter({ hasText: "Rounds: 1" }).waitFor();
  const at = await value(page, `app.source.ids.indexOf(${JSON.stringify(name)})`);
  assert.equal(await page.evaluate(async (i) => (await (await import("/app.js")).app.column("sol"))[i], at), 3.5);
  await page.locator("#next-other-0-kind").waitFor(); // the goals stay
  await page.locator('[aria-label="Remove the goal for sol"]').click();
  await page.locator("#next-kind option[value=learn]").waitFor({ state: "attached" });
  await page.setViewportSize({ width: 390, height: 844 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(page);
});
