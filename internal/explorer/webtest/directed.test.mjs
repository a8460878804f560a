// Directed graphs: arrows, names of vertices, and a kernel that sees directions.

import assert from "node:assert/strict";
import { test } from "node:test";
import { close, file, hover, limit, open, serve, settled } from "./browser.mjs";

// fork leads from its root to two leaves, join from the leaves to the root.
const fork = [[0, 1], [0, 2]];
const join = [[1, 0], [2, 0]];
const lines = Array.from({ length: 24 }, (_, i) => JSON.stringify({ id: `g${i}`, directed: true, nodes: 3 + i % 4,
  edges: [...(i % 2 ? join : fork), ...Array.from({ length: i % 4 }, (_, k) => [k, k + 3])],
  node_labels: Array(3 + i % 4).fill("call"), node_names: ["main", "left", "right", "a", "b", "c"].slice(0, 3 + i % 4), target: i % 2 ? "join" : "fork" }));

test("directed graphs have arrows and the names of their vertices, and their directions count", limit, async () => {
  const page = await open("#open=0", { at: await serve(file("calls.jsonl", `${lines.join("\n")}\n`)) });
  await settled(page);
  const drawing = page.locator("#detail .paper .drawing");
  await drawing.waitFor();
  const heads = () => drawing.evaluate((el) => [...el.querySelectorAll(".ink path")].map((p) => p.getAttribute("d"))
    .filter((d) => /^M[-\d. ]+L[-\d. ]+L[-\d. ]+Z$/.test(d)).length);
  assert.equal(await heads(), 2, "an arrow for each arc");
  for (const [v, name] of ["main", "left", "right"].entries()) {
    assert.equal(await drawing.locator(`[data-vertex="${v}"]`).getAttribute("aria-label"), `Vertex ${name}, label call`);
  }
  await hover(page, drawing.locator('[data-vertex="1"]'), page.locator("#detail .key", { hasText: "Vertex left" }));
  const alike = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const { neighbours } = await app.post("neighbours", { graph: { index: 0 }, k: 23 });
    return Object.fromEntries(neighbours.map((n) => [n.id, n.similarity]));
  });
  assert.ok(alike.g4 > 0.999 && alike.g5 < 0.999 && alike.g1 < 0.999, `the same, and with arcs the other way: ${alike.g4}, ${alike.g1}`);
  await page.evaluate(async () => (await import("/app.js")).app.compare("0", "1"));
  await page.locator("#pair .levels").waitFor();
  assert.equal(await page.locator("#pair svg").first().evaluate((el) => [...el.querySelectorAll(".ink path")].map((p) => p.getAttribute("d"))
    .filter((d) => /^M[-\d. ]+L[-\d. ]+L[-\d. ]+Z$/.test(d)).length >= 2), true, "a pair has arrows too");
  await page.locator("#score").filter({ hasText: "right" }).waitFor();
  await close(page, "directed");
});
