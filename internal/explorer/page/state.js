// The state of the page, which is the part of the address after the #, so that a link restores it.

// A graph is named by its number in the source, or by "a" and its number among those asked about.
export const state = {
  view: "map", // map, matrix or pair
  layout: "neighbours", // or pca
  open: null, // the open graph
  other: null, // the one it is compared with
  level: null, // the scale, null for the largest
  vertex: null, // the chosen vertex of the open graph
  only: null, // the class shown alone
  zoom: null, // [scale, x, y] of the map
  params: {}, // parameters that differ from the defaults
  asked: [], // what was asked: {smiles} or {graph}
};

// longest is the number of characters of a graph that a link carries.
const longest = 1500;

// read takes the state from the address; schema describes the parameters.
export function read(schema, hash = location.hash) {
  const q = new URLSearchParams(hash.replace(/^#/, ""));
  const one = (name, allowed) => (allowed.includes(q.get(name)) ? q.get(name) : allowed[0]);
  const graph = (name) => (/^a?\d+$/.test(q.get(name) ?? "") ? q.get(name) : null);
  const number = (name) => (/^\d+$/.test(q.get(name) ?? "") ? Number(q.get(name)) : null);
  state.view = one("view", ["map", "matrix", "pair"]);
  state.layout = one("layout", ["neighbours", "pca"]);
  state.open = graph("open");
  state.other = graph("with");
  state.level = number("level");
  state.vertex = number("vertex");
  state.only = q.get("only");
  const zoom = (q.get("zoom") ?? "").split(",").map(Number);
  state.zoom = zoom.length === 3 && zoom.every(Number.isFinite) && zoom[0] > 0 ? zoom : null;
  state.params = {};
  for (const { name } of schema) if (q.has(name)) state.params[name] = q.get(name);
  state.asked = [];
  for (const text of q.getAll("ask")) {
    if (text.startsWith("{")) {
      try {
        state.asked.push({ graph: JSON.parse(text) });
      } catch {
        // a link that was cut off
      }
    } else if (text) state.asked.push({ smiles: text });
  }
}

export function write() {
  const q = new URLSearchParams();
  if (state.view !== "map") q.set("view", state.view);
  if (state.layout !== "neighbours") q.set("layout", state.layout);
  if (state.open !== null) q.set("open", state.open);
  if (state.other !== null) q.set("with", state.other);
  if (state.level !== null) q.set("level", state.level);
  if (state.vertex !== null) q.set("vertex", state.vertex);
  if (state.only !== null) q.set("only", state.only);
  if (state.zoom) q.set("zoom", state.zoom.map((v) => Number(v.toPrecision(4))).join(","));
  for (const [name, value] of Object.entries(state.params)) q.set(name, value);
  for (const a of state.asked) {
    const text = a.smiles ?? JSON.stringify(a.graph);
    if (text.length <= longest) q.append("ask", text);
  }
  const text = q.toString();
  const url = text ? `#${text}` : location.pathname;
  if (url !== (location.hash || location.pathname)) history.replaceState(null, "", url);
}

const values = { boolean: (t) => t === "true", integer: Number, number: Number, integers: (t) => t.split(",").filter(Boolean).map(Number) };

// parameters returns what requests send: null where nothing differs from the defaults.
export function parameters(schema) {
  const given = schema.filter(({ name }) => name in state.params);
  return given.length ? Object.fromEntries(given.map(({ name, type }) => [name, (values[type] ?? String)(state.params[name])])) : null;
}
