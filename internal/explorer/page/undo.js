// Undo and redo of selections and filters.

import { $, announce } from "./dom.js";

const most = 60; // steps
const pause = 500; // milliseconds without a change after which a step is complete

let past = [];
let future = [];
let now = null; // as text
let timer = null;

const snapshot = ({ state, why }) => JSON.stringify({ picked: state.picked, only: state.only, filters: state.filters, why: why ?? "" });

function buttons() {
  $("undo").disabled = !past.length;
  $("redo").disabled = !future.length;
}

// record writes down a step, if something has changed.
function record(app) {
  clearTimeout(timer);
  timer = null;
  const next = snapshot(app);
  if (now !== null && next !== now) {
    past.push(now);
    past = past.slice(-most);
    future = [];
  }
  now = next;
  buttons();
}

// changes says that something may have changed.
export function changes(app) {
  if (now === null) return record(app);
  if (snapshot(app) === now) return;
  clearTimeout(timer);
  timer = setTimeout(() => record(app), pause);
}

// forgetSteps begins anew, for other data.
export function forgetSteps() {
  clearTimeout(timer);
  [past, future, now] = [[], [], null];
  buttons();
}

// step goes a step back (from past to future) or forth.
function step(app, back) {
  record(app);
  const [from, to] = back ? [past, future] : [future, past];
  if (!from.length) return;
  to.push(now);
  now = from.pop();
  const { why, ...rest } = JSON.parse(now);
  app.restep(rest, why);
  announce(back ? "Undone" : "Done again");
  buttons();
}

// undoButtons connects buttons and keys.
export function undoButtons(app) {
  $("undo").addEventListener("click", () => step(app, true));
  $("redo").addEventListener("click", () => step(app, false));
  addEventListener("keydown", (e) => {
    const key = e.key.toLowerCase();
    if (!(e.ctrlKey || e.metaKey) || !["z", "y"].includes(key) || e.target.closest("input:not([type=range]):not([type=checkbox]), textarea, dialog")) return;
    e.preventDefault();
    step(app, key === "z" && !e.shiftKey);
  });
}
