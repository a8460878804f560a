// Two models compared: their predictions of the same graphs, which neither had seen.

import { count, h, number, percent, signed, whole } from "./dom.js";
import { get } from "./api.js";
import { chosen, write } from "./state.js";
import { chart } from "./chart.js";

const draws = 1000; // of a bootstrap
const mostListed = 12;
const mostDots = 1500;

// paired returns for each graph that both models predicted its position in the data, and its error under either: the
// difference to the measured value, or 1 for a wrong class.
export function paired(a, b, source, idsOfB) {
  const at = new Map(b.index.map((g, k) => [idsOfB ? idsOfB[g] : g, k]));
  const names = new Map();
  if (idsOfB) for (const id of source.ids) names.set(id, (names.get(id) ?? 0) + 1);
  const error = (e, k, target) => (e.values.length ? e.values[k] - e.measured[k] : Number(e.predicted[k] !== target));
  const out = [];
  a.index.forEach((g, k) => {
    const key = idsOfB ? source.ids[g] : g;
    if (!at.has(key) || names.get(key) > 1) return; // a name that several have says nothing
    const l = at.get(key);
    if (a.values.length && a.measured[k] !== b.measured[l]) return; // another value
    out.push({ graph: g, a: error(a, k, source.targets[g]), b: error(b, l, source.targets[g]),
      said: [a, b].map((e, m) => (e.values.length ? e.values : e.predicted)[m ? l : k]) });
  });
  return out;
}

const score = (errors, values) => (values ? Math.sqrt(errors.reduce((s, e) => s + e * e, 0) / errors.length) : 1 - errors.reduce((s, e) => s + e, 0) / errors.length);

// differ returns by how much the score of b is above that of a, with an interval of 95 % by a bootstrap of the graphs.
export function differ(pairs, values) {
  let seed = 1;
  const random = () => { // mulberry32: the same every time
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const [wa, wb] = ["a", "b"].map((m) => pairs.map((p) => (values ? p[m] * p[m] : p[m])));
  const figure = (sum) => (values ? Math.sqrt(sum / pairs.length) : 1 - sum / pairs.length);
  const found = Array.from({ length: draws }, () => {
    let [sa, sb] = [0, 0];
    for (let k = 0; k < pairs.length; k++) {
      const i = Math.floor(random() * pairs.length);
      sa += wa[i];
      sb += wb[i];
    }
    return figure(sb) - figure(sa);
  }).sort((x, y) => x - y);
  const of = (m) => score(pairs.map((p) => p[m]), values);
  return { a: of("a"), b: of("b"), low: found[Math.floor(0.025 * draws)], high: found[Math.floor(0.975 * draws)] };
}

// versus returns the part of the view that compares the model of the page with another.
export function versus(app) {
  const { state, info } = app;
  const body = h("div", { id: "versus" });
  const kernel = h("input", { id: "versus-kernel", value: state.against?.kernel ?? "", list: "versus-kernels", spellcheck: "false", placeholder: "as here" });
  const data = h("select", { id: "versus-data" }, app.sources.filter((s) => s.task === info.task).map((s) =>
    h("option", { value: s.id }, `${s.name} (${whole(s.graphs)})${s.id === info.source ? ", this one" : ""}`)));
  data.value = state.against?.source ?? info.source;
  const run = (e) => {
    e?.preventDefault();
    state.against = { source: data.value, kernel: kernel.value.trim() };
    write();
    fill(app, body).catch(app.fail);
  };
  if (state.against) fill(app, body).catch(app.fail);
  return h("div", {}, h("h3", {}, "Compare with another model"),
    h("form", { class: "versus", onsubmit: run }, h("div", { class: "field" }, h("label", { for: "versus-data" }, "Learned from"), data),
      h("div", { class: "field" }, h("label", { for: "versus-kernel" }, "Kernel"), kernel,
        h("datalist", { id: "versus-kernels" }, info.kernels.map((k) => h("option", { value: k.name }, k.about)))),
      h("button", { class: "primary" }, "Compare")), body);
}

async function fill(app, body) {
  const { against } = app.state;
  const { info, source } = app;
  const same = against.source === info.source;
  body.replaceChildren(h("p", { class: "muted" }, "Testing the other model …"));
  const about = body.dataset.of = JSON.stringify([info.source, app.state.kernel, against]);
  let e, graphs;
  try {
    const where = { source: against.source, ...(against.kernel ? { kernel: against.kernel } : same ? chosen() : {}), part: "kernel" };
    [e, graphs] = await Promise.all([get("evaluate", { ...where, cross_validate: true }), same ? null : get("graphs", { source: against.source })]);
  } catch (error) {
    if (error.name !== "AbortError" && body.dataset.of === about) body.replaceChildren(h("p", { class: "error" }, error.message));
    return;
  }
  if (body.dataset.of !== about) return;
  const pairs = paired(app.evaluation, e, source, graphs?.ids);
  if (pairs.length < 3) return body.replaceChildren(h("p", { class: "empty" }, "The two models have predicted fewer than three graphs in common."));
  body.replaceChildren(...show(app, pairs));
}

function show(app, pairs) {
  const values = app.info.task === "regression";
  const d = differ(pairs, values);
  const figure = (v) => (values ? number(v, 3) : percent(v));
  const clear = d.low > 0 || d.high < 0;
  const better = values ? d.high < 0 : d.low > 0;
  const [low, high] = [Math.min(Math.abs(d.low), Math.abs(d.high)), Math.max(Math.abs(d.low), Math.abs(d.high))];
  const verdict = clear ? `The other model is ${better ? "better" : "worse"} by ${figure(Math.abs(d.b - d.a))}, between ${figure(low)} and ${figure(high)} with a probability of 95 %.`
    : `There is no clear difference: it lies between ${figure(d.low)} and ${figure(d.high)} with a probability of 95 %.`;
  const out = [h("p", { class: "says" }, h("b", {}, `${figure(d.a)} here, ${figure(d.b)} there`), h("span", { class: "muted" }, values ? " (error)" : " right")),
    h("p", { class: clear ? "note" : "muted" }, verdict),
    h("p", { class: "muted small" }, `Of ${count(pairs.length, "graph")} that both have predicted without having seen them. The interval is by a bootstrap of these graphs.`)];
  const by = [...pairs].sort((p, q) => Math.abs(Math.abs(q.b) - Math.abs(q.a)) - Math.abs(Math.abs(p.b) - Math.abs(p.a)));
  if (values) {
    const most = Math.max(...pairs.map((p) => Math.max(Math.abs(p.a), Math.abs(p.b)))) * 1.04 || 1;
    out.push(h("div", { class: "charts" }, chart({ title: "Errors of both", points: pairs.slice(0, mostDots).map((p) => [Math.abs(p.a), Math.abs(p.b)]), x: [0, most], y: [0, most],
      diagonal: true, line: false, xName: "error here", yName: "error there", tell: (k) => app.source.ids[pairs[k].graph],
      about: `Below the line the other model is better: ${whole(pairs.filter((p) => Math.abs(p.b) < Math.abs(p.a)).length)} of ${whole(pairs.length)} graphs.` })));
  } else {
    const cell = (a, b) => {
      const some = pairs.filter((p) => p.a === a && p.b === b).map((p) => p.graph);
      const text = `${a ? "wrong" : "right"} here, ${b ? "wrong" : "right"} there`;
      return h("li", {}, h("span", {}, text), some.length ? h("button", { class: "quiet", onclick: () => app.pick(some, "table", `are ${text}`) }, count(some.length, "graph")) : h("span", {}, "0 graphs"));
    };
    out.push(h("ul", { class: "plain" }, cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)));
  }
  const text = (v) => (typeof v === "number" ? number(v, 3) : v);
  const differing = by.filter((p) => p.said[0] !== p.said[1]).slice(0, mostListed);
  if (differing.length) {
    out.push(h("h3", {}, "Where they differ most"), h("ul", { class: "list" }, differing.map((p) => h("li", {}, h("button", { onclick: () => app.open(String(p.graph)) },
      h("span", {}, app.source.ids[p.graph]), h("span", { class: "muted" }, `${text(p.said[0])} here, ${text(p.said[1])} there, ${signed(app.source.targets[p.graph])} measured`))))));
  }
  return out;
}
