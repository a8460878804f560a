// A session is one file: the data, the model, and what the page shows and keeps of them. It opens as it was.

import { $, count, h, toast } from "./dom.js";
import { download, sendFile } from "./api.js";
import { chosen, write } from "./state.js";
import { keep, keptOf } from "./kept.js";

const begins = '{"mlg session":';

// isSession reports whether a file is a session.
export const isSession = async (file) => (await file.slice(0, begins.length).text()) === begins;

// saveSession saves the session of the page.
export async function saveSession(app) {
  const { state, info } = app;
  write();
  const page = { hash: location.hash, picked: state.picked, why: app.why ?? "", asked: state.asked.map((a) => (a.smiles ? { smiles: a.smiles } : { graph: a.graph })),
    batch: state.batch, kept: keptOf(info.source) };
  await download("session", `${info.name}-session.json`, {}, { page: JSON.stringify(page), ...(state.batch && { batch: state.batch }), ...chosen() });
}

// openSession opens a file of a session.
export async function openSession(app, file) {
  const found = await sendFile("open", file, {});
  let page = {};
  try {
    page = JSON.parse(found.page);
  } catch {
    // made by another program: the data alone
  }
  const here = (text) => (page.batch ? text.replaceAll(page.batch, found.batch) : text);
  const q = new URLSearchParams(here(page.hash ?? "").slice(1));
  q.set("source", found.source);
  if (!found.batch) q.delete("batch");
  const kept = JSON.parse(here(JSON.stringify(page.kept ?? {})));
  keep(found.source, { ...kept, notes: { ...keptOf(found.source).notes, ...kept.notes } });
  history.pushState(null, "", `${location.pathname}#${q}`);
  await app.load();
  const { state } = app;
  if (page.picked?.length && page.picked.length !== state.picked.length) app.pick(page.picked, state.view, page.why); // too long for a link
  else if (page.why) app.pick(state.picked, state.view, page.why);
  if ((page.asked?.length ?? 0) > state.asked.length) await app.ask(page.asked);
  toast(`${found.name} is open as it was: ${count(found.graphs, "graph")}.`);
  app.gone(found.gone);
}

// sessionDialog connects the button.
export function sessionDialog(app) {
  const dialog = $("session");
  const close = () => dialog.close();
  const run = (what) => async () => {
    close();
    await what(app).catch(app.fail);
  };
  $("session-button").addEventListener("click", () => {
    const { notes } = keptOf(app.info.source);
    const input = h("input", { type: "file", id: "session-file", class: "visually-hidden", accept: ".json", onchange: (e) => {
      close();
      if (e.target.files[0]) app.receive(e.target.files[0]);
    } });
    dialog.replaceChildren(h("h2", { id: "session-title" }, "Keep your work"),
      h("label", { for: "session-notes" }, `Notes on ${app.info.name}`),
      h("textarea", { id: "session-notes", rows: 5, oninput: (e) => {
        notes[""] = e.target.value;
        keep(app.info.source);
      } }, notes[""] ?? ""),
      h("div", { class: "choices" },
        h("button", { class: "primary", onclick: run(saveSession) }, h("b", {}, "Save the session"),
          h("span", {}, "One file with data, model, selection, filters, notes and decisions. It opens here or on another machine.")),
        h("label", { class: "choice" }, h("b", {}, "Open a session"), h("span", {}, "Or drop the file on the page."), input),
        h("button", { onclick: run(app.report) }, h("b", {}, "Save a report"),
          h("span", {}, "One HTML file with the map, the figures, the selected graphs and your notes."))),
      h("div", { class: "row end" }, h("button", { onclick: close }, "Close")));
    dialog.showModal();
  });
}
