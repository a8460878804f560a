// The page in a real browser. Run by "make test-explorer"; the server is started on a free
// port of the loopback interface, and every request of the page is watched.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const command = process.env.MLG ?? "../../../bin/mlg";
const shots = process.env.MLG_SHOTS; // a folder for screenshots, if they are wanted
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

let browser, base;
const servers = [];

// serve starts mlg serve and returns its address.
async function serve(...source) {
  const server = spawn(command, ["serve", "--quiet", ...source], { stdio: ["ignore", "pipe", "inherit"] });
  servers.push(server);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("mlg serve printed no address")), 20000);
    server.once("error", reject);
    server.once("exit", () => reject(new Error("mlg serve ended")));
    server.stdout.once("data", (d) => {
      clearTimeout(timer);
      resolve(String(d).trim());
    });
  });
}

before(async () => {
  base = await serve();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: flags });
}, { timeout: 60000 });

after(async () => {
  await browser?.close();
  for (const server of servers) {
    const ended = new Promise((resolve) => (server.exitCode === null ? server.once("exit", resolve) : resolve(server.exitCode)));
    server.kill("SIGINT");
    assert.equal(await ended, 0, "mlg serve ends cleanly when it is interrupted");
  }
}, { timeout: 30000 });

// open opens a page and collects what must not happen: errors, and requests to elsewhere.
async function open(hash = "", { at = base, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(15000);
  page.problems = [];
  page.requests = [];
  page.on("console", (m) => m.type() === "error" && !/status of 4\d\d/.test(m.text()) && page.problems.push(m.text()));
  page.on("pageerror", (e) => page.problems.push(e.message));
  page.on("request", (r) => page.requests.push(r.url()));
  page.home = at;
  await page.goto(at + hash);
  if (at === base) await page.locator("#score b").waitFor();
  return page;
}

// close checks what was collected, and closes.
async function close(page, name) {
  if (shots && name) {
    mkdirSync(shots, { recursive: true });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }
  assert.deepEqual(page.problems, []);
  for (const url of page.requests) assert.ok(url.startsWith(page.home), `a request to ${url}`);
  await page.context().close();
}

// pixel returns where a graph is on the map, in pixels of the page.
const pixel = (page, index) => page.evaluate(async (i) => {
  const { app } = await import("/app.js");
  const box = document.getElementById("map").getBoundingClientRect();
  const [x, y] = app.map.at(i);
  return [box.x + x, box.y + y];
}, index);

const limit = { timeout: 60000 };

test("load: the map, the legend and the accuracy are there", limit, async () => {
  const page = await open();
  assert.equal(await page.title(), "drugs – mlg explorer");
  assert.equal(await page.locator("#legend button").count(), 13);
  assert.match(await page.locator("#score").innerText(), /\d\d\.\d %/);
  const painted = await page.evaluate(() => {
    const c = document.getElementById("map");
    return c.getContext("2d").getImageData(0, 0, c.width, c.height).data.some((v) => v > 0);
  });
  assert.ok(painted, "there are points on the map");
  await close(page, "map");
});

test("hover draws the graph, click opens it, and the address says so", limit, async () => {
  const page = await open();
  const [x, y] = await pixel(page, 3);
  await page.mouse.move(x, y);
  await page.locator("#tip .drawing .ink path").first().waitFor();
  const hovered = await page.locator("#tip b").innerText();
  const chip = await page.locator("#tip .mark").boundingBox();
  assert.ok(chip.width < 20 && chip.height < 20, "the mark of the class is small");
  if (shots) await page.screenshot({ path: join(shots, "hover.png") });
  await page.mouse.click(x, y);
  await page.locator("#detail h2").filter({ hasText: hovered }).waitFor();
  await page.locator("#detail .positive").first().waitFor({ state: "attached" });
  assert.ok((await page.locator("#detail .card").count()) >= 9, "neighbours with drawings");
  assert.match(await page.locator("#detail").innerText(), /speaks for/);
  assert.match(page.url(), /open=\d+/);
  await close(page, "graph");
});

test("the last graph that was opened is the one that is shown", limit, async () => {
  const page = await open();
  const names = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    for (const ref of ["3", "40", "41", "7"]) {
      app.open(ref);
      await new Promise((r) => setTimeout(r, 5));
    }
    app.open("41");
    app.open("7");
    return [app.source.ids[7], app.source.targets[7]];
  });
  await page.locator("#detail h2").filter({ hasText: names[0] }).waitFor();
  await page.locator("#detail .positive").first().waitFor({ state: "attached" });
  await page.locator("#detail .says").filter({ hasText: names[1] }).waitFor();
  assert.equal(await page.locator("#detail .paper .hit").count(), await page.evaluate(async () => (await (await import("/app.js")).app.graph("7")).nodes));
  await close(page);
});

test("pan and zoom move the map and are kept in the address", limit, async () => {
  const page = await open();
  const before = await pixel(page, 3);
  const box = await page.locator("#map").boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height - 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width / 2 + 80, box.y + box.height - 40, { steps: 4 });
  await page.mouse.up();
  const panned = await pixel(page, 3);
  assert.ok(Math.abs(panned[0] - before[0] - 80) < 2 && Math.abs(panned[1] - before[1] - 20) < 2, `moved from ${before} to ${panned}`);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => location.hash.includes("zoom="));
  await page.locator("#zoom-fit").click();
  const back = await pixel(page, 3);
  assert.ok(Math.hypot(back[0] - before[0], back[1] - before[1]) < 1, "all is shown again");
  await close(page);
});

test("a vertex shows its neighbourhood at the chosen scale, and similar ones elsewhere", limit, async () => {
  const page = await open("#open=3");
  await page.locator("#detail .hit").nth(8).hover();
  await page.locator("#detail .ring.center").waitFor();
  const wide = await page.locator("#detail circle.zone").count();
  await page.locator("#detail .hit").nth(8).click();
  await page.locator("#scale").fill("1");
  await page.waitForFunction((n) => document.querySelectorAll("#detail circle.zone").length < n, wide);
  assert.equal(await page.locator("#detail circle.zone").count(), 4, "a vertex with three neighbours");
  assert.match(await page.locator("#detail").innerText(), /similar vertices elsewhere, within 1 hop/i);
  assert.match(page.url(), /level=1/);
  assert.match(page.url(), /vertex=8/);
  await page.locator("#detail .card .ring").first().waitFor({ state: "attached" });
  await close(page, "vertex");
});

test("a parameter changes the map, the accuracy and the address", limit, async () => {
  const page = await open();
  const before = await pixel(page, 3);
  const answered = page.waitForResponse((r) => r.url().includes("/evaluate?") && r.url().includes("gamma=1"));
  await page.locator("#p-gamma").fill("1");
  await page.locator("#p-gamma").press("Enter");
  assert.equal((await answered).status(), 200);
  await page.waitForFunction(() => !document.getElementById("score").classList.contains("stale"));
  const now = await pixel(page, 3);
  assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) > 1, "the points have moved");
  assert.match(page.url(), /gamma=1/);
  await page.locator("#p-combine").selectOption("sum");
  await page.waitForFunction(() => location.hash.includes("combine=sum") && !document.getElementById("score").classList.contains("stale"));
  const bad = page.waitForResponse((r) => r.status() === 400);
  await page.locator("#p-radii").fill("3, 1");
  await page.locator("#p-radii").press("Enter");
  await bad;
  await page.locator("#parameters-error").filter({ hasText: "radii = [3 1]" }).waitFor();
  await page.locator("#reset").click();
  await page.waitForFunction(() => location.hash === "" && document.getElementById("parameters-error").hidden);
  assert.equal(await page.locator("#p-radii").inputValue(), "1, 2");
  await close(page);
});

test("a pasted molecule is placed, with prediction and neighbours", limit, async () => {
  const page = await open();
  await page.locator("#ask-text").fill("CN1C(=O)CN=C(c2ccccc2)c2cc(Br)ccc21");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#asked li").waitFor();
  assert.match(await page.locator("#asked").innerText(), /benzodiazepine/);
  await page.locator("#detail .says").filter({ hasText: "benzodiazepine" }).waitFor();
  const place = await page.evaluate(async () => (await import("/app.js")).app.map.at("a0"));
  assert.ok(place.every(Number.isFinite), "it has a place on the map");
  assert.match(page.url(), /ask=CN1C/);
  await page.locator("#ask-text").fill("OCC1OC(O)C(O)C(O)C1O");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#asked .warn").waitFor();
  await page.locator("#detail .note").filter({ hasText: "Unlike the rest" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "ask.png") });
  await page.locator("#asked li").nth(1).locator(".quiet").click();
  await page.locator("#asked li").nth(1).waitFor({ state: "detached" });
  await close(page);
});

test("a bad SMILES says what is wrong with it", limit, async () => {
  const page = await open();
  await page.locator("#ask-text").fill("C1CC(");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#ask-error").filter({ hasText: "SMILES position" }).waitFor();
  assert.equal(await page.locator("#ask-text").getAttribute("aria-invalid"), "true");
  assert.equal(await page.locator("#asked li").count(), 0);
  if (shots) await page.screenshot({ path: join(shots, "error.png") });
  await page.locator("#ask-text").fill("C1CC1");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#asked li").waitFor();
  assert.ok(await page.locator("#ask-error").isHidden());
  await close(page);
});

test("files are read, dropped or chosen", limit, async () => {
  const page = await open();
  const file = join(tmpdir(), `mlg-webtest-${process.pid}.smi`);
  writeFileSync(file, "CCO ethanol\nc1ccccc1 benzene\n");
  try {
    await page.locator("#ask-file").setInputFiles(file);
    await page.locator("#asked li").nth(1).waitFor();
    assert.match(await page.locator("#asked").innerText(), /benzene/);
    assert.match(page.url(), /ethanol/);
  } finally {
    rmSync(file);
  }
  const data = await page.evaluateHandle(() => {
    const t = new DataTransfer();
    t.items.add(new File(["no graph at all"], "x.sdf"));
    return t;
  });
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
  await page.locator("#ask-error").filter({ hasText: "x.sdf" }).waitFor();
  await close(page);
});

test("a link restores what it was made of", limit, async () => {
  const link = "#view=pair&layout=pca&open=3&with=40&level=1&eta=0.2&ask=CCO&zoom=1.5,0.1,0";
  const page = await open(link);
  await page.locator(".pair-value").waitFor();
  assert.equal(await page.locator("#p-eta").inputValue(), "0.2");
  assert.equal(await page.locator("#tab-pair").getAttribute("aria-selected"), "true");
  assert.equal(await page.locator('.levels [aria-checked="true"]').innerText().then((t) => t.includes("within 1 hop")), true);
  assert.match(await page.locator(".pair-names").innerText(), /temazepam/);
  await page.locator("#asked li").filter({ hasText: "CCO" }).waitFor();
  assert.equal(await page.locator('[data-layout="pca"]').getAttribute("aria-checked"), "true");
  const url = new URLSearchParams(new URL(page.url()).hash.slice(1));
  assert.deepEqual([...url].sort(), [...new URLSearchParams(link.slice(1))].sort());
  await page.evaluate(() => (location.hash = "#view=pair&open=999999&with=x&level=-1&zoom=a&eta=0.1"));
  await page.locator("#pair .empty").waitFor();
  await close(page);
});

test("a pair links the vertices that correspond", limit, async () => {
  const page = await open("#view=pair&open=3&with=2");
  await page.locator(".pair-svg .hit").first().hover(); // one of 21 against 20
  await page.locator("#pair .key").filter({ hasText: "no counterpart" }).waitFor();
  await page.locator(".pair-svg .hit").nth(4).hover();
  await page.locator(".pair-svg .link").waitFor({ state: "attached" });
  assert.equal(await page.locator(".pair-svg .ring").count(), 2);
  assert.match(await page.locator("#pair .key").innerText(), /corresponds to vertex/);
  assert.equal(await page.locator(".levels button").count(), 3);
  await close(page, "pair");
});

test("the matrix is linked with the map, and a cell opens a pair", limit, async () => {
  const page = await open("#view=matrix");
  await page.locator("#matrix-scale canvas").waitFor();
  const box = await page.locator("#matrix").boundingBox();
  await page.mouse.move(box.x + box.width * 0.3, box.y + box.height * 0.6);
  await page.locator("#matrix-cell b").waitFor();
  const marked = await page.evaluate(async () => (await import("/app.js")).app.inset.marked.length);
  assert.equal(marked, 2, "both graphs are marked on the map");
  if (shots) await page.screenshot({ path: join(shots, "matrix.png") });
  await page.mouse.click(box.x + box.width * 0.3, box.y + box.height * 0.6);
  await page.locator(".pair-value").waitFor();
  await page.locator("#tab-map").click();
  const on = await page.evaluate(async () => (await import("/app.js")).app.map.marked.length);
  assert.equal(on, 2);
  await close(page);
});

test("everything can be reached by keyboard", limit, async () => {
  const page = await open();
  await page.locator("#map").focus();
  await page.keyboard.press("ArrowRight");
  await page.locator("#tip b").waitFor();
  const first = await page.locator("#tip b").innerText();
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction((t) => document.querySelector("#tip b")?.textContent !== t, first);
  const second = await page.locator("#tip b").innerText();
  assert.match(await page.locator("#announce").textContent(), new RegExp(second.slice(0, 5)));
  await page.keyboard.press("Enter");
  await page.locator("#detail h2").filter({ hasText: second }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("c");
  await page.locator(".pair-value").waitFor();
  await page.locator("#tab-pair").focus();
  await page.keyboard.press("ArrowLeft");
  await page.locator("#view-matrix").waitFor();
  await page.locator("#matrix-scale canvas").waitFor();
  await page.locator("#matrix").focus();
  await page.keyboard.press("Shift+ArrowDown");
  await page.keyboard.press("ArrowRight");
  await page.locator("#matrix-cell b").waitFor();
  await page.locator("#find").fill("diaze");
  await page.keyboard.press("Enter");
  await page.locator("#detail h2").filter({ hasText: "diazepam" }).waitFor();
  await page.locator("#detail .hit").first().focus();
  await page.locator("#detail .ring.center").waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => location.hash.includes("vertex="));
  await page.locator("#download-button").focus();
  await page.keyboard.press("Enter");
  await page.locator("#download-menu a").first().waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "download-button");
  // Every control has a name, and the ring of the focus is seen.
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, a, canvas[tabindex]")]
    .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML));
  assert.deepEqual(nameless, []);
  const outline = await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
  assert.equal(outline, "solid");
  await close(page);
});

test("dark and light follow the system and the button", limit, async () => {
  const page = await open("#open=3", { colorScheme: "dark" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await ground();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.theme), "dark");
  await page.locator("#detail .positive").first().waitFor({ state: "attached" });
  if (shots) await page.screenshot({ path: join(shots, "dark.png") });
  await page.locator("#theme").click();
  assert.notEqual(await ground(), dark);
  // Text stands out from its ground by 4.5 : 1 in both.
  for (const theme of ["light", "dark"]) {
    await page.evaluate((t) => (document.documentElement.dataset.theme = t), theme);
    const ratios = await page.evaluate(() => {
      const style = getComputedStyle(document.documentElement);
      const parse = (name) => style.getPropertyValue(name).trim().match(/[0-9a-f]{2}/gi).map((v) => {
        const c = parseInt(v, 16) / 255;
        return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
      });
      const light = (name) => parse(name).reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
      const ratio = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
      return [["--ink", "--panel"], ["--muted", "--panel"], ["--muted", "--bg"], ["--accent", "--panel"], ["--accent", "--accent-soft"], ["--on-accent", "--accent"],
        ["--bad", "--panel"], ["--warn", "--warn-soft"], ["--good", "--panel"], ["--muted", "--accent-soft"]].map(([a, b]) => [a, b, ratio(a, b)]);
    });
    for (const [a, b, r] of ratios) assert.ok(r >= 4.5, `${theme}: ${a} on ${b}: ${r.toFixed(2)}`);
  }
  await close(page);
});

test("a phone has everything, without scrolling sideways", limit, async () => {
  for (const width of [360, 820, 1920]) {
    const page = await open("#open=3", { viewport: { width, height: width === 360 ? 740 : 1000 }, hasTouch: width === 360 });
    await page.locator("#detail .positive").first().waitFor({ state: "attached" });
    for (const tab of ["matrix", "pair", "map"]) {
      await page.locator(`#tab-${tab}`).click();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(wide <= width, `${tab} is ${wide} pixels wide on ${width}`);
    }
    if (width === 360) {
      await page.locator("#map").scrollIntoViewIfNeeded();
      const [x, y] = await pixel(page, 40);
      await page.touchscreen.tap(x, y);
      await page.waitForFunction(() => !document.querySelector("#detail h2").textContent.includes("temazepam"));
    }
    await close(page, width === 360 ? "phone" : width === 1920 ? "wide" : "tablet");
  }
});

test("pictures, tables and the model can be downloaded, and the link shared", limit, async () => {
  const page = await open("#open=3");
  for (const name of ["map.svg", "matrix.png", "graph.svg", "table.csv", "model.mlg"]) {
    await page.locator("#download-button").click();
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(`#download-menu a[download="${name}"]`).click()]);
    assert.ok(file.suggestedFilename().endsWith(name.slice(name.indexOf("."))), file.suggestedFilename());
    assert.ok(statSync(await file.path()).size > 1000, name);
  }
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("#share").click();
  await page.locator("#toast").filter({ hasText: "link" }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /open=3/);
  await close(page);
});

test("a model without graphs has a map and neighbours, and draws what it is asked about", limit, async () => {
  const page = await open("#open=3&ask=CCO", { at: await serve("bare.mlg") });
  await page.locator("#detail .note").filter({ hasText: "holds no drawing" }).waitFor();
  await page.locator("#detail .card").nth(8).waitFor(); // the neighbours come after the note
  assert.equal(await page.locator("#detail .card").count(), 9);
  assert.ok(await page.locator("#p-eta").isDisabled());
  await page.locator("#asked button").first().click();
  await page.locator("#detail .drawing .ink path").first().waitFor();
  await page.locator("#detail .positive").first().waitFor({ state: "attached" });
  await page.locator("#tab-pair").click();
  await page.locator("#pair .empty").waitFor();
  await close(page);
});

test("names from data are texts, whatever they hold", limit, async () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
  const file = join(tmpdir(), `mlg-webtest-${process.pid}.jsonl`);
  const lines = [3, 4, 5, 6, 7, 8].map((n, i) => JSON.stringify({ id: `${evil}${i}`, nodes: n, edges: Array.from({ length: n - 1 }, (_, v) => [v, v + 1]), node_labels: Array.from({ length: n }, (_, v) => (v % 2 ? evil : "&amp;")), target: `${evil}${i % 2}` }));
  writeFileSync(file, `${lines.join("\n")}\n`);
  try {
    const page = await open("#open=0&with=1", { at: await serve(file) });
    page.on("dialog", (d) => page.problems.push(`a dialog: ${d.message()}`));
    await page.locator("#detail h2").filter({ hasText: evil }).waitFor();
    await page.locator("#detail .hit").first().hover();
    await page.locator("#detail .ring.center").waitFor();
    await page.locator("#tab-pair").click();
    await page.locator(".pair-value").waitFor();
    await page.locator("#find").fill("onerror");
    await page.locator("#find-list li").first().waitFor();
    assert.equal(await page.locator("img[src=x], script:not([src])").count(), 0);
    await close(page);
  } finally {
    rmSync(file);
  }
});

test("a computation that takes long shows its progress and can be cancelled", limit, async () => {
  const page = await open();
  await page.route("**/api/v1/map?*", async (route) => {
    await new Promise((r) => setTimeout(r, 1500));
    await route.continue().catch(() => {}); // cancelled meanwhile
  });
  await page.locator("#p-eta").fill("0.7");
  await page.locator("#p-eta").press("Enter");
  await page.locator("#work").waitFor();
  await page.locator("#work-cancel").click();
  await page.locator("#work").waitFor({ state: "hidden" });
  await page.locator("#toast").filter({ hasText: "Cancelled" }).waitFor();
  await close(page);
});

test("a server that is gone is said to be gone", limit, async () => {
  const page = await open();
  await page.context().setOffline(true);
  await page.locator("#ask-text").fill("CCO");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#ask-error").filter({ hasText: "does not answer" }).waitFor();
  page.problems = page.problems.filter((p) => !p.includes("ERR_INTERNET_DISCONNECTED"));
  await close(page);
});
