// Endpoints besides the target: those of a model, or columns of the file that are chosen to be predicted too.

import { h, number, percent, signed, withDeviation } from "./dom.js";
import { post, stopped } from "./api.js";
import { chosen } from "./state.js";
import { showAsked } from "./ask.js";

// endpointsOf returns their names. A model tells all that it knows.
export const endpointsOf = (app) => (app.info.saved ? app.info.columns.map((c) => c.name) : app.state.endpoints);

// endpointBoxes are boxes to choose the columns that are predicted too; changed() is called for another choice.
export function endpointBoxes(app, changed) {
  const { state } = app;
  const box = (name) => h("label", {}, h("input", { type: "checkbox", checked: state.endpoints.includes(name), onchange: (e) => {
    state.endpoints = e.target.checked ? [...state.endpoints, name] : state.endpoints.filter((n) => n !== name);
    changed();
  } }), name);
  return [h("summary", {}, "Predict columns of the file too"), h("div", { class: "boxes" }, app.info.columns.map((c) => box(c.name)))];
}

const said = (p) => (p.class ?? withDeviation(p)) + (p.probabilities.length ? ` (${percent(p.probabilities[0].probability, 0)})` : "");

// furtherOf fills a list with what is predicted for a graph besides the target; i is its position in the data, null for a new one.
export async function furtherOf(app, el, graph, i, signal) {
  const lines = new Map(endpointsOf(app).map((name) => [name, h("span", {}, "…")]));
  el.replaceChildren(...[...lines].map(([name, line]) => h("li", {}, h("span", {}, name), line)));
  for (const [name, line] of lines) {
    try {
      const { predictions: [p] } = await post("predict", { graphs: [graph], k: 0, endpoint: name, ...chosen() }, signal);
      const measured = i === null ? null : (await app.column(name))[i];
      const known = measured !== null && measured !== "";
      line.replaceChildren(h("b", {}, said(p)), known ? h("span", { class: "muted" }, ` ${typeof measured === "number" ? number(measured) : signed(measured)} measured`) : "");
    } catch (e) {
      if (stopped(e)) return;
      line.replaceChildren(h("span", { class: "error" }, e.message));
    }
  }
}

// furtherAsked asks for all that was asked what is predicted besides the target.
export async function furtherAsked(app, signal) {
  const list = app.state.asked.filter((a) => !a.error && a.prediction);
  const names = endpointsOf(app);
  for (const a of list) a.further = Object.fromEntries(Object.entries(a.further ?? {}).filter(([name]) => names.includes(name)));
  for (const name of names) {
    const open = list.filter((a) => !a.further[name]);
    if (!open.length) continue;
    const graphs = open.map((a) => app.reference(`a${app.state.asked.indexOf(a)}`));
    const { predictions } = await post("predict", { graphs, k: 0, endpoint: name, ...chosen() }, signal);
    open.forEach((a, k) => (a.further[name] = said(predictions[k])));
    showAsked(app);
  }
}
