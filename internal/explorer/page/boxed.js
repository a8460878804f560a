// A box that is dragged over a chart selects its graphs.

import { s } from "./dom.js";

const least = 5; // units of the chart that a drag is long; less is a click

// boxed lets the graphs of points [x, y, graph] be selected; choose(graphs) gets those in the box.
export function boxed(svg, points, choose) {
  let from = null;
  const box = s("rect", { class: "box" });
  const at = (e) => {
    const p = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [p.x, p.y];
  };
  const ends = (e) => {
    const to = at(e);
    return [0, 1].map((k) => [Math.min(from[k], to[k]), Math.max(from[k], to[k])]);
  };
  svg.addEventListener("pointerdown", (e) => {
    if (e.button !== 0 || e.pointerType === "touch") return; // a finger scrolls
    from = at(e);
    e.preventDefault();
  });
  svg.addEventListener("pointermove", (e) => {
    if (!from) return;
    const [[x, right], [y, bottom]] = ends(e);
    if (!box.isConnected && right - x + bottom - y > least) {
      svg.append(box);
      svg.setPointerCapture(e.pointerId);
    }
    for (const [name, v] of Object.entries({ x, y, width: right - x, height: bottom - y })) box.setAttribute(name, v);
  });
  const end = (e) => {
    if (!from) return;
    const dragged = box.isConnected;
    const [[left, right], [top, bottom]] = ends(e);
    from = null;
    box.remove();
    if (!dragged || e.type === "pointercancel") return;
    choose(points.filter(([x, y]) => x >= left && x <= right && y >= top && y <= bottom).map(([, , graph]) => graph));
  };
  svg.addEventListener("pointerup", end);
  svg.addEventListener("pointercancel", end);
}
