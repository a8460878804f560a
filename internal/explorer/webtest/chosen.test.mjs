// Kernels that are chosen as mlg train does, beside the rest of the page.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, hash, limit, open, serve, settings, settled, shots, until } from "./browser.mjs";

test("the kernels that train would choose are chosen beside the rest, and then are those of the page", { timeout: 180000 }, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(700))) });
  await settled(page);
  const before = await page.locator("#score").innerText();
  await settings(page);
  await page.locator("#choose").click();
  await page.locator("#choosing-text").filter({ hasText: /Choosing kernels: .*%/ }).waitFor();
  assert.match(await page.locator("#choosing-sum").innerText(), /choosing( \d+ %)?/);
  await page.evaluate(async () => (await import("/app.js")).app.open("7")); // meanwhile the page goes on
  await page.locator("#detail .says").waitFor();
  assert.ok(await page.locator("#choosing").isVisible(), "the choice still goes on");
  if (shots) await page.screenshot({ path: join(shots, "choosing.png") });
  await page.reload(); // the choice goes on
  await settings(page);
  await page.locator("#choosing").waitFor();
  await page.locator("#chosen-kernels li").first().waitFor({ timeout: 120000 });
  await until(page, 'app.placed === "chosen"');
  assert.equal(hash(page).get("kernel"), "chosen");
  assert.equal(await page.locator("#kernel-text").inputValue(), "chosen");
  await page.locator("#score:not(.stale) b").filter({ hasText: "R²" }).waitFor();
  await settled(page);
  assert.notEqual(await page.locator("#score").innerText(), before);
  const weights = (await page.locator("#chosen-kernels li:not(.muted) span:last-child").allInnerTexts()).map(Number);
  assert.ok(Math.abs(weights.reduce((a, b) => a + b) - 1) < 0.01, `weights ${weights}`);
  assert.ok(await page.locator("#choose").isHidden());
  if (shots) await page.screenshot({ path: join(shots, "chosen.png") });
  await page.locator("#reset").click();
  await until(page, 'app.placed === ""');
  await page.locator("#choose").filter({ hasText: "Use the kernels that were chosen" }).click();
  await until(page, 'app.placed === "chosen"');
  await close(page);
});

test("a choice can be stopped, and one that fails says why", limit, async () => {
  const page = await open();
  let answer = null;
  await page.route("**/api/v1/chosen**", (route) => (answer ? route.fulfill(answer) : undefined));
  await settings(page);
  await page.locator("#choose").click();
  await page.locator("#choosing-stop").click();
  await page.locator("#choose").waitFor();
  assert.ok(await page.locator("#choosing").isHidden());
  assert.equal(hash(page).get("kernel"), null);
  answer = { status: 422, contentType: "application/json", body: '{"error":{"status":422,"message":"the candidates are too heavy","field":""}}' };
  await page.locator("#choose").click();
  await page.locator("#toast").filter({ hasText: "the candidates are too heavy" }).waitFor();
  await page.locator("#choose").waitFor();
  await close(page);
});
