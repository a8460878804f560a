// What the points are coloured by: the choice, and the legend.

import { $, h, number, signed, whole } from "./dom.js";
import { colorBar, markCanvas, numberColor, onTheme, shapeOf, unknown } from "./colors.js";

const names = { prediction: "prediction", error: "error", size: "size" };

const ofColumn = (name) => `column:${name}`;

// columnOf returns the column that a choice of colours or sizes means, undefined for none.
export const columnOf = (by) => (by.startsWith("column:") ? by.slice(7) : undefined);

// colorQuery is a choice of colours for the API.
export const colorQuery = (by, key = "by") => (columnOf(by) === undefined ? { [key]: by } : { [key]: "column", column: columnOf(by) });

// colorsOf returns what the data can be coloured by.
export const colorsOf = (info) => info.color_by.flatMap((by) => (by === "column" ? info.columns.map((c) => ofColumn(c.name)) : [by]));

// sizesOf returns what the size of points can show.
export const sizesOf = (info) => ["", "vertices", info.task === "regression" && "target",
  ...info.columns.filter((c) => c.numeric).map((c) => ofColumn(c.name))].filter((s) => s !== false);

// mapChoices fills the choices of colour and size for the data; color(by) and size(by) are called for others.
export function mapChoices(info, color, size) {
  const text = { "": "equal", vertices: "vertices", target: info.target_name, ...names };
  const fill = (id, all, choose) => {
    $(id).replaceChildren(...all.map((by) => h("option", { value: by }, columnOf(by) ?? text[by])));
    $(id).parentElement.hidden = all.length < 2;
    $(id).onchange = (e) => choose(e.target.value);
  };
  fill("color", colorsOf(info), color);
  fill("size", sizesOf(info), size);
}

// legend explains a colouring of the API; only is the class that is shown alone, choose(name) is called for another.
export function legend(c, only, choose) {
  if (!c) return $("legend").replaceChildren();
  const unmeasured = c.unknown && h("li", { class: "unknown" }, markCanvas(0, onTheme(unknown)), `${c.unknown.name} `,
    h("span", { class: "muted" }, whole(c.unknown.count)));
  const note = c.note && h("li", { class: "muted small" }, c.note);
  if (c.kind === "value") {
    const two = c.center !== null;
    const reach = two ? Math.max(c.range[1] - c.center, c.center - c.range[0]) : 0;
    const [low, high] = two ? [c.center - reach, c.center + reach] : c.range;
    const bar = colorBar((t) => numberColor(t, two), two ? -1 : 0);
    return $("legend").replaceChildren(h("li", {}, h("span",
      { class: "bar-legend", role: "img", "aria-label": `${c.name}: colours from ${number(low)} to ${number(high)}` },
      h("b", {}, c.name), h("span", {}, bar, h("span", { class: "ticks" },
        [low, (low + high) / 2, high].map((v) => h("span", {}, number(v, 3))))))),
      ...[unmeasured, note].filter(Boolean));
  }
  $("legend").replaceChildren(h("li", { class: "legend-name" }, c.name), ...c.classes.map((k, i) => h("li", {}, h("button", {
    "data-name": k.name, "aria-pressed": String(only === k.name), onclick: () => choose(only === k.name ? null : k.name),
  }, markCanvas(shapeOf(i), onTheme(k.color)), signed(k.name), h("span", { class: "muted" }, whole(k.count))))),
    ...[unmeasured, note].filter(Boolean));
}
