// The page for a team: a token, and work that outlives a page.

import assert from "node:assert/strict";
import { test } from "node:test";
import { chains, close, file, limit, open, serve, until } from "./browser.mjs";

test("a server with a token shows a form; who knows the token sees the map, by keyboard alone and in the dark", limit, async () => {
  const token = "a-token-of-some-length";
  const at = await serve("--token", file("token.txt", `${token}\n`), "--read-only");
  assert.doesNotMatch(at, /token/, "a token from a file is not printed");
  const page = await open("", { at, colorScheme: "dark", viewport: { width: 390, height: 844 } });
  await page.keyboard.type("wrong token");
  await page.keyboard.press("Enter");
  await page.locator(".error").filter({ hasText: "This is not the token." }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "token");
  await page.keyboard.type(token);
  await page.keyboard.press("Enter");
  await page.locator("#score b").waitFor();
  assert.doesNotMatch(page.url(), /token/);
  await page.reload();
  await page.locator("#score b").waitFor(); // the cookie is kept
  assert.ok(await page.locator("#own").isHidden(), "the server takes no files");
  page.problems = page.problems.filter((p) => !p.includes("401"));
  await close(page);
  const made = await serve("--token", "new");
  const other = await open("", { at: made });
  await other.locator("#score b").waitFor();
  assert.doesNotMatch(other.url(), /token/, "the address does not keep the token");
  other.home = new URL(made).origin;
  await close(other);
});

test("work outlives a page that is loaded anew, and not one that is closed", limit, async () => {
  const at = await serve(file("chains.csv", chains(2340)));
  const running = async () => (await (await fetch(`${at}/api/v1/health`)).json()).running;
  const page = await open("", { at });
  await until(page, "app.evaluation?.note");
  const end = Date.now() + 10000;
  while (!(await running())) assert.ok(Date.now() < end, "all graphs are being tested");
  await page.goto("about:blank");
  await new Promise((r) => setTimeout(r, 300));
  assert.equal(await running(), 1, "the computation goes on");
  await fetch(`${at}/api/v1/stop`, { method: "POST", headers: { "Content-Type": "application/json" }, body: "{}" });
  for (const last = Date.now() + 5000; await running();) assert.ok(Date.now() < last, "it is stopped");
  await page.context().close();
});
