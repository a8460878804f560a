// What fits where: on a desktop, on a small screen, on a phone.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, limit, open, pixel, serve, settled, settings, shots, until } from "./browser.mjs";

const long = chains(120).replace("logP", "log S in mol per litre at 25 degrees");
const shot = (page, name) => shots && page.screenshot({ path: join(shots, `layout-${name}.png`) });

test("on a desktop the tools of the map stand in one row, and names that are cut have a title", limit, async () => {
  const page = await open("", { at: await serve(file("long.csv", long)) });
  await settled(page);
  const top = async (id) => (await page.locator(id).boundingBox()).y;
  assert.ok(Math.abs(await top("#lasso") - await top("#layout")) < 6, "Select stands beside the layouts");
  assert.equal(await page.locator("#color").getAttribute("title"), "log S in mol per litre at 25 degrees");
  const zoom = await page.locator(".zoom").boundingBox();
  const map = await page.locator("#map").boundingBox();
  assert.ok(zoom.y + zoom.height <= map.y + map.height, "zoom is within the map");
  await shot(page, "desktop");
  await close(page);
});

test("on a phone the map and the table begin in the upper half; tools and Ask are folded, and open by a tap", limit, async () => {
  const page = await open("", { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  await settled(page);
  await shot(page, "phone");
  assert.ok((await page.locator("#map").boundingBox()).y < 400, `the map begins at ${(await page.locator("#map").boundingBox()).y}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  assert.ok(await page.locator("#ask-text").isHidden() && await page.locator("#share").isHidden());
  await page.locator("#tools-button").tap();
  assert.equal(await page.locator("#tools-button").getAttribute("aria-expanded"), "true");
  await page.locator("#share").waitFor();
  await page.locator("#tools-button").tap();
  await page.locator("#ask-fold").tap();
  await page.locator("#ask-text").fill("CCO");
  await shot(page, "phone-ask");
  await page.locator("#ask-form button").tap();
  await page.locator("#asked li").waitFor();
  await page.evaluate(async () => (await import("/app.js")).app.open(null));
  await page.locator("#ask-fold").tap();
  await page.locator("#tab-table").tap();
  await page.locator("#table tbody tr").first().waitFor();
  await page.evaluate(() => scrollTo(0, 0));
  await shot(page, "phone-table");
  for (const view of ["pair", "predictions", "map"]) { // the whole tab of a view is seen
    await page.evaluate(async (v) => (await import("/app.js")).app.show(v), view);
    const [row, tab] = [await page.locator(".tabs").boundingBox(), await page.locator(`#tab-${view}`).boundingBox()];
    assert.ok(tab.x >= row.x - 1 && tab.x + tab.width <= row.x + row.width + 1, `${view}: ${JSON.stringify([row, tab])}`);
  }
  await page.locator("#tab-table").tap();
  const table = (await page.locator("#table").boundingBox()).y;
  assert.ok(table < 500, `the table begins at ${table}`);
  await close(page);
});

test("on a small screen open parameters stand beside the map, which keeps its size", limit, async () => {
  const page = await open("", { viewport: { width: 1024, height: 700 } });
  const before = await page.locator("#map").boundingBox();
  await settings(page);
  await page.locator("#kernel-fields .field").first().waitFor();
  const map = await page.locator("#map").boundingBox();
  const panel = await page.locator("#settings").boundingBox();
  assert.ok(panel.x >= map.x + map.width && panel.y < map.y, `beside the map: ${JSON.stringify([panel, map])}`);
  assert.ok(Math.abs(map.height - before.height) < 80 && panel.height > 400, `${before.height}, then ${map.height}, beside ${panel.height}`);
  await shot(page, "small");
  const [x, y] = await pixel(page, 3);
  await page.mouse.click(x, y);
  await page.locator("#detail .says").waitFor();
  await until(page, "app.state.open !== null");
  await close(page);
});

test("a low window leaves its height to the views; Next without graphs to choose from says so alone", limit, async () => {
  const page = await open("", { viewport: { width: 1024, height: 700 } });
  await settled(page);
  const map = await page.locator("#map").boundingBox();
  assert.ok(map.y < 285, `the map begins at ${map.y}`);
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "nothing to scroll sideways");
  await shot(page, "low");
  await page.locator("#tab-next").click();
  await page.locator("#next-cards button", { hasText: "To Many" }).waitFor();
  assert.ok(await page.locator("#next-map").isHidden() && await page.locator("#next-head").isHidden());
  const button = await page.locator("#next-cards button").boundingBox();
  assert.ok(button.y + button.height < 700, "the button is seen");
  await shot(page, "low-next");
  await close(page);
});
