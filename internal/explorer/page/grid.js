// A table that is sorted and filtered by its columns.

import { h, number, signed, whole } from "./dom.js";
import { filterOf, passes } from "./filter.js";

const page = 200; // rows that are shown at a time
const patience = 150; // milliseconds after the last key before the rows on screen follow the filters

const decimals = (text) => (text.split(".")[1] ?? "").length;

// placesOf returns the most decimals that a number of a column has, 0 where they differ too much to stand below each other.
function placesOf(values) {
  const texts = values.filter((v) => typeof v === "number").map((v) => number(v));
  if (texts.some((t) => t.includes("e"))) return 0;
  const most = texts.reduce((m, t) => Math.max(m, decimals(t)), 0);
  return most > 6 ? 0 : most;
}

// aligned is a number with room for the decimals that others of its column have.
function aligned(text, places) {
  const missing = places - decimals(text);
  if (missing <= 0) return text;
  return [text, h("span", { class: "room", "aria-hidden": "true" }, `${text.includes(".") ? "" : "."}${"0".repeat(missing)}`)];
}

const none = (v) => v === null || v === undefined || v === "";

export class Grid {
  // Columns have a name, value(i) as text or number or null, and perhaps cell(i), which makes what is shown. open(i) is
  // called for a row that is chosen, changed() when other rows are shown.
  constructor(el, { open, changed = () => {}, isOpen = () => false }) {
    Object.assign(this, { el, open, changed, isOpen, columns: [], all: [], by: null, down: false, filters: new Map(), most: page });
  }

  // set sets the columns and the rows that there are. Order and filters stay. Those of columns that are not there do nothing.
  set(columns, all) {
    const before = this.columns.map((c) => c.name).join("\n");
    Object.assign(this, { columns, all });
    for (const c of columns) {
      c.numeric = all.some((i) => typeof c.value(i) === "number");
      c.places = c.numeric ? placesOf(all.map((i) => c.value(i))) : 0;
    }
    if (before !== columns.map((c) => c.name).join("\n") || !this.body?.isConnected) this.build();
    this.fill();
  }

  // rows returns the rows that pass all filters, in their order. Those on screen (shown) follow a moment after a key.
  rows() {
    const wanted = [...this.filters].map(([name, f]) => [this.columns.find((c) => c.name === name), f]).filter(([c]) => c);
    const out = this.all.filter((i) => wanted.every(([c, f]) => passes(f, c.value(i))));
    const by = this.columns.find((c) => c.name === this.by);
    if (!by) return out;
    const value = new Map(out.map((i) => [i, by.value(i)]));
    const order = (a, b) => (typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true }));
    return out.sort((i, j) => {
      const [a, b] = [value.get(i), value.get(j)];
      return none(a) || none(b) ? none(a) - none(b) : (this.down ? -1 : 1) * order(a, b);
    });
  }

  // clear removes all filters.
  clear() {
    this.use({});
  }

  // use sets the filters, by the names of columns.
  use(filters) {
    this.filters = new Map(Object.entries(filters));
    this.most = page;
    this.build();
    this.fill();
  }

  build() {
    this.heads = new Map();
    const head = (c) => {
      const th = h("th", { scope: "col", class: c.numeric ? "number" : "" }, c.plain ? h("span", { class: "plain-head" }, c.name) : h("button", { onclick: () => {
        [this.by, this.down] = [c.name, this.by === c.name && !this.down];
        this.fill();
      } }, c.name, h("span", { class: "arrow", "aria-hidden": "true" })));
      this.heads.set(c.name, th);
      return th;
    };
    this.body = h("tbody", {});
    this.more = h("button", { class: "more", onclick: () => {
      this.most += 5 * page;
      this.fill();
    } });
    this.el.replaceChildren(h("table", { class: "graphs" }, h("thead", {}, h("tr", {}, this.columns.map(head)),
      h("tr", { class: "filter" }, this.columns.map((c) => h("td", {}, c.plain ? "" : this.filter(c))))), this.body), this.more);
  }

  // filter makes what a column is filtered by. Rows follow a moment later.
  filter(c) {
    return filterOf(c.name, this.all.map((i) => c.value(i)), c.numeric, this.filters.get(c.name), (f) => {
      if (f) this.filters.set(c.name, f);
      else this.filters.delete(c.name);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.most = page;
        this.fill();
      }, patience);
    });
  }

  // fill shows the rows.
  fill() {
    for (const [name, th] of this.heads) {
      th.setAttribute("aria-sort", name === this.by ? (this.down ? "descending" : "ascending") : "none");
      const arrow = th.querySelector(".arrow");
      if (arrow) arrow.textContent = name === this.by ? (this.down ? " ↓" : " ↑") : "";
    }
    this.shown = this.rows();
    this.body.replaceChildren(...this.shown.slice(0, this.most).map((i) => this.row(i)));
    this.more.hidden = this.shown.length <= this.most;
    this.more.textContent = `Show more of ${whole(this.shown.length)}`;
    this.changed();
  }

  row(i) {
    return h("tr", { "data-graph": i, class: this.isOpen(i) ? "open" : "", onclick: () => this.open(i) }, this.columns.map((c, k) => {
      const v = c.value(i);
      const text = none(v) ? "–" : typeof v === "number" ? number(v) : signed(v);
      if (c.cell) return h("td", { class: c.plain ? "structure" : "" }, c.cell(i));
      if (c.head) return h("th", { scope: "row" }, h("button", { "aria-label": `Open ${text}` }, text));
      return h("td", { class: c.numeric ? "number" : v === "✗" ? "no" : v === "✓" ? "yes" : "" }, c.numeric && typeof v === "number" ? aligned(text, c.places) : text);
    }));
  }
}
