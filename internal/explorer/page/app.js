// The page: fetches, keeps the state, and tells the views what to show.

import { $, announce, count, h, radios, signed, toast, whole } from "./dom.js";
import { cancel, download, get, post } from "./api.js";
import { chosen, complete, state, views, write } from "./state.js";
import { markCanvas, onTheme, shapeOf } from "./colors.js";
import { colorQuery, legend } from "./legend.js";
import { MapView } from "./map.js";
import { MatrixView, scaleOf } from "./matrix.js";
import { Detail } from "./detail.js";
import { loadMatrix, loadPair, pointCell } from "./two.js";
import { compute, crossValidate, loadColors, loadSizes, showPlaces } from "./learned.js";
import { KernelPanel } from "./kernel.js";
import { load } from "./load.js";
import { predictionsView } from "./predictions.js";
import { exports, refilter, showTable, unfilter } from "./table.js";
import { sessionDialog } from "./session.js";
import { changes, undoButtons } from "./undo.js";
import { askPanel, showAsked } from "./ask.js";
import { chooseTarget, ownData, receive } from "./data.js";
import { withoutItself } from "./said.js";
import { themes } from "./theme.js";
import { furtherAsked } from "./endpoints.js";
import { groupsView } from "./groups.js";
import { manyView, sendMany } from "./many.js";
import { nextGraph, nextName, nextView, suggestions } from "./next.js";
import { keptOf } from "./kept.js";
import { stack } from "./stack.js";
import { tip } from "./tip.js";
import { downloads, find, menu } from "./tools.js";

export const app = {
  state, post,
  info: null, // of the API
  sources: [], // all data of the server
  source: null, // the graphs, column by column
  places: null, // both layouts,
  placed: null, // and the kernel that they belong to
  coloring: null, // of the map, by what and with what
  evaluation: null, // how good predictions are,
  problem: null, // and why that is not known,
  comparing: false, // whether simpler predictions are still being made
  filed: null, // of a model that is cross-validated here: what its file says
  matched: new Map(), // vertices of the part of a molecule that was searched, by graph
  levels: 0,
  radii: [],
  drawings: new Map(),
  columns: new Map(), // of the file, by name: values by graph

  // reference names a graph for the API.
  // It is its number; "a" and a number for one that was asked about; "s" and a number for a suggestion.
  reference: (ref) => (ref[0] === "a" ? askedReference(Number(ref.slice(1))) : { index: Number(ref) }),
  name: (ref) => (ref[0] === "s" ? nextName(Number(ref.slice(1))) : ref[0] === "a" ? state.asked[Number(ref.slice(1))]?.prediction?.id ?? "asked" : app.source.ids[Number(ref)]),
  radius: (level) => app.radii[level - 1] ?? 0,

  // graph fetches a graph with its drawing, once.
  graph(ref) {
    if (ref[0] === "s") return nextGraph(app, Number(ref.slice(1)));
    const key = ref[0] === "a" ? JSON.stringify(app.reference(ref)) : ref;
    if (!app.drawings.has(key)) {
      if (app.drawings.size > 300) app.drawings.clear();
      const p = (ref[0] === "a" ? post("graph", app.reference(ref)) : get(`graph/${ref}`))
        .then(({ graph, drawing }) => ({ ...graph, labels: graph.node_labels ?? [], drawing }));
      p.catch(() => app.drawings.delete(key));
      app.drawings.set(key, p);
    }
    return app.drawings.get(key);
  },

  open(ref, { quiet = false } = {}) {
    if (ref !== state.open) state.vertex = null;
    if (ref !== null && ref === state.other) state.other = state.open;
    state.open = ref;
    if (ref !== null && !quiet) announce(`${app.name(ref)} is open`);
    changed({ detail: true });
  },

  compare(a, b) {
    if (a === null) return app.open(b);
    if (a === b) return;
    [state.open, state.other, state.view] = [a, b, "pair"];
    state.vertex = null;
    announce(`Comparing ${app.name(a)} with ${app.name(b)}`);
    changed({ detail: true });
  },

  // alike compares a graph with the one that is most similar.
  async alike() {
    const ref = state.open ?? "0";
    const { neighbours } = await post("neighbours", { graph: app.reference(ref), k: 1, ...chosen() });
    app.compare(ref, String(neighbours[0].index));
  },

  // pick selects graphs, and shows them in a view; why says what they have in common.
  pick(graphs, view = state.view, why = "") {
    state.picked = [...new Set(graphs)].sort((a, b) => a - b);
    state.view = view;
    app.why = why;
    if (!why) app.matched = new Map();
    announce(graphs.length ? `${count(graphs.length, "graph")} selected` : "Nothing is selected");
    changed();
  },

  // column returns the values of a column of the file, which are fetched once.
  async column(name) {
    if (!app.columns.has(name)) {
      const { columns } = app;
      const { columns: [c] } = await get("columns", { column: name });
      columns.set(name, c.numbers.length ? c.numbers : c.texts);
    }
    return app.columns.get(name);
  },

  sizeBy(by) {
    [state.size, state.view] = [by, "map"];
    changed();
    loadSizes().catch(app.fail);
  },

  colorBy(by) {
    [state.color, state.only, state.view] = [by, null, "map"];
    changed();
    loadColors();
  },

  setLevel(level) {
    state.level = level === app.levels ? null : level;
    write();
    if (state.vertex !== null) app.detail.vertex(state.vertex).catch(app.fail);
  },

  setSlopes(on) {
    state.slopes = on;
    changed({ detail: true });
  },

  setVertex(v) {
    state.vertex = v;
    write();
    if (v === null) app.detail.clearVertex();
    else app.detail.vertex(v).catch(app.fail);
  },

  chip: (cls, text) => h("span", { class: "chip" }, app.mark(cls), signed(text)),

  // mini is a text with the mark of a graph's class before it.
  mini: (index, text) => [app.mark(app.source.class[index] ?? -1), h("span", { class: "cut" }, text)].filter(Boolean),

  mark: (cls) => (cls >= 0 ? markCanvas(shapeOf(cls), onTheme(app.info.classes[cls].color)) : null),

  // ask adds graphs, once they are understood, and opens the first.
  async ask(list) {
    const answer = await post("predict", { graphs: list, k: 5, place: true, ...chosen() });
    list.forEach((a, i) => (a.prediction = withoutItself(answer.predictions[i])));
    const same = (a, b) => JSON.stringify(a.smiles ?? a.graph) === JSON.stringify(b.smiles ?? b.graph);
    const known = (a) => state.asked.findIndex((b) => same(a, b));
    for (const a of list) {
      const at = known(a);
      if (at >= 0) state.asked[at] = a;
      else state.asked.push(a);
    }
    app.open(`a${known(list[0])}`, { quiet: true });
    furtherAsked(app).catch(app.fail);
    const p = list[0].prediction;
    const said = p.class ? `Predicted ${p.class}. ` : "";
    announce(`${said}${p.unlike ? "Unlike the graphs here. " : ""}Most similar: ${p.nearest[0]?.id ?? "nothing"}.`);
  },

  forget(i) {
    const number = (ref) => Number(ref.slice(1));
    const moved = (ref) => (ref?.[0] !== "a" || number(ref) < i ? ref : number(ref) === i ? null : `a${number(ref) - 1}`);
    state.asked.splice(i, 1);
    [state.open, state.other] = [moved(state.open), moved(state.other)];
    changed({ detail: true });
  },

  // predicted keeps what was said about a graph that was asked about.
  predicted(ref, p) {
    if (ref[0] !== "a") return;
    const a = state.asked[Number(ref.slice(1))];
    if (a?.prediction) Object.assign(a.prediction, { ...p, place: a.prediction.place });
    showAsked(app);
  },

  // within returns the graphs that the views are about: those that are selected and pass the filters, null for all.
  within() {
    const { kept } = app.map;
    if (!state.picked.length) return kept;
    return new Set(kept ? state.picked.filter((i) => kept.has(i)) : state.picked);
  },

  // keep has the map show some graphs alone, null for all.
  keep(graphs) {
    if (graphs === null && app.map.kept === null) return;
    for (const m of app.maps) {
      m.kept = graphs;
      m.draw();
    }
    showSelection();
    if (state.view === "predictions") predictionsView(app.evaluation, app);
  },

  show(view) {
    state.view = view;
    changed();
  },

  notice,

  // gone says which data the server has let go.
  gone: (names) => names.length && notice(`The server keeps the last files only, and has let ${names.join(", ")} go. Load the file again to see it.`),

  predictMany: (file) => sendMany(app, file),

  // use shows other data, with some of the state.
  async use(source, shown = {}) {
    const q = new URLSearchParams({ source });
    for (const [name, v] of Object.entries(shown)) if (v) q.set(name, typeof v === "object" ? JSON.stringify(v) : v);
    history.pushState(null, "", `${location.pathname}#${q}`);
    await load();
  },

  marks: markOpen,

  changed, showLegend, loadDetail, leaveDetail, crossValidate, compute,

  load,

  receive: (file) => receive(app, file),

  // filtered says what the filters of the table are.
  filtered(filters) {
    state.filters = filters;
    write();
    changes(app);
  },

  // restep goes back to a selection and filters.
  restep(rest, why) {
    Object.assign(state, rest);
    app.why = why;
    refilter(app);
    changed();
  },

  unfilter,

  report: () => download("report", `${app.info.name}.html`, {}, reportOf()),

  fail(error) {
    if (error.name !== "AbortError") toast(error.message);
  },
};

// part makes the selection data of its own, with a model of its own, and compares that with the model of all.
async function part() {
  const { info } = app;
  const why = app.why ? ` that ${app.why}` : "";
  const made = await post("derive", { name: `${info.name}: ${count(state.picked.length, "graph")}${why}`.slice(0, 120), graphs: state.picked, ...chosen() });
  await app.use(made.source, { view: info.task === "none" ? "map" : "predictions", kernel: state.kernel,
    against: info.task !== "none" && { source: info.source, kernel: state.kernel } });
  toast(`${count(made.graphs, "graph")} are data of their own now. The list at the top leads back to all.`);
  app.gone(made.gone);
}

// reportOf says what a report has of the page.
function reportOf() {
  const { notes } = keptOf(app.info.source);
  return { ...colorQuery(state.color, "color"), layout: state.layout, graphs: state.picked, why: app.why ?? "", text: notes[""] ?? "",
    notes: Object.entries(notes).filter(([i, text]) => i && text).map(([i, text]) => ({ index: Number(i), text })), ...chosen() };
}

function askedReference(i) {
  const a = state.asked[i];
  return a.smiles !== undefined ? { smiles: a.smiles } : { graph: a.graph };
}

// showTab scrolls the row of tabs, on a phone, until the whole tab is seen.
function showTab(tab) {
  const row = tab.parentElement;
  row.scrollLeft = Math.min(tab.offsetLeft - row.offsetLeft, Math.max(row.scrollLeft, tab.offsetLeft - row.offsetLeft + tab.offsetWidth - row.clientWidth));
}

// changed brings everything in line with the state.
function changed({ detail = false } = {}) {
  write();
  for (const view of views) $(`view-${view}`).hidden = view !== state.view;
  setTab($(`tab-${state.view}`));
  showTab($(`tab-${state.view}`));
  setLayout(document.querySelector(`[data-layout="${state.layout}"]`));
  $("color").value = state.color;
  $("size").value = state.size;
  for (const id of ["color", "size"]) $(id).title = $(id).selectedOptions[0]?.text ?? ""; // which may be cut
  showLegend();
  const picked = new Set(state.picked);
  for (const m of app.maps) m.picked = picked;
  markOpen();
  showAsked(app);
  showSelection();
  if (state.view === "matrix") loadMatrix();
  if (state.view === "pair") loadPair();
  if (state.view === "table") showTable(app);
  if (state.view === "structure") groupsView(app).catch(app.fail);
  if (state.view === "many") manyView(app).catch(app.fail);
  if (state.view === "next" && app.places) nextView(app).catch(app.fail);
  if (state.view === "predictions") predictionsView(app.evaluation, app);
  if (detail) loadDetail();
  downloads(app);
  changes(app);
}

function showLegend() {
  const c = app.coloring;
  const only = c?.kind === "class" ? c.classes.findIndex((k) => k.name === state.only) : -1;
  for (const m of app.maps) m.only = only < 0 ? null : only;
  legend(c, state.only, (name) => {
    state.only = name;
    changed();
    $("legend").querySelector(`[data-name="${CSS.escape(name ?? "")}"]`)?.focus();
  });
  if (c && state.size) $("legend").append(h("li", { class: "legend-name" }, `Size: ${$("size").selectedOptions[0]?.text}, small to large`));
}

function showSelection() {
  const n = state.picked.length;
  const { kept } = app.map;
  $("selection").hidden = !n && !kept;
  if (!n && !kept) return;
  const filtered = kept && [h("b", {}, `${whole(kept.size)} pass the filters`),
    h("button", { class: "quiet", onclick: () => app.show("table") }, "Table"), h("button", { class: "quiet", onclick: unfilter }, "Clear filters")];
  if (!n) return $("selection").replaceChildren(...filtered);
  $("selection").replaceChildren(...(filtered ?? []), h("b", {}, `${whole(n)} selected`),
    app.why ? h("span", { class: "muted" }, app.why) : "",
    h("button", { class: "quiet", onclick: () => app.pick(state.picked, "table", app.why) }, "Table"),
    app.info.uploads ? h("button", { class: "quiet", onclick: () => part().catch(app.fail) }, "Train on these") : "",
      h("span", { class: "grow" }),
    exports(app, () => state.picked),
      h("button", { class: "quiet", onclick: () => app.pick([]) }, "Clear"));
}

function markOpen() {
  const marks = [state.open, state.other].filter((r) => r !== null).map((ref) => ({ ref, name: app.name(ref) }));
  const asked = state.asked.flatMap((a, i) => {
    const place = a.prediction?.place?.[state.layout];
    return place ? [{ ref: `a${i}`, x: place[0], y: place[1] }] : [];
  });
  const next = suggestions(app);
  const fresh = next.filter(({ ref }) => ref[0] === "s").map(({ ref, place }) => ({ ref, x: place[state.layout][0], y: place[state.layout][1] }));
  for (const m of app.maps) {
    const alone = m === app.nextMap; // what was asked or opened has no name there
    m.marked = alone ? [] : marks;
    m.extra = alone ? fresh : [...asked, ...fresh];
    m.ranked = m === app.inset ? [] : next;
    m.draw();
  }
  app.matrix.marked = [state.open, state.other].filter((r) => r !== null && r[0] !== "a").map(Number);
  if (app.matrix.data) app.matrix.paint();
}

let detailJob;

function leaveDetail() {
  detailJob?.abort();
}

async function loadDetail() {
  detailJob?.abort();
  detailJob = new AbortController();
  if (state.open === null) return app.detail.empty();
  try {
    await app.detail.show(state.open, detailJob.signal);
  } catch (e) {
    app.fail(e);
  }
}

// repaint draws what has colours of the theme.
function repaint() {
  if (!app.info) return;
  showLegend();
  for (const m of app.maps) m.color();
  app.matrix.render();
  if (app.matrix.data) $("matrix-scale").replaceChildren(...scaleOf(app.matrix.data.low, app.matrix.data.high));
}

// notice shows a line at the top until it is closed; null removes it.
function notice(text) {
  $("notice").hidden = !text;
  $("notice-text").textContent = text ?? "";
}

let setTab, setLayout;

// pick opens a point of the map, or lists those that lie there. A suggestion shows its card.
function pick(ref, shift, all) {
  const suggestion = suggestions(app).findIndex((x) => x.ref === ref);
  if (suggestion >= 0 && (ref[0] === "s" || state.view === "next")) {
    if (state.view !== "next") app.show("next");
    const card = $(`suggestion-${suggestion}`);
    card?.scrollIntoView({ block: "center" });
    return card?.querySelector("button").focus();
  }
  const run = (r) => (shift && state.open !== null ? app.compare(state.open, r) : app.open(r));
  if (state.view !== "next") stack(app, all, run);
  if (all.length === 1 || state.view === "next") run(ref);
}

function createViews() {
  app.map = new MapView($("map"), (i) => app.source.ids[i], {
    hover: (ref, at) => tip(app, ref, at),
    pick,
    lasso: (graphs) => app.pick(graphs),
    toggle: (i) => app.pick(state.picked.includes(i) ? state.picked.filter((g) => g !== i) : [...state.picked, i], "map",
      app.why),
    zoomed: (z) => {
      const [angle, mirrored] = app.map.turn;
      state.zoom = z[0] === 1 && z[1] === 0 && z[2] === 0 ? null
        : [...z, ...(angle || mirrored ? [angle, Number(mirrored)] : [])];
      clearTimeout(app.zoomTimer);
      app.zoomTimer = setTimeout(write, 200);
    },
  });
  app.inset = new MapView($("inset"), (i) => app.source.ids[i]);
  app.nextMap = new MapView($("next-map"), (i) => app.source.ids[i], { pick });
  app.maps = [app.map, app.inset, app.nextMap];
  app.matrix = new MatrixView($("matrix"), { point: pointCell,
    pick: (a, b) => (a === b ? app.open(String(a)) : app.compare(String(a), String(b))) });
  app.detail = new Detail($("detail"), app);
  app.kernel = new KernelPanel(app, (text) => {
    if (text === state.kernel && text === app.placed) return;
    state.kernel = text;
    write();
    compute();
  });
}

// fold has a button open and close what phones have folded.
function fold(id, el) {
  $(id).addEventListener("click", () => $(id).setAttribute("aria-expanded", String(el.classList.toggle("unfolded"))));
}

function listen() {
  setTab = radios(document.querySelector(".tabs"), "aria-selected", (b) => {
    state.view = b.id.slice(4);
    changed();
  });
  setLayout = radios($("layout"), "aria-checked", (b) => {
    state.layout = b.dataset.layout;
    if (app.places) showPlaces();
    changed();
  });
  $("zoom-in").addEventListener("click", () => app.map.scale(1.5));
  $("zoom-out").addEventListener("click", () => app.map.scale(1 / 1.5));
  $("zoom-fit").addEventListener("click", () => app.map.setZoom(null));
  $("lasso").addEventListener("click", () => {
    app.map.lassoing = !app.map.lassoing;
    $("lasso").setAttribute("aria-pressed", String(app.map.lassoing));
    $("map").classList.toggle("lassoing", app.map.lassoing);
  });
  $("score").addEventListener("click", () => {
    state.view = "predictions";
    changed();
  });
  $("no-target").addEventListener("click", () => chooseTarget(app));
  $("work-cancel").addEventListener("click", cancel);
  $("notice-close").addEventListener("click", () => notice(null));
  $("share").addEventListener("click", async () => {
    const note = complete() ? "" : " It leaves out what is too long for a link.";
    const kept = app.info.given ? "" : " It works while the server keeps the file. After that, load the file again first.";
    try {
      await navigator.clipboard.writeText(location.href);
      toast(`The link to this view is in the clipboard.${note}${kept}`);
    } catch {
      toast(`The link to this view: ${location.href}${note}${kept}`);
    }
  });
  fold("tools-button", $("tools"));
  fold("ask-fold", document.querySelector(".ask"));
  menu();
  find(app);
  askPanel(app);
  ownData(app);
  sessionDialog(app);
  undoButtons(app);
  addEventListener("popstate", () => load().catch(app.fail));
}

async function start() {
  themes(repaint);
  createViews();
  listen();
  try {
    await load();
  } catch (e) {
    if (app.info) app.fail(e);
    else $("main").replaceChildren(h("p", { class: "empty error" }, e.message));
  }
}

start();
