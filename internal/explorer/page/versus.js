// Two models compared: their predictions of the same graphs, which neither had seen.

import { count, extent, h, number, percent, signed, whole } from "./dom.js";
import { post } from "./api.js";
import { chosen, write } from "./state.js";
import { chart, drawn } from "./chart.js";

const mostListed = 12;

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

const answers = new Map(); // of the server, by what they are about

async function fill(app, body) {
  const { against, kernel } = app.state;
  const { info } = app;
  const about = body.dataset.of = JSON.stringify([info.source, kernel, against]);
  const fewer = h("p", { class: "empty" }, "The two models have predicted fewer than three graphs in common.");
  const done = (a) => body.replaceChildren(...(a.score ? show(app, a) : [fewer]));
  if (answers.has(about)) return done(answers.get(about)); // the view is shown anew
  body.replaceChildren(h("p", { class: "muted" }, "Testing the other model …"));
  const other = against.kernel || (against.source === info.source && kernel);
  try {
    const a = await post("versus", { against: against.source, ...(other && { other }), ...chosen() });
    if (answers.size > 10) answers.clear();
    answers.set(about, a);
    if (body.dataset.of === about) done(a);
  } catch (error) {
    if (error.name !== "AbortError" && body.dataset.of === about) body.replaceChildren(h("p", { class: "error" }, error.message));
  }
}

function show(app, a) {
  const values = app.info.task === "regression";
  const { score } = a;
  const { low, high } = score.interval;
  const figure = (v) => (values ? number(v, 3) : percent(v));
  const [near, far] = [Math.abs(low), Math.abs(high)].sort((x, y) => x - y);
  const verdict = a.clear ? `The other model is ${a.better ? "better" : "worse"} by ${figure(Math.abs(score.difference))}, between ${figure(near)} and ${figure(far)} with a probability of 95 %.`
    : `There is no clear difference: it lies between ${figure(low)} and ${figure(high)} with a probability of 95 %.`;
  const out = [h("p", { class: "says" }, h("b", {}, `${figure(score.first)} here, ${figure(score.second)} there`), h("span", { class: "muted" }, values ? " (error)" : " right")),
    h("p", { class: a.clear ? "note" : "muted" }, verdict),
    h("p", { class: "muted small" }, `Of ${count(a.graphs, "graph")} that both have predicted without having seen them. The interval is by a bootstrap of these graphs.`)];
  const pairs = a.index.map((graph, k) => ({ graph, errors: a.errors.map((e) => Math.abs(e[k])), said: (values ? a.values : a.classes).map((s) => s[k]) }));
  if (values) {
    const [some] = drawn(pairs);
    const most = extent(pairs.flatMap((p) => p.errors))[1] * 1.04 || 1;
    out.push(h("div", { class: "charts" }, chart({ title: "Errors of both", points: some.map((p) => p.errors), x: [0, most], y: [0, most],
      diagonal: true, line: false, xName: "error here", yName: "error there", tell: (k) => app.source.ids[some[k].graph],
      about: `Below the line the other model is better: ${whole(a.closer)} of ${whole(a.graphs)} graphs.` })));
  } else {
    const cell = (here, there) => {
      const some = pairs.filter((p) => p.errors[0] === here && p.errors[1] === there).map((p) => p.graph);
      const text = `${here ? "wrong" : "right"} here, ${there ? "wrong" : "right"} there`;
      return h("li", {}, h("span", {}, text), some.length ? h("button", { class: "quiet", onclick: () => app.pick(some, "table", `are ${text}`) }, count(some.length, "graph")) : h("span", {}, "0 graphs"));
    };
    out.push(h("ul", { class: "plain" }, cell(0, 0), cell(0, 1), cell(1, 0), cell(1, 1)));
  }
  const text = (v) => (typeof v === "number" ? number(v, 3) : v);
  const apart = (p) => Math.abs(p.errors[1] - p.errors[0]);
  const differing = pairs.filter((p) => p.said[0] !== p.said[1]).sort((p, q) => apart(q) - apart(p)).slice(0, mostListed);
  if (differing.length) {
    out.push(h("h3", {}, "Where they differ most"), h("ul", { class: "list" }, differing.map((p) => h("li", {}, h("button", { onclick: () => app.open(String(p.graph)) },
      h("span", {}, app.source.ids[p.graph]), h("span", { class: "muted" }, `${text(p.said[0])} here, ${text(p.said[1])} there, ${signed(app.source.targets[p.graph])} measured`))))));
  }
  return out;
}
