// More graphs than have their whole matrix in memory: a first learner, then that of all.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, open, serve, shots, value } from "./browser.mjs";

test("the page learns from all graphs; what some of them tell is shown before; work can be cancelled", { timeout: 120000 }, async () => {
  const [head, ...rows] = chains(2600).trim().split("\n");
  const table = [head, ...rows, ...rows.map((r, i) => r.replace(/^m/, "n").replace(/[^,]*$/, (i % 7).toFixed(1)))].join("\n");
  const page = await open("#view=predictions", { at: await serve(file("large.csv", table), "--target", "logP", "--kernel", "wl h=2") });
  page.setDefaultTimeout(60000);
  await page.evaluate(() => {
    window.told = new Set();
    new MutationObserver(() => window.told.add(document.getElementById("work-text").textContent)).observe(document.getElementById("work-text"), { childList: true });
  });
  await page.locator("#score").filter({ hasText: /of 1,000 graphs; all are being tested/ }).waitFor();
  await page.locator(".says").filter({ hasText: /R² / }).first().waitFor(); // what 1000 tell is there meanwhile
  await page.locator("#work").filter({ hasText: "Testing predictions of all" }).waitFor();
  await page.locator("#work-cancel").click();
  await page.locator("#problem").filter({ hasText: "cancelled" }).waitFor();
  await page.locator("#problem button").click();
  for (let k = 0; k < 300 && !(await value(page, "app.evaluation && !app.evaluation.note")); k++) await page.waitForTimeout(200); // a minute
  const told = await page.evaluate(() => [...window.told]);
  assert.ok(told.some((t) => /: training, \d+ %$/.test(t)), `how far the training is: ${told}`);
  const words = /^[A-Z][a-z ]+(: (waiting for another computation|weighing candidates|fitting the kernel|comparing all pairs|principal components|finding (positions|neighbours)|preparing the (learner|solver)|training|how sure predictions are)(, \d+ %)?)?$/;
  assert.deepEqual(told.filter((t) => !words.test(t)), [], "progress in words");
  const [all, tested] = [await value(page, "app.info.graphs"), await value(page, "app.evaluation.graphs")];
  assert.ok(all > 4500 && tested === all, `${tested} of ${all} are tested`);
  await page.locator("#score").filter({ hasNotText: "graphs;" }).waitFor();
  await page.locator("p").filter({ hasText: "4,000 of" }).waitFor();
  const box = await page.locator(".scatter .frame").boundingBox();
  await page.mouse.move(box.x + 2, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2, { steps: 3 });
  await page.mouse.up();
  assert.equal(await value(page, "app.state.picked.length"), all, "a box selects also what is not drawn");
  if (shots) await page.screenshot({ path: join(shots, "large.png") });
  await close(page);
});
