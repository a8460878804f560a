// Any two columns of numbers of the table against each other. A box selects.

import { $, extent, h, number, s, whole } from "./dom.js";
import { boxed } from "./boxed.js";
import { onTheme } from "./colors.js";
import { drawn, ticksOf } from "./chart.js";

const size = { width: 520, height: 340, left: 64, bottom: 46, top: 12, right: 14 };

// plot fills the part of the table below its head. columns are those of the table, rows its rows.
export function plot(app, columns, rows) {
  const el = $("table-plot");
  const numeric = columns.filter((c) => c.numeric);
  el.hidden = numeric.length < 2;
  if (el.hidden) return;
  if (!el.childElementCount) {
    el.append(h("summary", {}, "Plot two columns"), h("div", {}));
    el.open = app.state.plot !== null;
    el.addEventListener("toggle", () => el.open && app.show("table"));
  }
  if (!el.open) return;
  const focus = document.activeElement?.id;
  const column = (name, k) => numeric.find((c) => c.name === name) ?? numeric[k];
  const [x, y] = [0, 1].map((k) => column(app.state.plot?.[["x", "y"][k]], k));
  const select = (id, label, now, other) => {
    const list = h("select", { id, onchange: (e) => {
      app.state.plot = { ...other, [id.at(-1)]: e.target.value };
      app.show("table");
    } }, numeric.map((c) => h("option", { value: c.name }, c.name)));
    list.value = now.name;
    return h("label", { class: "pill", for: id }, `${label} `, list);
  };
  el.lastElementChild.replaceChildren(h("div", { class: "row" }, select("plot-x", "Across", x, { y: y.name }), select("plot-y", "Up", y, { x: x.name })),
    ...points(app, x, y, rows));
  if (focus?.startsWith("plot-")) $(focus)?.focus();
}

// forgetPlot begins anew, for other data.
export const forgetPlot = () => $("table-plot").replaceChildren();

// points draws the rows that have both numbers.
function points(app, x, y, rows) {
  const both = rows.filter((i) => typeof x.value(i) === "number" && typeof y.value(i) === "number");
  if (both.length < 2) return [h("p", { class: "empty" }, "Fewer than two graphs have both numbers.")];
  const [some, note] = drawn(both);
  const scale = (c, from, to) => {
    const [low, high] = extent(both.map((i) => c.value(i)));
    const margin = (high - low) * 0.04 || 1;
    const at = (v) => from + ((v - low + margin) / (high - low + 2 * margin)) * (to - from);
    return { at, ticks: ticksOf(low, high) };
  };
  const [floor, right] = [size.height - size.bottom, size.width - size.right];
  const [u, v] = [scale(x, size.left, right), scale(y, floor, size.top)];
  const say = h("p", { class: "key", "aria-live": "polite" }, "Point at a graph to see its values. Click to open it. Drag a box around graphs to select them.");
  const text = (value, props) => s("text", props, value);
  const dots = some.map((i) => {
    const c = app.source.class[i] ?? -1;
    const dot = s("circle", { cx: u.at(x.value(i)).toFixed(1), cy: v.at(y.value(i)).toFixed(1), r: 4, "data-graph": i, class: app.state.open === String(i) ? "dot open" : "dot",
      onpointerenter: () => (say.textContent = `${app.name(String(i))}: ${x.name} ${number(x.value(i))}, ${y.name} ${number(y.value(i))}`),
      onclick: () => app.open(String(i)) });
    if (c >= 0) dot.style.fill = onTheme(app.info.classes[c].color);
    return dot;
  });
  const svg = s("svg", { class: "scatter", viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": `${y.name} against ${x.name} of ${whole(some.length)} graphs` },
    s("rect", { class: "frame", x: size.left, y: size.top, width: right - size.left, height: floor - size.top }),
    u.ticks.flatMap((t) => [s("line", { class: "tick", x1: u.at(t), x2: u.at(t), y1: floor, y2: floor + 5 }), text(number(t, 3), { x: u.at(t), y: floor + 19, "text-anchor": "middle" })]),
    v.ticks.flatMap((t) => [s("line", { class: "tick", x1: size.left - 5, x2: size.left, y1: v.at(t), y2: v.at(t) }), text(number(t, 3), { x: size.left - 9, y: v.at(t) + 4, "text-anchor": "end" })]),
    text(x.name, { x: (size.left + right) / 2, y: size.height - 8, "text-anchor": "middle", class: "axis" }),
    text(y.name, { transform: `translate(14 ${(size.top + floor) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis" }), dots);
  boxed(svg, both.map((i) => [u.at(x.value(i)), v.at(y.value(i)), i]), (graphs) => app.pick(graphs, "table", `lie in a box of ${y.name} against ${x.name}`));
  return [svg, say, note];
}
