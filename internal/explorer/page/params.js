// The panel of parameters.

import { $, h } from "./dom.js";

const log = { from: (x) => Math.log10(x), to: (x) => Number((10 ** x).toPrecision(2)) };
const same = { from: Number, to: Number };

// fields in the order of the panel: numbers have a slider.
const fields = [
  { name: "radii", label: "Radii of the scales", hint: "hops", text: true },
  { name: "eta", label: "η", hint: "of the Laplacian", min: -3, max: 1, step: 0.05, map: log },
  { name: "gamma", label: "γ", hint: "of the covariance", min: -3, max: 1, step: 0.05, map: log },
  { name: "base", label: "Base kernel", hint: "on vertices", choices: null },
  { name: "combine", label: "Combination", hint: "of scales", choices: { top: "top: the largest scale", sum: "sum: mean of all", product: "product", mixed: "mixed: mean of these three", gmean: "gmean: geometric mean" } },
  { name: "rank", label: "Rank", hint: "features kept", min: 1, max: 32, step: 1, map: same },
  { name: "samples", label: "Landmarks", hint: "vertices sampled", min: 10, max: 500, step: 10, map: same },
  { name: "landmarks", label: "Choice of landmarks", hint: "", choices: { uniform: "uniform", classes: "by class", pivoted: "pivoted" } },
];
const more = [
  { name: "seed", label: "Seed", hint: "of the sample", min: 0, max: 20, step: 1, map: same },
  { name: "power", label: "Power", hint: "of the kernel", min: 1, max: 8, step: 1, map: same },
  { name: "bandwidth", label: "Bandwidth", hint: "of gaussian", min: -2, max: 2, step: 0.05, map: log },
  { name: "h", label: "Refinements", hint: "of wl", min: 0, max: 6, step: 1, map: same },
];

// parameterPanel fills the panel; changed(values) gets the parameters that differ from the
// defaults, as texts. It returns show(values).
export function parameterPanel(info, changed) {
  const form = $("parameters");
  const defaults = info.parameters;
  const inputs = new Map();
  const values = {};
  let timer;
  const set = (name, value, wait = 60) => {
    const normal = String(Array.isArray(defaults[name]) ? defaults[name].join(",") : defaults[name]);
    if (String(value) === normal) delete values[name];
    else values[name] = String(value);
    clearTimeout(timer);
    timer = setTimeout(() => changed({ ...values }), wait);
  };

  const field = (f) => {
    const id = `p-${f.name}`;
    const label = h("label", { for: id }, h("span", {}, f.label), h("span", { class: "muted" }, f.hint));
    if (f.text) {
      const input = h("input", { id, inputmode: "numeric", spellcheck: "false", onchange: (e) => set(f.name, e.target.value.replace(/[\s;]+/g, ",").replace(/,+/g, ",").replace(/^,|,$/g, "")) });
      inputs.set(f.name, (v) => (input.value = Array.isArray(v) ? v.join(", ") : String(v).replaceAll(",", ", ")));
      return h("div", { class: "field whole" }, label, input);
    }
    if (f.choices !== undefined) {
      const choices = f.choices ?? Object.fromEntries([...new Set([defaults.base, ...info.bases])].map((b) => [b, b]));
      const select = h("select", { id, onchange: (e) => set(f.name, e.target.value) }, Object.entries(choices).map(([value, text]) => h("option", { value }, text)));
      inputs.set(f.name, (v) => {
        if (![...select.options].some((o) => o.value === v)) select.append(h("option", { value: v }, v));
        select.value = v;
      });
      return h("div", { class: "field whole" }, label, select);
    }
    const number = h("input", { id, type: "number", step: "any", onchange: (e) => { slider.value = f.map.from(Number(e.target.value)); set(f.name, e.target.value); } });
    const slider = h("input", { type: "range", min: f.min, max: f.max, step: f.step, "aria-label": `${f.label} ${f.hint}`, oninput: (e) => { number.value = f.map.to(Number(e.target.value)); set(f.name, number.value, 120); } });
    inputs.set(f.name, (v) => {
      number.value = v;
      slider.value = f.map.from(Number(v));
    });
    return h("div", { class: "field" }, label, slider, number);
  };

  const check = h("input", { type: "checkbox", id: "p-discount", onchange: (e) => set("discount", e.target.checked) });
  inputs.set("discount", (v) => (check.checked = v === true || v === "true"));
  form.replaceChildren(...fields.map(field), h("details", {}, h("summary", {}, "More"),
    h("div", {}, more.map(field), h("div", { class: "check" }, h("label", { for: "p-discount" }, check, "Discount by distance to the centre")))));
  form.addEventListener("submit", (e) => e.preventDefault());
  if (!info.has_graphs) {
    for (const el of form.querySelectorAll("input, select")) el.disabled = true;
    $("reset").disabled = true;
    $("parameters-note").hidden = false;
    $("parameters-note").textContent = "The model file holds no graphs, so its parameters are fixed.";
  } else if (info.saved) {
    $("parameters-note").hidden = false;
    $("parameters-note").replaceChildren("The model as it was trained:", h("ul", {}, info.kernels.map((k) => h("li", {}, k))), "A change fits the multiscale kernel anew, alone.");
  }

  const show = (given) => {
    for (const name of Object.keys(values)) delete values[name];
    Object.assign(values, given);
    for (const [name, fill] of inputs) fill(given[name] ?? defaults[name]);
  };
  $("reset").addEventListener("click", () => {
    show({});
    changed({});
  });
  return show;
}
