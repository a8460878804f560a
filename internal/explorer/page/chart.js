// Small charts: lines and points over two axes.

import { h, number, s, whole } from "./dom.js";

const size = { width: 300, height: 240, left: 46, bottom: 40, top: 10, right: 12 };

// ticksOf returns round numbers within a range.
export function ticksOf(low, high) {
  const raw = (high - low) / 4 || 1;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((f) => f * unit).find((v) => v >= raw);
  return Array.from({ length: 12 }, (_, i) => (Math.ceil(low / step - 1e-9) + i) * step).filter((v) => v <= high + 1e-9 * step);
}

// chart draws points [x, y], joined by a line; about says what is seen for those who cannot see it. x and y are ranges, diagonal
// draws where both are equal, level a line at a height. tell(k) is the text of a point.
export function chart({ title, about, points, x: [x0, x1], y: [y0, y1], xName, yName, diagonal = false, level = null, dots = true, line = true, tell = null }) {
  const u = (v) => size.left + ((v - x0) / (x1 - x0)) * (size.width - size.left - size.right);
  const v = (w) => size.height - size.bottom - ((w - y0) / (y1 - y0)) * (size.height - size.top - size.bottom);
  const text = (value, props) => s("text", props, value);
  const [right, floor] = [size.width - size.right, size.height - size.bottom];
  const path = points.map(([a, b], k) => `${k ? "L" : "M"}${u(a).toFixed(1)} ${v(b).toFixed(1)}`).join("");
  const svg = s("svg", { class: "small-chart", viewBox: `0 0 ${size.width} ${size.height}`, role: "img", "aria-label": `${title}. ${about}` },
    s("rect", { class: "frame", x: size.left, y: size.top, width: right - size.left, height: floor - size.top }),
    ticksOf(x0, x1).map((t) => [s("line", { class: "tick", x1: u(t), x2: u(t), y1: floor, y2: floor + 4 }),
      text(number(t, 3), { x: u(t), y: floor + 16, "text-anchor": "middle" })]).flat(),
    ticksOf(y0, y1).map((t) => [s("line", { class: "tick", x1: size.left - 4, x2: size.left, y1: v(t), y2: v(t) }),
      text(number(t, 3), { x: size.left - 7, y: v(t) + 4, "text-anchor": "end" })]).flat(),
    text(xName, { x: (size.left + right) / 2, y: size.height - 5, "text-anchor": "middle", class: "axis" }),
    text(yName, { transform: `translate(11 ${(size.top + floor) / 2}) rotate(-90)`, "text-anchor": "middle", class: "axis" }),
    diagonal && s("line", { class: "diagonal", x1: u(Math.max(x0, y0)), y1: v(Math.max(x0, y0)), x2: u(Math.min(x1, y1)), y2: v(Math.min(x1, y1)) }),
    level !== null && s("line", { class: "diagonal", x1: size.left, x2: right, y1: v(level), y2: v(level) }),
    line && s("path", { class: "curve", d: path }),
    dots ? points.map(([a, b], k) => s("circle", { class: "point", cx: u(a), cy: v(b), r: 3.4 }, tell && s("title", {}, tell(k)))) : []);
  return h("figure", { class: "chart" }, h("figcaption", {}, title), svg, h("p", { class: "muted small" }, about));
}

const mostDots = 4000;

// drawn returns those of many points that are drawn, evenly chosen, and a line that says so where these are not all.
export function drawn(all) {
  if (all.length <= mostDots) return [all, ""];
  const some = Array.from({ length: mostDots }, (_, k) => all[Math.floor((k * all.length) / mostDots)]);
  return [some, h("p", { class: "muted small" }, `${whole(mostDots)} of ${whole(all.length)} graphs are drawn, evenly chosen. A box selects all of them.`)];
}
