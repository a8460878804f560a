// Questions: molecules that are typed, examples, and what was said.

import { $, extent, h, showError, withDeviation } from "./dom.js";
import { stopped } from "./api.js";

// Molecules to try.
const molecules = [
  ["aspirin", "CC(=O)Oc1ccccc1C(=O)O"], ["caffeine", "CN1C=NC2=C1C(=O)N(C)C(=O)N2C"],
  ["nicotine", "CN1CCCC1c1cccnc1"], ["glucose", "OCC1OC(O)C(O)C(O)C1O"],
];

// askPanel connects the form; app has ask(list).
export function askPanel(app) {
  const [form, input, error] = [$("ask-form"), $("ask-text"), $("ask-error")];
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const text = input.value.trim();
    const list = (app.info.parts.length ? [text] : text.split(/\s+/)).filter(Boolean).map((smiles) => ({ smiles }));
    showError(error, null);
    input.removeAttribute("aria-invalid");
    if (!list.length) return;
    try {
      await app.ask(list);
      input.value = "";
    } catch (err) {
      if (stopped(err)) return;
      showError(error, err);
      input.setAttribute("aria-invalid", "true");
      input.focus();
    }
  });
}

// showExamples offers things to try, as they suit the data.
export function showExamples(app) {
  const { info, source } = app;
  const chip = (text, run) => h("li", {}, h("button", { class: "chip-button", onclick: run }, text));
  const out = [];
  if (info.molecules && !info.parts.length) for (const [name, smiles] of molecules) out.push(chip(name, () => app.ask([{ smiles }]).catch(app.fail)));
  if (info.graphs > 1) {
    out.push(chip("the largest", () => app.open(String(source.nodes.indexOf(extent(source.nodes)[1])))));
    out.push(chip("two that are alike", () => app.alike().catch(app.fail)));
  }
  if (info.color_by.includes("error")) out.push(chip("prediction errors", () => app.colorBy("error")));
  $("examples").replaceChildren(...(out.length ? [h("li", { class: "muted small" }, "Try"), ...out] : []));
  $("ask-row").hidden = !info.molecules;
  $("ask-label").textContent = info.parts.length ? `Where does a row lie on the map? Type ${info.parts.join("; ")}:` : info.molecules ? "Where does a molecule lie on the map? Type its SMILES:"
    : "Where does a graph lie on the map? Drop a file with the graph.";
  $("ask-text").placeholder = info.parts.length ? info.parts.join("; ") : "CC(=O)Oc1ccccc1C(=O)O";
}

// showAsked lists what was asked, with what was said, or why nothing could be.
export function showAsked(app) {
  $("asked").replaceChildren(...app.state.asked.map((a, i) => {
    const p = a.prediction;
    const name = a.smiles ?? a.graph.id ?? p?.id ?? String(i + 1);
    const said = a.error ? h("span", { class: "no" }, a.error.message) : !p ? "…" : p.class ??
      (p.value === null ? "placed" : withDeviation(p));
    return h("li", { class: [app.state.open === `a${i}` && "open", a.error && "failed"].filter(Boolean).join(" ") },
      h("button", { onclick: () => (a.error ? ($("ask-text").value = name) : app.open(`a${i}`)) },
        a.further && Object.keys(a.further).length > 0 && h("span", { class: "muted" }, `${app.info.target_name} `), said, Object.entries(a.further ?? {}).map(([endpoint, text]) => h("span", { class: "muted" }, ` · ${endpoint} ${text}`)), p?.unlike && h("span", { class: "warn" }, " · unlike the graphs here"), h("span", { class: "name" }, name)),
      h("button", { class: "quiet", "aria-label": `Remove ${name}`, onclick: () => app.forget(i) }, "✕"));
  }));
}
