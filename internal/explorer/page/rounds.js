// Rounds of suggesting and measuring: how the model gets better.

import { h, number, percent } from "./dom.js";
import { keep, keptOf } from "./kept.js";
import { chosen } from "./state.js";
import { post } from "./api.js";
import { reached } from "./goal.js";

// A round has
//   measured  the number of graphs with a target
//   score     how good predictions of graphs that were not seen are: the error of values, or the share of right classes
//   same      the score for the graphs that were there before the first round
//   best      the best target by the goal
//   added     what was measured: {n, right, error}; right are those within their intervals, or of the predicted class

// scoreOf returns the score of an evaluation, null for none.
const scoreOf = (e) => e.rmse ?? e.accuracy;

// bestOf returns the target that is best by a goal, null where it has none.
function bestOf(want, info, targets) {
  const known = targets.filter(Boolean).map((t) => [reached(want, info, t), t]);
  if (!known.length || known[0][0] === null) return null;
  if (info.task === "classification" || want.kind === "range") return `${known.filter(([r]) => r > 0).length} hits`;
  return number(Number(known.reduce((a, b) => (b[0] > a[0] ? b : a))[1]), 4);
}

// noteRound writes down how good the model of the present round is.
export async function noteRound(app) {
  const { info, source, evaluation: e, state } = app;
  if (!e || e.note || !e.index.length || state.kernel !== (app.placed ?? "")) return;
  const kept = keptOf(info.source);
  const want = state.next;
  if (!want) return;
  const rounds = kept.rounds.length ? kept.rounds : [{ base: e.index, added: null }];
  const last = rounds.at(-1);
  const before = last.score;
  Object.assign(last, { measured: source.targets.filter(Boolean).length, score: scoreOf(e), best: bestOf(want, info, source.targets) });
  if (rounds.length === 1) last.same = last.score;
  keep(info.source, { rounds });
  if (last.same !== undefined && before === last.score) return;
  last.same = scoreOf(await post("evaluate", { graphs: rounds[0].base, ...chosen() }));
  keep(info.source, { rounds });
  if (app.info === info && state.view === "next") app.show("next");
}

// begin begins a round with values that were measured; each has what was said of it before.
export function begin(app, source, values, want) {
  noteRound(app).catch(app.fail);
  const { info } = app;
  const numbers = info.task === "regression";
  const told = (v) => v.said.targets?.find((t) => t.target === info.target_name) ?? v.said; // of several targets
  const off = values.map((v) => Number(v.target) - told(v).value);
  const right = values.filter((v) => (numbers ? told(v).interval && v.target >= told(v).interval.low && v.target <= told(v).interval.high : v.said.class === v.target)).length;
  const added = { n: values.length, right, error: numbers && off.length ? Math.sqrt(off.reduce((s, d) => s + d * d, 0) / off.length) : null,
    best: bestOf(want, info, values.map((v) => v.target)) };
  keep(source, { rounds: [...keptOf(info.source).rounds, { added }] });
}

// roundsOf shows the rounds, once there are two.
export function roundsOf(app) {
  const { info } = app;
  const { rounds } = keptOf(info.source);
  if (rounds.length < 2) return [];
  const numbers = info.task === "regression";
  const figure = (v) => (v === null || v === undefined ? "…" : numbers ? number(v, 3) : percent(v));
  const [first, last] = [rounds[0], rounds.at(-1)];
  const better = last.same !== undefined && first.same !== null && first.same !== undefined && (numbers ? first.same - last.same : last.same - first.same);
  const row = (r, k) => h("tr", {}, h("th", { scope: "row" }, String(k)), [r.measured ?? "…", figure(r.score), figure(r.same), r.best ?? "–",
    r.added ? `${r.added.n}${r.added.error === null ? "" : `, off by ${number(r.added.error, 2)}`}, ${r.added.right} as predicted` : "–"]
    .map((t) => h("td", {}, String(t))));
  const score = numbers ? "error" : "right";
  return [h("details", { class: "rounds", open: true }, h("summary", {}, `Rounds: ${rounds.length - 1}`),
    h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Rounds" }, h("table", {}, h("thead", {}, h("tr", {}, ["round", "measured", score, `${score}, same graphs`, "best", "new values"].map((t) => h("th", { scope: "col" }, t)))),
      h("tbody", {}, rounds.map(row)))),
    h("p", { class: "muted small" }, better === false ? "The model is being tested." : `Predictions of the graphs that were there at first ${
      better > 0 ? "are better" : better < 0 ? "are worse" : "are as good"} than before the first round. ${
      numbers ? "As predicted: within the interval of 90 %." : "As predicted: of the predicted class."} A learner that had not seen a graph predicts it.`))];
}
