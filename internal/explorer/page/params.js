// The panel of parameters. The server says which there are: name, type, default, range, help.

import { $, h } from "./dom.js";

// sliderOf returns the slider of a number: for whole numbers their range, for others two powers of
// ten to each side of the default.
function sliderOf(p) {
  const [low, high] = (p.want ?? "").match(/^(\S+) to (\S+)$/)?.slice(1).map(Number) ?? [];
  if (low === undefined) return null;
  if (p.type === "integer") return { min: low, max: high, step: 1, from: Number, to: Number };
  const middle = Math.log10(p.default);
  return { min: Math.max(middle - 2, Math.log10(low)), max: Math.min(middle + 2, Math.log10(high)), step: 0.05, from: Math.log10,
    to: (x) => Number((10 ** x).toPrecision(2)) };
}

// parameterPanel fills the panel; changed(values) gets the parameters that differ from the
// defaults, as texts. It returns show(values).
export function parameterPanel(info, changed) {
  const form = $("parameters");
  const fill = new Map(); // by name: shows a value
  const values = {};
  let timer;
  const set = (p, value, wait = 60) => {
    if (String(value) === String(p.default)) delete values[p.name];
    else values[p.name] = String(value);
    clearTimeout(timer);
    timer = setTimeout(() => changed({ ...values }), wait);
    sum();
  };

  const field = (p) => {
    const id = `p-${p.name}`;
    const label = h("label", { for: id }, h("b", {}, p.name), " ", h("span", { class: "muted" }, p.help));
    if (p.type === "boolean") {
      const check = h("input", { type: "checkbox", id, onchange: (e) => set(p, e.target.checked) });
      fill.set(p.name, (v) => (check.checked = String(v) === "true"));
      label.prepend(check);
      return h("div", {}, label);
    }
    if (p.choices) {
      const select = h("select", { id, onchange: (e) => set(p, e.target.value) },
        p.choices.map((value) => h("option", { value }, value)));
      fill.set(p.name, (v) => (select.value = v));
      return h("div", { class: "field whole" }, label, select);
    }
    if (p.type !== "integer" && p.type !== "number") {
      const list = p.type.endsWith("s");
      const clean = (text) => (list ? text.replace(/[\s;,]+/g, ",").replace(/^,|,$/g, "") : text.trim());
      const input = h("input", { id, spellcheck: "false", autocapitalize: "off", list: p.suggestions && `${id}-list`,
        inputmode: list && "numeric", onchange: (e) => set(p, clean(e.target.value)) });
      fill.set(p.name, (v) => (input.value = list ? String(v).replaceAll(",", ", ") : v));
      return h("div", { class: "field whole" }, label, input,
        p.suggestions && h("datalist", { id: `${id}-list` }, p.suggestions.map((value) => h("option", { value }))));
    }
    const scale = sliderOf(p);
    const number = h("input", { id, type: "number", step: "any",
      onchange: (e) => { slider.value = scale?.from(Number(e.target.value)); set(p, e.target.value); } });
    const slider = h("input", { type: "range", min: scale?.min, max: scale?.max, step: scale?.step, hidden: !scale,
      "aria-label": `${p.name}: ${p.help}`, oninput: (e) => { number.value = scale.to(Number(e.target.value)); set(p,
        number.value, 120); } });
    fill.set(p.name, (v) => {
      number.value = v;
      slider.value = scale?.from(Number(v));
    });
    return h("div", { class: scale ? "field" : "field whole" }, label, slider, number);
  };

  form.replaceChildren(...info.parameters.map(field));
  form.onsubmit = (e) => e.preventDefault();
  const note = info.saved ? ["The model as it was trained:", h("ul", {}, info.kernels.map((k) => h("li", {}, k))),
      "After a change, the page fits the multiscale kernel alone."] : [];
  $("parameters-note").replaceChildren(...note);
  $("parameters-note").hidden = !note.length;

  const sum = () => {
    const names = Object.keys(values);
    $("parameters-sum").textContent = names.length ? names.map((n) => `${n} ${values[n]}`).join(", ") : info.saved ? "as trained"
      : "defaults";
  };
  const show = (given) => {
    for (const name of Object.keys(values)) delete values[name];
    Object.assign(values, given);
    for (const p of info.parameters) fill.get(p.name)(given[p.name] ?? p.default);
    sum();
  };
  $("reset").onclick = () => {
    show({});
    changed({});
  };
  return show;
}
