// Drawings of graphs: what the server has drawn, with layers for values, neighbourhoods and
// vertices that can be pointed at.

import { s } from "./dom.js";

const strongest = 0.8; // opacity of the largest contribution

// contributionCss returns the colour of a contribution, −1 to 1, as a drawing has it.
export const contributionCss = (t) =>
  `color-mix(in srgb, var(--${t < 0 ? "against" : "for"}) ${100 * strongest * Math.abs(t)}%, transparent)`;

export class Drawing {
  // answer is a graph of the API. choose(vertex, how) is called with how = "point", "leave" or
  // "pick"; without it the drawing is a picture.
  constructor(answer, { choose = null, label = "" } = {}) {
    this.answer = answer;
    this.positions = answer.drawing.vertices;
    const d = answer.drawing;
    this.unit = bondLength(answer);
    this.radius = Math.max(3, Math.min(this.unit * 0.42, 15));
    const parsed = new DOMParser().parseFromString(d.svg, "image/svg+xml").documentElement;
    const ink = s("g", { class: "ink", "aria-hidden": "true", "font-family": "Helvetica, Arial, sans-serif" });
    for (const node of [...parsed.childNodes]) if (node.nodeName !== "title") ink.append(document.importNode(node, true));
    this.under = s("g");
    this.over = s("g");
    this.root = s("g", {}, this.under, ink, this.over);
    this.el = s("svg", {
      class: d.molecule ? "drawing" : "drawing plain", viewBox: `0 0 ${d.width} ${d.height}`, role: choose ? "group" : "img",
      "aria-label": label || `Drawing of ${answer.id}`,
    }, this.root);
    if (choose) this.listen(choose);
  }

  listen(choose) {
    this.hits = this.positions.map(([x, y], v) =>
      s("circle", {
        class: "hit", cx: x, cy: y, r: Math.max(this.radius, this.unit * 0.48), tabindex: v === 0 ? 0 : -1, role: "button",
        "aria-label": this.describe(v), "data-vertex": v,
        onpointerenter: () => choose(v, "point"), onpointerleave: () => choose(v, "leave"),
        onfocus: () => choose(v, "point"), onblur: () => choose(v, "leave"), onclick: () => choose(v, "pick"),
        onkeydown: (e) => this.key(e, v, choose),
      }));
    this.root.append(s("g", {}, this.hits));
  }

  describe(v) {
    const label = this.answer.labels[v];
    return `Vertex ${this.answer.node_names?.[v] ?? v + 1}${label ? `, ${this.answer.drawing.molecule ? "" : "label "}${label}` : ""}`;
  }

  // key moves between vertices by arrows.
  key(e, v, choose) {
    const dir = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      choose(v, "pick");
    } else if (dir) {
      e.preventDefault();
      const next = towards(this.positions, v, dir);
      if (next < 0) return;
      this.hits[v].setAttribute("tabindex", -1);
      this.hits[next].setAttribute("tabindex", 0);
      this.hits[next].focus();
    }
  }

  clear() {
    this.under.replaceChildren();
    this.over.replaceChildren();
    this.el.classList.remove("valued");
  }

  // values colours vertices: orange for positive, blue for negative, by strength. It returns the largest.
  values(list) {
    this.clear();
    const limit = Math.max(...list.map(Math.abs)) || 1;
    this.el.classList.add("valued");
    this.under.append(...list.map((v, i) => s("circle", {
      class: v >= 0 ? "positive" : "negative", cx: this.positions[i]?.[0], cy: this.positions[i]?.[1], r: this.radius,
      "fill-opacity": (strongest * Math.abs(v)) / limit,
    })).filter((c) => c.hasAttribute("cx")));
    return limit;
  }

  // neighbourhood shows the ball around a vertex: edges and vertices inside, fading with distance.
  neighbourhood(center, vertices, distance, radius) {
    this.clear();
    const at = new Map(vertices.map((v, i) => [v, distance[i]]));
    const strength = (d) => 0.62 - (0.34 * d) / Math.max(radius, 1);
    for (const [u, v] of this.answer.edges) {
      if (!at.has(u) || !at.has(v)) continue;
      const [a, b] = [this.positions[u], this.positions[v]];
      this.under.append(s("line", {
        class: "zone", x1: a[0], y1: a[1], x2: b[0], y2: b[1], "stroke-width": this.radius * 1.1,
        "stroke-opacity": strength(Math.max(at.get(u), at.get(v))) * 0.7,
      }));
    }
    for (const [v, d] of at) {
      const [x, y] = this.positions[v];
      this.under.append(s("circle", { class: "zone", cx: x, cy: y, r: this.radius, "fill-opacity": strength(d), stroke: "none",
        "stroke-opacity": 0 }));
    }
    this.ring(center, "center");
  }

  // ring marks a vertex.
  ring(v, kind = "") {
    const p = this.positions[v];
    if (p) this.over.append(s("circle", { class: `ring ${kind}`, cx: p[0], cy: p[1], r: this.radius + 1.5 }));
  }
}

// bondLength returns the median length of the edges of a drawing.
function bondLength(answer) {
  const p = answer.drawing.vertices;
  if (!p.length || !answer.edges.length) return 30;
  const lengths = answer.edges.map(([u, v]) => Math.hypot(p[u][0] - p[v][0], p[u][1] - p[v][1])).sort((a, b) => a - b);
  return lengths[lengths.length >> 1] || 30;
}

// towards returns the position that is nearest to position i in a direction, −1 for none: the
// distance counts, and more what lies aside.
export function towards(positions, i, [dx, dy]) {
  const [x, y] = positions[i];
  let best = -1;
  let least = Infinity;
  positions.forEach(([px, py], j) => {
    if (j === i) return;
    const along = (px - x) * dx + (py - y) * dy;
    const aside = Math.abs((px - x) * dy - (py - y) * dx);
    if (along <= 1e-9 || aside > 2.5 * along) return;
    const cost = along + 2 * aside;
    if (cost < least) [best, least] = [j, cost];
  });
  return best;
}
