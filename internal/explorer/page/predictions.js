// How good the predictions are: the line in the head of the page, and the view with every one of them.

import { drawn, ticksOf } from "./chart.js";
import { trustOf } from "./trust.js";
import { versus } from "./versus.js";
import { chooseTarget, targetOpen } from "./data.js";
import { partLine, partOf } from "./part.js";
import { boxed } from "./boxed.js";
import { $, count, extent, fixed, h, nameless, number, percent, s, whole } from "./dom.js";

// judge says in words how good predictions of unseen graphs are: the figures, best first, those that the head has room for
// where there are many, and whether they are worth little.
function judge(e) {
  if (e.confusion) {
    const classes = e.confusion.classes.length;
    const largest = `largest class ${percent(e.majority)}`;
    const right = `${percent(e.accuracy)} right`;
    if (e.uneven) {
      const balanced = `${percent(e.balanced_accuracy)} balanced accuracy`;
      const poor = e.auc === null ? e.balanced_accuracy < 1 / classes + 0.1 : e.auc < 0.6;
      const [precision, ...best] = e.finding.map((f) => number(f.value, 2));
      const rare = precision && [`average precision ${precision}`, `enrichment ${best[0]} at 1 %, ${best[1]} at 5 %`];
      return {
        main: e.auc === null ? balanced : `AUC ${e.auc.toFixed(2)}`, poor,
        rest: [e.auc !== null && balanced, ...(rare ?? [right]), largest, ...apart(e)].filter(Boolean),
        brief: [e.auc !== null ? balanced : right, largest, ...apart(e)],
        verdict: poor ? "Hardly better than guessing: the classes are uneven. " +
          `Always guessing the largest class is right for ${percent(e.majority)}.` : "",
      };
    }
    const [estimate] = e.estimates;
    const poor = e.accuracy - (estimate.measure === "accuracy" ? 2 * estimate.deviation : 0) <= e.majority;
    return { main: right, poor, rest: [largest, ...apart(e)],
      verdict: poor ? "Not clearly better than always guessing the largest class." : "" };
  }
  if (e.r2 !== null) {
    const poor = e.r2 <= 0.05;
    return {
      main: `R² ${fixed(e.r2, 2)}`, poor, rest: [`error ${number(e.rmse, 3)} (root mean square)`, ...apart(e)],
      verdict: poor ? "Hardly better than always guessing the mean." : "",
    };
  }
  const [filed] = e.estimates;
  if (!filed) return null;
  const auc = filed.measure === "AUC";
  const says = auc ? "says the model file" : `${named(filed.measure)}, says the model file`;
  const others = (filed.others ?? []).map((x) => `${figure(x)} ${named(x.measure)}`);
  return { main: auc ? `AUC ${filed.value.toFixed(2)}` : figure(filed), poor: false, verdict: "",
    rest: [says, ...others, ...apart(e)], brief: [says, ...others.slice(0, 1), ...apart(e)] };
}

// named is what a measure is called; its abbreviation would be a second name.
const named = (measure) => (measure === "rmse" ? "error" : measure);

const figure = (x) => (x.measure.endsWith("accuracy") ? percent(x.value) : number(x.value, 3));

// apart says how good predictions for graphs of new groups are, where graphs have some.
function apart(e) {
  const all = e.estimates.find((x) => x.groups);
  if (!all) return [];
  const groups = { scaffold: "whole scaffolds", cluster: "similar graphs" }[all.groups] || `whole groups by ${all.groups}`;
  return [`${named(all.measure)} ${figure(all)} when ${groups} are left out`];
}

// tested says how it was found how good predictions are.
function tested(e) {
  const [{ method }] = e.estimates;
  return e.note ? e.note : e.graphs ? `Each of ${count(e.graphs, "graph")} was predicted by a learner that had not seen it (${method}).`
    : `The model file says how: ${method}.`;
}

// targetOf is what the targets are called, nothing where they have no name.
const targetOf = (e) => (e.target_name === nameless ? "" : e.target_name);

// showScore fills the line in the head of the page; null clears it. problem says why learning has ended without a result.
export function showScore(e, problem = null) {
  const said = e && judge(e);
  const el = $("score");
  el.classList.remove("stale");
  el.hidden = !said && !problem;
  if (problem) {
    el.classList.add("poor");
    el.title = `${problem} Click to try again.`;
    const some = said ? `${said.main} of ${count(e.graphs, "graph")}` : "No score";
    return el.replaceChildren(h("b", {}, some), h("span", { class: "verdict" }, problem.split(":")[0]));
  }
  if (!said) return;
  el.classList.toggle("poor", said.poor);
  el.title = `${said.verdict} ${said.rest.join(" · ")}. ${tested(e)} Click to see every prediction.`.trim();
  const figures = e.note ? `of ${count(e.graphs, "graph")}; all are being tested` : (said.brief ?? said.rest).join(" · ");
  const together = (text) => text.replaceAll(" %", "\u00a0%"); // a line does not end between a number and its sign
  el.replaceChildren(h("b", {}, said.main), h("span", {}, together([targetOf(e), figures].filter(Boolean).join(": "))),
    ...(said.poor ? [h("span", { class: "verdict" }, said.verdict.split(":")[0])] : []));
}

// predictionsView fills the view; app has name, open, pick, crossValidate and state.
export function predictionsView(e, app) {
  const { filed, info } = app; // of a model that is cross-validated here: what its file says
  const parts = app.problem ? [h("div", { id: "problem", class: "row" }, h("p", { class: "error" }, app.problem),
    h("button", { onclick: app.compute }, "Try again"))] : [];
  parts.push(...(filed ? [...summary(filed), h("h3", {}, "Cross-validated here"), h("p", { class: "muted small" }, trainedHere)] : []));
  parts.push(...(e ? summary(e) : []));
  const part = partOf(e, app);
  if (part) parts.push(partLine(part, app));
  if (e?.confusion) parts.push(part ? confusionOf(part, app) : confusion(e, app));
  else if (e?.values.length) parts.push(scatter(e, app, part));
  if (e) parts.push(baselines(e, app.comparing));
  if (e?.index.length && !e.note) parts.push(trustOf(app, part), versus(app));
  if (!parts.some(Boolean) && !(info.task === "none" && targetOpen(info))) {
    parts.push(h("p", { class: "empty" }, !e ? "There are no predictions yet."
      : app.places?.views.predict || (info.saved ? "The model file says nothing of the quality of its predictions."
        : "There are too few graphs with targets to test predictions.")));
  }
  if (targetOpen(info)) parts.push(...targets(app));
  if (e && !e.graphs && !filed && info.saved && info.task !== "none" && !app.state.kernel) {
    parts.push(h("p", { class: "muted small" }, `The file keeps no predictions of single graphs. ${trainedHere}`),
      h("button", { id: "cross-validate", onclick: app.crossValidate }, "Cross-validate"));
  }
  $("predictions").replaceChildren(...parts.filter(Boolean));
}

// targets leads to the choice of what is predicted.
function targets(app) {
  const { task, columns } = app.info;
  const button = (text, kind) => h("button", { id: "choose-target", class: kind, onclick: () => chooseTarget(app) }, text);
  return task === "none" ? [h("p", { class: "empty" }, "No column is chosen as the target, so nothing is predicted. The data have ",
    `${count(columns.length, "column")} to choose from.`), h("p", { class: "empty" }, button("Choose a target", "primary"))]
    : [h("p", {}, button("Choose another target", "quiet"))];
}

const trainedHere = "Cross-validation here trains a ridge learner anew for the kernel of the model. Its figures may differ from those of the file.";

// summary says how good predictions are, and how that was found.
function summary(e) {
  const said = judge(e);
  return said ? [h("p", { class: "says" }, h("b", {}, said.main), h("span", { class: "muted" }, ` · ${said.rest.join(" · ")}`)),
    said.verdict && h("p", { class: "note" }, said.verdict), h("p", { class: "muted small" }, tested(e))] : [];
}

// baselines lists what the kernel is compared with.
function baselines(e, comparing) {
  if (e.rows.length < 2 || e.note) return null;
  const figure = (r) => (r.accuracy_mean !== undefined ? `${percent(r.accuracy_mean)} right` : r.rmse_mean !== undefined
    ? `error ${number(r.rmse_mean, 3)}` : "");
  return h("div", {}, h("h3", {}, "Comparison"),
    h("ul", { class: "plain" }, e.rows.map((r) => h("li", {}, h("span", {}, r.name), h("span", {}, figure(r))))),
    comparing && h("p", { class: "muted small" }, "A learner of counts of labels is being trained to compare with."));
}

// confusionOf is the confusion of a part, once it is known.
function confusionOf(part, app) {
  const box = h("div", {});
  part.judged.then((e) => e.confusion && box.replaceChildren(confusion(e, app)), () => {}); // the line above says what is wrong
  return box;
}

// confusion is the table of true and predicted classes. A cell selects its graphs.
function confusion(e, app) {
  const { classes, counts } = e.confusion;
  const cell = (i, j) => {
    const n = counts[i][j];
    const share = n / (counts[i].reduce((a, b) => a + b, 0) || 1);
    const td = h("td", { class: i === j ? "right" : "", "data-true": i, "data-said": j }, n > 0 && h("button", {
      "aria-label": `${count(n, "graph")} of ${classes[i]} predicted as ${classes[j]}: select`,
      onclick: () => app.pick(e.index.filter((g, k) => app.source.targets[g] === classes[i] && e.predicted[k] === classes[j]), "table"),
    }, whole(n)));
    td.style.setProperty("--share", n ? (0.08 + 0.5 * share).toFixed(3) : "0");
    return td;
  };
  const recall = (i) => counts[i][i] / (counts[i].reduce((a, b) => a + b, 0) || 1);
  return h("div", {}, h("h3", {}, "Confusion matrix"), h("div", { class: "wide" }, h("table", { class: "confusion" },
    h("caption", { class: "visually-hidden" }, "Rows: the true class. Columns: the predicted class."),
    h("thead", {}, h("tr", {}, h("td", { class: "corner" }, "true ↓  predicted →"),
      classes.map((c) => h("th", { scope: "col" }, h("span", {}, c))), h("th", { scope: "col" }, h("span", {}, "right")))),
    h("tbody", {}, classes.map((c, i) => h("tr", {}, h("th", { scope: "row" }, c), classes.map((_, j) => cell(i, j)),
      h("td", { class: "recall" }, percent(recall(i), 0))))))),
  h("p", { class: "muted small" }, "Click a number to select its graphs. Balanced accuracy is the mean of the last column."));
}

const size = { width: 520, height: 440, left: 64, bottom: 46, top: 12, right: 14 };

// scatter draws predicted against measured values.
function scatter(e, app, part) {
  let [low, high] = extent([...e.measured, ...e.values]);
  const margin = (high - low) * 0.04 || 1;
  [low, high] = [low - margin, high + margin];
  const x = (v) => size.left + ((v - low) / (high - low)) * (size.width - size.left - size.right);
  const y = (v) => size.height - size.bottom - ((v - low) / (high - low)) * (size.height - size.top - size.bottom);
  const name = e.target_name;
  const ticks = ticksOf(low, high);
  const say = h("p", { class: "key", "aria-live": "polite" },
    "Point at a graph to see its values. Click to open it. Drag a box around graphs to select them.");
  const all = e.index.map((g, k) => [x(e.measured[k]), y(e.values[k]), g, k]);
  const [some, note] = drawn(all);
  const points = some.map(([cx, cy, g, k]) => s("circle", {
    cx: cx.toFixed(1), cy: cy.toFixed(1), r: 4, "data-graph": g,
    class: ["dot", app.state.open === String(g) && "open", part && !part.within.has(g) && "out"].filter(Boolean).join(" "),
    onpointerenter: () =>
      (say.textContent = `${app.name(String(g))}: measured ${number(e.measured[k])}, predicted ${number(e.values[k])}`),
    onclick: () => app.open(String(g)),
  }));
  const text = (value, props) => s("text", props, value);
  const svg = s("svg", {
    class: "scatter", viewBox: `0 0 ${size.width} ${size.height}`, role: "img",
    "aria-label": `Predicted against measured ${name} of ${whole(e.graphs)} graphs, R² ${fixed(e.r2, 2)}`,
  },
  s("rect", { class: "frame", x: size.left, y: size.top, width: size.width - size.left - size.right,
    height: size.height - size.top - size.bottom }),
  ticks.map((v) => [s("line", { class: "tick", x1: x(v), x2: x(v), y1: size.height - size.bottom,
    y2: size.height - size.bottom + 5 }),
    text(number(v, 3), { x: x(v), y: size.height - size.bottom + 19, "text-anchor": "middle" }),
    s("line", { class: "tick", x1: size.left - 5, x2: size.left, y1: y(v), y2: y(v) }),
      text(number(v, 3), { x: size.left - 9, y: y(v) + 4, "text-anchor": "end" })]).flat(),
  text(`measured ${name}`, { x: (size.left + size.width - size.right) / 2, y: size.height - 8, "text-anchor": "middle",
    class: "axis" }),
  text(`predicted ${name}`, { transform: `translate(14 ${(size.top + size.height - size.bottom) / 2}) rotate(-90)`,
    "text-anchor": "middle", class: "axis" }),
  s("line", { class: "diagonal", x1: x(low), y1: y(low), x2: x(high), y2: y(high) }), points);
  boxed(svg, part ? all.filter(([, , g]) => part.within.has(g)) : all, (graphs) => app.pick(graphs, "predictions", "lie in a box of predicted against measured values"));
  return h("div", {}, h("h3", {}, "Predicted against measured"), svg, say, note,
  h("p", { class: "muted small" }, "On the line the prediction is exact. Above the line it is too high."));
}
