// What to measure next: suggestions as cards and on the map, to accept or to reject, and the values that were measured.

import { $, count, fixed, h, hidden, number, percent, save, signed, toast, whole, withDeviation } from "./dom.js";
import { get, post } from "./api.js";
import { chosen, write } from "./state.js";
import { structure } from "./structure.js";
import { goalForm, goalOf, usual } from "./goal.js";
import { keep, keptOf } from "./kept.js";
import { begin, roundsOf } from "./rounds.js";
import { csv } from "./csv.js";

let answer = null; // of the API,
let of = null; // and what it is about
let job = null;

const want = (app) => ({ ...usual, ...app.state.next });

// decisions of a collection by pool and position: {ok: true or false, value: as it was measured}.
const decisions = (app) => {
  const all = keptOf(app.info.source).decisions;
  return (all[want(app).pool] ??= {});
};

// suggestions returns those on the map: a point of the data, or a place.
export function suggestions(app) {
  if (!answer || of?.source !== app.info.source) return [];
  return answer.batch.map((x, k) => ({ ref: want(app).pool ? `s${k}` : String(x.index), name: String(k + 1), place: x.place }));
}

// nextGraph returns the graph of a suggestion of a batch with its drawing, and nextName its name.
export const nextGraph = (app, k) => drawn(app, answer.batch[k].index);
export const nextName = (k) => answer?.batch[k]?.id ?? "suggestion";

const members = new Map();

// drawn returns a graph of the pool with its drawing.
function drawn(app, index) {
  const { pool } = want(app);
  if (!pool) return app.graph(String(index));
  const key = `${pool} ${index}`;
  if (!members.has(key)) {
    if (members.size > 300) members.clear();
    members.set(key, get(`member/${index}`, { batch: pool }).then(({ graph, drawing }) => ({ ...graph, labels: graph.node_labels ?? [], drawing })));
  }
  return members.get(key);
}

// nextView fills the view.
export async function nextView(app) {
  const { info, source } = app;
  const without = app.places?.views.predict;
  if (without || !info) return $("next-cards").replaceChildren(h("p", { class: "empty" }, without ?? ""));
  const unmeasured = source.targets.filter((t) => !t).length;
  const pools = [unmeasured && ["", `${whole(unmeasured)} unmeasured`],
    app.state.batch && [app.state.batch, "from Many"]].filter(Boolean);
  const wish = want(app);
  if (!pools.some(([name]) => name === wish.pool)) wish.pool = pools[0]?.[0] ?? "";
  app.state.next = wish;
  const largest = Math.max(...source.nodes, 1);
  const form = JSON.stringify([info.source, pools, wish]);
  if ($("next-form").dataset.of !== form) {
    const focus = document.activeElement?.id;
    $("next-form").dataset.of = form;
    $("next-form").replaceChildren(...(pools.length ? [goalForm(wish, info, pools, largest, (next) => {
      app.state.next = next;
      write();
      nextView(app).catch(app.fail);
    })] : []));
    if (focus?.startsWith("next-")) $(focus)?.focus();
  }
  $("next-rounds").replaceChildren(...roundsOf(app));
  if (!pools.length) {
    answer = null;
    $("next-head").replaceChildren();
    return $("next-cards").replaceChildren(h("p", { class: "empty" }, "All graphs here have a value. Give the page others to choose from: " +
      "paste or drop them in Many, and come back."), h("p", { class: "empty" }, h("button", { class: "primary", onclick: () => app.show("many") }, "To Many")));
  }
  await suggest(app);
}

// suggest asks for suggestions, unless they are there. Accepted and rejected graphs are not suggested again.
async function suggest(app, anew = false) {
  const wish = want(app);
  const about = { source: app.info.source, key: JSON.stringify([app.info.source, app.state.kernel, wish]) };
  if (of?.key === about.key && !anew) return show(app);
  if (of?.source !== about.source) $("next-cards").replaceChildren();
  of = about;
  answer = null;
  job?.abort();
  job = new AbortController();
  $("next-head").replaceChildren(h("b", {}, "Looking for the best …"));
  try {
    const without = Object.entries(decisions(app)).filter(([, d]) => d.ok !== undefined).map(([i]) => Number(i));
    const found = await post("suggest", { ...goalOf(wish, app.info), ...(wish.pool && { batch: wish.pool }), without, ...chosen() }, job.signal);
    if (of !== about) return;
    answer = found;
  } catch (e) {
    if (of === about) of = null;
    if (e.name === "AbortError") return;
    $("next-head").replaceChildren();
    return $("next-cards").replaceChildren(h("p", { class: "empty error" }, e.message));
  }
  show(app);
  app.marks();
}

// because says in words why a graph was taken.
function because(app, x) {
  const goal = answer.goal;
  const range = goal.includes(":");
  const classes = app.info.task === "classification";
  const good = classes ? `${x.class || goal} is its most probable class` : range ? "Its prediction is in the range" : "Its prediction is better than that of all measured graphs";
  const maybe = classes ? (want(app).class ? "It may be of the class" : "Its class is uncertain") : goal === "learn" ? "Its value is uncertain, so a measurement tells much"
    : range ? "Its value may be in the range" : "It may be better than all measured graphs";
  const [first, ...rest] = x.why.split(", ");
  return `${first === "good" ? good : maybe}.${rest.includes("new") ? " No measured graph is like it." : ""}`;
}

// card shows a suggestion, or a graph that was accepted.
function card(app, x, k) {
  const { info, source } = app;
  const d = decisions(app)[x.index] ?? {};
  const set = (ok) => decide(app, x, { ...d, ok: d.ok === ok ? undefined : ok });
  const facts = [h("b", {}, info.task === "classification" ? `${x.class} ${percent(x.probability, 0)}` : `${info.target_name} ${withDeviation(x)}`),
    x.interval && h("span", { class: "muted" }, `${percent(x.interval.level, 0)}: ${number(x.interval.low, 3)} to ${number(x.interval.high, 3)}`),
    h("span", {}, because(app, x)),
    x.nearest >= 0 && h("span", { class: "muted" }, `Nearest: ${source.ids[x.nearest]}, ${signed(source.targets[x.nearest] ?? "")}, similarity ${fixed(x.similarity, 2)}`)];
  const value = d.ok && h("label", { class: "measured" }, `Measured ${info.target_name}`, h("input", { value: d.value ?? "", inputmode: info.task === "regression" ? "decimal" : null,
    list: info.task === "classification" ? "next-classes" : null, "aria-label": `Measured ${info.target_name} of ${x.id}`,
    oninput: (e) => {
      decisions(app)[x.index] = { ...d, ok: true, value: e.target.value.trim(), said: x };
      keep(info.source);
      head(app);
    } }));
  return h("li", { class: `group suggestion ${d.ok ? "accepted" : ""}`, "data-graph": x.index, id: `suggestion-${k}` },
    h("button", { class: "open", onclick: () => open(app, x).catch(app.fail) }, hidden(`Open ${x.id}`), structure(() => drawn(app, x.index))),
    h("span", { class: "facts" }, h("span", { class: "row" }, k >= 0 && h("span", { class: "rank" }, String(k + 1)), h("b", { class: "cut" }, x.id)), facts.filter(Boolean)),
    value, h("span", { class: "row" },
      h("button", { class: "quiet", "aria-pressed": String(d.ok === true), "aria-label": `Accept ${x.id}`, onclick: () => set(true) }, d.ok ? "✓ Accepted" : "✓ Accept"),
      h("button", { class: "quiet", "aria-pressed": String(d.ok === false), "aria-label": `Reject ${x.id}`, onclick: () => set(false) }, "✕ Reject")));
}

// decide keeps a decision. What was rejected gives its place to the next best.
function decide(app, x, d) {
  const all = decisions(app);
  if (d.ok === undefined) delete all[x.index];
  else all[x.index] = { ...d, said: x };
  keep(app.info.source);
  if (d.ok === false || !answer.batch.some((y) => y.index === x.index)) return suggest(app, true).catch(app.fail);
  show(app);
}

// open opens a graph of the pool.
async function open(app, x) {
  if (!want(app).pool) return app.open(String(x.index));
  const { graph } = await get(`member/${x.index}`, { batch: want(app).pool });
  await app.ask([x.smiles ? { smiles: x.smiles } : { graph }]);
}

const accepted = (app) => Object.values(decisions(app)).filter((d) => d.ok && d.said);
const measured = (app) => accepted(app).filter((d) => d.value);

function show(app) {
  const fresh = answer.batch.filter((x) => decisions(app)[x.index]?.ok === undefined);
  const focus = document.activeElement?.getAttribute("aria-label");
  const list = (title, items) => items.length > 0 && [h("h3", {}, title), h("ul", { class: "groups" }, items)];
  $("next-cards").replaceChildren(...[
    h("datalist", { id: "next-classes" }, app.info.classes.map((c) => h("option", { value: c.name }))),
    list("Accepted: type what was measured", accepted(app).map((d) => card(app, d.said, -1))),
    list("Suggested, the best first", fresh.map((x) => card(app, x, answer.batch.indexOf(x)))),
    !answer.batch.length && h("p", { class: "empty" }, "Nothing is left to suggest within these limits."),
  ].flat().filter(Boolean));
  if (focus) $("next-cards").querySelector(`[aria-label="${CSS.escape(focus)}"]`)?.focus();
  head(app);
}

function head(app) {
  const taken = accepted(app);
  const known = measured(app);
  const rejected = Object.values(decisions(app)).filter((d) => d.ok === false).length;
  const facts = [`of ${count(answer.pool, "graph")}`, answer.measured && `${answer.measured} equal to measured ones`,
    answer.limited - taken.length - rejected > 0 && `${answer.limited - taken.length - rejected} beyond the limits`,
    answer.best !== null && `best so far ${number(answer.best, 3)}, as predicted`].filter(Boolean);
  $("next-head").replaceChildren(h("b", {}, `${answer.batch.length} suggested`), h("span", { class: "muted" }, facts.join(" · ")),
    h("span", { class: "grow" }),
    rejected > 0 ? h("button", { class: "quiet", onclick: () => restore(app) }, `Take back ${rejected} rejected`) : "",
    h("button", { class: "quiet", onclick: () => accept(app) }, "Accept all"),
    h("button", { class: "quiet", id: "next-export", onclick: () => exportCsv(app) }, taken.length ? `Export ${taken.length} accepted` : "Export CSV"),
    h("button", { class: "primary", disabled: !known.length, onclick: () => learn(app).catch(app.fail) }, known.length ? `Learn from ${count(known.length, "value")}` : "Learn from values"));
}

function restore(app) {
  const all = decisions(app);
  for (const [i, d] of Object.entries(all)) if (d.ok === false) delete all[i];
  keep(app.info.source);
  suggest(app, true).catch(app.fail);
}

function accept(app) {
  for (const x of answer.batch) decisions(app)[x.index] ??= { ok: true, said: x };
  keep(app.info.source);
  show(app);
}

// exportCsv saves what was accepted or, before that, all suggestions.
function exportCsv(app) {
  const { info, source } = app;
  const list = accepted(app).length ? accepted(app).map((d) => [d.said, d.value ?? ""]) : answer.batch.map((x) => [x, ""]);
  const rows = list.map(([x, value]) => [x.id, x.smiles, ...(info.task === "classification" ? [x.class, x.probability] : [x.value, x.deviation, x.interval?.low, x.interval?.high]),
    x.gain, because(app, x), source.ids[x.nearest] ?? "", x.similarity, value]);
  const said = info.task === "classification" ? ["class", "probability"] : ["predicted", "deviation", "low 90 %", "high 90 %"];
  save(new Blob([csv([["id", "smiles", ...said, "gain", "why", "nearest", "similarity", info.target_name], ...rows])], { type: "text/csv" }), `${info.name}-next.csv`);
}

// learn makes the measured values part of the data: a new model learns from all of them.
async function learn(app) {
  const { info, state } = app;
  const list = Object.entries(decisions(app)).filter(([, d]) => d.ok && d.value);
  const wrong = list.find(([, d]) => info.task === "regression" && !Number.isFinite(Number(d.value.replace("−", "-").replace(",", "."))));
  if (wrong) throw new Error(`${wrong[1].said.id}: “${wrong[1].value}” is not a number.`);
  const values = list.map(([i, d]) => ({ index: Number(i), target: info.task === "regression" ? d.value.replace("−", "-").replace(",", ".") : d.value, said: d.said }));
  const wish = want(app);
  const made = await post("derive", { name: info.name, ...(wish.pool && { batch: wish.pool }),
    measured: values.map(({ index, target }) => ({ index, target })), ...chosen() });
  begin(app, made.source, values, wish);
  const open = Object.fromEntries(Object.entries(decisions(app)).filter(([, d]) => !(d.ok && d.value)));
  keep(made.source, { decisions: { [made.batch]: open }, notes: keptOf(info.source).notes });
  const batch = made.batch || null;
  await app.use(made.source, { view: "next", kernel: state.kernel, batch, next: { ...wish, pool: made.batch } });
  toast(`${count(values.length, "value")} added. The model learns from ${count(app.source.targets.filter(Boolean).length, "graph")} now.`);
  app.gone(made.gone);
}
