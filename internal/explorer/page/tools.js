// The menu of downloads and the search.

import { $, count, h, showError } from "./dom.js";
import { download, get } from "./api.js";
import { colorQuery } from "./legend.js";
import { chosen } from "./state.js";

// downloads fills the menu with what the page shows.
export function downloads(app) {
  const { state } = app;
  const p = chosen();
  const look = { ...p, layout: state.layout, ...colorQuery(state.color, "color") };
  const item = (text, kind, file, values = p) => h("li", {}, h("button", {
    "data-file": file, onclick: () => download(`download/${file}`, file, values).catch(app.fail),
  }, text, h("span", { class: "muted" }, kind)));
  const ref = state.open;
  const drawn = ref !== null && (ref[0] === "a" ? "smiles" in app.reference(ref) : true);
  const graph = drawn && { ...p, ...app.reference(ref), ...(state.slopes && { slopes: true }) };
  $("download-menu").replaceChildren(...[
    item("Map", "SVG", "map.svg", look), item("Map", "PNG", "map.png", look), item("Matrix", "SVG", "matrix.svg"),
      item("Matrix", "PNG", "matrix.png"),
    graph && item("Open graph", "SVG", "graph.svg", graph), graph && item("Open graph", "PNG", "graph.png", graph),
    item("Table of graphs", "CSV", "table.csv"), item("Gram matrix", "CSV", "gram.csv"), item("Model", "MLG", "model.mlg"),
    h("li", {}, h("a", { href: "/docs", target: "_blank" }, "API", h("span", { class: "muted" }, "page"))),
  ].filter(Boolean));
}

// menu opens and closes the downloads.
export function menu() {
  const [button, list] = [$("download-button"), $("download-menu")];
  const show = (on) => {
    list.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    if (on) list.querySelector("a, button").focus();
  };
  button.addEventListener("click", () => show(list.hidden));
  list.addEventListener("click", () => show(false));
  list.addEventListener("keydown", (e) => {
    const all = [...list.querySelectorAll("a, button")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) {
      e.preventDefault();
      all[(all.indexOf(document.activeElement) + step + all.length) % all.length].focus();
    } else if (e.key === "Escape") {
      show(false);
      button.focus();
    }
  });
  addEventListener("pointerdown", (e) => {
    if (!list.hidden && !e.target.closest(".menu")) show(false);
  });
}

const mostNames = 8;
const mostFound = 20000; // that the API tells

// candidates returns what a text may mean: graphs by name, all of these, classes, and a part of molecules. Each has its
// text, what stands beside it, and run(), which shows it.
function candidates(app, text) {
  const { ids, targets } = app.source;
  const has = (name) => name.toLowerCase().includes(text.toLowerCase());
  const first = (i) => ids[i].toLowerCase().startsWith(text.toLowerCase());
  const named = [...ids.keys()].filter((i) => has(ids[i]));
  const best = named.slice(0, 2000).sort((a, b) => first(b) - first(a)).slice(0, mostNames);
  const out = best.map((i) => ({ text: ids[i], beside: targets[i] ?? "", run: () => app.open(String(i)) }));
  if (named.length > 1) out.push({ text: `Select all named “${text}”`, beside: count(named.length, "graph"),
    run: () => app.pick(named, "map") });
  app.info.classes.forEach((c, k) => {
    if (out.length < mostNames + 5 && has(c.name)) {
      const of = [...ids.keys()].filter((i) => app.source.class[i] === k);
      out.push({ text: `Class ${c.name}`, beside: count(c.count, "graph"), run: () => app.pick(of, "map") });
    }
  });
  if (app.info.fragments && /^[A-Za-z0-9@+\-[\]()=#$:.%/\\*~]+$/.test(text)) {
    out.push({ text: `Molecules that contain ${text}`, beside: "SMILES", run: () => fragment(app, text) });
  }
  return out;
}

// fragment selects the molecules that contain one.
async function fragment(app, smiles) {
  const found = await get("find", { smiles, limit: Math.min(app.info.graphs, mostFound) });
  if (!found.index.length) throw new Error(`No molecule here contains ${smiles}.`);
  app.matched = new Map(found.index.map((g, k) => [g, found.matched[k] ?? []]));
  app.pick(found.index, "map", `contain ${smiles}${found.note && ` (${found.note})`}`);
}

// find is the search.
export function find(app) {
  const [input, list, error] = [$("find"), $("find-list"), $("find-error")];
  let found = [];
  let at = -1;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = async (k) => {
    const text = input.value;
    input.value = "";
    close();
    try {
      await found[k].run();
    } catch (e) {
      input.value = text;
      showError(error, e);
    }
  };
  const mark = () => {
    [...list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", `found-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  };
  input.addEventListener("input", () => {
    const text = input.value.trim();
    showError(error, null);
    found = text ? candidates(app, text) : [];
    at = found.length ? 0 : -1;
    const option = (c, k) => h("li", {
      role: "option", id: `found-${k}`, onpointerdown: (e) => {
        e.preventDefault();
        choose(k);
      },
    }, h("span", {}, c.text), h("span", { class: "muted" }, c.beside));
    list.replaceChildren(...(found.length ? found.map(option) : [h("li", { class: "muted small" }, "Nothing found")]));
    list.hidden = !text;
    input.setAttribute("aria-expanded", String(Boolean(text)));
    if (found.length) mark();
  });
  input.addEventListener("keydown", (e) => {
    if (e.key === "ArrowDown" || e.key === "ArrowUp") {
      if (!found.length) return;
      e.preventDefault();
      at = (at + (e.key === "ArrowDown" ? 1 : -1) + found.length) % found.length;
      mark();
    } else if (e.key === "Enter" && at >= 0) choose(at);
    else if (e.key === "Escape") close();
  });
  input.addEventListener("blur", close);
}
