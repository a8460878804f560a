// The page in a real browser. Run by "make test-explorer".

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { base, choose, close, command, file, folder, hash, hover, limit, open, pixel, serve, servers, settings, settled,
  shots, until, value } from "./browser.mjs";

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
  assert.match(await page.locator("#detail .contributions").innerText(), /−0\.\d+[^]*0\.\d+/); // the scale has numbers
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
  assert.equal(await page.locator("#detail .paper .hit").count(),
    await page.evaluate(async () => (await (await import("/app.js")).app.graph("7")).nodes));
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
  assert.ok(Math.abs(panned[0] - before[0] - 80) < 2 && Math.abs(panned[1] - before[1] - 20) < 2,
    `moved from ${before} to ${panned}`);
  await page.mouse.wheel(0, -400);
  await page.waitForFunction(() => location.hash.includes("zoom="));
  await page.locator("#zoom-fit").click();
  const back = await pixel(page, 3);
  assert.ok(Math.hypot(back[0] - before[0], back[1] - before[1]) < 1, "all is shown again");
  await close(page);
});

test("a vertex shows its neighbourhood at the chosen scale, and similar ones elsewhere", limit, async () => {
  const page = await open("#open=3");
  await hover(page, page.locator("#detail .hit").nth(8), page.locator("#detail .ring.center"));
  const wide = await page.locator("#detail circle.zone").count();
  await page.locator("#detail .hit").nth(8).click();
  await page.locator("#scale").fill("1");
  await page.waitForFunction((n) => document.querySelectorAll("#detail circle.zone").length < n, wide);
  assert.equal(await page.locator("#detail circle.zone").count(), 4, "a vertex with three neighbours");
  assert.match(await page.locator("#detail").innerText(), /similar vertices in other graphs, within 1 hop/i);
  const reasons = await fetch(`${base}/api/v1/explain?index=3`).then((r) => r.json());
  const part = Number(reasons.vertices[8].toPrecision(2));
  const said = `It contributes ${part < 0 ? "−" : "+"}${Math.abs(part)}`;
  await page.locator("#detail .key").filter({ hasText: said }).waitFor();
  assert.match(page.url(), /level=1/);
  assert.match(page.url(), /vertex=8/);
  await page.locator("#detail .card .ring").first().waitFor({ state: "attached" });
  await close(page, "vertex");
});

test("a parameter changes the text, the map, the accuracy and the address", limit, async () => {
  const page = await open();
  const before = await pixel(page, 3);
  const answered = page.waitForResponse((r) => r.url().includes("/evaluate?") && r.url().includes("gamma%3D1"));
  await settings(page);
  await page.locator("#p-gamma").fill("1");
  await page.locator("#p-gamma").press("Enter");
  assert.equal((await answered).status(), 200);
  await settled(page);
  const now = await pixel(page, 3);
  assert.ok(Math.hypot(now[0] - before[0], now[1] - before[1]) > 1, "the points have moved");
  assert.equal(await page.locator("#kernel-text").inputValue(), "mlg gamma=1");
  assert.equal(hash(page).get("kernel"), "mlg gamma=1");
  await page.locator("#p-combine").selectOption("sum");
  await until(page, 'app.placed === "mlg gamma=1 combine=sum"');
  await page.locator("#p-radii").fill("3, 1");
  await page.locator("#p-radii").press("Enter");
  await page.locator("#kernel-error").filter({ hasText: "radii = 3,1" }).waitFor();
  assert.equal(await page.locator("#p-radii").getAttribute("aria-invalid"), "true");
  assert.ok(await page.locator("#kernel-place").isHidden(), "the text itself is right");
  assert.equal(await page.locator("#kernel-text").inputValue(), "mlg gamma=1 combine=sum");
  await page.locator("#reset").click();
  await page.waitForFunction(() => !location.hash.includes("kernel=") && document.getElementById("kernel-error").hidden);
  assert.equal(await page.locator("#p-radii").inputValue(), "1, 2");
  assert.equal(await page.locator("#kernel-text").inputValue(), "mlg");
  await settings(page);
  assert.equal(await page.locator("#kernel-sum").innerText(), "mlg");
  await close(page);
});

test("the text of a kernel is completed while it is typed", limit, async () => {
  const page = await open();
  await settings(page);
  const box = page.locator("#kernel-text");
  const offered = (...words) => page.waitForFunction((want) =>
    [...document.querySelectorAll("#kernel-words code")].map((c) => c.textContent).join(" ") === want, words.join(" "));
  await box.fill("");
  await box.pressSequentially("w");
  await offered("wl", "wl-edge", "wl-oa", "wl-sp");
  assert.equal(await box.getAttribute("aria-expanded"), "true");
  assert.match(await page.locator("#kernel-words li").first().innerText(), /Weisfeiler-Lehman/);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  assert.equal(await box.getAttribute("aria-activedescendant"), "word-2");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("Tab");
  assert.equal(await box.inputValue(), "wl-edge");
  assert.equal(await page.evaluate(() => document.activeElement.id), "kernel-text", "Tab takes a word and stays");
  await page.keyboard.press("Home");
  await box.fill("");
  await box.pressSequentially("wl nor");
  await offered("normalize=");
  await page.keyboard.press("Escape");
  await page.locator("#kernel-words").waitFor({ state: "hidden" });
  assert.equal(await box.inputValue(), "wl nor");
  await page.keyboard.press("ArrowDown");
  await offered("normalize=");
  await page.keyboard.press("Enter");
  await offered("true", "false");
  assert.equal(await box.inputValue(), "wl normalize=");
  assert.equal(await value(page, "app.state.kernel"), "", "a word that is taken is not yet the kernel of the page");
  await box.fill("");
  await box.pressSequentially("0.5 mlg + 0.5 w * sp");
  for (let i = 0; i < 5; i++) await page.keyboard.press("ArrowLeft"); // into the middle
  await page.keyboard.press("Control+Space");
  await offered("wl", "wl-edge", "wl-oa", "wl-sp");
  if (shots) await page.screenshot({ path: join(shots, "kernel.png") });
  await page.locator("#kernel-words li").first().click();
  assert.equal(await box.inputValue(), "0.5 mlg + 0.5 wl * sp");
  await page.keyboard.press("Enter"); // a text that is right is meant as it is
  await until(page, 'app.placed === "0.5 mlg + 0.5 wl * sp"');
  await box.fill("mlg rank=1"); // the default begins in the same way, and is not meant
  await offered("10");
  await page.keyboard.press("Enter");
  await until(page, 'app.placed === "mlg rank=1"');
  await box.fill("");
  await box.pressSequentially("mlg et");
  await offered("eta=");
  await page.route("**/api/v1/kernel*", async (route) => {
    await new Promise((r) => setTimeout(r, 200)); // words come later than the next keys
    await route.continue().catch(() => {}); // nobody waits for it any more
  });
  await box.pressSequentially("a=0.3");
  await page.keyboard.press("Enter");
  await until(page, 'app.placed === "mlg eta=0.3"');
  await close(page);
});

test("what is wrong with the text of a kernel is shown at its place", limit, async () => {
  const page = await open();
  await settings(page);
  const box = page.locator("#kernel-text");
  await box.fill("mlg base=(labels * gaussian sigma=-1) eta=0.2");
  await box.press("Enter");
  await page.locator("#kernel-message").filter({ hasText: "gaussian: sigma = -1, want a positive, finite number" }).waitFor();
  const [text, caret] = (await page.locator("#kernel-place").textContent()).split("\n");
  assert.equal(text.slice(caret.length - 1, caret.length + 1), "-1", `the caret is below the value: ${text}`);
  assert.equal(caret.trim(), "^");
  assert.equal(await box.getAttribute("aria-invalid"), "true");
  assert.doesNotMatch(page.url(), /kernel=/);
  if (shots) await page.screenshot({ path: join(shots, "caret.png") });
  await box.fill("wl h=99");
  await page.locator("#kernel-message").filter({ hasText: "h = 99, want 0 to 64" }).waitFor(); // while it is typed
  assert.equal(await page.locator("#kernel-place").textContent(), "wl h=99\n     ^");
  await box.fill("wl h=9");
  await page.locator("#kernel-error").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#p-h").inputValue(), "9", "the form follows");
  await box.fill("lg");
  await box.press("Enter");
  await page.locator("#kernel-message").filter({ hasText: "graphs of one size" }).waitFor();
  assert.ok(await page.locator("#kernel-place").isHidden());
  await close(page);
  const link = await open("#kernel=wl+h%3Dx&view=table");
  await link.locator("#notice").filter({ hasText: "The map uses mlg" }).waitFor();
  await link.locator("#kernel-message").filter({ hasText: "want a whole number" }).waitFor();
  assert.equal(await link.locator("#kernel-place").textContent(), "wl h=x\n     ^");
  assert.equal(await value(link, "app.map.x.length"), 234);
  await close(link);
});

test("every kernel can be chosen by its name; one without scales says so, and a sum has its text alone", limit, async () => {
  const page = await open("#open=3&with=40&vertex=8&level=1");
  await page.locator("#detail .hit").first().waitFor({ state: "attached" });
  await settings(page);
  const names = await page.locator("#kernel-name option:not([hidden])").evaluateAll((all) => all.map((o) => [o.value, o.title]));
  assert.ok(names.length > 20 && names.every(([name, about]) => name && about), "all kernels with their line");
  await page.locator("#kernel-name").selectOption("wl");
  await until(page, 'app.placed === "wl"');
  await settled(page);
  assert.equal(await page.locator("#kernel-text").inputValue(), "wl");
  assert.match(await page.locator("#kernel-about").innerText(), /Compares labels refined/);
  assert.equal(await page.locator("#p-h").inputValue(), "5");
  assert.equal(await page.locator("#p-eta").count(), 0);
  await page.locator("#no-scales").filter({ hasText: "Pair shows the levels of this kernel" }).waitFor();
  await page.locator("#detail .key").filter({ hasText: "It contributes" }).waitFor();
  assert.doesNotMatch(await page.locator("#detail").innerText(), /similar vertices in other graphs/i);
  await page.locator("#tab-pair").click();
  await page.locator("#pair .levels button").nth(5).filter({ hasText: "refinement 5" }).waitFor();
  await page.locator("#pair .levels button").first().filter({ hasText: "labels alone" }).click();
  await page.locator('#pair .levels [aria-checked="true"]').filter({ hasText: "labels alone" }).waitFor();
  await page.locator("#pair .key").filter({ hasText: "matches no vertices" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "levels.png") });
  await choose(page, "mlg radii=1 exact");
  await page.locator("#pair .levels button").nth(1).filter({ hasText: "radius 1" }).waitFor();
  await hover(page, page.locator("#pair .hit").first(), page.locator("#pair .key").filter({ hasText: /matches vertex|no match/ }));
  await choose(page, "sp");
  await page.locator("#pair .empty").filter({ hasText: "need a multiscale kernel" }).waitFor();
  await choose(page, "0.5 mlg + 0.5 wl");
  await page.locator("#pair .levels-box").filter({ hasText: "Of the kernel mlg bonds=false, which is a part of this one" }).waitFor();
  await page.locator("#tab-map").click();
  if (shots) await page.screenshot({ path: join(shots, "wl.png") });
  await choose(page, "0.5 mlg + 0.5 wl * sp subdivide");
  assert.match(await page.locator("#kernel-about").innerText(), /more than one kernel/);
  assert.equal(await page.locator("#kernel-fields > *").count(), 0);
  await page.locator("#scale").waitFor(); // those of mlg
  assert.equal(hash(page).get("kernel"), "0.5 mlg + 0.5 wl * sp subdivide");
  if (shots) await page.screenshot({ path: join(shots, "sum.png") });
  await page.reload();
  await settings(page);
  await until(page, 'app.placed === "0.5 mlg + 0.5 wl * sp subdivide"');
  assert.equal(await page.locator("#kernel-text").inputValue(), "0.5 mlg + 0.5 wl * sp subdivide");
  await page.locator("#kernel-name").selectOption("mlg");
  await until(page, 'app.placed === ""');
  assert.doesNotMatch(page.url(), /kernel=/);
  await close(page);
});

test("a model answers as it was trained, until another kernel is chosen", limit, async () => {
  const path = join(folder, "trained.mlg");
  const made = spawnSync(command, ["train", "builtin:drugs", "-o", path, "--kernel", "0.5 wl + 0.5 sp", "--quiet"], { encoding: "utf8" });
  assert.equal(made.status, 0, made.stderr);
  const page = await open("#open=3", { at: await serve(path) });
  await page.locator("#detail .card").first().waitFor();
  await page.locator("#no-scales").filter({ hasText: "need a multiscale kernel" }).waitFor();
  assert.equal(await page.locator("#kernel-sum").innerText(), "as trained");
  await settings(page);
  assert.match(await page.locator("#kernel-terms").innerText(), /wl[^]*sp/);
  assert.equal(await page.locator("#kernel-text").inputValue(), "");
  assert.equal(await page.locator("#kernel-name").inputValue(), "");
  if (shots) await page.screenshot({ path: join(shots, "trained.png") });
  await page.locator("#kernel-name").selectOption("mlg");
  await page.locator("#scale").waitFor();
  assert.equal(hash(page).get("kernel"), "mlg", "the default of data is not that of a model");
  await page.locator("#reset").click();
  await until(page, 'app.placed === ""');
  await page.locator("#no-scales").waitFor();
  assert.doesNotMatch(page.url(), /kernel=/);
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
  await page.locator("#detail .note").filter({ hasText: "Unlike the graphs here" }).waitFor();
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

test("a link restores what it was made of", limit, async () => {
  const source = await (await fetch(`${base}/api/v1/info`)).json().then((i) => i.source);
  const shown = "view=pair&layout=pca&open=3&with=40&level=1&kernel=mlg+eta%3D0.2&ask=CCO&zoom=1.5,0.1,0&color=size&pick=3-9,12";
  const link = `#source=${source}&${shown}`;
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
  assert.equal(await page.locator("#color").inputValue(), "size");
  assert.equal(await value(page, "app.map.picked.size"), 8);
  await page.evaluate(() => (location.hash = "#view=pair&open=999999&with=x&level=-1&zoom=a&kernel=mlg+eta=0.1&pick=x&color=taste"));
  await page.locator("#pair .empty").waitFor();
  await page.locator("#notice").filter({ hasText: "999999" }).waitFor();
  await close(page);
});

test("a pair links the vertices that correspond", limit, async () => {
  const page = await open("#view=pair&open=3&with=2");
  const marks = page.locator(".pair-svg .hit"); // one of 21 against 20
  await hover(page, marks.first(), page.locator("#pair .key").filter({ hasText: "no match" }));
  await hover(page, marks.nth(4), page.locator("#pair .key").filter({ hasText: "matches vertex" }));
  await page.locator(".pair-svg .link").waitFor({ state: "attached" });
  assert.equal(await page.locator(".pair-svg .ring").count(), 2);
  assert.match(await page.locator("#pair .key").innerText(), /matches vertex/);
  assert.equal(await page.locator(".levels button").count(), 3);
  await close(page, "pair");
});

test("the matrix is linked with the map, and a cell opens a pair", limit, async () => {
  const page = await open("#view=matrix");
  await page.locator("#matrix-scale .gradient").waitFor();
  assert.match(await page.locator("#matrix-scale").innerText(), /0\.\d\d\s+similarity\s+\d\.\d\d/);
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
  await page.locator("#matrix-scale .gradient").waitFor();
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
  await page.locator("#download-menu button").first().waitFor();
  await page.keyboard.press("Escape");
  assert.equal(await page.evaluate(() => document.activeElement.id), "download-button");
  // Every control has a name, and the ring of the focus is seen.
  const nameless = await page.evaluate(() => [...document.querySelectorAll("button, input, select, a, canvas[tabindex]")]
    .filter((e) => e.checkVisibility() && !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) =>
      e.outerHTML));
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
      return [["--ink", "--panel"], ["--muted", "--panel"], ["--muted", "--bg"], ["--accent", "--panel"],
        ["--accent", "--accent-soft"], ["--on-accent", "--accent"],
        ["--bad", "--panel"], ["--warn", "--warn-soft"], ["--good", "--panel"],
          ["--muted", "--accent-soft"]].map(([a, b]) => [a, b, ratio(a, b)]);
    });
    for (const [a, b, r] of ratios) assert.ok(r >= 4.5, `${theme}: ${a} on ${b}: ${r.toFixed(2)}`);
  }
  await close(page);
});

test("a phone has everything, without scrolling sideways", limit, async () => {
  for (const width of [360, 820, 1024, 1920]) {
    const page = await open("#open=3", { viewport: { width, height: { 360: 740, 1024: 700 }[width] ?? 1000 },
      hasTouch: width === 360 });
    await page.locator("#detail .positive").first().waitFor({ state: "attached" });
    await settings(page);
    await page.locator("#kernel-text").pressSequentially(" base=(");
    await page.locator("#kernel-words li", { hasText: "gaussian" }).waitFor();
    const list = await page.locator("#kernel-words").boundingBox();
    assert.ok(list.x >= 0 && list.x + list.width <= width && list.y >= 0, `words at ${JSON.stringify(list)} on ${width}`);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth) <= width, "the panel of the kernel is too wide");
    await page.locator("#kernel-text").fill("mlg");
    await settings(page);
    for (const tab of ["table", "predictions", "matrix", "pair", "map"]) {
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
    await close(page, { 360: "phone", 820: "tablet", 1024: "small", 1920: "wide" }[width]);
  }
});

test("pictures, tables and the model can be downloaded, and the link shared", limit, async () => {
  const page = await open("#open=3");
  for (const name of ["map.svg", "matrix.png", "graph.svg", "table.csv", "model.mlg"]) {
    await page.locator("#download-button").click();
    const [file] = await Promise.all([page.waitForEvent("download"),
      page.locator(`#download-menu [data-file="${name}"]`).click()]);
    assert.ok(file.suggestedFilename().endsWith(name.slice(name.indexOf("."))), file.suggestedFilename());
    assert.ok(statSync(await file.path()).size > 1000, name);
  }
  await page.locator("#download-button").click();
  const [api] = await Promise.all([page.context().waitForEvent("page"),
    page.locator("#download-menu a", { hasText: "API" }).click()]);
  await api.locator("h1, h2").first().waitFor();
  assert.match(await api.locator("body").innerText(), /predict/);
  await api.close();
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.locator("#share").click();
  await page.locator("#toast").filter({ hasText: "link" }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /open=3/);
  await close(page);
});

test("names from data are texts, whatever they hold", limit, async () => {
  const evil = '"><img src=x onerror=alert(1)><script>alert(2)</script>';
  const file = join(tmpdir(), `mlg-webtest-${process.pid}.jsonl`);
  const lines = [3, 4, 5, 6, 7, 8].map((n, i) =>
    JSON.stringify({ id: `${evil}${i}`, nodes: n, edges: Array.from({ length: n - 1 }, (_, v) => [v, v + 1]),
      node_labels: Array.from({ length: n }, (_, v) => (v % 2 ? evil : "&amp;")),
      node_names: Array.from({ length: n }, (_, v) => `${evil}main${v}`), target: `${evil}${i % 2}` }));
  writeFileSync(file, `${lines.join("\n")}\n`);
  try {
    const page = await open("#open=0&with=1", { at: await serve(file) });
    page.on("dialog", (d) => page.problems.push(`a dialog: ${d.message()}`));
    await page.locator("#detail h2").filter({ hasText: evil }).waitFor();
    await hover(page, page.locator("#detail .hit").first(), page.locator("#detail .ring.center"));
    await page.locator("#detail .key").filter({ hasText: `Vertex ${evil}main0, label` }).waitFor();
    await page.locator("#detail .card .value").filter({ hasText: `${evil}main` }).first().waitFor(); // similar vertices elsewhere
    assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("#detail .paper .ink")).filter),
      "grayscale(1)"); // no class
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

test("a server that is gone is said to be gone", limit, async () => {
  const page = await open();
  await page.context().setOffline(true);
  await page.locator("#ask-text").fill("CCO");
  await page.locator("#ask-text").press("Enter");
  await page.locator("#ask-error").filter({ hasText: "does not answer" }).waitFor();
  page.problems = page.problems.filter((p) => !p.includes("ERR_INTERNET_DISCONNECTED"));
  await close(page);
});

test("what is missing for these tests is installed, and nothing else; under CI nothing is skipped", limit, async () => {
  const bin = join(folder, "bin");
  mkdirSync(bin);
  for (const tool of ["node", "npm", "sh", "id", "dirname", "sed", "tail", "rm"]) {
    symlinkSync(spawnSync("sh", ["-c", `command -v ${tool}`], { encoding: "utf8" }).stdout.trim(), join(bin, tool));
  }
  const run = (env) => spawnSync(join(bin, "sh"), ["run.sh"], { encoding: "utf8", env: { PATH: bin, ...env } });
  const without = [run({}), run({ CI: "true" })]; // no apt-get, no Chromium
  assert.deepEqual(without.map((r) => r.status), [0, 1]);
  for (const r of without) assert.match(r.stdout, /SKIPPED.*they need.* chromium/);
  const said = join(folder, "apt");
  writeFileSync(join(bin, "apt-get"), `#!${join(bin, "sh")}\necho "$@" >>${said}\nexit 1\n`, { mode: 0o755 });
  assert.equal(run({ CI: "true" }).status, 1);
  if (process.getuid() === 0) {
    const asked = readFileSync(said, "utf8").split("\n")[0];
    assert.match(asked, /install .*chromium/);
    assert.doesNotMatch(asked, /nodejs|npm/);
  }
  rmSync("apt.log", { force: true });
});

test("the first look: what this is, examples to try, the kernel folded away", limit, async () => {
  const page = await open();
  assert.match(await page.locator("#facts").innerText(), /234 molecules in 13 classes.*Similar ones lie together/);
  assert.ok(await page.locator("#kernel").isHidden());
  assert.ok((await page.locator("#examples button").count()) >= 5);
  await page.locator("#examples button", { hasText: "caffeine" }).click();
  await page.locator("#asked li").waitFor();
  await page.locator("#examples button", { hasText: "alike" }).click();
  await page.locator(".pair-value").waitFor();
  await page.locator("#examples button", { hasText: "errors" }).click();
  await page.locator("#legend").filter({ hasText: "wrong" }).waitFor();
  await close(page);
});

test("the map stays in place: no turn brings the new positions nearer to the old ones", limit, async () => {
  const page = await open("#open=3");
  const before = await value(page, "[app.map.x.slice(), app.map.y.slice()]");
  await settings(page);
  await page.locator("#p-gamma").fill("0.4");
  await page.locator("#p-gamma").press("Enter");
  await page.waitForFunction(() => location.hash.includes("gamma%3D0.4"));
  await settled(page);
  const after = await value(page, "[app.map.x.slice(), app.map.y.slice()]");
  const middle = ([x, y]) => [x, y].map((v) => v.map((a) => a - v.reduce((s, b) => s + b, 0) / v.length));
  const size = ([x, y]) => Math.sqrt(x.reduce((s, a, i) => s + a * a + y[i] * y[i], 0));
  const unit = (p) => p.map((v) => v.map((a) => a / size(p)));
  const [from, to] = [unit(middle(before)), unit(middle(after))];
  const distance = (angle, mirror) => to[0].reduce((s, _, i) => {
    const [x, y] = [to[0][i], mirror * to[1][i]];
    return s + (Math.cos(angle) * x - Math.sin(angle) * y - from[0][i]) ** 2 +
      (Math.sin(angle) * x + Math.cos(angle) * y - from[1][i]) ** 2;
  }, 0);
  for (let k = 0; k < 360; k++) {
    for (const mirror of [1, -1]) assert.ok(distance(0, 1) <= distance((k * Math.PI) / 180, mirror) + 1e-9,
      `turned by ${k}°, ${mirror}`);
  }
  assert.ok(distance(0, 1) < 1, `the map is much as it was: ${distance(0, 1)}`);
  // Turned, mirrored and enlarged, positions come back to where they were.
  const back = await page.evaluate(async () => {
    const { bestTurn, frame } = await import("/align.js");
    const [x, y] = [[0, 4, 1, -2], [1, -1, 3, -3]];
    const [c, s] = [Math.cos(2), Math.sin(2)];
    const [u, v] = [x.map((a, i) => 3 * (c * a + s * y[i]) + 5), x.map((a, i) => 3 * (s * a - c * y[i]) - 7)];
    const old = frame(x, y, [0, false]);
    const now = frame(u, v, bestTurn(u, v, [old.x, old.y]));
    return [...now.x.map((a, i) => a - old.x[i]), ...now.y.map((a, i) => a - old.y[i])];
  });
  for (const d of back) assert.ok(Math.abs(d) < 1e-9, String(d));
  await close(page);
});

test("a change of the map is animated, unless motion is unwanted", limit, async () => {
  const page = await open("", { reducedMotion: "no-preference" });
  const path = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const at = () => [app.map.x[3], app.map.y[3]];
    const seen = [at()];
    document.querySelector('[data-layout="pca"]').click();
    for (let i = 0; i < 40; i++) {
      await new Promise((r) => setTimeout(r, 30));
      seen.push(at());
    }
    return seen;
  });
  const along = path.map(([x, y]) => Math.hypot(x - path[0][0], y - path[0][1]));
  const end = along.at(-1);
  assert.ok(end > 0.01 && along.some((d) => d > 0.05 * end && d < 0.95 * end), `it goes there step by step: ${along}`);
  await close(page);
});

test("reasons have a sentence, a sum and a scale with numbers", limit, async () => {
  const page = await open();
  await page.route("**/api/v1/explain*", async (route) => {
    const r = await route.fetch();
    const body = await r.json();
    const vertices = body.vertices.map((_, i) => (i % 2 ? -0.25 : 0.5));
    await route.fulfill({ response: r, json: { ...body, class: "", says: "logS 0.8 above the mean", value: 0.8, baseline: 0,
      sum: 0.8, vertices } });
  });
  await page.evaluate(async () => (await import("/app.js")).app.open("3"));
  const key = page.locator("#detail .contributions");
  const says = "logS 0.8 above the mean. The vertices add up to 0.8. Orange raises the value, blue lowers it.";
  await key.filter({ hasText: says }).waitFor();
  assert.match(await key.innerText(), /−0\.5\s+0\.5/);
  const strength = (kind) => page.locator(`#detail .${kind}`).first().getAttribute("fill-opacity").then(Number);
  assert.ok(Math.abs((await strength("positive")) - 2 * (await strength("negative"))) < 1e-9, "colours are in proportion");
  await page.unroute("**/api/v1/explain*");
  await page.route("**/api/v1/explain*", (route) =>
    route.fulfill({ status: 422, json: { error: { status: 422, message: "no reasons here" } } }));
  await page.evaluate(async () => (await import("/app.js")).app.open("4"));
  await page.locator("#detail .key").filter({ hasText: "no reasons here" }).waitFor();
  assert.equal(await page.locator("#detail .positive").count(), 0);
  await close(page);
});

test("slopes are shown where they are asked for, and a link keeps them", limit, async () => {
  const page = await open("#open=3");
  const key = page.locator("#detail .contributions");
  await key.filter({ hasText: "The vertices add up to" }).waitFor();
  await page.locator("#slopes").check();
  await key.filter({ hasText: "They do not add up." }).waitFor();
  assert.match(page.url(), /slopes=1/);
  const [slopes, parts] = await Promise.all(["&slopes=true", ""].map((q) =>
    fetch(`${base}/api/v1/explain?index=3${q}`).then((r) => r.json())));
  assert.notDeepEqual(slopes.vertices, parts.vertices);
  const largest = (e) => Number(Math.max(...e.vertices.map(Math.abs)).toPrecision(2));
  assert.ok((await key.innerText()).includes(`−${largest(slopes)}`), "the scale is that of the slopes");
  const file = page.waitForRequest((r) => r.url().includes("/download/graph.svg"));
  await page.locator("#download-button").click();
  await page.locator('[data-file="graph.svg"]').click();
  assert.match((await file).url(), /slopes=true/);
  await page.reload();
  await key.filter({ hasText: "They do not add up." }).waitFor();
  await page.locator("#slopes").uncheck();
  await key.filter({ hasText: "The vertices add up to" }).waitFor();
  assert.doesNotMatch(page.url(), /slopes/);
  await close(page);
});

test("a colour has one meaning, and colours of numbers have a named bar with numbers", limit, async () => {
  const page = await open("#open=3");
  await page.locator("#detail .positive").first().waitFor({ state: "attached" });
  for (const theme of ["light", "dark"]) {
    const near = await page.evaluate(async (kind) => {
      document.documentElement.dataset.theme = kind;
      const { app } = await import("/app.js");
      const { onTheme } = await import("/colors.js");
      const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
      const lab = (css) => {
        canvas.fillStyle = css;
        canvas.fillRect(0, 0, 1, 1);
        const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) =>
          (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
        const f = (v) => (v > 216 / 24389 ? Math.cbrt(v) : ((24389 / 27) * v + 16) / 116);
        const [x, y, z] = [f((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505), f(0.2126 * r + 0.7152 * g + 0.0722 * b),
          f((0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)];
        return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
      };
      const style = getComputedStyle(document.documentElement);
      const said = ["--for", "--against"].map((v) => lab(style.getPropertyValue(v)));
      return app.info.classes.flatMap((c) => said.map((s) => Math.hypot(...lab(onTheme(c.color)).map((v, i) => v - s[i]))));
    }, theme);
    assert.ok(Math.min(...near) > 20, `${theme}: a class looks like for or against: ${Math.min(...near)}`);
  }
  assert.match(await page.locator("#legend .legend-name").innerText(), /class/);
  const mark = (i) => value(page, `app.map.kind(${i})`);
  const classes = await Promise.all([0, 50].map(mark));
  await page.locator("#color").selectOption("size");
  await page.locator("#legend .bar-legend").waitFor();
  const sizes = await value(page, "app.source.nodes");
  const text = await page.locator("#legend").innerText();
  assert.match(text, /vertices/);
  for (const v of [Math.min(...sizes), Math.max(...sizes)]) assert.ok(text.includes(String(v)), `${v} is on the bar: ${text}`);
  assert.match(page.url(), /color=size/);
  await page.locator("#color").selectOption("prediction");
  await page.waitForFunction(() => document.querySelectorAll("#legend button").length === 13);
  await page.locator("#color").selectOption("error");
  await page.locator("#legend button", { hasText: "wrong" }).waitFor();
  const shades = await value(page, "[app.coloring.classes, app.info.classes].map((l) => l.map((c) => c.color))");
  for (const c of shades[0]) assert.ok(!shades[1].includes(c), `${c} is the colour of a class`);
  await page.locator("#legend button", { hasText: "wrong" }).click();
  const wrong = await value(page, "app.evaluation.index.filter((g, k) => app.evaluation.predicted[k] !== app.source.targets[g])");
  assert.deepEqual(await value(page, "[...app.source.ids.keys()].filter((i) => app.map.shown(i))"), wrong);
  await page.locator("#color").selectOption("target");
  await page.waitForFunction(() => document.querySelectorAll("#legend button").length === 13);
  assert.deepEqual(await Promise.all([0, 50].map(mark)), classes);
  await close(page);
});

test("everything that takes long shows its progress and can be cancelled", limit, async () => {
  const page = await open("#open=3");
  await page.locator("#detail .card").first().waitFor();
  const slow = ["map?*", "matrix*", "download/**", "compare*", "find*", "colors*"];
  const never = () => new Promise(() => {});
  for (const path of slow) await page.route(`**/api/v1/${path}`, never);
  const cancelled = async (start) => {
    await start();
    await page.locator("#work").waitFor();
    assert.notEqual(await page.locator("#work-text").innerText(), "");
    await page.locator("#work-cancel").click();
    await page.locator("#work").waitFor({ state: "hidden" });
  };
  await settings(page);
  await cancelled(async () => {
    await page.locator("#p-eta").fill("0.7");
    await page.locator("#p-eta").press("Enter");
  });
  await page.locator("#toast").filter({ hasText: "set back to that of the map" }).waitFor();
  await page.waitForFunction(() => document.getElementById("p-eta").value === "0.1");
  assert.equal(await page.locator("#kernel-text").inputValue(), "mlg");
  assert.doesNotMatch(page.url(), /kernel=/);
  await cancelled(() => page.locator("#tab-matrix").click());
  await cancelled(() => page.locator("#detail .compare").first().click());
  await page.locator("#pair .empty").filter({ hasText: "Cancelled" }).waitFor();
  await cancelled(async () => {
    await page.locator("#download-button").click();
    await page.locator('#download-menu [data-file="table.csv"]').click();
  });
  await page.locator("#tab-map").click();
  await cancelled(() => page.locator("#color").selectOption("size"));
  assert.equal(await page.locator("#color").inputValue(), "target");
  await page.route("**/api/v1/upload*", never);
  await page.locator("#own-file").setInputFiles(file("slow.smi", "CCO\nCCC\n"));
  await page.locator(".choices .primary").click();
  await page.locator("#data #work").waitFor(); // in the dialog, where it can be pressed
  await page.locator("#work-cancel").click();
  await page.locator("#data").waitFor({ state: "hidden" });
  assert.equal(await page.locator("#name").innerText(), "drugs");
  await close(page);
});

test("predictions of classes: the confusion matrix selects its graphs", limit, async () => {
  const page = await open();
  await page.locator("#score").click();
  await page.locator(".confusion").waitFor();
  const numbers = await page.locator(".confusion td button").allInnerTexts();
  assert.equal(numbers.reduce((s, n) => s + Number(n), 0), 234, "every graph is in one cell");
  const counted = await value(page,
    "app.evaluation.index.filter((g, k) => app.evaluation.predicted[k] === app.source.targets[g]).length");
  const shown = Number((await page.locator("#score b").innerText()).match(/[\d.]+/)[0]);
  assert.ok(Math.abs(shown - (100 * counted) / 234) < 0.1, `${shown} % and ${counted} of 234`);
  assert.match(await page.locator("#score").innerText(), /accuracy [\d.]+\s% when (whole scaffolds|similar graphs) are left out/);
  if (shots) await page.screenshot({ path: join(shots, "predictions.png") });
  const wrong = page.locator(".confusion td:not(.right) button").first();
  const [n, label] = [Number(await wrong.innerText()), await wrong.getAttribute("aria-label")];
  await wrong.click();
  await page.locator("#table tbody tr").first().waitFor();
  assert.equal(await page.locator("#table tbody tr").count(), n);
  const [, of, as] = label.match(/graphs? of (.*) predicted as (.*): select/);
  assert.match(await page.locator("#table tbody tr").first().innerText(), new RegExp(`${of}\\s+${as}\\s+✗`));
  await close(page);
});

// chain returns a graph in JSON, a path with labels.
const chain = (id, target, labels) => JSON.stringify({ id, target, nodes: labels.length, node_labels: labels,
  edges: labels.slice(1).map((_, i) => [i, i + 1]) });

test("predictions that are no better than the largest class do not look like a success", limit, async () => {
  // 97 of 100 are of one class, and the others are drawn from the same graphs.
  const rows = Array.from({ length: 100 }, (_, i) =>
    chain(`g${i}`, i % 34 === 7 ? "rare" : "common", [..."abcabc"].map((l, k) => ((i * 7 + k * k) % 5 ? l : "d"))));
  const page = await open("#", { at: await serve(file("uneven.jsonl", rows.join("\n"))) });
  await page.locator("#score.poor").waitFor();
  const text = await page.locator("#score").innerText();
  assert.match(text, /balanced accuracy/);
  assert.match(text, /AUC/);
  assert.match(text, /largest class 97\.0\s%/);
  assert.match(text, /Hardly better than guessing/);
  assert.doesNotMatch(await page.locator("#score b").innerText(), /9\d/);
  await page.locator("#score").click();
  await page.locator("#predictions .note").filter({ hasText: "Hardly better" }).waitFor();
  await close(page, "uneven");
});

const solubility = [
  "name,smiles,logS,series",
  ...["CCO", "CCCO", "CCCCO", "CCCCCO", "c1ccccc1", "Cc1ccccc1", "CCc1ccccc1", "Oc1ccccc1", "CC(=O)O", "CCC(=O)O", "CCN", "CCCN",
    "c1ccncc1", "CCOC",
    "CCOCC", "CCCCCC", "CCCCCCC", "C1CCCCC1", "Clc1ccccc1", "Brc1ccccc1", "CC(C)O", "CC(C)(C)O", "OCCO", "NCCO", "C[N+](C)(C)C"]
    .map((s, i) => [`m${i}`, s,
      (2 - 0.4 * s.length + 0.5 * (s.split("O").length - 1)).toFixed(2), s.includes("1") ? "ring" : "chain"].join()),
  "broken,C1CC(,1.0,chain", "unknown,XYZ,1.0,chain",
].join("\n");

test("a model shows what its file says, and cross-validates on request", limit, async () => {
  const path = join(folder, "solubility.mlg");
  const trained = spawnSync(command, ["train", file("model.csv", solubility), "--target", "logS", "-o", path, "--json"], { encoding: "utf8" });
  assert.equal(trained.status, 0, trained.stderr);
  const page = await open("#view=predictions", { at: await serve(path) });
  await page.locator("#score b").waitFor();
  const filed = await page.locator("#score").innerText();
  assert.match(filed, /error, says the model file/);
  assert.match(await page.locator("#predictions").innerText(), /The model file says how: /);
  assert.equal(await page.locator(".scatter").count(), 0);
  await page.locator("#cross-validate").click();
  await page.locator(".scatter").waitFor();
  assert.match(await page.locator("#predictions").innerText(), /cross-validated here/i);
  assert.equal(await page.locator("#score").innerText(), filed);
  await close(page, "model");
});

test("of salts the largest fragment is kept on request", limit, async () => {
  const page = await open("#open=3");
  const salts = ["name,smiles,y", "a,CC(=O)[O-].[Na+],1", "b,CCN.Cl,2", "c,CCO,3", "d,CCCO,4", "e,CCCN,5", "f,CCCCO,6"].join("\n");
  await page.locator("#own-file").setInputFiles(file("salts.csv", salts));
  await page.locator(".choices .primary").click();
  const kept = page.locator('[name="largest_fragment"]');
  await kept.waitFor();
  assert.match(await page.locator(".fragments").innerText(), /2 molecules with several fragments/);
  assert.equal(await kept.isChecked(), false);
  await kept.check();
  await page.locator(".note").filter({ hasText: "only the largest is kept" }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "fragments.png") });
  await page.locator("#data button", { hasText: "Show the map" }).click();
  await page.locator("#name").filter({ hasText: "salts" }).waitFor();
  assert.deepEqual(await page.evaluate(async () => (await (await import("/app.js")).app.graph("1")).labels), ["C", "C", "N"]);
  await page.close();
});

test("one's own table becomes the map: columns are chosen, skipped rows named; back returns to the map before", limit,
  async () => {
  const page = await open("#open=3");
  await page.locator("#own-file").setInputFiles(file("solubility.csv", solubility));
  await page.locator(".choices .primary").click();
  await page.locator("#data-target").selectOption("logS");
  await page.locator("#data-task").waitFor();
  await page.locator(".skipped").filter({ hasText: "line 27" }).waitFor();
  const skipped = await page.locator(".skipped").innerText();
  assert.match(skipped, /2 rows skipped[^]*line 27 .*branch is not closed[^]*line 28 .*unknown element/);
  assert.equal(await page.locator("#data-id").inputValue(), "name");
  assert.ok(await page.locator('fieldset [name="atom_charge"]').isChecked());
  await page.locator('fieldset [name="atom_charge"]').uncheck();
  await page.waitForFunction(() => document.querySelector('fieldset [name="atom_charge"]')?.checked === false);
  await page.locator("#data-id").waitFor();
  if (shots) await page.screenshot({ path: join(shots, "data.png") });
  await page.locator("#data button", { hasText: "Show the map" }).click();
  await page.locator("#score").filter({ hasText: "R²" }).waitFor();
  assert.equal(await page.locator("#name").innerText(), "solubility");
  assert.equal(await value(page, "app.map.x.length"), 25);
  assert.match(page.url(), /source=solubility-/);
  assert.doesNotMatch(page.url(), /open=/);
  assert.match(await page.locator("#legend").innerText(), /logS/);
  const labels = await page.evaluate(async () => (await (await import("/app.js")).app.graph("24")).labels);
  assert.equal(labels[1], "N", "the charge is no part of the label");
  // Predicted against measured: a point for every graph, where its values say.
  await page.locator("#tab-predictions").click();
  assert.equal(await page.locator(".scatter .dot").count(), 25);
  const places = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    return [...document.querySelectorAll(".scatter .dot")].map((c, k) =>
      [Number(c.getAttribute("cx")), Number(c.getAttribute("cy")), app.evaluation.measured[k], app.evaluation.values[k]]);
  });
  for (const [u, v, m, p] of places) {
    for (const [x, y, n, q] of places) assert.ok((m > n ? u >= x : true) && (p > q ? v <= y : true),
      "right is larger, and so is up");
  }
  assert.match(await page.locator(".scatter").getAttribute("aria-label"), /measured logS of 25 graphs/);
  if (shots) await page.screenshot({ path: join(shots, "regression.png") });
  await page.locator("#tab-map").click();
  await page.locator("#color").selectOption("column:series");
  await page.locator("#legend button", { hasText: "ring" }).waitFor();
  await page.locator("#color").selectOption("error");
  await page.locator("#legend").filter({ hasText: "predicted − measured logS" }).waitFor();
  for (const _ of [1, 2, 3, 4]) await page.goBack();
  await page.waitForFunction(() => location.hash.includes("source=solubility") && !/view|color/.test(location.hash));
  await page.goBack();
  await page.locator("#name").filter({ hasText: "drugs" }).waitFor();
  await page.locator("#detail h2").filter({ hasText: "temazepam" }).waitFor();
  await page.locator("#tab-matrix").click();
  await page.locator("#matrix-scale .gradient").waitFor();
  await page.locator("#source").selectOption({ label: "solubility (25)" });
  await page.locator("#name").filter({ hasText: "solubility" }).waitFor();
  await page.goBack();
  await page.locator("#name").filter({ hasText: "drugs" }).waitFor();
  while (!(await value(page, "app.matrix.data?.order.length === 234"))) await page.waitForTimeout(20);
  await close(page);
});

test("a small file can be questions to the present map, and a bad one says what is wrong", limit, async () => {
  const page = await open();
  await page.locator("#own-file").setInputFiles(file("two.smi", "CCO ethanol\nc1ccccc1 benzene\n"));
  await page.locator(".choices button", { hasText: "Ask about" }).click();
  await page.locator("#asked li").nth(1).waitFor();
  assert.match(await page.locator("#asked").innerText(), /benzene/);
  assert.match(page.url(), /ethanol/);
  assert.equal(await page.locator("#name").innerText(), "drugs");
  const data = await page.evaluateHandle(() => {
    const t = new DataTransfer();
    t.items.add(new File(["no graph at all"], "x.sdf"));
    return t;
  });
  for (const choice of [".primary", "button:nth-child(2)", "button:nth-child(3)"]) {
    await page.dispatchEvent("body", "drop", { dataTransfer: data });
    await page.locator(`.choices ${choice}`).click();
    await page.locator("#data .error").filter({ hasText: "x.sdf" }).waitFor();
    await page.locator("#data .end button", { hasText: "Cancel" }).click();
  }
  assert.equal(await value(page, "app.map.x.length"), 234);
  await close(page);
});

// zip returns a zip file of texts, not compressed.
function zip(files) {
  const table = Array.from({ length: 256 },
    (_, n) => Array.from({ length: 8 }).reduce((c) => (c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1), n) >>> 0);
  const crc = (b) => (b.reduce((c, v) => (c >>> 8) ^ table[(c ^ v) & 255], -1) ^ -1) >>> 0;
  const [parts, entries] = [[], []];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [n, b] = [Buffer.from(name), Buffer.from(text)];
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(crc(b), 10);
    head.writeUInt32LE(b.length, 14);
    head.writeUInt32LE(b.length, 18);
    head.writeUInt16LE(n.length, 22);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(at, 10);
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), head, rest, n]));
    parts.push(Buffer.concat([Buffer.from("PK\x03\x04", "latin1"), head, n, b]));
    at += parts.at(-1).length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...parts, directory, Buffer.from("PK\x05\x06", "latin1"), end]);
}

test("every format becomes a map", limit, async () => {
  const atoms = (n) => Array.from({ length: n },
    (_, i) => `${(i * 1.5).toFixed(4).padStart(10)}    0.0000    0.0000 C   0  0`).join("\n");
  const bonds = (n) => Array.from({ length: n - 1 },
    (_, i) => `${String(i + 1).padStart(3)}${String(i + 2).padStart(3)}  1  0`).join("\n");
  const three = (n) => String(n).padStart(3);
  const mol = (n) => `chain${n}\n\n\n${three(n)}${three(n - 1)}  0  0  0  0  0  0  0  0999 V2000\n` +
    `${atoms(n)}\n${bonds(n)}\nM  END\n$$$$\n`;
  const sizes = [2, 3, 4, 5, 6, 7];
  const line = (n, edge) => Array.from({ length: n - 1 }, (_, i) => edge(i, i + 1)).join("");
  const nodes = (n) => Array.from({ length: n }, (_, i) => `<node id="n${i}"/>`).join("");
  const links = (n) => line(n, (a, b) => `<edge source="n${a}" target="n${b}"/>`);
  const ml = (n) => `<graph id="g${n}" edgedefault="undirected">${nodes(n)}${links(n)}</graph>`;
  const total = sizes.reduce((a, b) => a + b);
  const starts = sizes.map((_, k) => sizes.slice(0, k).reduce((a, b) => a + b, 0));
  const tu = {
    "TOY/TOY_A.txt": sizes.map((n, k) => line(n,
      (a, b) => `${a + starts[k] + 1}, ${b + starts[k] + 1}\n${b + starts[k] + 1}, ${a + starts[k] + 1}\n`)).join(""),
    "TOY/TOY_graph_indicator.txt": sizes.map((n, k) => `${k + 1}\n`.repeat(n)).join(""),
    "TOY/TOY_graph_labels.txt": sizes.map((n) => `${n % 2}\n`).join(""), "TOY/TOY_node_labels.txt": "1\n".repeat(total),
  };
  const files = {
    "a.csv": `smiles,y\n${sizes.map((n) => `${"C".repeat(n)},${n % 2}`).join("\n")}\n`,
    "a.smi": sizes.map((n) => `${"C".repeat(n)} c${n}`).join("\n"),
    "a.sdf": sizes.map(mol).join(""),
    "a.jsonl": sizes.map((n) => chain(`g${n}`, String(n % 2), Array(n).fill("x"))).join("\n"),
    "a.graphml": `<graphml xmlns="http://graphml.graphdrawing.org/xmlns">${sizes.map(ml).join("")}</graphml>`,
    "a.dot": sizes.map((n) => `graph g${n} { ${line(n, (a, b) => `${a} -- ${b}; `)} }`).join("\n"),
    "TOY.zip": zip(tu),
  };
  const page = await open();
  for (const [name, content] of Object.entries(files)) {
    await page.locator("#own-file").setInputFiles(file(name, content));
    await page.locator(".choices .primary").click();
    await page.locator("#data", { hasText: "6 graphs" }).waitFor();
    await page.locator("#data button", { hasText: "Show the map" }).click();
    await page.locator("#facts").filter({ hasText: /^6 / }).waitFor();
    while (!(await value(page, "app.places?.pca.x.length === 6"))) await page.waitForTimeout(20);
    assert.equal(await value(page, "app.source.nodes.join()"), sizes.join(), name);
    await page.evaluate(() => history.back());
    await page.locator("#name").filter({ hasText: "drugs" }).waitFor();
    await page.locator("#score").filter({ hasText: "right" }).waitFor();
  }
  await close(page);
});

test("a loop selects graphs, which have a table and can be exported", limit, async () => {
  const page = await open();
  const box = await page.locator("#map").boundingBox();
  const [x, y, w, h] = [box.x + 60, box.y + 90, box.width * 0.55, box.height * 0.5];
  const inside = await page.evaluate(async ([a, b, c, d]) => {
    const { app } = await import("/app.js");
    const at = document.getElementById("map").getBoundingClientRect();
    return [...app.source.ids.keys()].filter((i) => {
      const [px, py] = app.map.at(i);
      return px + at.x > a && px + at.x < a + c && py + at.y > b && py + at.y < b + d;
    });
  }, [x, y, w, h]);
  await page.locator("#lasso").click();
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (const [u, v] of [[x + w, y], [x + w, y + h], [x, y + h], [x, y + 2]]) await page.mouse.move(u, v, { steps: 5 });
  await page.mouse.up();
  await page.locator("#selection").waitFor();
  assert.ok(inside.length > 5 && inside.length < 234);
  assert.deepEqual(await value(page, "app.state.picked"), inside);
  assert.match(await page.locator("#selection").innerText(), new RegExp(`${inside.length} selected`));
  if (shots) await page.screenshot({ path: join(shots, "lasso.png") });
  await page.locator("#selection button", { hasText: "Table" }).click();
  assert.equal(await page.locator("#table tbody tr").count(), inside.length);
  await page.locator("#table th button", { hasText: "vertices" }).click();
  const sorted = (await page.locator("#table tbody td:nth-last-child(2)").allInnerTexts()).map(Number);
  assert.deepEqual(sorted, [...sorted].sort((a, b) => a - b));
  await page.locator("#table tbody tr").nth(2).click();
  const name = await page.locator("#table tbody tr").nth(2).locator("th").innerText();
  await page.locator("#detail h2").filter({ hasText: name }).waitFor();
  if (shots) await page.screenshot({ path: join(shots, "table.png") });
  const ids = await value(page, "app.source.ids");
  for (const [format, text] of [["CSV", (i) => ids[i]], ["SMILES", (i) => ids[i]], ["JSON Lines", (i) => `"${ids[i]}"`]]) {
    const [saved] = await Promise.all([page.waitForEvent("download"),
      page.locator("#table-head button", { hasText: format }).click()]);
    const content = readFileSync(await saved.path(), "utf8").trim().split("\n");
    assert.equal(content.length, inside.length + (format === "CSV" ? 1 : 0), format);
    for (const i of inside) assert.ok(content.some((l) => l.includes(text(i))), `${ids[i]} is in the ${format}`);
  }
  // Without the mouse: Space selects what is pointed at.
  await page.locator("#table-head button", { hasText: "Show all" }).click();
  await page.locator("#tab-map").click();
  await page.locator("#map").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press(" ");
  await page.locator("#selection").filter({ hasText: "1 selected" }).waitFor();
  await page.locator("#selection button", { hasText: "Clear" }).click();
  await page.locator("#selection").waitFor({ state: "hidden" });
  await close(page);
});

test("graphs are found by name, by class and by a part of the molecule", limit, async () => {
  const page = await open();
  const search = async (text, option) => {
    await page.locator("#find").fill(text);
    await page.locator("#find-list li", { hasText: option }).dispatchEvent("pointerdown");
  };
  await search("azepam", "Select all named");
  const named = await value(page, "app.source.ids.flatMap((id, i) => (id.includes('azepam') ? [i] : []))");
  assert.deepEqual(await value(page, "app.state.picked"), named);
  await search("steroid", "Class steroid");
  assert.deepEqual(await value(page, "app.state.picked"),
    await value(page, "app.source.targets.flatMap((t, i) => (t === 'steroid' ? [i] : []))"));
  await search("Clc1ccccc1", "contain Clc1ccccc1");
  await page.locator("#selection").filter({ hasText: "contain Clc1ccccc1" }).waitFor();
  const picked = await value(page, "app.state.picked");
  assert.ok(picked.includes(3) && picked.length < 100, "temazepam has a chlorine on a ring");
  await page.evaluate(async () => (await import("/app.js")).app.open("3"));
  await page.locator("#detail .drawing .ring").nth(6).waitFor({ state: "attached" });
  assert.equal(await page.locator("#detail .drawing .ring").count(), 7 + (await page.locator("#detail .card .ring").count()));
  if (shots) await page.screenshot({ path: join(shots, "find.png") });
  await search("C1CC(", "contain");
  await page.locator("#find-error").filter({ hasText: "SMILES" }).waitFor();
  assert.equal(await page.locator("#find").inputValue(), "C1CC(");
  await close(page);
});

test("back and forward go through what was shown", limit, async () => {
  const page = await open();
  const shown = (text) => page.locator("#detail h2").filter({ hasText: text }).waitFor();
  await page.evaluate(async () => (await import("/app.js")).app.open("3"));
  await shown("temazepam");
  await page.locator("#tab-matrix").click();
  await page.locator("#matrix-scale .gradient").waitFor();
  await page.locator("#tab-map").click();
  await settings(page);
  for (const v of ["0.2", "0.25", "0.3"]) {
    await page.locator("#p-eta").fill(v);
    await page.locator("#p-eta").press("Enter");
    await page.waitForFunction((t) => location.hash.includes(`eta%3D${t}`), v);
  }
  await settled(page);
  await page.mouse.move(640, 400);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => location.hash.includes("zoom="));
  await page.goBack(); // all of eta is one step, and zoom is none
  await page.waitForFunction(() => !location.hash.includes("kernel="));
  await page.waitForFunction(() => document.getElementById("p-eta").value === "0.1");
  await page.goBack();
  await page.locator("#view-matrix").waitFor();
  await page.goBack();
  await page.locator("#view-map").waitFor();
  await shown("temazepam");
  await page.goBack();
  await shown("No graph is open");
  for (const _ of [1, 2, 3, 4]) await page.goForward();
  await page.waitForFunction(() => location.hash.includes("eta%3D0.3"));
  await page.waitForFunction(() => document.getElementById("p-eta").value === "0.3");
  await close(page);
});

test("a link to data that are not here says so, and a bad question has its error beside it", limit, async () => {
  const page = await open("#source=mine-0123456789&open=7&ask=CCO");
  await page.locator("#notice").filter({ hasText: /mine-0123456789.* is not here/ }).waitFor();
  await page.locator("#asked li").filter({ hasText: "CCO" }).waitFor();
  await page.locator("#detail h2").filter({ hasText: "No graph is open" }).waitFor();
  await page.evaluate(() => (location.hash = "#ask=C1CC(&ask=CCCO&kernel=mlg+eta%3D0.3"));
  await page.locator("#asked .failed").filter({ hasText: "SMILES position" }).waitFor();
  await page.locator("#asked li:not(.failed)").filter({ hasText: "CCCO" }).waitFor();
  await page.waitForFunction(() => document.getElementById("p-eta").value === "0.3");
  await settled(page);
  assert.equal(await value(page, "app.map.x.length"), 234);
  if (shots) await page.screenshot({ path: join(shots, "link.png") });
  await close(page);
});

test("links work after a restart, those to one's own file once it is loaded again", limit, async () => {
  const at = await serve();
  const load = async (page) => {
    await page.locator("#own-file").setInputFiles(file("again.smi", "CCO a\nCCC b\nCCCO c\nCCCC d\n"));
    await page.locator(".choices .primary").click();
    await page.locator("#data button", { hasText: "Show the map" }).click();
    await page.locator("#name").filter({ hasText: "again" }).waitFor();
  };
  const first = await open("#open=7&kernel=mlg+eta%3D0.2", { at });
  const shown = () => value(first, "app.source.ids[7]");
  await first.locator("#score b").waitFor();
  const [link, name] = [first.url(), await shown()];
  await load(first);
  await first.locator("#detail .card").first().click();
  await first.waitForFunction(() => location.hash.includes("open=0"));
  const own = first.url();
  await close(first);
  const server = servers.at(-1);
  server.kill("SIGINT");
  await new Promise((resolve) => server.once("exit", resolve));
  await serve("--port", new URL(at).port);
  const page = await open(new URL(link).hash, { at });
  await page.locator("#detail h2").filter({ hasText: name }).waitFor();
  assert.equal(page.url(), link);
  await page.evaluate((url) => (location.href = url), own);
  await page.locator("#notice").filter({ hasText: "load the file again" }).waitFor();
  assert.equal(await page.locator("#name").innerText(), "drugs");
  await load(page);
  await page.evaluate((url) => (location.href = url), own);
  await page.locator("#detail h2").filter({ hasText: /^a$/ }).waitFor();
  assert.ok(await page.locator("#notice").isHidden());
  await close(page);
});

test("downloads are what the page shows", limit, async () => {
  const page = await open("#open=3&layout=pca&color=size&kernel=mlg+eta%3D0.3");
  const asked = [];
  page.on("request", (r) => r.url().includes("/download/") && asked.push(new URL(r.url())));
  await page.locator("#download-button").click();
  const [saved] = await Promise.all([page.waitForEvent("download"),
    page.locator('#download-menu [data-file="map.svg"]').click()]);
  const svg = readFileSync(await saved.path(), "utf8");
  assert.match(svg, /component/);
  assert.match(svg, /vertices/);
  for (const [name, v] of [["layout", "pca"], ["color", "size"], ["kernel", "mlg eta=0.3"]]) assert.equal(asked[0].searchParams.get(name),
    v);
  await close(page);
});

// pageColors returns the colour of every point on the map, as the page paints it.
const pageColors = (page) => page.evaluate(async () => {
  const { app } = await import("/app.js");
  const hex = (n) => `#${[0, 8, 16].map((b) => ((n >>> b) & 255).toString(16).padStart(2, "0")).join("")}`;
  return [...app.source.ids.keys()].map((i) => {
    const s = app.map.stamp(i, 8);
    return hex(s.full[s.dx.findIndex((dx, k) => dx === 0 && s.dy[k] === 0)]);
  });
});

// apart is how far two colours are from each other, in steps of 255.
const apart = (a, b) => {
  const part = (c, i) => parseInt(c.slice(i, i + 2), 16);
  return Math.max(...[1, 3, 5].map((i) => Math.abs(part(a, i) - part(b, i))));
};

test("the downloaded map has the colours of the page, whatever they show", limit, async () => {
  const page = await open();
  const compare = async (kinds) => {
    for (const by of kinds) {
      await page.locator("#color").selectOption(by);
      await until(page, `app.coloring?.chosen === "${by}"`);
      const colors = await pageColors(page);
      const svg = await page.evaluate(async (name) => {
        const { app } = await import("/app.js");
        const [color, column = ""] = name.split(":");
        return (await fetch(`/api/v1/download/map.svg?color=${color}&column=${column}&source=${app.info.source}`)).text();
      }, by);
      const marks = [...svg.matchAll(/<(circle|path)[^>]* fill="(#\w{6})"/g)].map((m) => m[2]).filter((c) => c !== "#ffffff");
      if ((await value(page, "app.coloring.kind")) === "value") { // in the order of the graphs, before the bar
        colors.forEach((c, i) => assert.ok(apart(c, marks[i]) <= 6,
          `${by}: graph ${i} is ${c} on the page and ${marks[i]} in the file`));
        continue;
      }
      const count = (list) => Object.fromEntries([...new Set(list)].sort()
        .map((c) => [c, list.filter((d) => d === c).length]));
      const named = await value(page, "app.coloring.classes.map((c) => c.color)");
      assert.deepEqual(count(marks), count([...named, ...colors]), `${by}: the legend and the points`);
    }
  };
  await compare(["target", "prediction", "error", "size"]);
  const some = solubility.replace("m3,CCCCCO,", "m3,CCCCCO,NA,").replace(/^(m3,CCCCCO,NA),[^,]*/m, "$1");
  await page.locator("#own-file").setInputFiles(file("colours.csv", some));
  await page.locator(".choices .primary").click();
  await page.locator("#data-target").selectOption("logS");
  await page.locator("#data-task").waitFor();
  await page.locator("#data button", { hasText: "Show the map" }).click();
  await page.locator("#score").filter({ hasText: "R²" }).waitFor();
  await compare(["target", "column:series", "prediction", "error", "size"]);
  await close(page);
});

test("a link that selects graphs that are not there says so, and costs nothing", limit, async () => {
  const page = await open("#pick=0-99999999");
  await page.locator("#notice").filter({ hasText: /not here.* 234 graphs/ }).waitFor();
  assert.equal(await value(page, "app.state.picked.length"), 234);
  await page.evaluate(() => (location.hash = "#pick=3-5,4,230-99999999999999999999"));
  await until(page, "app.state.picked.length === 7");
  assert.deepEqual(await value(page, "app.state.picked"), [3, 4, 5, 230, 231, 232, 233]);
  await page.evaluate(() => (location.hash = "#pick=7-9"));
  await until(page, "app.state.picked.length === 3");
  assert.ok(await page.locator("#notice").isHidden());
  const begin = Date.now();
  await page.evaluate(() => (location.hash = `#pick=${"0-232,".repeat(100000)}1`));
  await page.locator("#notice").filter({ hasText: "not here" }).waitFor();
  assert.ok(Date.now() - begin < 5000, "a long link is not followed");
  assert.equal(await value(page, "app.state.picked.length"), 0);
  await close(page);
});

test("the page says that scales leave out the orders of bonds, while they count", limit, async () => {
  const page = await open("#open=3");
  await page.locator("#unseen").filter({ hasText: "counts the orders of bonds" }).waitFor();
  await settings(page);
  await page.locator("#p-bonds").selectOption("false");
  await page.locator("#unseen").waitFor({ state: "detached" });
  await page.locator("#p-bonds").selectOption("auto");
  await page.locator("#unseen").waitFor();
  await close(page);
});

test("two uploads at a time show their own progress", limit, async () => {
  const pages = await Promise.all([open(), open()]);
  const sizes = [12000, 15000];
  for (const [k, page] of pages.entries()) {
    // The answer is held back, so that the page asks how far the server is.
    await page.route("**/api/v1/upload*", () => new Promise(() => {}));
    await page.route("**/api/v1/progress*", async (route) => {
      const key = new URL(route.request().url()).searchParams.get("upload");
      if (!key) return route.continue();
      page.key = key;
      const upload = { name: "x", bytes: 1, graphs: sizes[k] };
      return route.fulfill({ json: { state: "idle", stage: "", done: 0, total: 0, upload } });
    });
    await page.locator("#own-file").setInputFiles(file(`mine${k}.smi`, "CCO\nCCC\n"));
    await page.locator(".choices .primary").click();
  }
  for (const [k, page] of pages.entries()) {
    await page.locator("#work-text").filter({ hasText: `${sizes[k].toLocaleString("en")} graphs` }).waitFor();
  }
  assert.notEqual(pages[0].key, pages[1].key);
  for (const page of pages) {
    await page.locator("#work-cancel").click();
    await close(page);
  }
});

test("a map of 20 000 graphs shows how far it is, and is cancelled within a second", { timeout: 180000 }, async () => {
  const atoms = [..."CCCCNOSF"];
  const rows = Array.from({ length: 20000 }, (_, i) => Array.from({ length: 6 + (i % 14) }, (_, k) =>
    atoms[(i * 31 + k * k * 7 + ((i >> 3) * k)) % (k === 0 || k === 5 + (i % 14) ? 8 : 6)]).join(""));
  const page = await open();
  page.setDefaultTimeout(60000);
  await page.locator("#own-file").setInputFiles(file("large.smi", rows.join("\n")));
  await page.locator(".choices .primary, #data button:has-text('Show the map')").first().click();
  await page.locator("#data button", { hasText: "Show the map" }).click();
  await page.locator("#axes").filter({ hasText: "A first map, of two principal components" }).waitFor();
  assert.equal(await value(page, "app.map.x.length"), 20000);
  await page.locator("#work-text").filter({ hasText: /finding neighbours, \d+ %/ }).waitFor();
  const health = () => page.evaluate(async () => (await fetch("/api/v1/health")).json());
  assert.equal((await health()).running, 1);
  const begin = Date.now();
  await page.locator("#work-cancel").click();
  while ((await health()).running > 0) assert.ok(Date.now() - begin < 20000, "the server still computes");
  const took = Date.now() - begin;
  assert.ok(took < 5000, `stopped after ${took} ms`); // beside other programs; TestCancelledStages counts processor time
  await close(page);
});
