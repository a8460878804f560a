// What is kept: a session as a file, notes, a report, and the way back.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { chains, close, file, folder, hash, limit, open, serve, settled, shots, until, value } from "./browser.mjs";

const saved = async (page, button) => {
  await page.locator("#session-button").click();
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator("#session button", { hasText: button }).click()]);
  return readFileSync(await download.path());
};

test("a session is one file: data, columns, kernel, selection, filters, notes, decisions and a table; it opens on another server", limit, async () => {
  const doses = chains(300).trim().split("\n").map((l, i) => `${l},${i ? ["low", "high"][i % 2] : "dose"}\n`).join("");
  const page = await open("", { at: await serve(file("chains.csv", doses), "--target", "logP") });
  await settled(page);
  await page.locator("#settings summary").click();
  await page.locator("#kernel-text").fill("wl h=2");
  await page.locator("#kernel-text").press("Enter");
  await until(page, 'app.placed === "wl h=2"');
  await page.locator("#tab-many").click();
  await page.locator("#many-text").fill("CCCCCCCCCCCCO one\nCCCCCCCCCCCCN two\nCCCCCCCC three");
  await page.locator("#many button", { hasText: "Predict" }).click();
  await page.locator("#many tbody tr").first().waitFor();
  await page.locator("#tab-next").click();
  await page.locator('[aria-label="Accept one"]').or(page.locator('[aria-label="Accept two"]')).first().click();
  await page.locator("#tab-table").click();
  await page.locator('#table [aria-label="logP from"]').fill("0.5");
  await page.locator('#table [aria-label$="dose: choose values"]').click();
  await page.locator("#table .chooser .popup label", { hasText: "high" }).locator("input").uncheck();
  await page.locator("#table-head button", { hasText: "Select them" }).click();
  await until(page, "app.state.picked.length > 5");
  const graph = await value(page, "app.state.picked[2]");
  await page.evaluate(async (i) => (await import("/app.js")).app.open(String(i)), graph);
  await page.locator(".own-note summary").click();
  await page.locator(".own-note textarea").fill("measure again");
  await page.locator("#session-button").click();
  await page.locator("#session-notes").fill("The first series.");
  await page.locator("#session button", { hasText: "Close" }).click();
  const shown = () => value(page, "JSON.stringify([app.state.picked, app.state.filters, app.state.kernel, [...app.map.kept], app.why])");
  const before = await shown();
  const data = await saved(page, "Save the session");
  const path = join(folder, "chains-session.json");
  writeFileSync(path, data);
  await close(page);

  const other = await open("", { at: await serve() });
  await settled(other);
  await other.locator("#own-file").setInputFiles(path);
  await other.locator("#toast").filter({ hasText: "is open as it was" }).waitFor();
  await until(other, 'app.placed === "wl h=2" && app.map.kept !== null');
  const now = await value(other, "JSON.stringify([app.state.picked, app.state.filters, app.state.kernel, [...app.map.kept], app.why])");
  assert.equal(now, before);
  assert.equal(await other.locator(".own-note textarea").inputValue(), "measure again");
  await other.locator("#tab-table").click();
  assert.equal(await other.locator('#table [aria-label="logP from"]').inputValue(), "0.5");
  await other.locator("#table thead th", { hasText: "my note" }).waitFor();
  await other.locator("#tab-many").click();
  await other.locator("#many tbody tr").nth(2).waitFor();
  await other.locator("#tab-next").click();
  await other.locator(".suggestion.accepted").waitFor();
  await other.locator("#session-button").click();
  assert.equal(await other.locator("#session-notes").inputValue(), "The first series.");
  if (shots) await other.screenshot({ path: join(shots, "session.png") });
  await other.locator("#session button", { hasText: "Close" }).click();
  await other.reload();
  await until(other, "app.map.kept !== null && app.state.picked.length > 5");
  await other.locator("#own-file").setInputFiles(file("broken-session.json", `${data.subarray(0, 5000)}`));
  await other.locator("#toast").filter({ hasText: "only a part of one" }).waitFor();
  await close(other);
});

test("selections and filters are undone and done again, by buttons and by keys", limit, async () => {
  const page = await open("", { at: await serve(file("chains.csv", chains(300))) });
  await settled(page);
  const pick = (list) => page.evaluate(async (graphs) => (await import("/app.js")).app.pick(graphs), list);
  await pick([1, 2, 3]);
  await page.waitForTimeout(700); // a step is complete
  await pick([7]);
  await page.locator("#tab-table").click();
  await page.waitForTimeout(700);
  await page.locator('#table [aria-label="name contains"], #table [aria-label="graph contains"]').first().fill("m7");
  await until(page, "app.map.kept !== null");
  await page.waitForTimeout(700);
  assert.equal(hash(page).get("filter"), '{"graph":{"text":"m7"}}');
  await page.locator("#undo").click();
  await until(page, "app.map.kept === null && app.state.picked.length === 1");
  assert.equal(await page.locator('#table [aria-label="graph contains"]').inputValue(), "");
  await page.locator("#table").focus();
  await page.keyboard.press("Control+z");
  await until(page, "app.state.picked.length === 3");
  await page.keyboard.press("Control+z");
  await until(page, "app.state.picked.length === 0");
  assert.ok(await page.locator("#undo").isDisabled());
  await page.keyboard.press("Control+Shift+z");
  await page.keyboard.press("Control+y");
  await page.locator("#redo").click();
  await until(page, "app.state.picked.length === 1 && app.map.kept !== null");
  assert.ok(await page.locator("#redo").isDisabled());
  await close(page);
});

test("a report is one HTML file with pictures, figures, the selection and the notes, and loads nothing", limit, async () => {
  const page = await open("#pick=1-4");
  await page.locator("#session-button").click();
  await page.locator("#session-notes").fill("Look at these <b>four</b>.");
  await page.locator("#session button", { hasText: "Close" }).click();
  const report = file("report.html", String(await saved(page, "Save a report")));
  await close(page);
  const view = await open("", { at: `file://${report}` });
  const text = await view.locator("body").innerText();
  assert.match(text, /drugs[^]*234 molecules[^]*Look at these <b>four<\/b>\.[^]*Map[^]*Predictions of class[^]*accuracy[^]*Can they be trusted\?[^]*average precision[^]*4 selected[^]*Clusters[^]*Activity cliffs/);
  assert.ok(await view.locator("svg").count() >= 3);
  assert.ok(await view.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), "nothing to scroll sideways");
  await close(view, "report");
});
