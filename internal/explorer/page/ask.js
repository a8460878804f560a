// Questions: molecules that are pasted and files that are dropped.

import { $, h, showError } from "./dom.js";

const mostFromFile = 20;
const mostBytes = 3e6;

// askPanel connects the form; app has ask(list), open(ref), forget(i), post.
export function askPanel(app) {
  const form = $("ask-form");
  const input = $("ask-text");
  const error = $("ask-error");

  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    const list = input.value.trim().split(/\s+/).filter(Boolean).map((smiles) => ({ smiles }));
    showError(error, null);
    input.removeAttribute("aria-invalid");
    if (!list.length) return;
    try {
      await app.ask(list);
      input.value = "";
    } catch (err) {
      if (err.name === "AbortError") return;
      showError(error, err);
      input.setAttribute("aria-invalid", "true");
      input.focus();
    }
  });

  const take = async (file) => {
    showError(error, null);
    try {
      if (file.size > mostBytes) throw new Error(`${file.name} has ${(file.size / 1e6).toFixed(1)} MB, want at most ${mostBytes / 1e6}`);
      const answer = await app.post("read", { name: file.name, text: await file.text() });
      await app.ask(answer.graphs.slice(0, mostFromFile).map((graph) => ({ graph })));
      if (answer.graphs.length > mostFromFile) showError(error, new Error(`${answer.graphs.length} graphs in ${file.name}; the first ${mostFromFile} are shown.`));
    } catch (err) {
      if (err.name !== "AbortError") showError(error, err);
    }
  };
  $("ask-file").addEventListener("change", (e) => {
    if (e.target.files[0]) take(e.target.files[0]);
    e.target.value = "";
  });

  const drop = form.querySelector(".drop");
  addEventListener("dragover", (e) => {
    e.preventDefault();
    drop.classList.add("over");
  });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (e) => {
    e.preventDefault();
    drop.classList.remove("over");
    const file = e.dataTransfer.files[0];
    const text = e.dataTransfer.getData("text/plain").trim();
    if (file) take(file);
    else if (text) {
      input.value = text;
      form.requestSubmit();
    }
  });
}

// showAsked lists what was asked, with what was said.
export function showAsked(app) {
  $("asked").replaceChildren(...app.state.asked.map((a, i) => {
    const p = a.prediction;
    const name = a.smiles ?? a.graph.id ?? p?.id ?? String(i + 1);
    const said = p ? p.class ?? (p.value === null ? "placed" : Number(p.value.toPrecision(4)).toString()) : "…";
    return h("li", { class: app.state.open === `a${i}` ? "open" : "" },
      h("button", { onclick: () => app.open(`a${i}`) }, said, p?.unlike && h("span", { class: "warn" }, " · unlike the rest"),
        h("span", { class: "name" }, name)),
      h("button", { class: "quiet", "aria-label": `Forget ${name}`, onclick: () => app.forget(i) }, "✕"));
  }));
}
