// Two graphs beside each other, and all pairs: what the views of pairs and of the matrix fetch.

import { app } from "./app.js";
import { $, fixed, h } from "./dom.js";
import { get, post, stopped } from "./api.js";
import { chosen, state, write } from "./state.js";
import { scaleOf } from "./matrix.js";
import { pairView } from "./pair.js";

let pairJob;
let pairOf = null;

// loadPair shows the open graph beside the other one; focus says that the scale was chosen by a key.
export async function loadPair(focus = false) {
  const [a, b] = [state.open, state.other];
  const key = JSON.stringify([state.source, a && app.reference(a), b && app.reference(b), state.level, state.kernel]);
  if (key === pairOf) return;
  pairOf = key;
  pairJob?.abort();
  pairJob = new AbortController();
  const { signal } = pairJob;
  const say = (text, kind = "") => $("pair").replaceChildren(h("p", { class: `empty ${kind}` }, text));
  if (a === null) return say("Open a graph. Then choose a second graph to compare it with.");
  if (b === null) {
    return say(`Choose a graph to compare with ${app.name(a)}: ` +
      "press ⇄ on a similar graph, or hold Shift and click on the map. A click in the matrix compares any two graphs.");
  }
  try {
    const [ga, gb, answer] = await Promise.all([app.graph(a), app.graph(b),
      post("compare", { a: app.reference(a), b: app.reference(b), ...chosen() }, signal)]);
    if (signal.aborted) return;
    const top = answer.levels.length - 1;
    $("pair").replaceChildren(...pairView(ga, gb, answer, Math.min(state.level ?? top, top), (l, keys) => {
      state.level = l === top ? null : l;
      write();
      app.detail.levels();
      loadPair(keys);
    }));
    if (focus) $("pair").querySelector('.levels [aria-checked="true"]')?.focus();
  } catch (e) {
    if (e.name === "AbortError") return;
    pairOf = null;
    say(e.message, stopped(e) ? "" : "error");
  }
}

let matrixJob;
let matrixOf = null;

// loadMatrix shows all pairs.
export async function loadMatrix() {
  const key = JSON.stringify([state.source, state.kernel]);
  if (matrixOf === key) return app.matrix.layout();
  matrixJob?.abort();
  matrixJob = new AbortController();
  try {
    const data = await get("matrix", chosen(), matrixJob.signal);
    matrixOf = key;
    app.matrix.set(data);
    $("matrix-scale").replaceChildren(...scaleOf(data.low, data.high));
    app.marks();
  } catch (e) {
    app.fail(e);
  }
}

// pointCell says which two graphs a cell of the matrix is about, and shows them on the small map.
export function pointCell(a, b, value) {
  app.inset.marked = a === null ? [] : [{ ref: String(a), name: "" }, { ref: String(b), name: "" }];
  app.inset.draw();
  const line = (i) => h("div", {}, app.source.ids[i], " ", h("span", { class: "muted" }, app.source.targets[i] ?? ""));
  $("matrix-cell").replaceChildren(...(a === null ? [h("span", { class: "muted" }, "Point at a cell.")]
    : [h("b", {}, fixed(value, 3)), line(a), line(b)]));
}

// forgetTwo begins anew, for other data.
export function forgetTwo() {
  for (const j of [pairJob, matrixJob]) j?.abort();
  matrixOf = pairOf = null;
}
