// The open graph: drawing, prediction with reasons, scales, neighbours.

import { count, fixed, h, number, signed, whole } from "./dom.js";
import { predictionOf, withoutItself } from "./said.js";
import { colorBar } from "./colors.js";
import { stopped } from "./api.js";
import { chosen, write } from "./state.js";
import { keep, keptOf } from "./kept.js";
import { Drawing, contributionCss } from "./drawing.js";
import { endpointBoxes, endpointsOf, furtherAsked, furtherOf } from "./endpoints.js";
import { scaleName } from "./pair.js";

const vertices = (n) => `${whole(n)} ${n === 1 ? "vertex" : "vertices"}`;

// card shows a graph small; vertex is one to ring.
function card(app, ref, { id, text, vertex = null }) {
  const box = h("span", { class: "drawing" });
  const el = h("li", { class: "card" },
    h("button", { class: "open", onclick: () => app.open(ref), title: id },
      box, h("span", { class: "name" }, id), h("span", { class: "value" }, text)),
    app.state.open !== null && h("button", {
      class: "compare", "aria-label": `Compare with ${id}`, title: "Compare", onclick: () => app.compare(app.state.open, ref),
    }, "⇄"));
  app.graph(ref).then((g) => {
    const d = new Drawing(g, { label: "" });
    d.el.setAttribute("aria-hidden", "true");
    if (vertex !== null) d.ring(vertex);
    if (vertex !== null && g.node_names) el.querySelector(".value").append(` · ${g.node_names[vertex]}`);
    box.replaceWith(d.el);
  }).catch(() => box.remove());
  return el;
}

// noteOf is a note on a graph, which can be written.
function noteOf(app, ref, name) {
  const { notes } = keptOf(app.info.source);
  return h("details", { class: "own-note", open: Boolean(notes[ref]) }, h("summary", {}, "Note"),
    h("textarea", { rows: 2, "aria-label": `Note on ${name}`, oninput: (e) => {
      if (e.target.value) notes[ref] = e.target.value;
      else delete notes[ref];
      keep(app.info.source);
    } }, notes[ref] ?? ""));
}

export class Detail {
  constructor(el, app) {
    this.el = el;
    this.app = app;
  }

  empty() {
    this.ref = this.framed = this.drawing = null;
    this.el.classList.remove("open");
    this.el.replaceChildren(h("h2", {}, "No graph is open"),
      h("p", { class: "muted" },
        "Point at the map to see a graph. Click to open it here. Hold Shift and click a second graph to compare the two."),
      ...this.examples());
  }

  // examples are the first graph of each class, or the first few.
  examples() {
    const { info, source } = this.app;
    const classes = info.classes.length > 1 ? info.classes.map((_, c) => source.class.indexOf(c)) : [...source.ids.keys()];
    return [h("h3", {}, info.classes.length > 1 ? "One of each class" : "The first graphs"),
      h("ul", { class: "cards" }, classes.filter((i) => i >= 0).slice(0, 15).map((i) =>
        card(this.app, String(i), { id: source.ids[i], text: this.app.mini(i, signed(source.targets[i] ?? "")) })))];
  }

  // show fills the panel for a graph. The last answer is one that is not asked for again.
  async show(ref, signal, last = false) {
    const app = this.app;
    const target = app.reference(ref);
    const other = this.framed !== JSON.stringify(target); // what the panel shows is another graph
    this.ref = ref;
    const gone = () => signal.aborted || this.ref !== ref;
    const drawing = app.graph(ref);
    const similar = app.post("neighbours", { graph: target, k: 9, ...chosen() }, signal);
    similar.catch(() => {}); // nobody may be waiting when it is aborted
    if (other) {
      const g = await drawing;
      if (gone()) return;
      this.frame(ref, g);
    }
    const { neighbours } = await similar;
    if (gone()) return;
    this.similar(neighbours);
    this.levels();
    const ringed = () => this.pointed ?? app.state.vertex;
    const ring = async () => ringed() !== null && this.vertex(ringed(), signal);
    const predict = async () => { // which may have to wait for a learner
      try {
        const { predictions: [p] } = await app.post("predict", { graphs: [target], k: 1, early: true, ...chosen() }, signal);
        if (gone()) return;
        this.fill(ref, withoutItself(p));
        const { evaluation } = app;
        if (this.early && evaluation && !evaluation.note && !last) await this.show(ref, signal, true); // the learner of all has come meanwhile
      } catch (e) {
        if (!gone()) this.without(e);
        throw e;
      }
    };
    const reason = async () => {
      if (app.info.task === "none") return;
      const reasons = await this.explain(target, signal);
      if (gone()) return;
      this.reasons = reasons;
      if (ringed() === null) this.paint();
      else await ring();
    };
    await Promise.all([ring(), predict(), reason(), this.further(ref, target, signal)]);
  }

  // learned asks again for what an early learner said, once there is another.
  async learned(signal) {
    if (this.ref === null || this.ref === undefined || !this.early) return;
    await this.show(this.ref, signal);
  }

  // explain asks for reasons; where there are none, for the line that says why.
  async explain(graph, signal) {
    try {
      return await this.app.post("explain", { graph, slopes: this.app.state.slopes, early: true, ...chosen() }, signal);
    } catch (e) {
      if (stopped(e)) throw e;
      return { vertices: [], why: e.message };
    }
  }

  // frame makes the parts that do not depend on the kernel.
  frame(ref, g) {
    const app = this.app;
    this.framed = JSON.stringify(app.reference(ref));
    this.pointed = this.scaleKey = this.reasons = null;
    this.graph = g;
    const asked = ref[0] === "a";
    const name = g.id;
    const cls = asked ? -1 : app.source.class[Number(ref)] ?? -1;
    const target = asked ? "" : app.source.targets[Number(ref)] ?? "";
    this.says = h("div", {});
    this.more = h("div", { id: "further" });
    this.scales = h("div", {});
    this.elsewhere = h("div", {});
    this.near = h("div", {});
    this.key = h("p", { class: "key" });
    this.el.classList.add("open");
    this.drawing = new Drawing(g, { choose: g.drawing.vertices.length ? (v, how) => this.choose(v, how) : null });
    this.el.replaceChildren(
      h("div", { class: "row spread" }, h("h2", {}, asked && g.id.length > 40 ? `${g.id.slice(0, 40)}…` : name),
        h("button", { class: "quiet", "aria-label": "Close the graph", onclick: () => app.open(null) }, "Close")),
      h("div", { class: "facts" },
        target && app.info.task === "classification" && app.chip(cls, target),
        target && app.info.task === "regression" && h("span", {}, `${app.info.target_name} ${signed(target)} measured`),
        h("span", {}, `${vertices(g.nodes)}, ${count(g.edges.length, "edge")}`),
        asked && (this.fresh = h("span", {}, "new graph"))),
      h("div", { class: "paper" }, this.drawing.el),
      asked ? "" : noteOf(app, ref, name),
      this.says, this.key, this.more, this.scales, this.elsewhere, this.near);
  }

  // similar lists the most similar graphs, with their targets.
  similar(neighbours) {
    const app = this.app;
    this.near.replaceChildren(h("h3", {}, "Most similar graphs"),
      h("ul", { class: "cards" }, neighbours.map((n) => card(app, String(n.index),
        { id: n.id, text: app.mini(n.index, [n.target && signed(n.target), fixed(n.similarity, 3), n.same].filter(Boolean).join(" · ")) }))));
    if (!this.says.children.length && app.info.task !== "none" && !app.places?.views.predict) {
      this.says.replaceChildren(h("h3", {}, "Prediction"), h("p", { class: "muted small" }, "The learner is being trained."));
    }
  }

  // fill says what is predicted.
  fill(ref, p) {
    this.early = p.note !== "";
    if (ref[0] === "a") this.fresh.hidden = p.known?.same === "same molecule";
    this.says.replaceChildren(...predictionOf(this.app, ref, p));
    this.app.predicted(ref, p);
  }

  // further says what is predicted besides the target.
  async further(ref, target, signal) {
    const { app, more } = this;
    if (app.info.task === "none" || !app.info.columns.length) return more.replaceChildren();
    const list = h("ul", { class: "plain" });
    const fill = () => {
      list.hidden = !endpointsOf(app).length;
      return furtherOf(app, list, target, ref[0] === "a" ? null : Number(ref), signal);
    };
    more.replaceChildren(h("h3", {}, "Other targets"), list, app.info.saved ? "" : h("details", { class: "chooser" }, ...endpointBoxes(app, () => {
      write();
      Promise.all([fill(), furtherAsked(app)]).catch(app.fail);
    })));
    await fill();
  }

  // without says why there is no prediction.
  without(e) {
    this.says.replaceChildren(h("h3", {}, "Prediction"),
      h("p", { class: "error" }, stopped(e) ? "There is none: the computation was cancelled." : `There is none: ${e.message}`));
  }

  // levels makes the slider through the scales.
  levels() {
    if (!this.drawing?.hits) return this.scales?.replaceChildren();
    const app = this.app;
    const none = app.places?.views.scales;
    if (none) {
      this.scaleKey = null;
      return this.scales.replaceChildren(h("p", { class: "muted small", id: "no-scales" }, none));
    }
    const top = app.levels;
    const level = Math.min(app.state.level ?? top, top);
    const unseen = app.places?.scales;
    const key = JSON.stringify([this.framed, app.radii, level, unseen]);
    if (key === this.scaleKey) return; // somebody may be holding the slider
    this.scaleKey = key;
    const text = (l) => scaleName(l, app.radius(l));
    const out = h("output", { for: "scale" }, text(level));
    const input = h("input", {
      id: "scale", type: "range", min: 0, max: top, step: 1, value: level, disabled: top === 0, "aria-valuetext": text(level),
      oninput: (e) => {
        const l = Number(e.target.value);
        this.scaleKey = JSON.stringify([this.framed, app.radii, l, unseen]);
        out.textContent = text(l);
        e.target.setAttribute("aria-valuetext", text(l));
        app.setLevel(l);
      },
    });
    this.scales.replaceChildren(h("div", { class: "scale-row" }, h("label", { for: "scale" }, "Scale"), input, out),
      ...(unseen ? [h("p", { class: "muted small", id: "unseen" }, unseen)] : []));
  }

  // choose reacts to a vertex.
  choose(v, how) {
    const app = this.app;
    if (how === "pick") {
      app.setVertex(app.state.vertex === v ? null : v);
      return;
    }
    this.pointed = how === "leave" ? null : v;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const next = how === "leave" ? app.state.vertex : v;
      if (next === null) this.clearVertex();
      else this.vertex(next).catch((e) => app.fail(e));
    }, how === "leave" ? 120 : 30);
  }

  clearVertex() {
    this.elsewhere.replaceChildren();
    this.paint();
  }

  // vertex shows the neighbourhood of a vertex and where else there are similar ones.
  async vertex(v, signal) {
    const app = this.app;
    if (!this.drawing?.hits || v >= this.graph.nodes) return;
    const level = Math.min(app.state.level ?? app.levels, app.levels);
    const ticket = (this.ticket = {});
    const a = await app.post("vertex", { graph: app.reference(this.ref), vertex: v, level, k: 6, ...chosen() }, signal);
    if (this.ticket !== ticket) return;
    this.drawing.neighbourhood(v, a.neighbourhood, a.distance, a.radius);
    const found = a.elsewhere.length > 0;
    const part = this.reasons?.vertices[v];
    this.key.replaceChildren(h("i", { class: "zone-key" }), this.drawing.describe(v) +
      (a.note ? "." : a.level === 0 ? ": alone." : `: ${vertices(a.neighbourhood.length)} ${scaleName(a.level, a.radius)}.`) +
      (found ? ` The graphs here have ${vertices(a.equal)} like this one.` : "") +
      (part === undefined ? ""
        : ` ${this.reasons.slopes ? "Its slope is" : "It contributes"} ${part < 0 ? "" : "+"}${number(part, 2)}.`));
    const cards = a.elsewhere.map((e) => card(app, String(e.index),
      { id: e.id, text: app.mini(e.index, fixed(e.similarity, 3)), vertex: e.vertex }));
    this.elsewhere.replaceChildren(...(found ? [h("h3", {}, `Similar vertices in other graphs, ${scaleName(a.level, a.radius)}`),
      h("ul", { class: "cards" }, cards)] : []));
  }

  // slopes returns the box that asks for slopes instead of contributions.
  slopes() {
    const { app } = this;
    return h("label", {}, h("input", { id: "slopes", type: "checkbox", checked: app.state.slopes,
      onchange: (e) => app.setSlopes(e.target.checked) }), " slopes instead of contributions");
  }

  // paint shows what speaks for and against the prediction, or else the part of the molecule that was searched.
  paint() {
    this.ticket = null;
    if (!this.drawing) return;
    this.drawing.clear();
    this.key.replaceChildren();
    const part = this.app.matched.get(Number(this.ref)) ?? [];
    const r = this.reasons;
    if (r?.why) this.key.replaceChildren(r.why, ...(this.app.state.slopes ? [this.slopes()] : [])); // the way back
    if (r?.vertices.length && this.drawing.positions.length) {
      const limit = this.drawing.values(r.vertices);
      const [up, down] = r.slopes ? ["raises it", "lowers it"]
        : r.class ? [`speaks for ${r.class}`, "speaks against it"] : ["raises the value", "lowers it"];
      this.key.replaceChildren(h("span", { class: "contributions" },
        r.says ? `${signed(r.says)}. ` : "",
        r.slopes ? `Slopes say how the ${r.what} changes when a vertex counts more. They do not add up. `
          : r.says ? `The vertices add up to ${number(r.sum, 3)}. ` : "",
        `Orange ${up}, blue ${down}.`, h("span", { class: "row" }, number(-limit, 2), colorBar(contributionCss, -1),
          number(limit, 2)), this.slopes()));
    }
    for (const v of part) this.drawing.ring(v);
  }
}
