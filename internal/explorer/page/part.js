// Predictions of a part of the graphs: those that are selected and pass the filters.

import { count, h, number, percent } from "./dom.js";

// partOf returns how good the predictions of the part are, and what it is; null where the views are about all graphs.
export function partOf(e, app) {
  const within = app.within();
  if (within === null || !e?.index.length) return null;
  const at = [...e.index.keys()].filter((k) => within.has(e.index[k]));
  return { within, at, graphs: at.map((k) => e.index[k]), said: figures(e, at, app) };
}

// figures says how good some predictions are.
function figures(e, at, app) {
  if (!at.length) return "none of them has a prediction";
  if (!e.values.length) {
    const right = at.filter((k) => e.predicted[k] === app.source.targets[e.index[k]]).length;
    return `${percent(right / at.length)} right`;
  }
  const mean = (f) => at.reduce((sum, k) => sum + f(k), 0) / at.length;
  const square = mean((k) => (e.values[k] - e.measured[k]) ** 2);
  const middle = mean((k) => e.measured[k]);
  const spread = mean((k) => (e.measured[k] - middle) ** 2);
  return `error ${number(Math.sqrt(square), 3)}${spread > 0 ? `, R² ${number(1 - square / spread, 2)}` : ""}`;
}

// partLine says what the view is about, and leads back to all.
export function partLine(part, app) {
  const filtered = app.map.kept !== null;
  const what = app.state.picked.length ? (filtered ? "selected and pass the filters" : "selected") : "pass the filters";
  const all = () => {
    if (filtered) app.unfilter();
    app.pick([]);
  };
  return h("div", { id: "part", class: "row note" }, h("span", {}, `Below are the ${count(part.within.size, "graph")} that ${what === "pass the filters" ? what : `are ${what}`}: ${part.said}.`),
    h("button", { class: "quiet", onclick: all }, "Show all"));
}

// counted returns the confusion of a part.
export function counted(e, part, app) {
  const { classes } = e.confusion;
  const counts = classes.map(() => classes.map(() => 0));
  for (const k of part.at) counts[classes.indexOf(app.source.targets[e.index[k]])][classes.indexOf(e.predicted[k])]++;
  return { classes, counts };
}
