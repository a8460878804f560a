// What to measure next: suggestions as cards and on the map, to accept or to reject, and the values that were measured.

import { $, count, endsOf, extent, fixed, h, hidden, number, percent, save, signed, toast, whole, withDeviation } from "./dom.js";
import { get, post, stopped } from "./api.js";
import { chosen, write } from "./state.js";
import { structure } from "./structure.js";
import { goalForm, goalOf, usual, wanted } from "./goal.js";
import { keep, keptOf } from "./kept.js";
import { begin, roundsOf } from "./rounds.js";
import { csv } from "./csv.js";

let answer = null; // of the API,
let of = null; // and what was asked last
let job = null;
let turns = 0; // of the view, of which the last counts

const want = (app) => ({ ...usual, ...app.state.next });

const several = (app) => want(app).others.length > 0;

// decisions of a collection by pool and position: {ok: true or false, value: as it was measured, others: values by columns}.
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
  if (app.state.loading) return;
  if (without || !info) return $("next-cards").replaceChildren(h("p", { class: "empty" }, without ?? ""));
  const others = info.task === "regression" ? want(app).others.filter((w) => info.columns.some((c) => c.name === w.name && c.range.length)) : [];
  const turn = ++turns;
  const columns = others.length ? await Promise.all(others.map((w) => app.column(w.name))) : [];
  if (turn !== turns || app.info !== info) return;
  const unmeasured = source.targets.filter((t, i) => !t || columns.some((c) => c[i] === null || c[i] === "")).length; // of some wanted target
  const pools = [unmeasured && ["", `${whole(unmeasured)} unmeasured`],
    app.state.batch && [app.state.batch, "from Many"]].filter(Boolean);
  const wish = { ...want(app), others };
  if (!pools.some(([name]) => name === wish.pool)) wish.pool = pools[0]?.[0] ?? "";
  app.state.next = wish;
  const largest = extent(source.nodes)[1];
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
  const rounds = JSON.stringify([info.source, keptOf(info.source).rounds]);
  if ($("next-rounds").dataset.of !== rounds) $("next-rounds").replaceChildren(...roundsOf(app));
  $("next-rounds").dataset.of = rounds;
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
  const about = { source: app.info.source, pool: wish.pool, key: JSON.stringify([app.info.source, app.state.kernel, wish]) };
  if (of?.key === about.key && !anew) return of.done && show(app); // else it is on its way
  if (of?.source !== about.source || of.pool !== about.pool) {
    answer = null;
    $("next-cards").replaceChildren();
  }
  of = about;
  job?.abort();
  job = new AbortController();
  $("next-head").replaceChildren(h("b", {}, "Looking for the best …"));
  try {
    const without = Object.entries(decisions(app)).filter(([, d]) => d.ok !== undefined).map(([i]) => Number(i));
    const found = await post("suggest", { ...goalOf(wish, app.info), ...(wish.pool && { batch: wish.pool }), without, ...chosen() }, job.signal);
    if (of !== about) return;
    answer = found;
    of.done = true;
  } catch (e) {
    if (of !== about) return;
    of = answer = null;
    if (stopped(e)) {
      $("next-cards").replaceChildren();
      return $("next-head").replaceChildren(h("b", {}, "Cancelled."), h("button", { onclick: () => suggest(app).catch(app.fail) }, "Try again"));
    }
    $("next-head").replaceChildren();
    return $("next-cards").replaceChildren(h("p", { class: "empty error" }, e.message));
  }
  show(app);
  app.marks();
}

// because says in words why a graph was taken.
function because(app, x) {
  const goal = answer.goal;
  if (x.targets.length) {
    const [first, ...rest] = x.why.split(", ");
    const limits = x.probability === null ? "" : ` All limits hold with ${percent(x.probability, 0)}.`;
    return `${first === "good" ? "Its predictions are better together than all that is measured, or hit" : "It may be better than all that is measured"}.${limits}${
      x.front ? " None here is better in one target and as good in the others." : ""}${rest.includes("new") ? " No measured graph is like it." : ""}`;
  }
  const range = goal.includes(":");
  const classes = app.info.task === "classification";
  const good = classes ? `${x.class || goal} is its most probable class` : range ? "Its prediction is in the range" : "Its prediction is better than that of all measured graphs";
  const maybe = classes ? (want(app).class ? "It may be of the class" : "Its class is uncertain") : goal === "learn" ? "Its value is uncertain, so a measurement tells much"
    : range ? "Its value may be in the range" : "It may be better than all measured graphs";
  const [first, ...rest] = x.why.split(", ");
  return `${first === "good" ? good : maybe}.${rest.includes("new") ? " No measured graph is like it." : ""}`;
}

// interval shows that of a prediction, if there is one.
const interval = (x) => x.interval && h("span", { class: "muted" }, `${percent(x.interval.level, 0)}: ${endsOf(x).join(" to ")}`);

// card shows a suggestion, or a graph that was accepted.
function card(app, x, k) {
  const { info, source } = app;
  const d = decisions(app)[x.index] ?? {};
  const set = (ok) => decide(app, x, { ...d, ok: d.ok === ok ? undefined : ok });
  const said = info.task === "classification" ? [h("b", {}, `${want(app).class || x.class} ${percent(x.probability, 0)}`)]
    : (x.targets?.length ? x.targets : [{ ...x, target: info.target_name }]).flatMap((t) => [h("b", {}, `${t.target} ${withDeviation(t)}`), interval(t)]);
  const facts = [...said,
    h("span", {}, because(app, x)),
    x.nearest >= 0 && h("span", { class: "muted" }, `Nearest: ${source.ids[x.nearest]}, ${signed(source.targets[x.nearest] ?? "")}, similarity ${fixed(x.similarity, 2)}`)];
  const input = (name, value, write) => h("label", { class: "measured" }, `Measured ${name}`, h("input", { value: value ?? "", inputmode: info.task === "regression" ? "decimal" : null,
    list: info.task === "classification" ? "next-classes" : null, "aria-label": `Measured ${name} of ${x.id}`,
    oninput: (e) => {
      decisions(app)[x.index] = { ...decisions(app)[x.index], ok: true, said: x, ...write(e.target.value.trim()) };
      keep(info.source);
      head(app);
    } }));
  const value = d.ok && wanted(want(app), info).map((name, j) => (j === 0 ? input(name, d.value, (v) => ({ value: v }))
    : input(name, d.others?.[name], (v) => ({ others: { ...decisions(app)[x.index]?.others, [name]: v } }))));
  return h("li", { class: `group suggestion ${d.ok ? "accepted" : ""}`, "data-graph": x.index, id: `suggestion-${k}` },
    h("button", { class: "open", onclick: () => open(app, x).catch(app.fail) }, hidden(`Open ${x.id}`), structure(() => drawn(app, x.index))),
    h("span", { class: "facts" }, h("span", { class: "row" }, k >= 0 && h("span", { class: "rank" }, String(k + 1)), h("b", { class: "cut" }, x.id)), facts.filter(Boolean)),
    value || "", h("span", { class: "row" },
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
const typed = (d) => Boolean(d.value || Object.values(d.others ?? {}).some(Boolean));
const measured = (app) => accepted(app).filter(typed);

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
  const list = accepted(app).length ? accepted(app).map((d) => [d.said, d]) : answer.batch.map((x) => [x, {}]);
  const values = (x) => [x.value, x.deviation, x.interval?.low, x.interval?.high];
  const names = several(app) ? wanted(want(app), info) : null;
  const rows = list.map(([x, d]) => [x.id, x.smiles, ...(info.task === "classification" ? [x.class, x.probability]
    : names ? names.flatMap((name) => values(x.targets?.find((t) => t.target === name) ?? {})) : values(x)),
    x.gain, because(app, x), source.ids[x.nearest] ?? "", x.similarity, d.value ?? "", ...want(app).others.map((w) => d.others?.[w.name] ?? "")]);
  const columns = ["predicted", "deviation", "low 90 %", "high 90 %"];
  const said = info.task === "classification" ? ["class", "probability"] : names ? names.flatMap((name) => columns.map((c) => `${name} ${c}`)) : columns;
  save(new Blob([csv([["id", "smiles", ...said, "gain", "why", "nearest", "similarity", ...wanted(want(app), info)], ...rows])], { type: "text/csv" }), `${info.name}-next.csv`);
}

// learn makes the measured values part of the data: a new model learns from all of them.
async function learn(app) {
  const { info, state } = app;
  const list = Object.entries(decisions(app)).filter(([, d]) => d.ok && typed(d));
  const text = (d, v) => {
    const number = v.replace("−", "-").replace(",", ".");
    if (info.task === "regression" && v && !Number.isFinite(Number(number))) throw new Error(`${d.said.id}: “${v}” is not a number.`);
    return info.task === "regression" ? number : v;
  };
  const values = list.map(([i, d]) => ({ index: Number(i), target: text(d, d.value ?? ""), said: d.said,
    others: Object.entries(d.others ?? {}).filter(([, v]) => v).map(([column, v]) => ({ column, value: text(d, v) })) }));
  const wish = want(app);
  const made = await post("derive", { name: info.name, ...(wish.pool && { batch: wish.pool }),
    measured: values.map(({ index, target, others }) => ({ index, target, others })), ...chosen() });
  begin(app, made.source, values.filter((v) => v.target), wish);
  const open = Object.fromEntries(Object.entries(decisions(app)).filter(([, d]) => !(d.ok && typed(d))));
  keep(made.source, { decisions: { [made.batch]: open }, notes: keptOf(info.source).notes });
  const batch = made.batch || null;
  await app.use(made.source, { view: "next", kernel: state.kernel, batch, next: { ...wish, pool: made.batch } });
  toast(`${count(values.length, "value")} added. The model learns from ${count(app.source.targets.filter(Boolean).length, "graph")} now.`);
  app.gone(made.gone);
}
