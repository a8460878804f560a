// What follows from the kernel: the map with its colours and sizes, how good predictions are, and what was asked.

import { app } from "./app.js";
import { $, percent, toast } from "./dom.js";
import { aside, get, post, stopped } from "./api.js";
import { chosen, state, write } from "./state.js";
import { colorQuery, columnOf } from "./legend.js";
import { predictionsView, showScore } from "./predictions.js";
import { showTable } from "./table.js";
import { groupsView } from "./groups.js";
import { furtherAsked } from "./endpoints.js";
import { withoutItself } from "./said.js";
import { nextView } from "./next.js";
import { noteRound } from "./rounds.js";

let colorJob;
let linkedTurn = null;

// loadColors fetches what the points are coloured by.
export async function loadColors() {
  colorJob?.abort();
  colorJob = new AbortController();
  try {
    app.coloring = await get("colors", { ...colorQuery(state.color),
      ...(state.color === "prediction" || state.color === "error" ? chosen() : {}) }, colorJob.signal);
    app.coloring.chosen = state.color;
    app.showLegend();
    for (const m of app.maps) m.color(app.coloring);
  } catch (e) {
    if (e.name === "AbortError") return;
    app.fail(e);
    if (app.coloring) state.color = $("color").value = app.coloring.chosen; // as it is
    write();
  }
}

// loadSizes has the points of the map show what their size is chosen to show.
export async function loadSizes() {
  const by = state.size;
  const { source } = app;
  const values = by === "vertices" ? source.nodes : by === "target" ? source.value.map((v, i) => (source.targets[i] ? v : null))
    : by ? await app.column(columnOf(by)) : null;
  if (by === state.size && source === app.source) app.map.size(values);
}

let job;

const sketched = 6000; // graphs from which on a first map is shown until there is the other

// compute asks for what follows from the kernel: the map, what was asked, the accuracy, the open graph.
export async function compute() {
  job?.abort();
  job = new AbortController();
  const { signal } = job;
  const { kernel } = state;
  $("score").classList.add("stale");
  try {
    const show = async (part) => {
      const places = await get("map", { ...part, ...chosen() }, signal);
      if (signal.aborted) return;
      Object.assign(app, { places, placed: kernel, radii: places.radii, levels: places.radii.length });
      if (!learned) Object.assign(app, { evaluation: null, problem: null, filed: null });
    };
    let learned = null;
    if (app.info.graphs > sketched) { // the other map takes its time
      await show({ part: "early" });
      if (signal.aborted) return;
      showPlaces();
      app.changed();
      learned = evaluate(signal);
    }
    await show();
    if (!signal.aborted) await askAgain(signal);
    if (signal.aborted) return;
    showPlaces();
    app.changed();
    await Promise.all([learned ?? evaluate(signal), app.loadDetail(), furtherAsked(app, signal).catch(app.fail)]);
  } catch (e) {
    if (e.name === "AbortError") return;
    $("score").classList.remove("stale");
    await withoutMap(e);
  }
}

// evaluate asks how good the predictions are.
async function evaluate(signal) {
  try {
    for (const part of ["early", "kernel"]) { // what is known soon is shown soon
      const { evaluation } = app;
      const e = await get("evaluate", { part, ...chosen() }, signal, part === "early" ? "Testing a first learner" : "Testing predictions of all");
      if (evaluation && !evaluation.note && e.rows.length === evaluation.rows.length) break; // nothing new
      app.evaluation = e;
      showScore(e);
      evaluated();
      if (evaluation?.note) app.detail.learned(signal).catch(app.fail);
      if (!e.graphs) return;
    }
    await compareSimpler(signal);
  } catch (e) {
    if (e.name === "AbortError") return;
    app.problem = stopped(e) ? "Testing the predictions was cancelled." : `The predictions cannot be tested: ${e.message}`;
    showScore(app.evaluation, app.problem);
    app.fail(e);
    evaluated();
  }
}

// compareSimpler adds a learner of counts of labels to the comparison. The score is final before, so nobody waits for it.
async function compareSimpler(signal) {
  const { evaluation } = app;
  if (!evaluation?.rows.length || app.info.saved) return;
  app.comparing = true;
  if (state.view === "predictions") predictionsView(app.evaluation, app);
  try {
    const e = await aside("evaluate", { part: "all", ...chosen() }, signal);
    if (app.evaluation === evaluation) app.evaluation = e;
  } catch (e) {
    if (e.name !== "AbortError") app.fail(e);
  }
  app.comparing = false;
  if (!signal.aborted) evaluated();
}

// crossValidate has the graphs of a model predicted by learners that have not seen them. The line in the head keeps what the file says.
export async function crossValidate() {
  const { signal } = job;
  try {
    const e = await get("evaluate", { cross_validate: true }, signal);
    if (signal.aborted) return;
    [app.filed, app.evaluation] = [app.evaluation, e];
    evaluated();
  } catch (e) {
    if (e.name !== "AbortError") app.fail(e);
  }
}

// evaluated shows predictions of graphs that were not seen.
function evaluated() {
  noteRound(app).catch(app.fail);
  if (state.view === "structure" && app.places) groupsView(app).catch(app.fail);
  if (state.view === "next" && app.places) nextView(app).catch(app.fail);
  if (state.color === "prediction" || state.color === "error") loadColors();
  if (state.view === "table" || Object.keys(state.filters).length) showTable(app);
  if (state.view === "predictions") predictionsView(app.evaluation, app);
}

// withoutMap goes back to what is shown when a kernel has no map: refused, or cancelled.
async function withoutMap(error) {
  if (stopped(error) && app.placed !== null) {
    state.kernel = app.placed;
    app.kernel.show(state.kernel);
    write();
    return toast("Cancelled. The kernel is set back to that of the map.");
  }
  app.kernel.refuse(error, state.kernel);
  if (app.placed !== null || stopped(error) || !state.kernel) return;
  app.notice(`The kernel of the link cannot be used. The map uses ${app.info.saved ? "the model as it was trained" : app.info.kernel}.`);
  state.kernel = "";
  await compute();
}

// askAgain asks all questions for the present kernel, one by one if they fail together: a question that cannot be
// answered keeps its error.
async function askAgain(signal) {
  const one = async (list) => {
    const { predictions } = await post("predict",
      { graphs: list.map((a) => app.reference(`a${state.asked.indexOf(a)}`)), k: 5, place: true,
      ...chosen() }, signal);
    list.forEach((a, i) => Object.assign(a, { prediction: withoutItself(predictions[i]), further: {} }));
  };
  const open = state.asked.filter((a) => !a.error);
  if (!open.length) return;
  try {
    await one(open);
  } catch (e) {
    if (stopped(e)) throw e;
    for (const a of open) await one([a]).catch((error) => {
      if (stopped(error)) throw error;
      a.error = error;
    });
    const failed = (ref) => ref?.[0] === "a" && state.asked[Number(ref.slice(1))].error;
    if (failed(state.open)) state.open = null;
    if (failed(state.other)) state.other = null;
  }
}

// showPlaces puts the points where the map of the page has them, with a turn that a link brought.
export function showPlaces(turn = null) {
  const p = app.places[state.layout];
  turn ??= linkedTurn;
  linkedTurn = null;
  app.map.place(p.x, p.y, state.layout, turn);
  for (const m of app.maps.slice(1)) m.place(p.x, p.y, state.layout, app.map.turn);
  $("compared").textContent = app.places.compared ? `Compared: ${app.places.compared}` : "";
  $("axes").textContent = state.layout === "pca"
    ? `Kernel principal components: ${percent(p.share[0], 0)} and ${percent(p.share[1], 0)} of the variance`
    : app.places.early ? "A first map, of two principal components. That of neighbours is being made."
      : "Points close together are similar graphs. Long distances say little.";
}

// turnTo keeps the turn of the map that a link brings for the places that come.
export const turnTo = (turn) => (linkedTurn = turn);

// forgetLearned ends what is asked about data that is gone.
export function forgetLearned() {
  for (const j of [job, colorJob]) j?.abort();
}
