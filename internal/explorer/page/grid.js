// A table that is sorted and filtered by its columns.

import { h, number, signed } from "./dom.js";

const page = 200; // rows that are shown at a time
const patience = 150; // milliseconds after the last key before the rows on screen follow the filters

const none = (v) => v === null || v === undefined || v === "";

export class Grid {
  // Columns have a name, value(i) as text or number or null, and perhaps cell(i), which makes what is shown. open(i) is
  // called for a row that is chosen, changed() when other rows are shown.
  constructor(el, { open, changed = () => {}, isOpen = () => false }) {
    Object.assign(this, { el, open, changed, isOpen, columns: [], all: [], by: null, down: false, filters: new Map(), most: page });
  }

  // set sets the columns and the rows that there are. Order and filters stay where a column of that name stays.
  set(columns, all) {
    const before = this.columns.map((c) => c.name).join("\n");
    Object.assign(this, { columns, all });
    for (const c of columns) c.numeric = all.some((i) => typeof c.value(i) === "number");
    for (const name of this.filters.keys()) if (!columns.some((c) => c.name === name)) this.filters.delete(name);
    if (before !== columns.map((c) => c.name).join("\n") || !this.body?.isConnected) this.build();
    this.fill();
  }

  // passes reports whether a row has what a filter wants.
  passes(c, f, i) {
    const v = c.value(i);
    if (f.text !== undefined) return String(v ?? "").toLowerCase().includes(f.text);
    return !none(v) && !(v < f.low) && !(v > f.high);
  }

  // rows returns the rows that pass all filters, in their order. Those on screen (shown) follow a moment after a key.
  rows() {
    const wanted = [...this.filters].map(([name, f]) => [this.columns.find((c) => c.name === name), f]);
    const out = this.all.filter((i) => wanted.every(([c, f]) => this.passes(c, f, i)));
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
    this.filters.clear();
    for (const input of this.el.querySelectorAll(".filter input")) input.value = "";
    this.most = page;
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

  // filter makes the boxes in which a column is filtered: a part of the text, or the ends of a range.
  filter(c) {
    const later = () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.most = page;
        this.fill();
      }, patience);
    };
    const f = this.filters.get(c.name) ?? {};
    if (!c.numeric) {
      return h("input", { "aria-label": `${c.name} contains`, placeholder: "contains", value: f.text ?? "", spellcheck: "false",
        oninput: (e) => {
          if (e.target.value) this.filters.set(c.name, { text: e.target.value.toLowerCase() });
          else this.filters.delete(c.name);
          later();
        } });
    }
    const end = (key, text) => h("input", { "aria-label": `${c.name} ${text}`, placeholder: text, inputmode: "decimal",
      value: f[key] ?? "", oninput: (e) => {
        const next = { ...this.filters.get(c.name) };
        const v = Number(e.target.value.replace("−", "-").replace(",", "."));
        e.target.setAttribute("aria-invalid", String(Number.isNaN(v)));
        if (e.target.value.trim() && !Number.isNaN(v)) next[key] = v;
        else delete next[key];
        if (Object.keys(next).length) this.filters.set(c.name, next);
        else this.filters.delete(c.name);
        later();
      } });
    return h("span", { class: "ends" }, end("low", "from"), end("high", "to"));
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
    this.more.textContent = `Show more of ${this.shown.length.toLocaleString("en")}`;
    this.changed();
  }

  row(i) {
    return h("tr", { "data-graph": i, class: this.isOpen(i) ? "open" : "", onclick: () => this.open(i) }, this.columns.map((c, k) => {
      const v = c.value(i);
      const text = none(v) ? "–" : typeof v === "number" ? number(v) : signed(v);
      if (c.cell) return h("td", { class: c.plain ? "structure" : "" }, c.cell(i));
      if (c.head) return h("th", { scope: "row" }, h("button", { "aria-label": `Open ${text}` }, text));
      return h("td", { class: typeof v === "number" ? "number" : v === "✗" ? "no" : v === "✓" ? "yes" : "" }, text);
    }));
  }
}
