// The state of the page, which is the part of the address after the #: a link restores it, and so do back and forward.

export const views = ["map", "table", "structure", "many", "next", "predictions", "matrix", "pair"];

// A graph is named by its number in the source, or by "a" and its number among those asked about.
export const state = {
  source: null, // the data
  view: "map",
  layout: "neighbours", // or pca
  color: "target", // what the points of the map are coloured by: a name of the API, or "column:" and that of a column,
  size: "", // and what their size shows, empty for nothing
  columns: null, // names of the columns of the file that the table has, null for the first few
  open: null, // the open graph
  other: null, // the one it is compared with
  level: null, // the scale, null for the largest
  vertex: null, // the chosen vertex of the open graph
  slopes: false, // slopes of the vertices instead of their contributions
  only: null, // the class shown alone
  picked: [], // the graphs that are selected
  zoom: null, // [scale, x, y, angle, mirrored] of the map
  kernel: "", // its text, empty for the default, or for the model as it was trained
  split: "random", // what was left out of the tests of predictions
  against: null, // the model that predictions are compared with: {source, kernel}
  list: "clusters", // what the view of the structure shows
  endpoints: [], // columns that are predicted for many graphs besides the target
  batch: null, // many graphs that were asked about together
  filters: {}, // of the table, by the names of columns
  plot: null, // of the table: {x, y}, names of columns
  loading: false, // other data, which the address names
  next: null, // what is wanted of the graphs to measure next
  asked: [], // what was asked: {smiles} or {graph}
};

// longest is the number of characters of a graph, or of a selection, that a link carries.
const longest = 1500;

// sourceOf returns the data that the address is about, null where it does not say.
export const sourceOf = () => new URLSearchParams(location.hash.slice(1)).get("source");

// read takes the state from the address, where there are so many graphs. It returns whether the
// link selects graphs that are not there.
export function read(graphs) {
  const q = new URLSearchParams(location.hash.slice(1));
  const one = (name, allowed) => (allowed.includes(q.get(name)) ? q.get(name) : allowed[0]);
  const graph = (name) => (/^a?\d+$/.test(q.get(name) ?? "") ? q.get(name) : null);
  const whole = (name) => (/^\d+$/.test(q.get(name) ?? "") ? Number(q.get(name)) : null);
  state.view = one("view", views);
  state.layout = one("layout", ["neighbours", "pca"]);
  state.color = q.get("color") ?? "target";
  state.size = q.get("size") ?? "";
  state.columns = q.has("columns") ? q.getAll("columns").filter(Boolean) : null;
  state.open = graph("open");
  state.other = graph("with");
  state.level = whole("level");
  state.vertex = whole("vertex");
  state.slopes = q.has("slopes");
  state.only = q.get("only");
  const [picked, beyond] = expand(q.get("pick") ?? "", graphs);
  state.picked = picked;
  const zoom = (q.get("zoom") ?? "").split(",").map(Number);
  state.zoom = zoom.length >= 3 && zoom.length <= 5 && zoom.every(Number.isFinite) && zoom[0] > 0 ? zoom : null;
  state.kernel = q.get("kernel") ?? "";
  state.batch = q.get("batch");
  state.endpoints = q.getAll("endpoint").filter(Boolean);
  state.list = q.get("list") ?? "clusters";
  state.split = q.get("split") ?? "random";
  state.plot = parsed(q.get("plot"));
  state.next = parsed(q.get("next"));
  state.against = parsed(q.get("against"));
  state.filters = parsed(q.get("filter")) ?? {};
  const old = new Map(state.asked.map((a) => [textOf(a), a]));
  state.asked = q.getAll("ask").filter(Boolean).map((text) => old.get(text) ?? question(text));
  return beyond;
}

// parsed reads an object from a link, null for anything else.
function parsed(text) {
  try {
    const v = JSON.parse(text);
    return v && typeof v === "object" && !Array.isArray(v) ? v : null;
  } catch {
    return null;
  }
}

const textOf = (a) => a.smiles ?? JSON.stringify(a.graph);

// question reads what was asked from a link. One that was cut off is kept with its error.
function question(text) {
  if (!text.startsWith("{")) return { smiles: text };
  try {
    return { graph: JSON.parse(text) };
  } catch {
    return { smiles: text, error: new Error("The link is cut off here.") };
  }
}

// compress writes numbers as ranges, "3-9,12"; expand reads those below a limit, and says whether there are others.
function compress(numbers) {
  const out = [];
  for (const n of numbers) {
    const last = out.at(-1);
    if (last && last[1] === n - 1) last[1] = n;
    else out.push([n, n]);
  }
  return out.map(([a, b]) => (a === b ? a : `${a}-${b}`)).join(",");
}

function expand(text, limit) {
  const picked = new Set(); // ranges may overlap
  let beyond = false;
  if (text.length > longest) return [[], true]; // no link of ours
  if (!/^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(text)) return [[], beyond];
  for (const range of text.split(",")) {
    const [a, b = a] = range.split("-").map(Number);
    beyond ||= b >= limit;
    for (let i = a; i <= b && i < limit && picked.size < limit; i++) picked.add(i);
  }
  return [[...picked].sort((a, b) => a - b), beyond];
}

// complete reports whether a link carries all questions and the whole selection.
export const complete = () => state.asked.every((a) => textOf(a).length <= longest) && compress(state.picked).length <= longest;

// Steps within this many milliseconds that change the kernel alone are one step back.
const oneStep = 1500;
let last = { place: null, rest: null, tuned: false, time: 0 };

// arrive says that the address has led here: the next write corrects it, and is no new step.
export const arrive = () => (last.place = null);

// write puts the state into the address: as a new step for "back" when the page shows something else, and in place of
// the last one while the map, the scale or a vertex moves.
export function write() {
  if (state.loading) return; // the address is about other data than the page has
  const q = new URLSearchParams();
  if (state.source !== null) q.set("source", state.source);
  if (state.view !== "map") q.set("view", state.view);
  if (state.layout !== "neighbours") q.set("layout", state.layout);
  if (state.color !== "target") q.set("color", state.color);
  if (state.size) q.set("size", state.size);
  for (const name of state.columns?.length === 0 ? [""] : state.columns ?? []) q.append("columns", name);
  if (state.open !== null) q.set("open", state.open);
  if (state.other !== null) q.set("with", state.other);
  if (state.slopes) q.set("slopes", "1");
  if (state.only !== null) q.set("only", state.only);
  if (state.list !== "clusters") q.set("list", state.list);
  if (state.split !== "random") q.set("split", state.split);
  if (state.batch !== null) q.set("batch", state.batch);
  if (state.against && state.view === "predictions") q.set("against", JSON.stringify(state.against));
  if (state.plot) q.set("plot", JSON.stringify(state.plot));
  if (state.next && state.view === "next") q.set("next", JSON.stringify(state.next));
  for (const name of state.endpoints) q.append("endpoint", name);
  const picked = compress(state.picked);
  if (picked && picked.length <= longest) q.set("pick", picked);
  for (const a of state.asked) if (textOf(a).length <= longest) q.append("ask", textOf(a));
  const rest = q.toString();
  if (state.kernel) q.set("kernel", state.kernel);
  const place = q.toString();
  if (state.level !== null) q.set("level", state.level);
  if (state.vertex !== null) q.set("vertex", state.vertex);
  if (state.zoom) q.set("zoom", state.zoom.map((v) => Number(v.toPrecision(4))).join(","));
  if (Object.keys(state.filters).length) q.set("filter", JSON.stringify(state.filters));
  const url = `${location.pathname}#${q}`;
  const now = performance.now();
  const tuned = rest === last.rest; // the kernel alone has changed
  const sliding = tuned && last.tuned && now - last.time < oneStep;
  if (url !== location.pathname + location.hash) {
    history[last.place === null || place === last.place || sliding ? "replaceState" : "pushState"](null, "", url);
  }
  if (place !== last.place) last = { place, rest, tuned, time: now };
}

// chosen is what requests send that are about the kernel.
export const chosen = () => (state.kernel ? { kernel: state.kernel } : {});
