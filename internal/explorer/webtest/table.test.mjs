// The columns of a file: in the table, as filters, and as colours and sizes of the map.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { close, file, hash, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

// measured is a table with a target, numbers with gaps, few and many texts, and a name that the page uses itself.
const measured = `name,smiles,series,weight,note,vertices,logP\n${Array.from({ length: 90 }, (_, i) =>
  `m${i},${"C".repeat(1 + i % 30)}${["O", "N", "F"][Math.floor(i / 30)]},${["alcohol", "amine", "fluoride"][Math.floor(i / 30)]},` +
  `${i % 9 === 4 ? "" : 20 + 14 * (i % 30)},"note ${i}, long",${i},${(i % 30) / 5}`).join("\n")}\n`;

test("the columns of a file are chosen, sorted and filtered by values and sliders, and colour and size the map", limit, async () => {
  const page = await open("", { at: await serve(file("measured.csv", measured), "--target", "logP") });
  await settled(page);
  await page.locator("#tab-table").click();
  const heads = () => page.locator("#table thead th").allInnerTexts();
  await page.locator("#table thead th", { hasText: "series" }).waitFor();
  for (const name of ["series", "weight", "note", "vertices (file)", "vertices"]) assert.ok((await heads()).includes(name), `${name} in ${await heads()}`);
  const boxes = page.locator("#table-columns");
  await boxes.locator("summary").focus();
  await page.keyboard.press("Enter");
  await boxes.locator("label", { hasText: "note" }).locator("input").focus();
  await page.keyboard.press("Space");
  await page.waitForFunction(() => ![...document.querySelectorAll("#table thead th")].some((th) => th.innerText === "note"));
  assert.deepEqual(hash(page).getAll("columns"), ["series", "weight", "vertices"]);

  // Values of a column with few of them.
  await page.locator('#table [aria-label$="series: choose values"]').focus();
  await page.keyboard.press("Enter");
  await page.locator("#table .chooser label", { hasText: "amine" }).locator("input").uncheck();
  if (shots) await page.screenshot({ path: join(shots, "values.png") });
  await page.keyboard.press("Escape");
  await page.locator("#table-head b", { hasText: "60 of 90" }).waitFor();
  // A slider, by keyboard; gaps do not pass.
  await page.locator('#table [aria-label="weight from, slider"]').focus();
  for (let i = 0; i < 100; i++) await page.keyboard.press("ArrowRight");
  const from = Number(await page.locator('#table [aria-label="weight from"]').inputValue());
  assert.ok(Math.abs(from - (20 + 14 * 29) / 2) < 12, `half of the range: ${from}`);
  const expected = await page.evaluate((low) => Array.from({ length: 90 }, (_, i) => i).filter((i) => (i < 30 || i >= 60) && i % 9 !== 4 && 20 + 14 * (i % 30) >= low), from);
  await page.locator("#table-head b", { hasText: `${expected.length} of 90` }).waitFor();
  assert.deepEqual(await value(page, "[...app.map.kept].sort((a, b) => a - b)"), expected);
  if (shots) await page.screenshot({ path: join(shots, "columns.png") });
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator('#table-head [aria-label="Export as CSV"]').click()]);
  const [head, ...rows] = readFileSync(await download.path(), "utf8").trim().split("\n");
  assert.match(head, /,series,weight,note,vertices,smiles$/);
  assert.equal(rows.length, expected.length);
  await page.locator("#table-head button", { hasText: "Clear filters" }).click();
  assert.equal(await page.locator('#table [aria-label="weight from, slider"]').inputValue(), "0");

  // Colours and sizes.
  await page.locator("#tab-map").click();
  await page.locator("#color").selectOption("column:series");
  await page.locator("#legend button", { hasText: "amine" }).waitFor();
  await page.locator("#size").selectOption("column:weight");
  await until(page, "app.map.sizes !== null");
  const sizes = await value(page, "[0, 29, 4].map((i) => app.map.radiusOf(i, 10))");
  assert.ok(sizes[0] < sizes[1] / 2 && sizes[2] === sizes[0], `sizes ${sizes}`);
  await page.locator("#legend", { hasText: "Size: weight" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "sizes.png") });
  assert.equal(hash(page).get("color"), "column:series");
  await page.reload();
  await until(page, "app.map.sizes !== null && app.coloring?.name === 'series'");
  await page.locator("#tab-table").click();
  await page.locator("#table thead th", { hasText: "weight" }).waitFor();
  assert.ok(!(await heads()).includes("note"));
  await close(page);
});

test("a table with columns fits a phone, in the dark", limit, async () => {
  const phone = await open("#view=table", { at: await serve(file("measured.csv", measured), "--target", "logP"),
    viewport: { width: 390, height: 844 }, hasTouch: true, colorScheme: "dark" });
  await phone.locator("#table thead th", { hasText: "series" }).waitFor();
  await phone.locator("#table-columns summary").click();
  assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await close(phone, "columns-phone");
});

test("numbers of a column stand below each other; columns change places; any two of numbers are a plot whose box selects", limit, async () => {
  const page = await open("", { at: await serve(file("measured.csv", measured), "--target", "logP") });
  await settled(page);
  await page.locator("#tab-table").click();
  await page.locator("#table tbody tr").first().waitFor();
  const point = await page.evaluate(() => { // where the decimals of logP begin
    const at = [...document.querySelectorAll("#table thead th")].findIndex((th) => th.innerText === "logP");
    return [...document.querySelectorAll("#table tbody tr")].slice(0, 12).map((tr) => {
      const range = document.createRange();
      const text = tr.children[at].firstChild;
      range.setStart(text, 0);
      range.setEnd(text, text.data.split(".")[0].length);
      return Math.round(range.getBoundingClientRect().right);
    });
  });
  assert.equal(new Set(point).size, 1, `decimals begin at ${point}`);
  await page.locator("#table-columns summary").click();
  await page.locator('[aria-label="Move weight to the left"]').click();
  const heads = () => page.locator("#table thead th").allInnerTexts();
  assert.ok((await heads()).indexOf("weight") < (await heads()).indexOf("series"), `${await heads()}`);
  assert.deepEqual(hash(page).getAll("columns"), ["weight", "series", "note", "vertices"]);
  await page.locator("#table-columns summary").click();
  await page.locator("#table-plot summary").click();
  await page.locator("#plot-x").selectOption("weight");
  await page.locator("#plot-y").selectOption("logP");
  await page.locator('#table-plot svg[aria-label="logP against weight of 80 graphs"]').waitFor();
  if (shots) await page.screenshot({ path: join(shots, "plot.png") });
  const [first, last] = await Promise.all([0, 2].map((i) => page.locator(`#table-plot [data-graph="${i}"]`).boundingBox()));
  await page.mouse.move(first.x - 3, first.y + first.height + 3);
  await page.mouse.down();
  await page.mouse.move(last.x + last.width + 3, last.y - 3, { steps: 4 });
  await page.mouse.up();
  await page.locator("#table-head b", { hasText: "selected" }).waitFor();
  const weights = await value(page, "app.state.picked.map((i) => i % 30)");
  assert.ok(weights.length >= 6 && weights.every((w) => w < 3), `${weights}`);
  assert.deepEqual(JSON.parse(hash(page).get("plot")), { x: "weight", y: "logP" });
  await close(page);
});
