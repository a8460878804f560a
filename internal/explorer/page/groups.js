// What the data consist of: clusters and scaffolds with a typical graph each, and lists of pairs and graphs that deserve a look.

import { $, count, extent, fixed, h, hidden, number, percent, radios, signed, whole } from "./dom.js";
import { get } from "./api.js";
import { chosen, write } from "./state.js";
import { structure } from "./structure.js";

const page = 60; // groups or pairs that are shown at a time

// lists are the parts of the view: their titles, and what is said above them.
const lists = {
  clusters: ["Clusters", "Groups of similar graphs, each around a typical one."],
  scaffolds: ["Scaffolds", "Molecules with the same rings and links between them. Those alone with theirs are left out."],
  cliffs: ["Cliffs", "Graphs more similar than most nearest ones, whose values differ by more than 1.5 standard deviations: stereoisomers first, then the steepest. Each graph has two pairs at most. Click to compare them."],
  duplicates: ["Duplicates", "Equal graphs. Those with the most different values come first."],
  isomers: ["Stereoisomers", "Molecules that differ in stereochemistry alone. Those with the most different values come first."],
  outliers: ["Outliers", "Graphs that a learner which has not seen them cannot explain. Click to compare with the most similar one."],
};

let answer = null; // of the API,
let of = null; // and what it is about
let unlike = null; // the answer about outliers, an error, or null while they wait for a learner,
let unlikeOf = null; // and what it is about

// groupsView fills the view.
export async function groupsView(app) {
  const key = JSON.stringify([app.info.source, app.state.kernel]);
  if (of !== key) {
    of = key;
    answer = null;
    $("groups").replaceChildren(h("p", { class: "empty" }, "Looking at the structure of the data …"));
    try {
      answer = await get("structure", chosen());
    } catch (e) {
      if (of === key) of = null;
      if (e.name !== "AbortError") $("groups").replaceChildren(h("p", { class: "empty error" }, e.message));
      return;
    }
    if (of !== key) return;
  }
  if (!answer) return;
  show(app);
  await outliers(app, key);
}

// outliers asks for graphs that a learner cannot explain, which may have to wait for it. A model has some once it is cross-validated.
async function outliers(app, about) {
  const key = JSON.stringify([about, Boolean(app.filed)]);
  if (unlikeOf === key) return;
  [unlike, unlikeOf] = [null, key];
  let found;
  try {
    found = await get("outliers", chosen());
  } catch (e) {
    if (unlikeOf === key && e.name === "AbortError") unlikeOf = null;
    found = { outliers: [], all: 0, note: `There are none: ${e.message}` };
  }
  if (unlikeOf !== key || of !== about) return;
  unlike = found;
  if (app.state.view === "structure") show(app);
}

// listOf returns what is there of a list, and how many there are of it, null while that is not known.
const listOf = (name) => (name === "outliers" ? [unlike?.outliers ?? [], unlike && unlike.all] : [answer[name], answer.all[name]]);

function show(app) {
  const { state } = app;
  if (!lists[state.list]) state.list = "clusters";
  const names = Object.keys(lists).filter((name) => listOf(name)[0].length || !["scaffolds", "isomers"].includes(name) || app.info.molecules);
  const tabs = h("div", { class: "segments", role: "radiogroup", "aria-label": "What to look at" }, names.map((name) =>
    h("button", { role: "radio", "data-list": name }, `${lists[name][0]} `, h("span", { class: "muted" }, listOf(name)[1]?.toLocaleString("en") ?? "…"))));
  const body = h("div", {});
  const set = radios(tabs, "aria-checked", (b) => {
    state.list = b.dataset.list;
    write();
    set(b);
    fill(app, body);
  });
  $("groups").replaceChildren(tabs, body);
  set(tabs.querySelector(`[data-list="${state.list}"]`));
  fill(app, body);
}

function fill(app, body, most = page) {
  const { list } = app.state;
  const [all, number] = listOf(list);
  const item = { clusters: groupCard, scaffolds: groupCard, duplicates: groupCard, isomers: groupCard, cliffs: cliffCard, outliers: outlierCard }[list];
  const none = number === null ? "The learner is being trained." : (list === "outliers" && unlike.note) || "There are none here.";
  body.replaceChildren(h("p", { class: "muted small" }, app.info.task === "classification" && list === "cliffs"
    ? "Graphs more similar than most nearest ones, of different classes: stereoisomers first, then the most similar. Each graph has two pairs at most. Click to compare them." : lists[list][1]),
    all.length ? h("ul", { class: "groups" }, all.slice(0, most).map((x) => item(app, x, list))) : h("p", { class: "empty" }, none),
    number > all.length ? h("p", { class: "muted small" }, `The first ${whole(all.length)} of ${whole(number)}.`) : "",
    all.length > most ? h("button", { class: "more", onclick: () => fill(app, body, most + 5 * page) }, `Show more of ${whole(all.length)}`) : "");
}

const drawn = (app, i) => structure(() => app.graph(String(i)));
const target = (app, i) => signed(app.source.targets[i] ?? "") || "not measured";
const names = (app, i) => h("span", { class: "cut" }, app.source.ids[i]);

// summary says what the targets of some graphs are.
function summary(app, members) {
  const { source, info } = app;
  const known = members.filter((i) => source.targets[i]);
  if (info.task === "none" || !known.length) return "";
  if (info.task === "regression") {
    const values = known.map((i) => source.value[i]);
    const mean = values.reduce((a, b) => a + b, 0) / values.length;
    return values.length === 1 ? `${info.target_name} ${number(mean, 3)}`
      : `${info.target_name} ${extent(values).map((v) => number(v, 3)).join(" to ")}, mean ${number(mean, 3)}`;
  }
  const counts = new Map();
  for (const i of known) counts.set(source.targets[i], (counts.get(source.targets[i]) ?? 0) + 1);
  const [name, most] = [...counts].sort((a, b) => b[1] - a[1])[0];
  return most === known.length ? `all are ${name}` : `${percent(most / known.length, 0)} are ${name}`;
}

function groupCard(app, { typical, members }, list) {
  const why = { clusters: `belong to the cluster of ${app.source.ids[typical]}`, scaffolds: `have the scaffold of ${app.source.ids[typical]}`, duplicates: "are equal",
    isomers: "differ in stereochemistry" }[list];
  const two = (list === "duplicates" || list === "isomers") && members.length === 2;
  return h("li", { class: "group" },
    h("button", { class: "open", onclick: () => app.open(String(typical)) }, hidden(`Open ${app.source.ids[typical]}`), drawn(app, typical)),
    h("span", { class: "facts" }, h("b", {}, count(members.length, "graph")), names(app, typical), h("span", { class: "muted" }, summary(app, members))),
    h("span", { class: "row" }, h("button", { class: "quiet", onclick: () => app.pick(members, "map", why) }, "Select"),
      h("button", { class: "quiet", onclick: () => app.pick(members, "table", why) }, "Table"),
      two && h("button", { class: "quiet", onclick: () => app.compare(String(members[0]), String(members[1])) }, "Compare")));
}

// pairCard shows two graphs, and says what is between them.
function pairCard(app, a, b, text) {
  const side = (i) => h("span", { class: "side-of-pair" }, drawn(app, i), names(app, i), h("span", { class: "muted" }, target(app, i)));
  return h("li", { class: "group" }, h("button", { class: "two",
    onclick: () => app.compare(String(a), String(b)) }, hidden("Compare"), side(a), side(b)), h("span", { class: "facts" }, text));
}

const cliffCard = (app, c) => pairCard(app, c.a, c.b, [c.difference === null ? h("b", {}, "different classes") : h("b", {}, `${number(c.difference, 3)} apart`),
  h("span", { class: "muted" }, c.isomers ? "stereoisomers" : `similarity ${fixed(c.similarity, 3)}`)]);

function outlierCard(app, o) {
  const text = o.error === null ? [h("b", {}, `taken for ${o.predicted}`), o.probability !== null
    && h("span", { class: "muted" }, `the true class has the probability ${percent(o.probability)}`)]
    : [h("b", {}, `predicted ${number(app.source.value[o.graph] + o.error, 3)}`), h("span", { class: "muted" },
      o.deviations === null ? `off by ${number(o.error, 3)}` : `off by ${number(o.error, 3)}, ${fixed(o.deviations, 1)} standard deviations`)];
  return pairCard(app, o.graph, o.nearest < 0 ? o.graph : o.nearest, text.filter(Boolean));
}
