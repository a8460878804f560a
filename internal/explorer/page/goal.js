// What is wanted of the graphs to measure next: the goal and its limits, as a form with sliders.

import { h, number, percent } from "./dom.js";

// usual is what is wanted until something else is chosen.
export const usual = { pool: "", kind: "max", low: null, high: null, class: null, k: 12, similarity: 0, vertices: 0 };

const kinds = { max: "large", min: "small", reach: "near a value", range: "in a range", learn: "telling" };

// goalOf returns the part of a request that says what is wanted.
export function goalOf(want, info) {
  const limits = { k: want.k, similarity: want.similarity, vertices: want.vertices };
  if (info.task === "classification") return { ...limits, ...(want.class && { class: want.class }) };
  const goal = { reach: () => String(want.low ?? middle(info)), range: () => `${want.low ?? info.range[0]}:${want.high ?? info.range[1]}` }[want.kind];
  return { ...limits, goal: goal ? goal() : want.kind };
}

const middle = (info) => Number(((info.range[0] + info.range[1]) / 2).toPrecision(3));

// reached returns how good a target is, larger is better, and null where the goal has no best one.
export function reached(want, info, target) {
  if (info.task === "classification") return want.class ? Number(target === want.class) : null;
  const v = Number(target);
  return { max: v, min: -v, reach: -Math.abs(v - (want.low ?? middle(info))),
    range: Number(v >= (want.low ?? -Infinity) && v <= (want.high ?? Infinity)), learn: null }[want.kind];
}

const steps = 200;

// slider is a labelled slider from low to high; write(value) says its value, set(value) is called when it rests.
function slider(id, label, value, [low, high], step, write, set) {
  const out = h("output", { for: id }, write(value));
  return h("div", { class: "field" }, h("label", { for: id }, label, " ", out),
    h("input", { type: "range", id, min: low, max: high, step, value, "aria-valuetext": write(value),
      oninput: (e) => {
        out.textContent = write(Number(e.target.value));
        e.target.setAttribute("aria-valuetext", out.textContent);
      },
      onchange: (e) => set(Number(e.target.value)) }));
}

// choice is a labelled list of [value, text].
const choice = (id, label, options, value, set) => {
  const select = h("select", { id, onchange: (e) => set(e.target.value) }, options.map(([v, text]) => h("option", { value: v }, text)));
  select.value = value;
  select.title = select.selectedOptions[0]?.text ?? "";
  return h("div", { class: "field" }, h("label", { for: id }, label), select);
};

// goalForm returns the form; pools has [name, text] of what can be chosen from, change(want) is called for another wish.
export function goalForm(want, info, pools, largest, change) {
  const set = (name) => (value) => change({ ...want, [name]: value });
  const [low, high] = info.range.length ? info.range : [0, 1];
  const room = (high - low) / 2 || 1;
  const within = [low - room, high + room];
  const value = (name, label, from) => slider(`next-${name}`, label, want[name] ?? from, within, (within[1] - within[0]) / steps,
    (v) => number(v, 3), (v) => set(name)(Number(v.toPrecision(4))));
  const wish = info.task === "classification"
    ? [choice("next-class", "Wanted", [["", "graphs whose class is uncertain"], ...info.classes.map((c) => [c.name, c.name])], want.class ?? "",
      (v) => set("class")(v || null))]
    : [choice("next-kind", `${info.target_name} shall be`, Object.entries(kinds), want.kind, (kind) => change({ ...want, kind, low: null, high: null })),
      want.kind === "reach" && value("low", "Value", middle(info)),
      want.kind === "range" && value("low", "From", low), want.kind === "range" && value("high", "To", high)];
  return h("form", { class: "goal", onsubmit: (e) => e.preventDefault() }, 
    choice("next-pool", "Choose from", pools, want.pool, set("pool")), wish.filter(Boolean),
    slider("next-k", "How many:", want.k, [1, 50], 1, String, set("k")),
    slider("next-similarity", "Similarity to measured graphs at least", want.similarity, [0, 1], 0.01, (v) => percent(v, 0), set("similarity")),
    slider("next-vertices", "Vertices at most", want.vertices || largest, [1, largest], 1, (v) => (v >= largest ? "any" : String(v)),
      (v) => set("vertices")(v >= largest ? 0 : v)));
}
