// What the points are coloured by: the choice, and the legend.

import { $, h, number } from "./dom.js";
import { colorBar, dark, markCanvas, numberColor, onTheme, shapeOf, unknown } from "./colors.js";

const names = { prediction: "prediction", error: "error", size: "size" };

// colorChoice fills the choice for the data; choose(by) is called for another.
export function colorChoice(info, choose) {
  const text = { target: info.target_name, column: info.column_name, ...names };
  $("color").replaceChildren(...info.color_by.map((by) => h("option", { value: by }, text[by])));
  $("color").parentElement.hidden = info.color_by.length < 2;
  $("color").onchange = (e) => choose(e.target.value);
}

// legend explains a colouring of the API; only is the class that is shown alone, choose(name) is called for another.
export function legend(c, only, choose) {
  if (!c) return $("legend").replaceChildren();
  const unmeasured = c.unknown && h("li", { class: "unknown" }, markCanvas(0, dark() ? "#5b636b" : unknown), c.unknown.name,
    h("span", { class: "muted" }, c.unknown.count.toLocaleString("en")));
  const note = c.note && h("li", { class: "muted small" }, c.note);
  if (c.kind === "value") {
    const two = c.center !== null;
    const reach = two ? Math.max(c.range[1] - c.center, c.center - c.range[0]) : 0;
    const [low, high] = two ? [c.center - reach, c.center + reach] : c.range;
    const bar = colorBar((t) => numberColor(t, two), two ? -1 : 0);
    return $("legend").replaceChildren(h("li",
      { class: "bar-legend", role: "img", "aria-label": `${c.name}: colours from ${number(low)} to ${number(high)}` },
      h("b", {}, c.name), h("span", {}, bar, h("span", { class: "ticks" },
        [low, (low + high) / 2, high].map((v) => h("span", {}, number(v, 3)))))),
      ...[unmeasured, note].filter(Boolean));
  }
  $("legend").replaceChildren(h("li", { class: "legend-name" }, c.name), ...c.classes.map((k, i) => h("li", {}, h("button", {
    "data-name": k.name, "aria-pressed": String(only === k.name), onclick: () => choose(only === k.name ? null : k.name),
  }, markCanvas(shapeOf(i), onTheme(k.color)), k.name, h("span", { class: "muted" }, String(k.count))))),
    ...[unmeasured, note].filter(Boolean));
}
