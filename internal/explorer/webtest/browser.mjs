// What tests of the page share: a server on a free port of the loopback interface, a browser, and pages whose every
// request is watched. They start before the first test of a file and end after the last.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { chromium } from "playwright-core";

export const command = process.env.MLG ?? "../../../bin/mlg";
export const shots = process.env.MLG_SHOTS; // a folder for screenshots, if they are wanted
export const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];

export let browser, base, folder;
export const servers = [];

// serve starts mlg serve and returns its address.
export async function serve(...source) {
  const server = spawn(command, ["serve", "--quiet", ...(source.includes("--port") ? [] : ["--port", "0"]), ...source],
    { stdio: ["ignore", "pipe", "inherit"] });
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
  folder = mkdtempSync(join(tmpdir(), "mlg-webtest-"));
  base = await serve();
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true, args: flags });
}, { timeout: 60000 });

after(async () => {
  rmSync(folder, { recursive: true });
  await browser?.close();
  for (const server of servers) {
    const ended = new Promise((resolve) => (server.exitCode === null ? server.once("exit", resolve) : resolve(server.exitCode)));
    server.kill("SIGINT");
    assert.equal(await ended, 0, "mlg serve ends cleanly when it is interrupted");
  }
}, { timeout: 30000 });

// open opens a page and collects what must not happen: errors, and requests to elsewhere.
export async function open(hash = "", { at = base, ...options } = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce",
    acceptDownloads: true, ...options });
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
export async function close(page, name) {
  if (shots && name) {
    mkdirSync(shots, { recursive: true });
    await page.waitForTimeout(300);
    await page.screenshot({ path: join(shots, `${name}.png`) });
  }
  assert.deepEqual(page.problems, []);
  for (const url of page.requests) assert.ok(url.startsWith(page.home), `a request to ${url}`);
  await page.context().close();
}

// file writes a file for a test and returns its path.
export function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

// value returns what an expression about the page's app is.
export const value = (page, expression) => page.evaluate(async (text) =>
  new Function("app", `return ${text}`)((await import("/app.js")).app), expression);

// until waits until an expression of the app holds. Playwright's waitForFunction takes the promise of an
// asynchronous function for true, and does not wait.
export async function until(page, expression) {
  for (const end = Date.now() + 15000; !(await value(page, expression));) {
    assert.ok(Date.now() < end, `${expression}: not within 15 s`);
    await page.waitForTimeout(20);
  }
}

// settled waits until all that follows from the kernel is there.
export const settled = (page) => page.waitForFunction(() => !document.getElementById("score").classList.contains("stale"));

export const settings = (page) => page.locator("#settings summary").click();

// choose types the text of a kernel, and waits until the page has its map.
export async function choose(page, text) {
  await page.locator("#kernel-text").fill(text);
  await page.locator("#kernel-text").press("Enter");
  await until(page, `app.placed === ${JSON.stringify(text)}`);
  await settled(page);
}

// hash returns the part of the address that is behind the #.
export const hash = (page) => new URLSearchParams(new URL(page.url()).hash.slice(1));

// pixel returns where a graph is on the map, in pixels of the page.
export const pixel = (page, index) => page.evaluate(async (i) => {
  const { app } = await import("/app.js");
  const box = document.getElementById("map").getBoundingClientRect();
  const [x, y] = app.map.at(i);
  return [box.x + x, box.y + y];
}, index);

// chains returns a table of many molecules, at most 2340 different ones, whose value follows their size.
export function chains(count) {
  const ends = ["O", "N", "F", "Cl", "Br", "C(=O)O", "C#N", "S", "c1ccccc1", "C1CCCCC1"];
  const rows = Array.from({ length: count }, (_, i) => {
    const [a, b] = [ends[i % 10], ends[Math.floor(i / 10) % 10]];
    const left = 1 + Math.floor(i / 100) % 6;
    const right = Math.floor(i / 600);
    return `m${i},${a}${"C".repeat(left)}C(${b})${"C".repeat(right)},${((left - right) * 0.7 - (i % 10) * 0.3).toFixed(2)}`;
  });
  return `name,smiles,logP\n${rows.join("\n")}\n`;
}

// hover points at a mark until a sign of that is there: a detail that is drawn anew in between takes the pointer's
// arrival with it.
export async function hover(page, mark, sign) {
  for (let tries = 30; ; tries--) {
    await page.mouse.move(0, 0);
    await mark.hover();
    const shown = await sign.waitFor({ timeout: 500 }).then(() => true, () => false);
    if (shown || tries === 0) return sign.waitFor({ timeout: 500 });
  }
}

export const limit = { timeout: 60000 };
