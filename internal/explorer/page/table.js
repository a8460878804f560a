// The selected graphs, or all of them, as a table with export.

import { $, count, h, toast, whole } from "./dom.js";
import { download } from "./api.js";
import { Grid } from "./grid.js";
import { structure } from "./structure.js";
import { chosen } from "./state.js";
import { keptOf } from "./kept.js";
import { forgetPlot, plot } from "./plot.js";

const own = ["structure", "graph", "predicted", "error", "right", "vertices", "edges", "my note"]; // names of the page's columns

// columnsOf returns what is known about each graph, as columns of a Grid.
function columnsOf(app) {
  const { source, info, evaluation: e } = app;
  const at = new Map(e?.index.map((g, k) => [g, k]));
  const values = info.task === "regression";
  const predicted = (i) => (at.has(i) ? (values ? e.values : e.predicted)[at.get(i)] : null);
  const out = [{ name: "structure", plain: true, value: () => null, cell: (i) => structure(() => app.graph(String(i))) },
    { name: "graph", head: true, value: (i) => source.ids[i] }];
  if (info.task !== "none") {
    out.push({ name: info.target_name, value: (i) => (values ? (source.targets[i] ? source.value[i] : null) : source.targets[i]) });
    if (e?.index.length) {
      out.push({ name: "predicted", value: predicted });
      out.push(values ? { name: "error", value: (i) => (at.has(i) && source.targets[i] ? predicted(i) - source.value[i] : null) }
        : { name: "right", value: (i) => (at.has(i) ? (predicted(i) === source.targets[i] ? "✓" : "✗") : null) });
    }
  }
  for (const name of shownColumns(app)) {
    const values = app.columns.get(name);
    if (values) out.push({ name: own.includes(name) ? `${name} (file)` : name, value: (i) => values[i] });
  }
  const { notes } = keptOf(info.source);
  if (Object.keys(notes).some((i) => i && notes[i])) out.push({ name: "my note", value: (i) => notes[i] ?? "" });
  out.push({ name: "vertices", value: (i) => source.nodes[i] },
    { name: "edges", value: (i) => source.edges[i] });
  return out;
}

// exports are buttons that save graphs: those that graphs() returns when one is pressed.
export function exports(app, graphs) {
  const formats = [["csv", "CSV"], app.info.smiles && ["smi", "SMILES"], ["jsonl", "JSON Lines"]].filter(Boolean);
  return h("span", { class: "exports" }, h("span", { class: "muted" }, "Export"), formats.map(([format, text]) => h("button", {
    class: "quiet", "aria-label": `Export as ${text}`, onclick: () => {
      const list = graphs();
      if (!list.length) return toast("No graph passes the filters.");
      download("export", `${app.info.name}.${format}`, {}, { graphs: list, format, ...chosen() }).catch(app.fail);
    },
  }, text)));
}

const first = 6; // columns of the file that are shown until others are chosen

// shownColumns returns the names of the columns of the file that the table has.
function shownColumns(app) {
  const all = app.info.columns.map((c) => c.name);
  return app.state.columns === null ? all.slice(0, first) : app.state.columns.filter((name) => all.includes(name));
}

// chooser has a box for each column of the file.
function chooser(app) {
  const el = $("table-columns");
  el.hidden = !app.info.columns.length;
  const box = (name) => h("label", {}, h("input", { type: "checkbox", checked: shownColumns(app).includes(name), onchange: (e) => {
    if (!e.target.checked) grid.filters.delete(name);
    app.state.columns = e.target.checked ? [...shownColumns(app), name] : shownColumns(app).filter((n) => n !== name);
    show();
  } }), name);
  const show = () => {
    app.show("table");
    chooser(app);
    [...el.querySelectorAll("[data-move], input")].find((b) => (b.dataset.move ?? b.parentElement.textContent) === focus)?.focus();
  };
  let focus = "";
  el.onfocusin = (e) => (focus = e.target.dataset.move ?? e.target.parentElement.textContent);
  const shown = shownColumns(app);
  const earlier = (name, k) => k > 0 && h("button", { class: "quiet", "data-move": name, "aria-label": `Move ${name} to the left`, title: "Move to the left", onclick: () => {
    app.state.columns = [...shown];
    app.state.columns.splice(k - 1, 2, name, shown[k - 1]);
    show();
  } }, "←");
  const others = app.info.columns.map((c) => c.name).filter((name) => !shown.includes(name));
  el.replaceChildren(h("summary", {}, `Columns of the file: ${app.info.columns.length}`),
    h("div", { class: "boxes" }, shown.map((name, k) => h("span", { class: "row" }, earlier(name, k), box(name))), others.map(box)));
}

let grid = null;

// showTable fills the view. What its filters keep is what the map shows.
export function showTable(app) {
  const { picked } = app.state;
  const fresh = !grid;
  grid ??= new Grid($("table"), { changed: () => changed(app), open: (i) => app.open(String(i)), isOpen: (i) => app.state.open === String(i) });
  const rows = picked.length ? [...picked] : [...app.source.ids.keys()];
  if (fresh) grid.filters = new Map(Object.entries(app.state.filters));
  grid.set(columnsOf(app), rows);
  if (!$("table-columns").childElementCount) chooser(app);
  const missing = shownColumns(app).filter((name) => !app.columns.has(name));
  if (missing.length) Promise.all(missing.map((name) => app.column(name))).then(() => grid?.set(columnsOf(app), rows)).catch(app.fail);
}

// refilter has the table follow filters that are not its own: those of a link, or of a step back.
export function refilter(app) {
  const { filters } = app.state;
  if (!grid && !Object.keys(filters).length) return;
  if (!grid) return showTable(app);
  if (JSON.stringify(filters) !== JSON.stringify(Object.fromEntries(grid.filters))) grid.use(filters);
}

// unfilter removes the filters of the table.
export const unfilter = () => grid?.clear();

// forgetTable begins anew, for other data.
export function forgetTable() {
  grid = null;
  $("table").replaceChildren();
  $("table-columns").replaceChildren();
  forgetPlot();
}

function changed(app) {
  plot(app, grid.columns, grid.shown);
  const { picked } = app.state;
  const filtered = grid.filters.size > 0;
  const of = picked.length ? `${whole(picked.length)} selected` : `All ${count(grid.all.length, "graph")}`;
  $("table-head").replaceChildren(
    h("b", {}, filtered ? `${whole(grid.shown.length)} of ${of.replace("All ", "")}` : of),
    filtered ? h("button", { class: "quiet", onclick: unfilter }, "Clear filters") : "",
    picked.length ? h("button", { class: "quiet", onclick: () => app.pick([]) }, "Show all")
      : h("span", { class: "muted" }, filtered ? "The map shows these too." : "Select graphs on the map to see only those."),
    filtered ? h("button", { class: "quiet", onclick: () => app.pick(grid.rows(), "map", "pass the filters of the table") }, "Select them") : "",
    h("span", { class: "grow" }), exports(app, () => grid.rows()));
  app.keep(filtered ? new Set(grid.shown) : null);
  app.filtered(Object.fromEntries(grid.filters));
}
