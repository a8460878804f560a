// How far predictions can be trusted, where single graphs, whole scaffolds, or groups of similar graphs were left out.

import { fixed, h, number, percent, radios, whole } from "./dom.js";
import { get, post } from "./api.js";
import { chosen, write } from "./state.js";
import { chart } from "./chart.js";

const splits = { random: "Single graphs", scaffold: "Whole scaffolds", cluster: "Similar graphs" };

const answers = new Map(); // of the API, by what they are about

let last = {}; // what trustOf returned, and what it is about

// trustOf returns the part of the view, which fills itself: about all graphs, or about a part of them. What was chosen in it
// stays while the rest of the view is shown anew.
export function trustOf(app, part = null) {
  const about = JSON.stringify([app.info.source, app.state.kernel, app.state.split, part?.graphs]);
  if (last.about !== about || last.failed) last = { about, node: trust(app, part) };
  return last.node;
}

function trust(app, part) {
  const { state, info } = app;
  const names = Object.keys(splits).filter((by) => by !== "scaffold" || info.molecules);
  if (!names.includes(state.split)) [state.split] = names;
  const choice = h("div", { class: "segments", role: "radiogroup", "aria-label": "What was left out together" }, names.map((by) =>
    h("button", { role: "radio", "data-split": by }, splits[by])));
  const body = h("div", { id: "trust" });
  const set = radios(choice, "aria-checked", (b) => {
    state.split = b.dataset.split;
    last = {};
    write();
    set(b);
    fill(app, body, state.split, part).catch(app.fail);
  });
  set(choice.querySelector(`[data-split="${state.split}"]`));
  fill(app, body, state.split, part).catch(app.fail);
  return h("div", {}, h("h3", {}, "Can they be trusted?"), h("p", { class: "muted small" }, "Left out together:"), choice, body);
}

async function fill(app, body, by, part) {
  if (part && !part.graphs.length) return body.replaceChildren(h("p", { class: "empty" }, "None of these graphs has a prediction."));
  const key = JSON.stringify([app.info.source, app.state.kernel, by, part?.graphs]);
  body.dataset.of = key;
  if (!answers.has(key)) {
    body.replaceChildren(h("p", { class: "muted" }, "Testing predictions …"));
    if (answers.size > 30) answers.clear();
    const answer = part ? post("trust", { by, graphs: part.graphs, ...chosen() }) : get("trust", { by, ...chosen() });
    answer.catch(() => answers.delete(key));
    answers.set(key, answer);
  }
  let a;
  try {
    a = await answers.get(key);
  } catch (e) {
    last.failed = true;
    if (body.dataset.of === key) body.replaceChildren(h("p", { class: "error" }, e.message));
    return;
  }
  if (body.dataset.of === key) body.replaceChildren(...show(app, a));
}

const unit = [0, 1];

function show(app, a) {
  if (a.note) return [h("p", { class: "empty" }, a.note)];
  const values = app.info.task === "regression";
  const out = [h("p", { class: "says" }, h("b", {}, values ? `Error ${number(a.score, 3)}` : `${percent(a.score)} right`),
    h("span", { class: "muted" }, values ? ` · guessing the mean ${number(a.usual, 3)}` : ` · always the largest class ${percent(a.usual)}`)),
  h("p", { class: "muted small" }, `${whole(a.graphs)} graphs: ${a.method}.`)];
  const charts = [];
  if (a.coverage.length) {
    const at = a.coverage.find((c) => c.expected === 0.9);
    charts.push(chart({ title: "Coverage of intervals", points: a.coverage.map((c) => [c.expected, c.found]), x: unit, y: unit, diagonal: true,
      xName: "probability of the interval", yName: "share inside", tell: (k) => `${percent(a.coverage[k].expected, 0)}: ${percent(a.coverage[k].found)} inside`,
      about: `${percent(at.found)} of the measured values lie in their intervals of 90 %. Below the line intervals are too narrow.` }));
  }
  if (a.reliability.length) {
    charts.push(chart({ title: "Reliability of probabilities", points: a.reliability.map((c) => [c.expected, c.found]), x: unit, y: unit, diagonal: true,
      xName: "probability of a class", yName: "how often it is true", tell: (k) => `${percent(a.reliability[k].expected, 0)} said, ${percent(a.reliability[k].found, 0)} true, ${a.reliability[k].count} cases`,
      about: "On the line, what is said to be true in 70 of 100 cases is true in 70. Below the line probabilities are too high." }));
  }
  if (a.likeness.length > 1) {
    const most = Math.max(...a.likeness.map((b) => b.error), values ? a.usual : 0) * 1.08 || 1;
    const like = a.likeness.map((b) => b.similarity);
    const [low, high] = [Math.min(...like), Math.max(...like)];
    const [first, last] = [a.likeness[0], a.likeness.at(-1)];
    const said = (b) => (values ? number(b.error, 3) : percent(b.error, 0));
    charts.push(chart({ title: "Error against likeness to training", points: a.likeness.map((b) => [b.similarity, b.error]),
      x: [low, high > low ? high : low + 0.01], y: [0, most], level: values ? a.usual : null,
      xName: "similarity to the nearest", yName: values ? "error" : "share wrong", tell: (k) => `similarity ${fixed(like[k], 2)}: ${said(a.likeness[k])}, ${whole(a.likeness[k].count)} graphs`,
      about: `The tenth that is least like training has ${values ? "the error" : "wrong classes:"} ${said(first)}, the most similar tenth ${said(last)}.${values ? " Dashed: guessing the mean." : ""}` }));
  }
  out.push(h("div", { class: "charts" }, charts));
  if (a.curves.length) out.push(curves(app, a));
  return out;
}

// curves shows ROC and precision-recall of a class, which is chosen.
function curves(app, a) {
  const box = h("div", { class: "charts" });
  const show = (c) => box.replaceChildren(
    chart({ title: `ROC of ${c.class}`, points: c.curve.recall.map((y, k) => [c.curve.false_rate[k], y]), x: unit, y: unit, diagonal: true, dots: false,
      xName: "share of others found", yName: `share found`, about: `AUC ${c.auc.toFixed(3)}. The dashed line is guessing.` }),
    chart({ title: `Precision and recall of ${c.class}`, points: c.curve.recall.map((x, k) => [x, c.curve.precision[k]]), x: unit, y: unit, level: c.share, dots: false,
      xName: "share found", yName: "share right", about: `Average precision ${c.average_precision.toFixed(3)}. Guessing has ${c.share.toFixed(3)}, dashed.` }));
  const choice = a.curves.length > 1 && h("label", {}, "Class ", h("select", { id: "trust-class", onchange: (e) => show(a.curves[e.target.selectedIndex]) },
    a.curves.map((c) => h("option", {}, c.class))));
  show(a.curves[0]);
  return h("div", {}, choice, box);
}
