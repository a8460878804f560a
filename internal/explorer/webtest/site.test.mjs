// The pages of "make docs" in a real browser: as files, and from a server below a path. Run by
// "make test-docs"; SITE is the folder of the pages.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const folder = process.env.SITE;
const files = pathToFileURL(folder).href + "/";
const types = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png" };
const limit = { timeout: 180000 };
let browser, server;

before(async () => {
  server = createServer((request, response) => {
    try {
      const name = decodeURIComponent(new URL(request.url, "http://x").pathname.replace(/^\/some\/where\//, ""));
      const content = readFileSync(join(folder, name));
      response.writeHead(200, { "content-type": types[extname(name)] }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM, headless: true,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"] });
}, limit);

after(async () => {
  await browser?.close();
  server.close();
});

// open opens a page of the site and collects what must not happen: errors, and requests to elsewhere.
async function open(name, { home = files, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  page.home = home;
  page.problems = [];
  page.on("console", (m) => ["error", "warning"].includes(m.type()) && page.problems.push(m.text()));
  page.on("pageerror", (e) => page.problems.push(e.message));
  page.on("request", (r) => r.url().startsWith(home) || r.url() === "data:," || page.problems.push(`a request to ${r.url()}`));
  page.on("requestfailed", (r) => page.problems.push(`no answer from ${r.url()}`));
  await page.goto(home + name);
  return page;
}

async function close(page) {
  assert.deepEqual(page.problems, []);
  await page.context().close();
}

// addresses returns the pages of the navigation.
const addresses = (page) => page.locator("nav > ul > li > a").evaluateAll((list) => list.map((a) => a.href));

test("every page opens, has its title and place, and is not wider than the window", limit, async () => {
  const page = await open("index.html");
  const all = await addresses(page);
  assert.ok(all.length >= 20, `${all.length} pages`);
  for (const address of all) {
    await page.goto(address);
    const here = await page.evaluate(() => {
      const entry = document.querySelector("nav [aria-current]");
      return { titles: document.querySelectorAll("main h1").length, entry: entry.href, visible: entry.checkVisibility(),
        broken: [...document.images].filter((i) => i.naturalWidth === 0).map((i) => i.src) };
    });
    assert.deepEqual(here, { titles: 1, entry: address, visible: true, broken: [] });
    for (const width of [1024, 390, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${address} at ${width}`);
    }
  }
  await close(page);
});

// ownWords returns a word of every page that no other page has, for all but short pages.
async function ownWords(page) {
  const texts = new Map();
  for (const address of await addresses(page)) {
    const html = readFileSync(join(folder, address.slice(page.home.length)), "utf8");
    texts.set(address, html.slice(html.indexOf("<main"), html.indexOf("<footer")).replace(/<[^>]*>/g, "").toLowerCase());
  }
  const all = [...texts.values()];
  return [...texts].map(([address, text]) =>
    [address, text.match(/\p{L}{6,}/gu)?.find((w) => all.filter((t) => t.includes(w)).length === 1)]).filter(([, own]) => own);
}

async function search(page, word) {
  await page.keyboard.press("/");
  await page.locator("#search input").fill(word);
}

test("search finds every page by a word that only it has", limit, async () => {
  const page = await open("index.html");
  const words = await ownWords(page);
  assert.ok(words.length >= 20, `${words.length} pages with a word of their own`);
  for (const [address, own] of words) {
    await search(page, own);
    const hit = page.locator("#found a", { has: page.locator("mark") }).filter({ hasText: new RegExp(own, "i") }).first();
    assert.equal((await hit.evaluate((a) => a.href)).split("#")[0], address, own);
    await page.keyboard.press("Escape");
  }
  await search(page, "nosuchwordanywhere");
  await page.getByText("Nothing found.").waitFor();
  await page.keyboard.press("Escape");
  assert.ok(await page.locator("#found").isHidden());
  await close(page);
});

test("below a path of a server, search by keys leads to the page", limit, async () => {
  const page = await open("index.html", { home: `http://127.0.0.1:${server.address().port}/some/where/` });
  for (const [address, own] of (await ownWords(page)).slice(1, 4)) {
    await search(page, own);
    await page.locator("#found a").first().waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.href.split("#")[0] === address);
  }
  await close(page);
});

test("on a phone the menu opens, and leads on", limit, async () => {
  const page = await open("index.html", { viewport: { width: 390, height: 844 } });
  assert.ok(await page.locator("nav").isHidden());
  await page.getByRole("button", { name: "Menu" }).click();
  await page.locator("nav > ul > li > a").nth(1).click();
  assert.ok(await page.locator("nav").isHidden());
  assert.notEqual(page.url(), files + "index.html");
  await close(page);
});

test("dark where the system is", limit, async () => {
  const paper = async (colorScheme) => {
    const page = await open("index.html", { colorScheme });
    const color = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await close(page);
    return Math.max(...color.match(/\d+/g).map(Number));
  };
  assert.ok((await paper("light")) > 200);
  assert.ok((await paper("dark")) < 60);
});
