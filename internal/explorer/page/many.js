// Many new graphs at once: a table with what is predicted for each.

import { $, count, h, percent, whole } from "./dom.js";
import { download, get, sendFile } from "./api.js";
import { chosen, write } from "./state.js";
import { Grid } from "./grid.js";
import { structure } from "./structure.js";
import { endpointBoxes } from "./endpoints.js";

let grid;
let table = null; // the answer of the API,
let of = null; // and what it is about

// sendMany has a file predicted, and shows the view; app.predictMany is it.
export async function sendMany(app, file) {
  const read = await sendFile("batch", file, { source: app.info.source, ...chosen() });
  app.state.batch = read.batch;
  if (app.info.saved) app.state.endpoints = app.info.columns.map((c) => c.name); // a model tells all that it knows
  app.show("many");
  const notes = [read.skipped.count && `${count(read.skipped.count, "row")} skipped, the first in line ${read.skipped.first[0].line}: ${read.skipped.first[0].reason}`,
    read.more && `only the first ${whole(read.graphs)} graphs are read`].filter(Boolean);
  if (notes.length) app.notice(`${file.name}: ${notes.join("; ")}.`);
}

let more = new Map(); // answers about further endpoints, by the names of columns

// further returns the columns of an endpoint.
function further(name, t) {
  if (!t) return [];
  const level = t.level === null ? "" : percent(t.level, 0);
  return [{ name: `predicted ${name}`, value: (i) => t.values[i] ?? t.classes[i] },
    t.probability.length > 0 && { name: `${name} probability`, value: (i) => t.probability[i] },
    t.level !== null && { name: `${name} low ${level}`, value: (i) => t.low[i] },
    t.level !== null && { name: `${name} high ${level}`, value: (i) => t.high[i] }].filter(Boolean);
}

// loadMore asks for the endpoints that are not there. One that cannot be predicted is taken back.
async function loadMore(app) {
  const { state } = app;
  const about = of;
  for (const name of state.endpoints.filter((n) => !more.has(n))) {
    try {
      const answer = await get(`batch/${state.batch}`, { endpoint: name, ...chosen() });
      if (of !== about) return;
      more.set(name, answer);
    } catch (e) {
      if (of !== about) return;
      state.endpoints = state.endpoints.filter((n) => n !== name);
      app.fail(e);
    }
  }
  write();
  grid.set(columnsOf(app, table), [...table.ids.keys()]);
}

// chooser has a box for each column that may be predicted.
function chooser(app) {
  $("many-endpoints").hidden = !app.info.columns.length;
  $("many-endpoints").replaceChildren(...endpointBoxes(app, () => loadMore(app).catch(app.fail)));
}

// columnsOf returns the columns of a table of predictions.
function columnsOf(app, t) {
  const has = (list) => list.length > 0;
  const name = app.info.target_name;
  const graphs = new Map();
  const fetch = (i) => {
    if (!graphs.has(i)) graphs.set(i, get(`member/${i}`, { batch: app.state.batch }).then(({ graph, drawing }) => ({ ...graph, labels: graph.node_labels ?? [], drawing })));
    return graphs.get(i);
  };
  const level = t.level === null ? "" : percent(t.level, 0);
  return [
    { name: "structure", plain: true, value: () => null, cell: (i) => structure(() => fetch(i)) },
    { name: "name", head: true, value: (i) => t.ids[i] },
    has(t.classes) && { name: `predicted ${name}`, value: (i) => t.classes[i] },
    has(t.probability) && { name: "probability", value: (i) => t.probability[i] },
    has(t.values) && { name: `predicted ${name}`, value: (i) => t.values[i] },
    t.level !== null && { name: "±", value: (i) => t.deviations[i] },
    t.level !== null && { name: `low ${level}`, value: (i) => t.low[i] },
    t.level !== null && { name: `high ${level}`, value: (i) => t.high[i] },
    ...app.state.endpoints.flatMap((endpoint) => further(endpoint, more.get(endpoint))),
    { name: "similarity", value: (i) => t.similarity[i] },
    { name: "most similar", value: (i) => `${app.source.ids[t.nearest[i]]}${app.source.targets[t.nearest[i]] ? ` · ${app.source.targets[t.nearest[i]]}` : ""}` },
    { name: "remark", value: (i) => (t.known[i] >= 0 ? `${t.same[i]}${t.same[i] === "same molecule" && app.source.targets[t.known[i]] ? ", in training" : ""}` : t.unlike[i] ? "unlike the graphs here" : "") },
    { name: "smiles", value: (i) => t.smiles[i] },
  ].filter(Boolean);
}

// manyView fills the view.
export async function manyView(app) {
  const { batch, kernel } = app.state;
  const say = (text, kind = "") => {
    $("many-head").replaceChildren();
    $("many").replaceChildren(h("p", { class: `empty ${kind}` }, text));
  };
  const key = JSON.stringify([app.info.source, batch, kernel]);
  if (batch === null) {
    of = table = null;
    $("many-endpoints").hidden = true;
    return $("many").replaceChildren(form(app));
  }
  if (of === key) return;
  of = key;
  more = new Map();
  say("Predicting …");
  try {
    table = await get(`batch/${batch}`, chosen());
  } catch (e) {
    if (of === key) of = null;
    if (e.name === "AbortError") return;
    return say(e.message, "error");
  }
  if (of !== key) return;
  $("many").replaceChildren();
  grid = new Grid($("many"), { changed: () => head(app), open: (i) => openRow(app, i).catch(app.fail) });
  const columns = columnsOf(app, table);
  grid.set(columns, [...table.ids.keys()]);
  chooser(app);
  await loadMore(app);
}

// form asks for graphs: SMILES, or rows of a table where the data are rows.
function form(app) {
  const { parts } = app.info;
  const [what, example] = parts.length ? [`rows as CSV, with the names of the columns first: ${parts.join(", ")}`, `${parts.join(",")}\n`]
    : ["SMILES, one a line with a name behind it", "CC(=O)Oc1ccccc1C(=O)O aspirin\nCCO ethanol"];
  const text = h("textarea", { id: "many-text", rows: 8, spellcheck: "false", "aria-label": parts.length ? "Rows as CSV" : "SMILES, one a line", placeholder: example });
  const go = (file) => app.predictMany(file).catch(app.fail);
  return h("form", { class: "many-form", onsubmit: (e) => {
    e.preventDefault();
    if (text.value.trim()) go(new File([`${text.value.trim()}\n`], parts.length ? "pasted.csv" : "pasted.smi"));
  } }, h("p", {}, `Paste up to 10,000 ${what}, or choose a file. Each gets its prediction, with what is known of how sure it is.`),
  text, h("div", { class: "row" }, h("button", { class: "primary" }, "Predict"),
    h("label", { class: "button" }, "Choose a file", h("input", { type: "file", id: "many-file", class: "visually-hidden",
      onchange: (e) => e.target.files[0] && go(e.target.files[0]) }))));
}

function head(app) {
  const shown = grid.shown;
  const save = (format, text) => h("button", { class: "quiet", "aria-label": `Export as ${text}`, disabled: shown.length === 0,
    onclick: () => download("table", `predicted.${format}`, {}, { batch: app.state.batch, rows: grid.rows(), format, endpoints: app.state.endpoints.filter((n) => more.has(n)), ...chosen() }).catch(app.fail) }, text);
  $("many-head").replaceChildren(
    h("b", {}, shown.length === table.ids.length ? `${count(shown.length, "graph")} of ${table.name}` : `${whole(shown.length)} of ${count(table.ids.length, "graph")}`),
    grid.filters.size ? h("button", { class: "quiet", onclick: () => grid.clear() }, "Clear filters") : "",
    h("button", { class: "quiet", onclick: () => {
      app.state.batch = null;
      write();
      manyView(app);
    } }, "New list"),
    h("span", { class: "grow" }), h("span", { class: "muted" }, "Export"), save("csv", "CSV"),
    table.smiles.every(Boolean) ? save("sdf", "SDF") : "");
}

// openRow places a graph of the table on the map, with reasons.
async function openRow(app, i) {
  const { graph } = await get(`member/${i}`, { batch: app.state.batch });
  await app.ask([table.smiles[i] ? { smiles: table.smiles[i] } : { graph }]);
}
