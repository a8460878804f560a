// One's own data: a file becomes the map, or questions to the present one.

import { $, count, h, number, toast, whole } from "./dom.js";
import { cancel, post, sendFile, stopped } from "./api.js";

import { isSession, openSession } from "./session.js";

const mostQuestions = 20;
const smallFile = 3e6; // bytes of a file that may be questions

// What may be compared of atoms beside their elements: name for the API, and whether it is by default.
const features = [
  ["atom_aromatic", false, "aromaticity", "tells benzene from cyclohexane"],
  ["atom_charge", true, "charge", "tells N⁺ from N"], ["atom_hydrogens", false, "hydrogens", "tells CH₃ from CH₂"],
];

// ownData connects drop, button and dialog. app has ask(list) and use(source).
export function ownData(app) {
  const [dialog, input] = [$("data"), $("own-file")];
  const choose = () => input.click();
  $("own").addEventListener("click", choose);
  $("drop").addEventListener("click", choose);
  input.addEventListener("change", () => {
    if (input.files[0]) receive(app, input.files[0]);
    input.value = "";
  });
  let depth = 0; // dragenter and dragleave come for every element
  const over = (on) => document.body.classList.toggle("dropping", on);
  const files = (e) => e.dataTransfer.types.includes("Files");
  addEventListener("dragenter", (e) => files(e) && over(++depth > 0));
  addEventListener("dragleave", (e) => files(e) && over(--depth > 0));
  addEventListener("dragover", (e) => e.preventDefault());
  addEventListener("drop", (e) => {
    e.preventDefault();
    over((depth = 0) > 0);
    const file = e.dataTransfer.files[0];
    const text = e.dataTransfer.getData("text/plain").trim();
    if (file) receive(app, file);
    else if (text) {
      $("ask-text").value = text;
      $("ask-form").requestSubmit();
    }
  });
  dialog.addEventListener("cancel", close);
}

// receive asks what a file is for.
export async function receive(app, file) {
  if (await isSession(file)) return openSession(app, file).catch(app.fail);
  const { upload_bytes: most } = app.info.limits;
  if (file.size > most) return fill(app, file, refusal(`${file.name} has ${size(file.size)}. A file may have at most ${size(most)}.`));
  if (file.size > smallFile) return check(app, file, {});
  fill(app, file, [
    h("p", {}, `What do you want to do with ${file.name} (${size(file.size)})?`),
    h("div", { class: "choices" },
      h("button", { class: "primary", autofocus: true, onclick: () => check(app, file, {}) }, h("b", {}, "Make a new map"),
        h("span", {}, "Its graphs replace the graphs on the page.")),
      h("button", { onclick: () => ask(app, file) }, h("b", {}, "Ask about its graphs"),
        h("span", {}, `Up to ${mostQuestions} of its graphs are placed on the map of ${app.info.name}.`)),
      h("button", { onclick: () => many(app, file) }, h("b", {}, "Predict all of its graphs"),
        h("span", {}, "Up to 10,000 graphs become a table with predictions."))),
  ]);
}

const size = (bytes) => (bytes < 1e6 ? `${number(bytes / 1e3, 2)} kB` : `${number(bytes / 1e6, 3)} MB`);

const refusal = (text) => [h("p", { class: "error", role: "alert" }, text)];

function fill(app, file, content, buttons = []) {
  const dialog = $("data");
  const focus = dialog.contains(document.activeElement) && document.activeElement.id;
  dialog.replaceChildren(h("h2", { id: "data-title" }, file.name), ...content,
    $("work"), // above the dialog nothing else can be pressed
    h("div", { class: "row end" }, h("button", { onclick: close }, "Cancel"), ...buttons));
  if (!dialog.open) dialog.showModal();
  else if (focus) $(focus)?.focus();
}

// close closes the dialog, and stops what it has begun.
function close() {
  if (reading) cancel();
  $("data").close();
  document.body.append($("work"));
  $("data").replaceChildren();
}

let reading = false; // the server is

let here = {}; // the file that the server has, and its name there

// send sends a file with choices, or the choices alone where the server has the file.
async function send(file, choices) {
  reading = true;
  try {
    if (here.file === file) {
      try {
        return await sendFile("upload", new File([], file.name), { ...choices, file: here.name });
      } catch (e) {
        if (e.field !== "file") throw e;
      }
    }
    const report = await sendFile("upload", file, choices);
    here = { file, name: report.file };
    return report;
  } finally {
    reading = false;
  }
}

// ask makes the graphs of a file questions.
async function ask(app, file) {
  try {
    const answer = await post("read", { name: file.name, text: await file.text() });
    await app.ask(answer.graphs.slice(0, mostQuestions).map((graph) => ({ graph })));
    close();
    const all = answer.graphs.length;
    const notes = [...answer.warnings];
    if (all > mostQuestions) notes.push(`${file.name} has ${all} graphs. Only the first ${mostQuestions} are shown.`);
    if (notes.length) toast(notes.map((n) => (n.endsWith(".") ? n : `${n}.`)).join(" "));
  } catch (e) {
    if (!stopped(e)) fill(app, file, refusal(e.message));
  }
}

// many has the graphs of a file predicted.
async function many(app, file) {
  try {
    await app.predictMany(file);
    close();
  } catch (e) {
    if (stopped(e)) return close();
    fill(app, file, refusal(e.message));
  }
}

// check has the server read a file with the choices made so far, and shows what it found.
async function check(app, file, choices) {
  fill(app, file, [h("p", { class: "muted" }, "Reading …")]);
  try {
    const report = await send(file, { ...choices, check: true });
    fill(app, file, reportOf(report, choices, (more) => check(app, file, { ...choices, ...more })),
      [h("button", { class: "primary", onclick: () => use(app, file, choices) }, "Show the map")]);
  } catch (e) {
    if (stopped(e)) return close();
    fill(app, file, refusal(e.message));
  }
}

// use makes a file the map.
async function use(app, file, choices) {
  try {
    const report = await send(file, choices);
    close();
    await app.use(report.source);
    app.gone(report.gone);
    toast(`${count(report.graphs, "graph")} from ${file.name}${report.skipped ? `, ${count(report.skipped, "row")} skipped` : ""}.`);
  } catch (e) {
    if (stopped(e)) return close();
    fill(app, file, refusal(e.message));
  }
}

// reportOf shows what a file has: graphs, columns to choose from, rows that were skipped.
function reportOf(r, choices, again) {
  const [target, ...others] = [["target", "To predict"], ["id", "Name"], ["structure", "Structure"]];
  const option = (c) => h("option", { value: c.name }, `${c.name} (${c.samples.slice(0, 2).join(", ")} …)`);
  const select = ([role, text]) => {
    const id = `data-${role}`;
    const el = h("select", { id, onchange: (e) =>
      again({ [role]: e.target.value, ...(role === "target" && { task: undefined, target_name: undefined }) }) },
      role !== "structure" && h("option", { value: "" }, "–"), r.columns.map(option));
    el.value = r[role];
    return h("div", { class: "field" }, h("label", { for: id }, text), el);
  };
  const chosen = r.columns.find((c) => c.name === r.target);
  const molecules = ["csv", "tsv", "parquet", "smiles", "sdf"].includes(r.format);
  const parts = [
    h("p", {}, h("b", {}, count(r.graphs, "graph")), r.format === "auto" ? " read from files of several formats" : ` read as ${r.format}`, r.all > r.graphs && `, an even sample of the ${whole(r.all)} in the file`,
      r.task === "classification" ? ` in ${r.classes.length} classes` : ""),
    ...r.warnings.filter((w) => !r.skipped || !w.endsWith("cannot be read")).map((w) => h("p", { class: "note" }, w)), // listed below
    r.columns.length > 0 && h("div", { class: "fields" }, select(target), r.target && [taskOf(r.task, chosen?.numeric, chosen?.distinct, again),
      called(choices.target_name ?? r.target, (text) => (choices.target_name = text))],
      others.filter(([role]) => role !== "structure" || r.structure).map(select)),
    molecules && besideOf(r, again),
    molecules && h("fieldset", {}, h("legend", {}, `Compared: ${r.compared}. Compare also:`),
      features.map(([name, usual, text, why]) => h("label", {}, h("input", {
        type: "checkbox", name, checked: choices[name] ?? usual,
          onchange: (e) => again({ [name]: e.target.checked === usual ? undefined : !usual }),
      }), text, h("span", { class: "muted" }, ` ${why}`)))),
    ...(r.node_keys.length + r.edge_keys.length ? keysOf(r, choices, again) : []),
    r.format === "dot" && h("label", { class: "fragments" }, h("input", {
      type: "checkbox", name: "clusters", checked: choices.clusters === true,
      onchange: (e) => again({ clusters: e.target.checked || undefined }),
    }), "Every cluster is a graph", h("span", { class: "muted" }, " as compilers write functions")),
    ["edgelist", "jsonl"].includes(r.format) && h("label", { class: "fragments" }, h("input", {
      type: "checkbox", name: "directed", checked: choices.directed === true,
      onchange: (e) => again({ directed: e.target.checked || undefined }),
    }), "Edges are directed", h("span", { class: "muted" },
      r.format === "jsonl" ? " where the file does not say what they are" : " from the first vertex to the second")),
    (r.fragments > 0 || choices.largest_fragment) && h("label", { class: "fragments" }, h("input", {
      type: "checkbox", name: "largest_fragment", checked: choices.largest_fragment === true,
      onchange: (e) => again({ largest_fragment: e.target.checked || undefined }),
    }), "Keep only the largest fragment", h("span", { class: "muted" },
      r.fragments > 0 ? ` ${count(r.fragments, "molecule")} with several fragments, such as salts` : " of salts and mixtures")),
    rows(`${count(r.skipped, "row")} skipped`, r.skipped, r.skipped_rows),
    rows(`${count(r.unmeasured.count, "value")} not taken for a number`, r.unmeasured.count, r.unmeasured.first ?? []),
  ];
  return parts.filter(Boolean);
}

// besideOf chooses further columns that rows are compared by: structures, numbers and categories.
function besideOf(r, again) {
  const columns = r.columns.filter((c) => ![r.structure, r.target, r.id].includes(c.name) && ["structure", "number", "class"].includes(c.kind));
  if (!r.structure || !columns.length) return false;
  const change = (name, on) => {
    const chosen = columns.filter((c) => (c.name === name ? on : r.beside.includes(c.name)));
    const names = (structures) => chosen.filter((c) => (c.kind === "structure") === structures).map((c) => c.name);
    again({ structure: [r.structure, ...names(true)].join(","), with: names(false).join(",") || undefined });
  };
  return h("fieldset", {}, h("legend", {}, `Rows are compared by ${[r.structure, ...r.beside].join(", ")}. Compare also:`),
    columns.map((c) => h("label", {}, h("input", { type: "checkbox", name: `beside-${c.name}`, checked: r.beside.includes(c.name),
      onchange: (e) => change(c.name, e.target.checked) }), c.name, h("span", { class: "muted" }, ` ${c.kind === "structure" ? "structure" : c.numeric ? "number" : "category"}`))));
}

// taskOf chooses what a column is, where it has numbers; classes is the number of its values.
function taskOf(task, numeric, classes, again) {
  return numeric && h("div", { class: "field" }, h("label", { for: "data-task" }, "As"),
    h("select", { id: "data-task", onchange: (e) => again({ task: e.target.value }) },
      h("option", { value: "regression", selected: task === "regression" }, "a number"),
      h("option", { value: "classification", selected: task === "classification" }, classes ? `classes (${whole(classes)})` : "classes")));
}

// called asks what the targets are called; set(text) is called for another name.
const called = (name, set) => h("div", { class: "field" }, h("label", { for: "data-name" }, "Called, with its unit"),
  h("input", { id: "data-name", value: name, onchange: (e) => set(e.target.value.trim()) }));

// targetOpen says that a column of the page's data can become their target.
export const targetOpen = (info) => !info.saved && info.uploads && info.columns.length > 0;

// chooseTarget asks which column of the page's data is predicted. They become other data, and stay.
export async function chooseTarget(app, choices = {}) {
  const { info } = app;
  const numeric = info.columns.filter((c) => c.numeric);
  const open = info.task === "none";
  const column = choices.column ?? (open ? (numeric.length ? numeric : info.columns).at(-1).name : ""); // of several the last, which is where people write it
  const title = { name: open ? "Choose a target" : "Choose another target" };
  const again = (more) => chooseTarget(app, { ...choices, column, ...more });
  const select = h("select", { id: "data-target", onchange: (e) => again({ column: e.target.value, task: undefined, name: undefined }) },
    !open && h("option", { value: "" }, `${info.target_name} (now)`),
    info.columns.map((c) => h("option", { value: c.name }, `${c.name} (${c.numeric ? "numbers" : "texts"})`)));
  select.value = column;
  const field = h("div", { class: "field" }, h("label", { for: "data-target" }, "To predict"), select);
  try {
    const r = await post("target", { ...choices, column, check: true });
    fill(app, title, [
      h("p", {}, h("b", {}, `${count(r.graphs, "graph")} with a value`), r.task === "classification" ? ` in ${r.classes.length} classes` : ""),
      ...r.warnings.map((w) => h("p", { class: "note" }, w)),
      h("div", { class: "fields" }, field, taskOf(r.task, r.numeric, 0, again), called(choices.name ?? (column || info.target_name), (text) => (choices.name = text))),
      rows(`${count(r.unmeasured.count, "value")} not taken for a number`, r.unmeasured.count, r.unmeasured.first ?? []),
    ].filter(Boolean), [h("button", { class: "primary", disabled: r.task === "none", onclick: async () => {
      try {
        const made = await post("target", { ...choices, column });
        close();
        await app.use(made.source, { view: "predictions" });
        app.gone(made.gone);
      } catch (e) {
        fill(app, title, refusal(e.message));
      }
    } }, "Learn it")]);
  } catch (e) {
    fill(app, title, [h("div", { class: "fields" }, field), ...refusal(e.message)]);
  }
}

// keysOf lets the keys of data be the label, the attributes and the weight.
function keysOf(r, choices, again) {
  const field = (name, text, keys, usual) => {
    const el = h("select", { id: `data-${name}`, onchange: (e) => again({ [name]: e.target.value || undefined }) },
      usual.map(([value, shown]) => h("option", { value }, shown)), keys.map((key) => h("option", { value: key }, key)));
    el.value = choices[name] ?? "";
    return h("div", { class: "field" }, h("label", { for: el.id }, text), el);
  };
  const text = (name, label, hint) => h("div", { class: "field" }, h("label", { for: `data-${name}` }, label),
    h("input", { id: `data-${name}`, value: choices[name] ?? "", placeholder: hint, onchange: (e) => again({ [name]: e.target.value.trim() || undefined }) }));
  const nothing = [["", "by usual names"], ["none", "none"]];
  return [h("p", { class: "muted" }, `Compared: ${r.compared}.`), h("div", { class: "fields" },
    field("node_label", "Label of nodes", r.node_keys, nothing),
    text("attributes", "Attributes of nodes", "all numbers"),
    field("edge_label", "Label of edges", r.edge_keys, nothing),
    field("edge_weight", "Weight of edges", r.edge_keys.filter((key) => key !== "weight"), [["", "weight, if there"], ["unit", "1"]]),
    r.edge_keys.length > 0 && text("edge_attributes", "Attributes of edges", "none"))];
}

// rows lists the first of some rows of the file, each with its line and what is wrong.
function rows(title, number, first) {
  return number > 0 && h("details", { class: "skipped", open: number <= 5 }, h("summary", {}, title),
    h("ul", {}, first.map((s) => h("li", {}, s.line > 0 && h("b", {}, `line ${s.line}`), ` ${s.reason}`)),
      number > first.length && h("li", { class: "muted" }, `and ${whole(number - first.length)} more`)));
}

// Remarks are gone once something else is pressed.
addEventListener("pointerdown", (e) => {
  if (!e.target.closest("#remarks")) $("remarks").open = false;
});

// remarks shows what there is to say of the data of the page.
export function remarks(info) {
  const { skipped, unmeasured } = info;
  const warnings = info.warnings.filter((w) => !skipped.count || !w.endsWith("cannot be read")); // listed below
  const number = warnings.length + (skipped.count > 0) + (unmeasured.count > 0);
  $("remarks").hidden = number === 0;
  $("remarks").open = false;
  $("remarks").replaceChildren(...(number === 0 ? [] : [h("summary", {}, `${count(number, "remark")} on the data`),
    h("div", { class: "popup" }, warnings.map((w) => h("p", { class: "small" }, w)),
      rows(`${count(skipped.count, "row")} cannot be read`, skipped.count, skipped.first ?? []),
      rows(`${count(unmeasured.count, "value")} not taken for a number`, unmeasured.count, unmeasured.first ?? []))]));
}

// sourceChoice lists the data to choose from; choose(id) is called for another.
export function sourceChoice(sources, current, choose) {
  $("source").hidden = sources.length < 2;
  $("source").replaceChildren(...sources.map((s) =>
    h("option", { value: s.id, selected: s.id === current }, `${s.name} (${whole(s.graphs)})`)));
  $("source").onchange = (e) => choose(e.target.value);
}
