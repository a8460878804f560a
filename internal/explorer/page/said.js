// What is said about one graph: the prediction, how sure it is, and what the learner had seen.

import { endsOf, extent, h, nameless, number, percent, signed, withDeviation } from "./dom.js";
import { track } from "./pair.js";

// withoutItself makes the prediction for a known molecule that of a learner which has not seen it, where there is one.
export const withoutItself = (p) => (p.without ? { ...p, ...p.without, held_out: true, fitted: { class: p.class, value: p.value } } : p);

const mostEqual = 8; // molecules that are listed

// known says which molecules here a new one is equal to, and what was measured for them.
function known(app, equal) {
  const { task, target_name: name } = app.info;
  const same = equal[0].same === "same molecule";
  const measured = (n) => n.target && (task === "regression" ? signed(n.target) : n.target);
  const link = (n) => h("button", { class: "link", onclick: () => app.open(String(n.index)) }, n.id);
  if (equal.length === 1) {
    const [n] = equal;
    return [same ? "This molecule is one of those here: " : "The same molecule, with other stereochemistry, is here: ", link(n),
      n.target && (task === "regression" ? `, ${name} ${measured(n)} measured` : `, ${n.target}`), "."];
  }
  const values = equal.filter((n) => n.target).map((n) => Number(n.target));
  const range = task === "regression" && values.length > 1 && ` ${name} ${extent(values).map((v) => number(v)).join(" to ")} measured.`;
  return [same ? `This molecule is here ${equal.length} times: ` : `The same molecule, with other stereochemistry, is here ${equal.length} times: `,
    equal.slice(0, mostEqual).flatMap((n, k) => [k > 0 && ", ", link(n), n.target && ` (${measured(n)})`]), equal.length > mostEqual && ` and ${equal.length - mostEqual} more`, ".", range].flat();
}

// predictionOf returns the lines about a graph of the data, or about one that was asked about.
export function predictionOf(app, ref, p) {
  const asked = ref[0] === "a";
  const says = p.class !== null || p.value !== null;
  const small = (...text) => h("p", { class: "muted small" }, ...text);
  const out = [];
  if (p.known) {
    out.push(h("p", { class: "note" }, known(app, p.equal)));
  } else if (p.unlike) {
    out.push(h("p", { class: "note" }, "Unlike the graphs here: its most similar graph is farther away than for 99 % of them." +
      (says ? " Treat the prediction as a guess." : "")));
  } else if (asked) {
    out.push(small(`Its most similar graph is closer than for ${p.percentile} % of the graphs here.`));
  }
  if (p.unknown_labels.length) out.push(h("p", { class: "note" }, `No graph here has these labels: ${p.unknown_labels.join(", ")}.`));
  if (!says) return out;
  out.push(h("h3", {}, p.held_out ? `Prediction without this ${asked ? "molecule" : "graph"}` : "Prediction"));
  const target = asked ? null : app.source.targets[Number(ref)] || null;
  const name = p.class !== null && app.info.target_name !== nameless && h("span", { class: "muted" }, `${app.info.target_name} `);
  out.push(h("p", { class: "says" }, name, h("b", {}, p.class ?? `${app.info.target_name} ${withDeviation(p)}`),
    p.held_out && p.class !== null && target !== null && h("span", { class: p.class === target ? "yes" : "no" }, p.class === target ? " ✓" : " ✗")));
  if (p.interval !== null) {
    out.push(small(`A measurement lies between ${endsOf(p).join(" and ")} with a probability of ${percent(p.interval.level, 0)}. ` +
      `± ${number(p.deviation, 2)} is the standard deviation of measurements around the prediction.`));
  }
  if (p.probabilities.length) {
    out.push(h("div", { class: "bars" }, p.probabilities.slice(0, 3).flatMap((x) =>
      [h("span", {}, x.class), track(x.probability), h("span", { class: "right" }, percent(x.probability, 0))])));
  }
  if (p.note) out.push(small(p.note));
  if (p.fitted) out.push(small(`With this ${asked ? "molecule" : "graph"} in training the learner says ${p.fitted.class ?? number(p.fitted.value)}. The colours explain that.`));
  else if (p.trained || (!asked && !p.held_out)) out.push(small(`The learner was trained with this ${asked ? "molecule" : "graph"}, so the prediction may be better than for new ones.`));
  return out;
}
