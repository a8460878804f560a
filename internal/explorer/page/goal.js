// What is wanted of the graphs to measure next: the goal and its limits, as a form with sliders.

import { h, number, percent } from "./dom.js";

// usual is what is wanted until something else is chosen. others are wishes for columns of numbers besides the target.
export const usual = { pool: "", kind: "max", low: null, high: null, others: [], class: null, k: 12, similarity: 0, vertices: 0 };

const kinds = { max: "large", min: "small", reach: "near a value", range: "in a range" };
const telling = { learn: "telling" };

// goalOf returns the part of a request that says what is wanted.
export function goalOf(want, info) {
  const limits = { k: want.k, similarity: want.similarity, vertices: want.vertices };
  if (info.task === "classification") return { ...limits, ...(want.class && { class: want.class }) };
  if (!want.others.length) return { ...limits, goal: textOf(want, info.range) };
  const all = [{ ...want, name: info.target_name }, ...want.others];
  return { ...limits, goals: all.map((w) => `${w.name}=${textOf(w, rangeOf(info, w.name))}`) };
}

// wanted returns the names of the targets that something is wanted of.
export const wanted = (want, info) => [info.target_name, ...want.others.map((w) => w.name)];

// textOf writes a wish as the server reads it.
const textOf = ({ kind, low, high }, range) =>
  ({ reach: () => String(low ?? middle(range)), range: () => `${low ?? range[0]}:${high ?? range[1]}` }[kind] ?? (() => kind))();

const rangeOf = (info, name) => info.columns.find((c) => c.name === name)?.range ?? info.range;

const middle = (range) => Number(((range[0] + range[1]) / 2).toPrecision(3));

// reached returns how good a target is, larger is better, and null where the goal has no best one.
export function reached(want, info, target) {
  if (info.task === "classification") return want.class ? Number(target === want.class) : null;
  const v = Number(target);
  return { max: v, min: -v, reach: -Math.abs(v - (want.low ?? middle(info.range))),
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

// wishOf returns the fields of a wish; change(part) is called for another one.
function wishOf(id, label, wish, range, options, change) {
  const [low, high] = range.length ? range : [0, 1];
  const room = (high - low) / 2 || 1;
  const within = [low - room, high + room];
  const value = (name, text, from) => slider(`${id}-${name}`, text, wish[name] ?? from, within, (within[1] - within[0]) / steps,
    (v) => number(v, 3), (v) => change({ [name]: Number(v.toPrecision(4)) }));
  return [choice(`${id}-kind`, label, Object.entries(options), wish.kind, (kind) => change({ kind, low: null, high: null })),
    wish.kind === "reach" && value("low", "Value", middle([low, high])),
    wish.kind === "range" && value("low", "From", low), wish.kind === "range" && value("high", "To", high)].filter(Boolean);
}

// othersOf returns the wishes for columns of numbers, and what adds one.
function othersOf(want, info, change) {
  const free = info.columns.filter((c) => c.range.length && c.range[0] < c.range[1] && c.name !== "round" && !wanted(want, info).includes(c.name));
  const set = (k, part) => change({ ...want, others: want.others.map((w, i) => (i === k ? { ...w, ...part } : w)) });
  const add = (name) => {
    const [low, high] = rangeOf(info, name);
    change({ ...want, kind: want.kind === "learn" ? "max" : want.kind, others: [...want.others, { name, kind: "range", low, high }] });
  };
  return [...want.others.map((w, k) => h("fieldset", { class: "wish" }, h("legend", { class: "visually-hidden" }, w.name),
    wishOf(`next-other-${k}`, `${w.name} shall be`, w, rangeOf(info, w.name), kinds, (part) => set(k, part)),
    h("button", { type: "button", class: "quiet", "aria-label": `Remove the goal for ${w.name}`, onclick: () => change({ ...want, others: want.others.filter((_, i) => i !== k) }) }, "✕ Remove"))),
  free.length > 0 && want.others.length < 9 && choice("next-more", "And also", [["", "another target …"], ...free.map((c) => [c.name, c.name])], "", add)].filter(Boolean);
}

// goalForm returns the form; pools has [name, text] of what can be chosen from, change(want) is called for another wish.
export function goalForm(want, info, pools, largest, change) {
  const set = (name) => (value) => change({ ...want, [name]: value });
  const wish = info.task === "classification"
    ? [choice("next-class", "Wanted", [["", "graphs whose class is uncertain"], ...info.classes.map((c) => [c.name, c.name])], want.class ?? "",
      (v) => set("class")(v || null))]
    : [...wishOf("next", `${info.target_name} shall be`, want, info.range, want.others.length ? kinds : { ...kinds, ...telling }, (part) => change({ ...want, ...part })),
      ...othersOf(want, info, change)];
  return h("form", { class: "goal", onsubmit: (e) => e.preventDefault() },
    choice("next-pool", "Choose from", pools, want.pool, set("pool")), wish,
    slider("next-k", "How many:", want.k, [1, 50], 1, String, set("k")),
    slider("next-similarity", "Similarity to measured graphs at least", want.similarity, [0, 1], 0.01, (v) => percent(v, 0), set("similarity")),
    slider("next-vertices", "Vertices at most", want.vertices || largest, [1, largest], 1, (v) => (v >= largest ? "any" : String(v)),
      (v) => set("vertices")(v >= largest ? 0 : v)));
}
