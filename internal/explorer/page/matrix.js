// The matrix: similarities of all pairs as colours, on a canvas.

import { announce, fixed, h } from "./dom.js";
import { colorBar, onTheme, similarityColor, similarityCss } from "./colors.js";

const bar = 9; // pixels of the bars of classes
const gap = 4;

export class MatrixView {
  // events has point(row, column) with numbers of graphs or null, and pick(row, column).
  constructor(canvas, events) {
    Object.assign(this, { canvas, events, data: null, cursor: null, marked: [], source: null, classes: [] });
    this.context = canvas.getContext("2d");
    canvas.addEventListener("pointermove", (e) => this.point(this.cell(e)));
    canvas.addEventListener("pointerleave", () => this.point(null));
    canvas.addEventListener("blur", () => this.point(null));
    canvas.addEventListener("click", (e) => {
      const c = this.cell(e);
      if (c) this.events.pick(...this.graphs(c));
    });
    canvas.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.layout()).observe(canvas.parentElement);
  }

  // forget empties the matrix, before that of other data comes.
  forget(source, classes) {
    Object.assign(this, { source, classes, data: null, cursor: null, marked: [] });
    this.context.clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  set(data) {
    this.data = data;
    this.cells = Uint8Array.from(atob(data.cells), (c) => c.charCodeAt(0));
    this.cursor = null;
    this.layout();
  }

  // layout gives the canvas the largest square that fits, whole pixels per cell if they are large.
  layout() {
    if (!this.data) return;
    const box = this.canvas.parentElement;
    const [width, height] = [box.clientWidth - 32, Math.max(box.clientHeight - 32, 300)];
    const [beside, below] = [Math.min(width - 250, height), Math.min(width, height - 200)];
    const phone = box.clientWidth < 480;
    box.classList.toggle("stacked", phone || below > beside);
    const room = Math.max(220, phone ? width : Math.max(beside, below));
    this.side = room - bar - gap;
    this.ratio = devicePixelRatio || 1;
    this.canvas.style.width = this.canvas.style.height = `${room}px`;
    this.canvas.width = this.canvas.height = Math.round(room * this.ratio);
    this.render();
  }

  // render makes the picture of the cells, and paints.
  render() {
    if (!this.data) return;
    const n = this.data.size;
    this.picture = document.createElement("canvas");
    this.picture.width = this.picture.height = n;
    const g = this.picture.getContext("2d");
    const image = g.createImageData(n, n);
    const colors = Array.from({ length: 256 }, (_, v) => similarityColor(v / 255));
    this.cells.forEach((v, i) => image.data.set([...colors[v], 255], 4 * i));
    g.putImageData(image, 0, 0);
    this.paint();
  }

  paint() {
    const g = this.context;
    const { order, size, per_cell: per } = this.data;
    const start = bar + gap;
    const step = this.side / size;
    g.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    g.clearRect(0, 0, start + this.side, start + this.side);
    g.imageSmoothingEnabled = step < 1;
    g.drawImage(this.picture, start, start, this.side, this.side);
    order.forEach((i, a) => {
      const c = this.source.class[i] ?? -1;
      if (c < 0) return;
      g.fillStyle = onTheme(this.classes[c].color);
      const at = start + (a / per) * step;
      g.fillRect(0, at, bar, step / per + 0.5);
      g.fillRect(at, 0, step / per + 0.5, bar);
    });
    const ink = getComputedStyle(this.canvas).color;
    g.strokeStyle = ink;
    g.lineWidth = 1;
    g.globalAlpha = 0.55;
    for (const graph of this.marked) {
      const a = order.indexOf(graph);
      if (a < 0) continue;
      const at = start + Math.floor(a / per) * step;
      g.strokeRect(start, at, this.side, Math.max(step, 2));
      g.strokeRect(at, start, Math.max(step, 2), this.side);
    }
    g.globalAlpha = 1;
    if (this.cursor) {
      const [r, c] = this.cursor;
      g.lineWidth = 2;
      g.strokeRect(start + c * step - 1, start + r * step - 1, Math.max(step, 4) + 2, Math.max(step, 4) + 2);
    }
  }

  cell(e) {
    if (!this.data) return null;
    const at = (v) => Math.floor(((v - bar - gap) / this.side) * this.data.size);
    const [r, c] = [at(e.offsetY), at(e.offsetX)];
    return r >= 0 && c >= 0 && r < this.data.size && c < this.data.size ? [r, c] : null;
  }

  graphs([r, c]) {
    return [this.data.order[r * this.data.per_cell], this.data.order[c * this.data.per_cell]];
  }

  value([r, c]) {
    const { low, high, size } = this.data;
    return low + (this.cells[r * size + c] / 255) * (high - low);
  }

  point(cell) {
    this.cursor = cell;
    if (this.data) this.paint();
    if (cell) this.events.point(...this.graphs(cell), this.value(cell));
    else this.events.point(null, null, null);
  }

  key(e) {
    const dir = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
    if (!this.data || (!dir && e.key !== "Enter")) return;
    e.preventDefault();
    if (dir) {
      const step = e.shiftKey ? 10 : 1;
      const clip = (v) => Math.min(Math.max(v, 0), this.data.size - 1);
      const from = this.cursor ?? [0, 0];
      this.point([clip(from[0] + dir[0] * step), clip(from[1] + dir[1] * step)]);
      const [a, b] = this.graphs(this.cursor);
      announce(`${this.source.ids[a]} and ${this.source.ids[b]}, ${fixed(this.value(this.cursor), 3)}`);
    } else if (this.cursor) this.events.pick(...this.graphs(this.cursor));
  }
}

// scaleOf returns the elements of the colour scale.
export function scaleOf(low, high) {
  return [colorBar(similarityCss), h("div", { class: "row" },
    [fixed(low, 2), "similarity", fixed(high, 2)].map((t) => h("span", {}, t)))];
}
