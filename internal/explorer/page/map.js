// The map: every graph as a point on a canvas.

import { calm } from "./dom.js";
import { bestTurn, frame } from "./align.js";
import { dark, mark, numberColor, onTheme, shapeOf, unknown } from "./colors.js";
import { towards } from "./drawing.js";
import { drawRanks, rankAt } from "./ranks.js";

const padding = 46;
const moveTime = 380; // milliseconds of a change of layout
const moveLimit = 4000; // points up to which changes are animated
const valueSteps = 64; // colours of values
const sizeSteps = 6; // different sizes of points
const labelLimit = 45; // visible points up to which names are written

// share returns where a value lies in the range of a colouring: in [0, 1], or in [−1, 1] around its middle; null for none.
export function share(c, value) {
  if (value === null || value === undefined) return null;
  const [low, high] = c.range;
  if (c.center === null) return high > low ? (value - low) / (high - low) : 0.5;
  return (value - c.center) / (Math.max(high - c.center, c.center - low) || 1);
}

// ranks returns for each of some numbers the share of the others that are smaller, equal ones by their mean; null for none.
function ranks(values) {
  const at = [...values.keys()].filter((i) => typeof values[i] === "number").sort((i, j) => values[i] - values[j]);
  const out = values.map(() => null);
  for (let a = 0; a < at.length;) {
    let b = a;
    while (b + 1 < at.length && values[at[b + 1]] === values[at[a]]) b++;
    for (let k = a; k <= b; k++) out[at[k]] = at.length > 1 ? (a + b) / 2 / (at.length - 1) : 0.5;
    a = b + 1;
  }
  return out;
}

export class MapView {
  // name(i) is the name of a graph; events has hover, pick, lasso and zoomed.
  constructor(canvas, name, events = {}) {
    Object.assign(this, {
      canvas, name, events, zoom: [1, 0, 0], x: [], y: [], half: [1, 1], turn: [0, false], to: (a, b) => [a, b],
      extra: [], marked: [], ranked: [], hovered: -1, only: null, picked: new Set(), kept: null, coloring: null, lassoing: false, loop: null,
      order: null, sizes: null, discs: [], stamps: new Map(), pointers: new Map(),
    });
    this.context = canvas.getContext("2d");
    new ResizeObserver(() => this.resize()).observe(canvas);
    if (events.pick) this.listen();
  }

  resize() {
    const ratio = devicePixelRatio || 1;
    this.width = this.canvas.clientWidth;
    this.height = this.canvas.clientHeight;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.ratio = ratio;
    this.stamps.clear();
    this.draw();
  }

  // color sets what the points are coloured by (the answer of the API), or draws them for another theme.
  color(coloring = this.coloring) {
    this.coloring = coloring;
    this.order = null;
    this.stamps.clear();
    this.draw();
  }

  // size sets numbers that the sizes of points show, by rank, so that far values do not make all others equal; null for none.
  size(values) {
    this.sizes = values && ranks(values).map((t) => (t === null ? 0 : Math.round(t * (sizeSteps - 1))));
    this.order = null;
    this.draw();
  }

  // radiusOf returns the radius of a point, where that of points of one size is r.
  radiusOf(i, r) {
    return this.sizes ? r * (0.6 + (1.1 * this.sizes[i]) / (sizeSteps - 1)) : r;
  }

  // forget removes all points, before those of other data come.
  forget() {
    Object.assign(this, { x: [], y: [], coloring: null, sizes: null, extra: [], marked: [], ranked: [], only: null, picked: new Set(), kept: null,
      hovered: -1 });
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // place sets the positions, moving the points there from where they are, with as little movement as a turn allows;
  // or with the given turn. Principal components keep their axes.
  place(x, y, layout, turn = null) {
    const old = this.x.length === x.length && x.length > 0 ? { x: this.x, y: this.y, half: this.half } : null;
    this.turn = turn ?? (old ? bestTurn(x, y, [old.x, old.y], layout === "pca") : [0, false]);
    const next = frame(x, y, this.turn);
    this.to = next.to;
    cancelAnimationFrame(this.moving);
    const show = (f) => {
      for (const part of ["x", "y", "half"]) this[part] = f === 1 ? next[part]
        : next[part].map((v, i) => old[part][i] + f * (v - old[part][i]));
      this.draw();
    };
    if (!old || calm() || x.length > moveLimit) return show(1);
    const begin = performance.now();
    const step = (now) => {
      const t = Math.min((now - begin) / moveTime, 1);
      show(t * t * (3 - 2 * t));
      if (t < 1) this.moving = requestAnimationFrame(step);
    };
    this.moving = requestAnimationFrame(step);
  }

  // unit returns the pixels of a unit of the positions.
  unit() {
    const room = Math.min(padding, this.width / 8, this.height / 8);
    return this.zoom[0] * Math.min((this.width / 2 - room) / this.half[0],
      (this.height / 2 - room - this.lower()) / this.half[1]);
  }

  // lower is how far the middle of the map lies below that of the canvas: buttons are on top.
  lower() {
    return this.events.pick ? 14 : 0;
  }

  // screen turns a position into pixels.
  screen(x, y) {
    const u = this.unit();
    return [this.width / 2 + (x + this.zoom[1]) * u, this.height / 2 + this.lower() + (this.zoom[2] - y) * u];
  }

  radius() {
    const n = this.x.length;
    const base = n < 300 ? 6 : n < 1000 ? 4.6 : n < 4000 ? 3.2 : 2.3;
    const room = Math.min(1, Math.max(0.6, Math.min(this.width, this.height) / 520));
    return Math.min(base * Math.pow(this.zoom[0], 0.35), 11) * (this.events.pick ? room : 0.5);
  }

  // kind is the number of a point's mark: its class, or its value in steps; −1 for none.
  kind(i) {
    const c = this.coloring;
    if (!c) return -1;
    if (c.kind === "class") return c.class[i] ?? -1;
    const t = share(c, c.values[i]);
    return t === null ? -1 : Math.round((c.center === null ? t : (t + 1) / 2) * valueSteps);
  }

  // shown reports whether a point is one of those that are looked at.
  shown(i) {
    return (this.only === null || this.coloring?.class[i] === this.only) && (!this.picked.size || this.picked.has(i)) &&
      (this.kept === null || this.kept.has(i));
  }

  // stamp returns the pixels of a mark, drawn once for each kind and size: offsets from its middle
  // and colours, once as they are and once faded.
  stamp(i, base) {
    const kind = this.kind(i);
    const r = this.radiusOf(i, base);
    const key = kind + (this.sizes?.[i] ?? 0) / sizeSteps;
    let stamp = this.stamps.get(key);
    if (!stamp) {
      const c = this.coloring;
      const values = c?.kind === "value";
      const t = kind / valueSteps;
      const color = kind < 0 ? onTheme(unknown) : values
        ? numberColor(c.center === null ? t : 2 * t - 1, c.center !== null)
        : onTheme(c.classes[kind].color);
      const half = Math.ceil((r * 1.4 + 1) * this.ratio);
      const size = 2 * half + 1;
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = size;
      const g = canvas.getContext("2d");
      g.translate(half + 0.5, half + 0.5);
      g.scale(this.ratio, this.ratio);
      mark(g, values || kind < 0 ? 0 : shapeOf(kind), r, color);
      const all = new Uint32Array(g.getImageData(0, 0, size, size).data.buffer);
      const used = [...all.keys()].filter((p) => all[p] >>> 24 > 8);
      stamp = {
        half,
        dx: Int16Array.from(used, (p) => (p % size) - half),
        dy: Int16Array.from(used, (p) => Math.floor(p / size) - half),
        full: Uint32Array.from(used, (p) => all[p]),
        faded: Uint32Array.from(used, (p) => ((((all[p] >>> 24) * 0.14) << 24) | (all[p] & 0xffffff)) >>> 0),
      };
      this.stamps.set(key, stamp);
    }
    return stamp;
  }

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.paint();
    });
  }

  paint() {
    if (!this.width || !this.x.length) return;
    const g = this.context;
    const r = this.radius();
    const visible = this.points(r);
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    const ink = getComputedStyle(this.canvas).color;
    if (this.events.pick && visible.length <= labelLimit) this.labels(visible, r, ink);
    for (const e of this.extra) if (e.ref[0] === "a") this.star(e, r);
    for (const m of this.marked) this.halo(m.ref, r, m.name, ink);
    this.discs = drawRanks(this, r, ink);
    if (this.hovered >= 0) this.halo(this.hovered, r, "", ink);
    if (this.loop) this.outline(ink);
  }

  // outline draws the loop of a selection in the making.
  outline(ink) {
    const g = this.context;
    g.beginPath();
    this.loop.forEach(([x, y], i) => g[i ? "lineTo" : "moveTo"](x, y));
    g.setLineDash([5, 4]);
    g.lineWidth = 1.5;
    g.strokeStyle = ink;
    g.stroke();
    g.closePath();
    g.globalAlpha = 0.07;
    g.fillStyle = ink;
    g.fill();
    g.globalAlpha = 1;
    g.setLineDash([]);
  }

  // points writes the marks of all points into the pixels of the canvas, which for thousands of
  // small marks is many times faster than drawing them, and returns the points in view.
  points(r) {
    const drawn = `${r} ${this.sizes !== null}`;
    if (drawn !== this.drawn) this.stamps.clear();
    this.drawn = drawn;
    const { width, height } = this.canvas;
    if (this.image?.width !== width || this.image?.height !== height) this.image = new ImageData(width, height);
    const pixels = new Uint32Array(this.image.data.buffer).fill(0);
    const visible = [];
    const u = this.unit() * this.ratio;
    const x0 = width / 2 + this.zoom[1] * u;
    const y0 = height / 2 + this.lower() * this.ratio + this.zoom[2] * u;
    const part = this.only !== null || this.picked.size > 0 || this.kept !== null;
    for (const faded of part ? [true, false] : [false]) { // those that are shown lie on top
      for (const i of this.ordered()) {
        if (part && faded === this.shown(i)) continue;
        const x = Math.round(x0 + this.x[i] * u);
        const y = Math.round(y0 - this.y[i] * u);
        const stamp = this.stamp(i, r);
        if (x < -stamp.half || y < -stamp.half || x > width + stamp.half || y > height + stamp.half) continue;
        if (!faded) visible.push(i);
        const colors = faded ? stamp.faded : stamp.full;
        for (let p = 0; p < colors.length; p++) {
          const px = x + stamp.dx[p];
          const py = y + stamp.dy[p];
          if (px < 0 || py < 0 || px >= width || py >= height) continue;
          const at = py * width + px;
          // The soft rim of a mark covers nothing but the ground.
          if (colors[p] >>> 24 > 140 || pixels[at] >>> 24 <= colors[p] >>> 24) pixels[at] = colors[p];
        }
      }
    }
    this.context.putImageData(this.image, 0, 0);
    return visible;
  }

  // ordered returns the points in the order in which they are drawn: small ones, and then those of rare classes, lie on top.
  ordered() {
    if (this.order?.length === this.x.length) return this.order;
    const c = this.coloring;
    const often = (i) => (c?.kind === "class" ? c.classes[c.class[i]]?.count ?? Infinity : 0);
    const size = (i) => this.sizes?.[i] ?? 0;
    this.order = [...this.x.keys()].sort((i, j) => size(j) - size(i) || (often(i) === often(j) ? i - j : often(j) - often(i)));
    return this.order;
  }

  // at returns the pixels of a point, or of another graph ("a0" was asked about, "s0" is suggested).
  at(ref) {
    if (typeof ref === "string" && !/^\d/.test(ref)) {
      const e = this.extra.find((x) => x.ref === ref);
      return e ? this.screen(...this.to(e.x, e.y)) : null;
    }
    const i = Number(ref);
    return i < this.x.length ? this.screen(this.x[i], this.y[i]) : null;
  }

  // labels writes names beside points, where they cover neither one another nor any mark: a name beside another mark would
  // be taken for its name.
  labels(points, r, ink) {
    const taken = this.marked.map((m) => this.at(m.ref)).filter(Boolean).map(([x, y]) => [x - 10, y - 10, x + 180, y + 12]);
    const at = points.map((i) => this.screen(this.x[i], this.y[i]));
    points.forEach((i, k) => {
      const [x, y] = at[k];
      const box = [x + r + 2, y - 8, x + r + 8 + 6.4 * Math.min(this.name(i).length, 28), y + 8];
      if (taken.some((t) => box[0] < t[2] && box[2] > t[0] && box[1] < t[3] && box[3] > t[1])) return;
      if (at.some(([u, v], j) => j !== k && u > x - r && u < box[2] + r && v > box[1] - r && v < box[3] + r)) return;
      taken.push(box);
      this.text(this.name(i), x + r + 4, y + 4, ink, 12);
    });
  }

  // stack returns the points that cannot be told from one on the screen, that one first.
  stack(ref) {
    const [px, py] = this.at(ref);
    const within = this.radius() / 2;
    const u = this.unit();
    const [x0, y0] = this.screen(0, 0);
    const out = [];
    for (let i = 0; i < this.x.length; i++) {
      if (i !== ref && this.shown(i) && Math.hypot(x0 + this.x[i] * u - px, y0 - this.y[i] * u - py) < within) out.push(i);
    }
    return [ref, ...out];
  }

  text(text, x, y, ink, size, weight = 400) {
    const g = this.context;
    g.font = `${weight} ${size}px system-ui, sans-serif`;
    g.lineWidth = 3;
    g.lineJoin = "round";
    g.strokeStyle = dark() ? "#191d21" : "#ffffff";
    if (text.length > 28) text = `${text.slice(0, 27)}…`;
    g.strokeText(text, x, y);
    g.fillStyle = ink;
    g.fillText(text, x, y);
  }

  halo(ref, r, name, ink) {
    const p = this.at(ref);
    if (!p) return;
    const g = this.context;
    g.beginPath();
    g.arc(p[0], p[1], r + 5, 0, 2 * Math.PI);
    g.lineWidth = 2.5;
    g.strokeStyle = ink;
    g.stroke();
    if (!name || !this.events.pick) return;
    g.font = "600 13px system-ui, sans-serif";
    const wide = g.measureText(name.slice(0, 28)).width;
    const left = p[0] + r + 9 + wide > this.width - 6;
    this.text(name, left ? Math.max(4, p[0] - r - 9 - wide) : p[0] + r + 9, p[1] + 4.5, ink, 13, 600);
  }

  // star draws a graph that was asked about.
  star(e, r) {
    const [x, y] = this.screen(...this.to(e.x, e.y));
    const g = this.context;
    const big = Math.max(r * 1.9, 8);
    g.beginPath();
    for (let i = 0; i < 10; i++) {
      const a = (i * Math.PI) / 5 - Math.PI / 2;
      const d = i % 2 ? big * 0.45 : big;
      g[i ? "lineTo" : "moveTo"](x + d * Math.cos(a), y + d * Math.sin(a));
    }
    g.closePath();
    g.fillStyle = dark() ? "#ffffff" : "#111111";
    g.fill();
    g.lineWidth = 1.6;
    g.strokeStyle = dark() ? "#101316" : "#ffffff";
    g.stroke();
  }

  nearest(px, py, within) {
    let best = null;
    let least = within * within;
    const rank = rankAt(this.discs, px, py);
    if (rank !== null) return rank;
    const consider = (ref, p) => {
      const d = (p[0] - px) ** 2 + (p[1] - py) ** 2;
      if (d < least) [best, least] = [ref, d];
    };
    const u = this.unit();
    const [x0, y0] = this.screen(0, 0);
    for (let i = 0; i < this.x.length; i++) {
      if (!this.shown(i)) continue;
      const dx = x0 + this.x[i] * u - px;
      const dy = y0 - this.y[i] * u - py;
      const d = dx * dx + dy * dy;
      if (d < least) [best, least] = [i, d];
    }
    for (const e of this.extra) consider(e.ref, this.screen(...this.to(e.x, e.y)));
    return best;
  }

  listen() {
    const c = this.canvas;
    c.addEventListener("pointerdown", (e) => {
      c.setPointerCapture(e.pointerId);
      this.pointers.set(e.pointerId, [e.offsetX, e.offsetY]);
      this.dragged = 0;
      this.loop = this.pointers.size === 1 && (this.lassoing || e.shiftKey) ? [[e.offsetX, e.offsetY]] : null;
    });
    c.addEventListener("pointermove", (e) => this.move(e));
    const up = (e) => {
      const loop = this.loop;
      this.loop = null;
      if (!this.pointers.delete(e.pointerId) || e.type !== "pointerup") return this.draw();
      if (this.dragged > 5) {
        if (loop) this.events.lasso(this.inside(loop));
        return;
      }
      const ref = this.nearest(e.offsetX, e.offsetY, e.pointerType === "touch" ? 26 : 14);
      if (ref !== null) this.pick(ref, e.shiftKey);
    };
    c.addEventListener("pointerup", up);
    c.addEventListener("pointercancel", up);
    c.addEventListener("pointerleave", () => this.hover(null));
    c.addEventListener("wheel", (e) => {
      e.preventDefault();
      this.scale(Math.exp(-e.deltaY * (e.deltaMode ? 0.05 : 0.0016)), e.offsetX, e.offsetY);
    }, { passive: false });
    c.addEventListener("dblclick", (e) => this.scale(1.8, e.offsetX, e.offsetY));
    c.addEventListener("keydown", (e) => this.key(e));
    c.addEventListener("blur", () => this.hover(null));
  }

  // pick tells of a point that was chosen, with those that lie on it.
  pick(ref, shift) {
    const all = typeof ref === "string" ? [ref] : this.stack(ref);
    this.events.pick(String(ref), shift, all.map(String));
  }

  move(e) {
    const before = this.pointers.get(e.pointerId);
    if (!before) {
      const ref = this.nearest(e.offsetX, e.offsetY, 14);
      this.canvas.classList.toggle("point", ref !== null);
      this.hover(ref);
      return;
    }
    const now = [e.offsetX, e.offsetY];
    this.dragged += Math.hypot(now[0] - before[0], now[1] - before[1]);
    if (this.pointers.size > 1) this.loop = null;
    if (this.loop) {
      this.loop.push(now);
      this.draw();
    } else if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== e.pointerId)[1];
      const factor = Math.hypot(now[0] - other[0],
        now[1] - other[1]) / (Math.hypot(before[0] - other[0], before[1] - other[1]) || 1);
      this.scale(factor, (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (this.pointers.size === 1) {
      const unit = this.unit();
      this.setZoom([this.zoom[0], this.zoom[1] + (now[0] - before[0]) / unit, this.zoom[2] + (now[1] - before[1]) / unit]);
    }
    this.pointers.set(e.pointerId, now);
  }

  // inside returns the points within a loop of pixels.
  inside(loop) {
    const out = [];
    for (let i = 0; i < this.x.length; i++) {
      if (this.only !== null && this.coloring?.class[i] !== this.only) continue;
      const [px, py] = this.screen(this.x[i], this.y[i]);
      let odd = false;
      loop.forEach(([x, y], k) => {
        const [u, v] = loop.at(k - 1);
        if (y > py !== v > py && px < x + ((py - y) * (u - x)) / (v - y)) odd = !odd;
      });
      if (odd) out.push(i);
    }
    return out;
  }

  hover(ref) {
    const i = ref === null ? -1 : ref;
    if (i === this.hovered) return;
    this.hovered = i;
    this.events.hover?.(ref === null ? null : String(ref), ref === null ? null : this.at(ref));
    this.draw();
  }

  // scale zooms by a factor around a pixel.
  scale(factor, px = this.width / 2, py = this.height / 2) {
    const [k, tx, ty] = this.zoom;
    const next = Math.min(Math.max(k * factor, 0.5), 200);
    const base = this.unit() / k;
    const shift = (p, half, t) => (p - half) / (base * next) - ((p - half) / (base * k) - t);
    this.setZoom([next, shift(px, this.width / 2, tx), shift(py, this.height / 2 + this.lower(), ty)]);
  }

  setZoom(zoom, quiet = false) {
    this.zoom = zoom ?? [1, 0, 0];
    if (!quiet) this.events.zoomed?.(this.zoom);
    if (this.hovered >= 0 || typeof this.hovered === "string") this.hover(null);
    this.draw();
  }

  key(e) {
    const dir = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (dir) {
      const all = this.x.map((x, i) => this.screen(x, this.y[i]));
      const from = this.hovered >= 0 ? this.hovered : Number(this.marked[0]?.ref);
      const next = Number.isInteger(from) && from < all.length ? towards(all, from, dir)
        : this.nearest(this.width / 2, this.height / 2, 1e9);
      if (next !== null && next >= 0) {
        this.reveal(all[next]);
        this.hover(next);
      }
    } else if (e.key === "Enter" && this.hovered !== -1) this.pick(this.hovered, false);
    else if (e.key.toLowerCase() === "c" && this.hovered !== -1 && !e.ctrlKey &&
      !e.metaKey) this.pick(this.hovered, true);
    else if (e.key === " " && this.hovered >= 0) this.events.toggle(this.hovered);
    else if (e.key === "+" || e.key === "=") this.scale(1.4);
    else if (e.key === "-") this.scale(1 / 1.4);
    else if (e.key === "0") this.setZoom(null);
    else if (e.key === "Escape") this.hover(null);
    else return;
    e.preventDefault();
  }

  // reveal moves the map so that a pixel is in view.
  reveal([x, y]) {
    const unit = this.unit();
    const over = (v, size) => (v < 20 ? 20 - v : v > size - 20 ? size - 20 - v : 0);
    const [dx, dy] = [over(x, this.width), over(y, this.height)];
    if (dx || dy) this.setZoom([this.zoom[0], this.zoom[1] + dx / unit, this.zoom[2] + dy / unit]);
  }
}
