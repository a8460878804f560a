// What the address says: the data that it names are loaded, and what it says of them is shown.

import { app } from "./app.js";
import { $, count } from "./dom.js";
import { get, useSource } from "./api.js";
import { arrive, read, sourceOf, state } from "./state.js";
import { paint } from "./colors.js";
import { colorsOf, mapChoices, sizesOf } from "./legend.js";
import { forgetTwo, pointCell } from "./two.js";
import { compute, forgetLearned, loadColors, loadSizes, showPlaces, turnTo } from "./learned.js";
import { showScore } from "./predictions.js";
import { forgetTable, refilter } from "./table.js";
import { forgetSteps } from "./undo.js";
import { showExamples } from "./ask.js";
import { remarks, sourceChoice, targetOpen } from "./data.js";

let visit = 0; // counts what the address said

// useData loads data, unless it is there. It returns false where a link means other data, which are not here, and null
// where the address says something else by now.
async function useData(id) {
  const mine = visit;
  if (app.info && (id === app.info.source || (id === null && app.info.source === app.sources[0].id))) return true;
  forgetLearned(); // it would show what is gone
  state.loading = true;
  forgetTwo();
  app.leaveDetail();
  const fetchAll = (source) => {
    useSource(source);
    return Promise.all([get("info"), get("graphs"), get("sources", { source: null })]);
  };
  let found, missing = null;
  try {
    found = await fetchAll(id);
  } catch (e) {
    if (e.field !== "source" || mine !== visit) throw e;
    missing = e;
    found = await fetchAll(null);
  } finally {
    if (mine === visit) state.loading = false;
  }
  if (mine !== visit) return null;
  const [info, graphs, { sources }] = found;
  paint(info.palette);
  Object.assign(app, { info, sources, places: null, placed: null, coloring: null, evaluation: null, problem: null, filed: null, matched: new Map() });
  app.source = { ids: graphs.ids, targets: graphs.targets, class: graphs.classes, value: graphs.values, nodes: graphs.nodes,
    edges: graphs.edges };
  useSource(info.source);
  state.asked = [];
  sourceChoice(sources, info.source, app.use);
  describe();
  if (missing) app.notice(`The link is about other data: ${missing.message}. The page now shows ${info.name}.`);
  return !missing;
}

// describe shows what the data are, and forgets those before.
function describe() {
  const { info } = app;
  document.title = `${info.name} – mlg explorer`;
  $("name").textContent = info.name;
  const classes = info.task === "classification" ? ` in ${info.classes.length} classes` : "";
  $("facts").textContent = [`${count(info.graphs, info.thing)}${classes}.`, 
    `Similar ones lie together. Click one for its ${info.color_by.includes("prediction") ? "prediction and reasons" : "neighbours"}.`].join(" ");
  remarks(info);
  app.drawings.clear();
  app.columns = new Map();
  forgetTable();
  forgetSteps();
  for (const m of app.maps) m.forget();
  $("axes").textContent = "";
  app.matrix.forget(app.source, info.classes);
  $("matrix-scale").replaceChildren();
  app.detail.empty();
  pointCell(null);
  showScore(null);
  $("no-target").hidden = info.task !== "none" || !targetOpen(info);
  for (const id of ["own", "drop"]) $(id).hidden = !info.uploads;
  $("find").placeholder = info.fragments ? "Find name or SMILES" : "Find name or class";
  mapChoices(info, app.colorBy, app.sizeBy);
  showExamples(app);
  app.kernel.use();
}

// restore checks the state that a link brought against the data.
function restore(known) {
  const beyond = read(app.info.graphs);
  state.source = app.info.source;
  if (!colorsOf(app.info).includes(state.color)) [state.color] = colorsOf(app.info);
  if (!sizesOf(app.info).includes(state.size)) state.size = "";
  if (!known) Object.assign(state, { open: null, other: null, picked: [], vertex: null, kernel: "", batch: null, view: "map" });
  const exists = (ref) => ref !== null && (ref[0] === "a" ? Number(ref.slice(1)) < state.asked.length
    : Number(ref) < app.info.graphs);
  const lost = [state.open, state.other].filter((ref) => ref !== null && !exists(ref));
  if (lost.length) app.notice(`The link opens graph ${lost[0]}, which is not here. Here: ${count(app.info.graphs, "graph")}, numbered from 0.`);
  if (!exists(state.open)) state.open = null;
  if (!exists(state.other)) state.other = null;
  if (beyond && known) {
    app.notice(`The link selects graphs that are not here. Here: ${count(app.info.graphs, "graph")}, numbered from 0.`);
  }
}

// load shows what the address says.
export async function load() {
  app.notice(null);
  const mine = ++visit;
  const before = app.places && JSON.stringify([state.source, state.kernel, state.asked.map((a) => a.smiles ?? a.graph)]);
  const known = await useData(sourceOf());
  if (mine !== visit) return;
  restore(known);
  arrive();
  app.kernel.show(state.kernel);
  app.map.setZoom(state.zoom?.slice(0, 3) ?? null, true);
  turnTo(state.zoom ? [state.zoom[3] ?? 0, state.zoom[4] === 1] : null);
  if (app.coloring?.chosen !== state.color) loadColors();
  loadSizes().catch(app.fail);
  refilter(app);
  app.changed();
  if (before !== JSON.stringify([state.source, state.kernel, state.asked.map((a) => a.smiles ?? a.graph)])) return compute();
  showPlaces();
  await app.loadDetail();
}
