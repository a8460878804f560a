// The page: fetches, keeps the state, and tells the views what to show.

import { $, announce, h, percent, radios, showError, toast } from "./dom.js";
import { get, post, query } from "./api.js";
import { parameters, read, state, write } from "./state.js";
import { markCanvas, onTheme, shapeOf, valueColor } from "./colors.js";
import { MapView } from "./map.js";
import { MatrixView, scaleOf } from "./matrix.js";
import { Detail } from "./detail.js";
import { Drawing } from "./drawing.js";
import { pairView } from "./pair.js";
import { parameterPanel } from "./params.js";
import { askPanel, showAsked } from "./ask.js";
import { find, menu } from "./tools.js";

export const app = {
  state, post,
  parameters: () => parameters(app.info.parameters),
  info: null, // of the API
  source: null, // the graphs, column by column
  places: null, // both layouts
  levels: 0,
  radii: [],
  drawings: new Map(),

  // reference names a graph for the API.
  reference: (ref) => (ref[0] === "a" ? askedReference(Number(ref.slice(1))) : { index: Number(ref) }),
  name: (ref) => (ref[0] === "a" ? state.asked[Number(ref.slice(1))]?.prediction?.id ?? "asked" : app.source.ids[Number(ref)]),
  radius: (level) => app.radii[level - 1] ?? 0,

  // graph fetches a graph with its drawing, once.
  graph(ref) {
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

  setLevel(level) {
    state.level = level === app.levels ? null : level;
    write();
    if (state.vertex !== null) app.detail.vertex(state.vertex).catch(app.fail);
  },

  setVertex(v) {
    state.vertex = v;
    write();
    if (v === null) app.detail.clearVertex();
    else app.detail.vertex(v).catch(app.fail);
  },

  chip(cls, text) {
    return h("span", { class: "chip" }, cls >= 0 && markCanvas(shapeOf(cls), onTheme(app.info.classes[cls].color)), text);
  },

  // mini is a text with the mark of a graph's class before it.
  mini(index, text) {
    const cls = app.source.class[index] ?? -1;
    return [cls >= 0 && markCanvas(shapeOf(cls), onTheme(app.info.classes[cls].color)), h("span", { class: "cut" }, text)].filter(Boolean);
  },

  // ask adds graphs, once they are understood, and opens the first.
  async ask(list) {
    const answer = await post("predict", { graphs: list, k: 5, place: true, parameters: app.parameters() });
    list.forEach((a, i) => (a.prediction = answer.predictions[i]));
    const known = (a) => state.asked.findIndex((b) => JSON.stringify(b.smiles ?? b.graph) === JSON.stringify(a.smiles ?? a.graph));
    for (const a of list) {
      const at = known(a);
      if (at >= 0) state.asked[at] = a;
      else state.asked.push(a);
    }
    app.open(`a${known(list[0])}`, { quiet: true });
    const p = list[0].prediction;
    announce(`${p.class ? `Predicted ${p.class}. ` : ""}${p.unlike ? "Unlike the rest. " : ""}Most similar: ${p.neighbours[0]?.id ?? "nothing"}.`);
  },

  forget(i) {
    const moved = (ref) => (ref?.[0] !== "a" ? ref : Number(ref.slice(1)) === i ? null : Number(ref.slice(1)) > i ? `a${Number(ref.slice(1)) - 1}` : ref);
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

  fail(error) {
    if (error.name !== "AbortError") toast(error.message);
  },
};

function askedReference(i) {
  const a = state.asked[i];
  return a.smiles !== undefined ? { smiles: a.smiles } : { graph: a.graph };
}

// changed brings everything in line with the state.
function changed({ detail = false } = {}) {
  write();
  for (const view of ["map", "matrix", "pair"]) {
    $(`view-${view}`).hidden = view !== state.view;
  }
  setTab($(`tab-${state.view}`));
  setLayout(document.querySelector(`[data-layout="${state.layout}"]`));
  const only = app.info.classes.findIndex((c) => c.name === state.only);
  app.map.only = app.inset.only = only < 0 ? null : only;
  for (const b of $("legend").querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.name === state.only));
  markOpen();
  showAsked(app);
  if (state.view === "matrix") loadMatrix();
  if (state.view === "pair") loadPair();
  if (detail) loadDetail();
  downloads();
}

function markOpen() {
  const marks = [state.open, state.other].filter((r) => r !== null).map((ref) => ({ ref, name: app.name(ref) }));
  const extra = state.asked.flatMap((a, i) => {
    const place = a.prediction?.place?.[state.layout];
    return place ? [{ ref: `a${i}`, x: place[0], y: place[1] }] : [];
  });
  for (const m of [app.map, app.inset]) {
    m.marked = marks;
    m.extra = extra;
    m.draw();
  }
  app.matrix.marked = [state.open, state.other].filter((r) => r !== null && r[0] !== "a").map(Number);
  if (app.matrix.data) app.matrix.paint();
}

let detailJob;

async function loadDetail() {
  detailJob?.abort();
  detailJob = new AbortController();
  if (state.open === null) return app.detail.empty();
  try {
    await app.detail.show(state.open, detailJob.signal);
  } catch (e) {
    if (e.name === "AbortError") return;
    app.fail(e);
  }
}

let pairJob;
let pairOf = null;

async function loadPair(focus = false) {
  const key = JSON.stringify([state.open && app.reference(state.open), state.other && app.reference(state.other), state.level, state.params]);
  if (key === pairOf) return;
  pairOf = key;
  pairJob?.abort();
  pairJob = new AbortController();
  const { signal } = pairJob;
  const box = $("pair");
  if (state.open === null || state.other === null) {
    box.replaceChildren(h("p", { class: "empty" }, state.open === null ? "Open a graph, then choose one to compare it with." : `Choose a graph to compare with ${app.name(state.open)}: press ⇄ on a neighbour, Shift-click on the map, or click in the matrix.`));
    return;
  }
  try {
    const [a, b] = [state.open, state.other];
    const [ga, gb, answer] = await Promise.all([app.graph(a), app.graph(b),
      post("compare", { a: app.reference(a), b: app.reference(b), parameters: app.parameters() }, signal)]);
    if (signal.aborted) return;
    const top = answer.levels.length - 1;
    box.replaceChildren(...pairView(ga, gb, answer, Math.min(state.level ?? top, top), (l, keys) => {
      state.level = l === top ? null : l;
      write();
      app.detail.levels();
      loadPair(keys);
    }));
    if (focus) box.querySelector('.levels [aria-checked="true"]')?.focus();
  } catch (e) {
    if (e.name === "AbortError") return;
    pairOf = null;
    box.replaceChildren(h("p", { class: "empty error" }, e.message));
  }
}

let matrixJob;
let matrixOf = null;

async function loadMatrix() {
  const key = JSON.stringify(state.params);
  if (matrixOf === key) return app.matrix.layout();
  matrixJob?.abort();
  matrixJob = new AbortController();
  try {
    const data = await get("matrix", state.params, matrixJob.signal);
    matrixOf = key;
    app.matrix.set(data);
    $("matrix-scale").replaceChildren(...scaleOf(data.low, data.high));
    markOpen();
  } catch (e) {
    app.fail(e);
  }
}

let job;

// compute asks for what follows from the parameters: the map, the accuracy, the open graph.
async function compute() {
  job?.abort();
  job = new AbortController();
  const { signal } = job;
  const stop = watch(signal);
  $("score").classList.add("stale");
  try {
    const places = await get("map", state.params, signal);
    if (signal.aborted) return;
    showError($("parameters-error"), null);
    app.places = places;
    app.radii = places.radii;
    app.levels = places.radii.length;
    const asked = state.asked.length ? await post("predict", { graphs: state.asked.map((_, i) => askedReference(i)), k: 5, place: true, parameters: app.parameters() }, signal) : null;
    asked?.predictions.forEach((p, i) => (state.asked[i].prediction = p));
    showPlaces();
    changed();
    const score = get("evaluate", state.params, signal).then(showScore);
    await Promise.all([score, loadDetail()]);
    if (state.open !== null && state.open[0] !== "a" && app.info.task !== "none") loadDetail(); // cross-validated now
  } catch (e) {
    if (e.name === "AbortError") return;
    showError($("parameters-error"), e);
    $("score").classList.remove("stale");
  } finally {
    stop();
  }
}

// watch shows the progress of a computation that takes longer than a moment.
function watch(signal) {
  let over = false;
  const show = async () => {
    if (over || signal.aborted) return;
    try {
      const p = await get("progress", state.params, signal);
      if (over) return;
      $("work").hidden = false;
      $("work-text").textContent = p.state === "waiting" ? "waiting for another computation" : p.stage ?? "";
      if (p.total > 0) $("work-bar").value = p.done / p.total;
      else $("work-bar").removeAttribute("value");
    } catch {
      return;
    }
    timer = setTimeout(show, 250);
  };
  let timer = setTimeout(show, 400);
  return () => {
    over = true;
    clearTimeout(timer);
    if (job?.signal === signal) $("work").hidden = true;
  };
}

function showPlaces() {
  const p = app.places[state.layout];
  app.map.place(p.x, p.y);
  app.inset.place(p.x, p.y);
  $("axes").textContent = state.layout === "pca"
    ? `Kernel principal components: ${percent(p.share[0], 0)} and ${percent(p.share[1], 0)} of the variance` : "Near each other: most similar. Distances further apart say little.";
}

function showScore(e) {
  const mine = e.rows.find((r) => r.name === "mlg");
  const rest = e.rows.filter((r) => r.name !== "mlg");
  const el = $("score");
  el.classList.remove("stale");
  if (mine?.accuracy_mean !== undefined) {
    el.replaceChildren(h("b", {}, percent(mine.accuracy_mean)), h("span", {}, "cross-validated"),
      h("span", { class: "muted" }, rest.map((r) => `${r.name} ${percent(r.accuracy_mean, 0)}`).join(" · ")));
    const interval = mine.confidence_interval;
    el.title = `${e.folds}-fold cross-validation on ${e.graphs} graphs, C chosen inside each fold.${interval ? ` 95 % interval ${percent(interval.low)} to ${percent(interval.high)}.` : ""}`;
  } else if (mine?.rmse_mean !== undefined) {
    el.replaceChildren(h("b", {}, `R² ${mine.r2_mean.toFixed(2)}`), h("span", {}, `error ${Number(mine.rmse_mean.toPrecision(3))}`), h("span", { class: "muted" }, "cross-validated"));
  } else if (e.saved.length) {
    el.replaceChildren(h("b", {}, e.saved[0].measure === "accuracy" ? percent(e.saved[0].value) : String(Number(e.saved[0].value.toPrecision(3)))), h("span", {}, `${e.saved[0].measure}, ${e.saved[0].method}`));
  } else el.replaceChildren();
}

function legend() {
  const { info, source } = app;
  if (info.task === "classification") {
    $("legend").replaceChildren(...info.classes.map((c, i) => h("li", {}, h("button", {
      "data-name": c.name, "aria-pressed": String(state.only === c.name),
      onclick: () => {
        state.only = state.only === c.name ? null : c.name;
        changed();
      },
    }, markCanvas(shapeOf(i), onTheme(c.color)), c.name, h("span", { class: "muted" }, String(c.count))))));
  } else if (info.task === "regression") {
    const bar = h("span", { class: "gradient" });
    bar.style.background = `linear-gradient(90deg, ${[0, 0.25, 0.5, 0.75, 1].map(valueColor).join(", ")})`;
    $("legend").replaceChildren(h("li", { class: "row small" }, String(Number(source.range[0].toPrecision(4))), bar, String(Number(source.range[1].toPrecision(4)))));
  } else $("legend").replaceChildren();
}

// downloads fills the menu.
function downloads() {
  const p = state.params;
  const item = (text, kind, file, values = {}) => h("li", {}, h("a", { href: `/api/v1/download/${file}${query({ ...p, ...values })}`, download: file }, text, h("span", { class: "muted" }, kind)));
  const list = [
    item("Map", "SVG", "map.svg", { layout: state.layout }), item("Map", "PNG", "map.png", { layout: state.layout }),
    item("Matrix", "SVG", "matrix.svg"), item("Matrix", "PNG", "matrix.png"),
  ];
  const ref = state.open;
  if (ref !== null && (ref[0] === "a" ? "smiles" in app.reference(ref) : app.info.has_graphs)) {
    list.push(item("Open graph", "SVG", "graph.svg", app.reference(ref)), item("Open graph", "PNG", "graph.png", app.reference(ref)));
  }
  list.push(item("Table of graphs", "CSV", "table.csv"), item("Gram matrix", "CSV", "gram.csv"), item("Model", "MLG", "model.mlg"),
    h("li", {}, h("a", { href: "/api/v1/openapi.json", target: "_blank" }, "API description", h("span", { class: "muted" }, "OpenAPI"))));
  $("download-menu").replaceChildren(...list);
}

// tip draws the graph under the pointer.
let tipFor = null;

async function tip(ref, at) {
  tipFor = ref;
  const el = $("tip");
  if (ref === null) return (el.hidden = true);
  const asked = ref[0] === "a";
  const cls = asked ? -1 : app.source.class[Number(ref)] ?? -1;
  const target = asked ? "asked about" : app.source.targets[Number(ref)] ?? "";
  const text = [h("b", {}, app.name(ref)), cls >= 0 ? app.chip(cls, target) : h("span", { class: "muted" }, target)];
  if (document.activeElement === $("map")) announce(`${app.name(ref)}, ${target}`);
  let picture = null;
  if (app.info.has_graphs || asked) {
    try {
      picture = new Drawing(await app.graph(ref)).el;
    } catch {
      picture = null;
    }
  }
  if (tipFor !== ref) return;
  el.replaceChildren(...[picture, ...text].filter(Boolean));
  el.hidden = false;
  const box = $("map").getBoundingClientRect();
  const [w, height] = [el.offsetWidth, el.offsetHeight];
  el.style.left = `${Math.max(8, at[0] + 16 + w > box.width ? at[0] - w - 16 : at[0] + 16)}px`;
  el.style.top = `${Math.min(Math.max(8, at[1] - height / 2), Math.max(8, box.height - height - 8))}px`;
}

function pointCell(a, b, value) {
  app.inset.marked = a === null ? [] : [{ ref: String(a), name: "" }, { ref: String(b), name: "" }];
  app.inset.draw();
  $("matrix-cell").replaceChildren(...(a === null ? [h("span", { class: "muted" }, "Point at a cell.")] : [h("b", {}, value.toFixed(3)),
    h("div", {}, app.source.ids[a], " ", h("span", { class: "muted" }, app.source.targets[a] ?? "")), h("div", {}, app.source.ids[b], " ", h("span", { class: "muted" }, app.source.targets[b] ?? ""))]));
}

function theme(kind) {
  document.documentElement.dataset.theme = kind;
  if (!app.info) return;
  legend();
  app.map.theme();
  app.inset.theme();
  app.matrix.render();
  if (app.matrix.data) $("matrix-scale").replaceChildren(...scaleOf(app.matrix.data.low, app.matrix.data.high));
}

function themes() {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("mlg-theme");
  } catch {
    // no storage: the choice lasts for this page
  }
  const now = () => chosen ?? (system.matches ? "dark" : "light");
  theme(now());
  system.addEventListener("change", () => theme(now()));
  $("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("mlg-theme", chosen);
    } catch {
      // as above
    }
    theme(chosen);
  });
}

let setTab, setLayout, showParameters;

// restore checks the state that a link brought against the source.
function restore() {
  read(app.info.parameters);
  const exists = (ref) => ref !== null && (ref[0] === "a" ? Number(ref.slice(1)) < state.asked.length : Number(ref) < app.info.graphs);
  if (!exists(state.open)) state.open = null;
  if (!exists(state.other)) state.other = null;
}

async function start() {
  themes();
  try {
    const [info, graphs] = await Promise.all([get("info"), get("graphs")]);
    app.info = info;
    app.source = { ids: graphs.ids, targets: graphs.targets, class: graphs.classes, value: graphs.values, range: info.range, classes: info.classes };
  } catch (e) {
    $("main").replaceChildren(h("p", { class: "empty error" }, e.message));
    return;
  }
  const { info } = app;
  document.title = `${info.name} – mlg explorer`;
  $("name").textContent = info.name;
  $("facts").textContent = [`${info.graphs.toLocaleString("en")} graphs`, info.task === "classification" && `${info.classes.length} classes`, info.vertices > 0 && `${(info.vertices / info.graphs).toFixed(0)} vertices on average`,
    info.core < info.graphs && `matrix and learner use ${info.core.toLocaleString("en")}`].filter(Boolean).join(" · ");

  if (info.has_graphs && !info.molecules) {
    $("ask-label").textContent = "SMILES; but these graphs are no molecules, a file suits them better";
  }

  app.map = new MapView($("map"), app.source, {
    hover: tip,
    pick: (ref, shift) => (shift && state.open !== null ? app.compare(state.open, ref) : app.open(ref)),
    zoomed: (z) => {
      state.zoom = z[0] === 1 && z[1] === 0 && z[2] === 0 ? null : z;
      clearTimeout(app.zoomTimer);
      app.zoomTimer = setTimeout(write, 200);
    },
  });
  app.inset = new MapView($("inset"), app.source);
  app.matrix = new MatrixView($("matrix"), app.source, { point: pointCell, pick: (a, b) => (a === b ? app.open(String(a)) : app.compare(String(a), String(b))) });
  app.detail = new Detail($("detail"), app);
  pointCell(null);

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
  $("work-cancel").addEventListener("click", () => {
    job?.abort();
    toast("Cancelled. The parameters are as you set them; change one to compute again.");
  });
  $("share").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      toast("The link to what you see is in the clipboard.");
    } catch {
      toast(`The link to what you see: ${location.href}`);
    }
  });
  menu();
  find(app);
  askPanel(app);
  showParameters = parameterPanel(info, (values) => {
    state.params = values;
    write();
    compute();
  });

  const load = () => {
    restore();
    showParameters(state.params);
    app.map.setZoom(state.zoom, true);
    legend();
    changed();
    return compute();
  };
  addEventListener("hashchange", load);
  await load();
}

start();
