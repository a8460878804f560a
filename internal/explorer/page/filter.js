// Filters of the columns of a table: the ends of a range with sliders, values to choose from, or a part of the text.

import { extent, h, signed } from "./dom.js";

const mostValues = 12; // different texts that are listed to choose from
const steps = 200; // of a slider

const none = (v) => v === null || v === undefined || v === "";

// passes reports whether a value passes a filter.
export function passes(f, v) {
  if (f.text !== undefined) return String(v ?? "").toLowerCase().includes(f.text);
  if (f.without) return !f.without.includes(String(v ?? ""));
  return !none(v) && !(v < f.low) && !(v > f.high);
}

// filterOf makes the filter of a column whose values for all rows are known. f is the filter as it is, set(f) is called for
// another, with null for none.
export function filterOf(name, values, numeric, f, set) {
  if (numeric) return range(name, values.filter((v) => typeof v === "number"), f ?? {}, set);
  const counts = new Map();
  for (const v of values) {
    counts.set(String(v ?? ""), (counts.get(String(v ?? "")) ?? 0) + 1);
    if (counts.size > mostValues) break;
  }
  if (counts.size > 1 && counts.size <= mostValues && counts.size < values.length / 2) return choices(name, counts, f, set);
  return h("input", { "aria-label": `${name} contains`, placeholder: "contains", value: f?.text ?? "", spellcheck: "false",
    oninput: (e) => set(e.target.value ? { text: e.target.value.toLowerCase() } : null) });
}

// choices are boxes, one for each value.
function choices(name, counts, f, set) {
  const without = new Set(f?.without ?? []);
  const says = h("summary", {});
  const say = () => {
    says.textContent = without.size ? `${counts.size - without.size} of ${counts.size}` : "all";
    says.setAttribute("aria-label", `${says.textContent}, ${name}: choose values`); // it begins with what is seen
  };
  say();
  const box = ([value, n]) => h("label", {}, h("input", { type: "checkbox", checked: !without.has(value), onchange: (e) => {
    if (e.target.checked) without.delete(value);
    else without.add(value);
    say();
    set(without.size ? { without: [...without] } : null);
  } }), signed(value || "–"), h("span", { class: "muted" }, ` ${n}`));
  const el = h("details", { class: "chooser", "aria-label": `${name}: values` }, says, h("div", { class: "popup" }, [...counts].map(box)));
  el.addEventListener("keydown", (e) => {
    if (e.key !== "Escape") return;
    el.open = false;
    says.focus();
  });
  return el;
}

// range has boxes for the ends, and sliders for them below.
function range(name, values, f, set) {
  const [low, high] = extent(values);
  const now = { ...f };
  const changed = () => set(now.low === undefined && now.high === undefined ? null : { ...now });
  const written = (v) => (v === undefined ? "" : String(Number(v.toPrecision(4))).replace("-", "−"));
  const read = (text) => (text.trim() ? Number(text.replace("−", "-").replace(",", ".")) : undefined);
  const boxes = {};
  const sliders = {};
  const place = (key) => (now[key] === undefined ? (key === "low" ? 0 : steps)
    : Math.round(Math.min(1, Math.max(0, (now[key] - low) / (high - low || 1))) * steps));
  const show = (key) => {
    sliders[key].value = place(key);
    sliders.el.style.setProperty("--from", `${(100 * place("low")) / steps}%`);
    sliders.el.style.setProperty("--to", `${(100 * place("high")) / steps}%`);
  };
  for (const [key, text] of [["low", "from"], ["high", "to"]]) {
    boxes[key] = h("input", { "aria-label": `${name} ${text}`, placeholder: text, inputmode: "decimal", value: written(now[key]),
      oninput: (e) => {
        const v = read(e.target.value);
        e.target.setAttribute("aria-invalid", String(Number.isNaN(v)));
        now[key] = Number.isNaN(v) ? undefined : v;
        show(key);
        changed();
      } });
    sliders[key] = h("input", { type: "range", min: 0, max: steps, "aria-label": `${name} ${text}, slider`, value: place(key), oninput: (e) => {
      const at = Number(e.target.value);
      const end = key === "low" ? 0 : steps;
      const other = place(key === "low" ? "high" : "low");
      const kept = key === "low" ? Math.min(at, other) : Math.max(at, other);
      now[key] = kept === end ? undefined : Number((low + ((high - low) * kept) / steps).toPrecision(4));
      boxes[key].value = written(now[key]);
      show(key);
      changed();
    } });
  }
  sliders.el = h("span", { class: "slider" }, sliders.low, sliders.high);
  show("low");
  show("high");
  return h("span", { class: "range" }, h("span", { class: "ends" }, boxes.low, boxes.high), high > low && sliders.el);
}
