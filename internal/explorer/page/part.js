// Predictions of a part of the graphs: those that are selected and pass the filters.

import { count, h, number, percent } from "./dom.js";
import { chosen } from "./state.js";
import { post } from "./api.js";

const answers = new Map(); // what the server said of parts, by what it is about

// partOf returns the part, and a promise of how good its predictions are; null where the views are about all graphs.
export function partOf(e, app) {
  const within = app.within();
  if (within === null || !e?.index.length) return null;
  const graphs = e.index.filter((g) => within.has(g));
  const about = JSON.stringify([app.info.source, app.state.kernel, e.note, e.graphs, graphs]);
  if (!answers.has(about)) {
    if (answers.size > 30) answers.clear();
    const answer = post("evaluate", { graphs, part: e.note ? "early" : "kernel", ...chosen() });
    answers.set(about, answer);
    answer.catch(() => answers.delete(about));
  }
  return { within, graphs, judged: answers.get(about) };
}

// figures says how good the predictions of a part are.
function figures(e) {
  if (!e.graphs) return "none of them has a prediction";
  if (e.accuracy !== null) return `${percent(e.accuracy)} right`;
  return `error ${number(e.rmse, 3)}${e.r2 ? `, R² ${number(e.r2, 2)}` : ""}`;
}

// partLine says what the view is about, and leads back to all.
export function partLine(part, app) {
  const filtered = app.map.kept !== null;
  const what = app.state.picked.length ? (filtered ? "are selected and pass the filters" : "are selected") : "pass the filters";
  const all = () => {
    if (filtered) app.unfilter();
    app.pick([]);
  };
  const said = h("span", {}, "…");
  part.judged.then((e) => (said.textContent = `${figures(e)}.`), (e) => (said.textContent = e.message));
  return h("div", { id: "part", class: "row note" }, h("span", {}, `Below are the ${count(part.within.size, "graph")} that ${what}: `, said),
    h("button", { class: "quiet", onclick: all }, "Show all"));
}
