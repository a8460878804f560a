// How far predictions can be trusted, and what is done with a part of the data.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, hash, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

test("classes: reliability, error against likeness, ROC and precision-recall, by single graphs, scaffolds and groups", limit, async () => {
  const page = await open("#view=predictions");
  await until(page, "app.comparing === false"); // the view is shown anew until then
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

test("a selection by lasso, filter or cluster is trained on, and its model is compared with that of all", limit, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(300))) });
  await settled(page);
  const box = await page.locator("#map").boundingBox();
  await page.keyboard.down("Shift"); // a loop around the left half
  await page.mouse.move(box.x + 5, box.y + 60);
  await page.mouse.down();
  for (const [u, v] of [[0.55, 60 / box.height], [0.55, 0.97], [0.01, 0.97]]) await page.mouse.move(box.x + u * box.width, box.y + v * box.height, { steps: 4 });
  await page.mouse.up();
  await page.keyboard.up("Shift");
  const picked = await value(page, "app.state.picked.length");
  assert.ok(picked > 20 && picked < 270, `${picked} in the loop`);
  await page.locator("#selection button", { hasText: "Train on these" }).click();
  await page.locator("#facts", { hasText: `${picked} molecules` }).waitFor();
  await page.locator("#versus .says").waitFor();
  assert.match(await page.locator("#versus").innerText(), new RegExp(`here, [\\d.]+ there[^]*Of ${picked} graphs[^]*Errors of both[^]*Where they differ most`, "i"));
  assert.equal(await page.locator("#versus circle").count(), picked);
  if (shots) await page.screenshot({ path: join(shots, "versus.png") });
  await page.locator("#versus .list button").first().click();
  await page.locator("#detail h2").filter({ hasText: /^m\d+$/ }).waitFor();
  await page.goBack();
  await page.locator("#source").selectOption({ index: 0 });
  await page.locator("#facts", { hasText: "270 molecules" }).waitFor();
  await page.locator("#tab-structure").click();
  await page.locator("#groups .group button", { hasText: "Select" }).first().click();
  await page.locator("#selection button", { hasText: "Train on these" }).waitFor();
  await close(page);
});

test("predictions and charts are about the graphs that are selected and pass the filters; a box over the chart selects", limit, async () => {
  const page = await open("#view=predictions", { at: await serve(file("chains.csv", chains(300))) });
  await page.locator("#score b").filter({ hasText: /^R² / }).waitFor();
  await until(page, "app.comparing === false"); // the view is shown anew until then
  await page.locator("#trust .chart").first().waitFor();
  const all = await page.locator("#trust .says").innerText();
  await page.locator(".scatter").scrollIntoViewIfNeeded();
  const box = await page.locator(".scatter .frame").boundingBox();
  await page.mouse.move(box.x + 2, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height - 2, { steps: 5 });
  if (shots) await page.screenshot({ path: join(shots, "box.png") });
  await page.mouse.up();
  const picked = await value(page, "app.state.picked.length");
  assert.ok(picked > 20 && picked < 270, `${picked} in the box`);
  const middle = await value(page, "Math.max(...app.state.picked.map((i) => app.source.value[i]))");
  assert.ok(await value(page, `app.source.value.every((v, i) => v > ${middle} || app.state.picked.includes(i))`), "all with small values are selected");
  await page.locator("#part").filter({ hasText: `Below are the ${picked} graphs that are selected: error ` }).waitFor();
  assert.equal(await page.locator(".scatter .dot:not(.out)").count(), picked);
  await page.locator("#trust .muted").filter({ hasText: `${picked} graphs: ` }).waitFor();
  assert.notEqual(await page.locator("#trust .says").innerText(), all);
  const error = (text) => text.match(/error ([\d.]+)/i)[1];
  assert.equal(error(await page.locator("#trust .says").innerText()), error(await page.locator("#part").innerText()));
  if (shots) await page.screenshot({ path: join(shots, "part.png") });
  await page.locator("#tab-table").click();
  await page.locator('#table input[aria-label="vertices to"]').fill("9");
  await page.locator("#tab-predictions").click();
  await page.locator("#part").filter({ hasText: "are selected and pass the filters" }).waitFor();
  await page.locator("#part button").click();
  await page.locator("#part").waitFor({ state: "detached" });
  assert.equal(await page.locator("#trust .says").innerText(), all);
  const classes = await open("#view=predictions&pick=0-39");
  await classes.locator("#part").filter({ hasText: "Below are the 40 graphs that are selected" }).waitFor();
  const numbers = await classes.locator(".confusion td button").allInnerTexts();
  assert.equal(numbers.reduce((s, n) => s + Number(n), 0), 40, "the matrix has these graphs alone");
  await close(classes);
  await close(page);
});

test("two kernels are compared on the same graphs", limit, async () => {
  const page = await open("#view=predictions");
  await page.locator("#versus-kernel").fill("labels");
  await page.locator(".versus button").click();
  await page.locator("#versus .note").filter({ hasText: "The other model is worse by" }).waitFor();
  await page.locator("#versus button", { hasText: "graph" }).first().waitFor();
  await page.locator("#versus-kernel").fill("wl h=x");
  await page.locator(".versus button").click();
  await page.locator("#versus .error").filter({ hasText: 'h = "x"' }).waitFor();
  await close(page);
});
