// The selected graphs, or all of them, as a table with export.

import { $, count, h, number } from "./dom.js";
import { download } from "./api.js";
import { chosen } from "./state.js";

const page = 200; // rows that are shown at a time
let sorted = { by: null, down: false };
let most = page;

// columnsOf returns what is known about each graph: a name, and value(i) as text or number, null for unknown.
function columnsOf(app) {
  const { source, info, evaluation: e } = app;
  const at = new Map(e?.index.map((g, k) => [g, k]));
  const values = info.task === "regression";
  const predicted = (i) => (at.has(i) ? (values ? e.values : e.predicted)[at.get(i)] : null);
  const out = [{ name: "graph", value: (i) => source.ids[i] }];
  if (info.task !== "none") {
    out.push({ name: info.target_name, value: (i) => (values ? source.value[i] : source.targets[i]) });
    if (e?.index.length) {
      out.push({ name: "predicted", value: predicted });
      out.push(values ? { name: "error", value: (i) => (at.has(i) ? predicted(i) - source.value[i] : null) }
        : { name: "right", value: (i) => (at.has(i) ? (predicted(i) === source.targets[i] ? "✓" : "✗") : null) });
    }
  }
  out.push({ name: "vertices", value: (i) => source.nodes[i] },
    { name: "edges", value: (i) => source.edges[i] });
  return out;
}

// exports are the buttons that save graphs; of none, all are saved.
export function exports(app, graphs) {
  const formats = [["csv", "CSV"], app.info.smiles && ["smi", "SMILES"], ["jsonl", "JSON Lines"]].filter(Boolean);
  return formats.map(([format, text]) => h("button", {
    class: "quiet", "aria-label": `Export as ${text}`, onclick: () => download("export", `${app.info.name}.${format}`, {},
      { graphs: graphs.length ? graphs : [...app.source.ids.keys()], format, ...chosen() }).catch(app.fail),
  }, text));
}

// showTable fills the view.
export function showTable(app) {
  const { picked } = app.state;
  const columns = columnsOf(app);
  const rows = picked.length ? [...picked] : [...app.source.ids.keys()];
  const by = columns.find((c) => c.name === sorted.by);
  if (by) {
    const value = new Map(rows.map((i) => [i, by.value(i)]));
    const order = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    rows.sort((i, j) => {
      const [a, b] = [value.get(i), value.get(j)];
      return a === null || b === null ? (a === null) - (b === null) : (sorted.down ? -1 : 1) * order(a, b);
    });
  }
  $("table-head").replaceChildren(
    h("b", {}, picked.length ? `${picked.length.toLocaleString("en")} selected` : `All ${count(rows.length, "graph")}`),
    picked.length ? h("button", { class: "quiet", onclick: () => app.pick([]) }, "Show all")
      : h("span", { class: "muted" }, "Select graphs on the map to see only those."),
    h("span", { class: "grow" }), h("span", { class: "muted" }, "Export"), ...exports(app, picked));
  const text = (v) => (v === null || v === undefined || v === "" ? "–" : typeof v === "number" ? number(v) : v);
  const numeric = (c) => rows.length > 0 && typeof c.value(rows[0]) === "number";
  const heads = columns.map((c) => h("th", { scope: "col", class: numeric(c) ? "number" : "",
    "aria-sort": c === by ? (sorted.down ? "descending" : "ascending") : "none" },
    h("button", { onclick: () => {
      sorted = { by: c.name, down: c === by && !sorted.down };
      showTable(app);
      [...$("table").querySelectorAll("th button")].find((b) => b.textContent.startsWith(c.name))?.focus();
    } }, c.name, c === by && h("span", { "aria-hidden": "true" }, sorted.down ? " ↓" : " ↑"))));
  const row = (i) => h("tr", { "data-graph": i, class: app.state.open === String(i) ? "open" : "",
    onclick: () => app.open(String(i)) }, columns.map((c, k) => {
    const v = c.value(i);
    return k === 0 ? h("th", { scope: "row" }, h("button", {}, v))
      : h("td", { class: typeof v === "number" ? "number" : v === "✗" ? "no" : v === "✓" ? "yes" : "" }, text(v));
  }));
  $("table").replaceChildren(...[h("table", { class: "graphs" }, h("thead", {}, h("tr", {}, heads)),
    h("tbody", {}, rows.slice(0, most).map(row))),
    rows.length > most && h("button", { class: "more", onclick: () => {
      most += 5 * page;
      showTable(app);
    } }, `Show more of ${rows.length.toLocaleString("en")}`)].filter(Boolean));
}
