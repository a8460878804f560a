// The menu of downloads and the search by name.

import { $, h } from "./dom.js";

// menu opens and closes the downloads.
export function menu() {
  const [button, list] = [$("download-button"), $("download-menu")];
  const show = (on) => {
    list.hidden = !on;
    button.setAttribute("aria-expanded", String(on));
    if (on) list.querySelector("a").focus();
  };
  button.addEventListener("click", () => show(list.hidden));
  list.addEventListener("click", () => show(false));
  list.addEventListener("keydown", (e) => {
    const all = [...list.querySelectorAll("a")];
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

// find is the search by name.
export function find(app) {
  const [input, list] = [$("find"), $("find-list")];
  let found = [];
  let at = -1;
  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  };
  const choose = (i) => {
    input.value = "";
    close();
    app.open(String(i));
  };
  const mark = () => {
    [...list.children].forEach((li, i) => li.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) {
      input.setAttribute("aria-activedescendant", `found-${at}`);
      list.children[at].scrollIntoView({ block: "nearest" });
    }
  };
  input.addEventListener("input", () => {
    const text = input.value.trim().toLowerCase();
    found = [];
    if (text) {
      const ids = app.source.ids;
      for (let i = 0; i < ids.length && found.length < 200; i++) if (ids[i].toLowerCase().includes(text)) found.push(i);
      found.sort((a, b) => ids[b].toLowerCase().startsWith(text) - ids[a].toLowerCase().startsWith(text));
      found = found.slice(0, 12);
    }
    at = found.length ? 0 : -1;
    list.replaceChildren(...(found.length ? found.map((i, k) => h("li", { role: "option", id: `found-${k}`, onpointerdown: (e) => { e.preventDefault(); choose(i); } }, h("span", {}, app.source.ids[i]), h("span", { class: "muted" }, app.source.targets[i] ?? ""))) : [h("li", { class: "muted small" }, "Nothing found")]));
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
    } else if (e.key === "Enter" && at >= 0) choose(found[at]);
    else if (e.key === "Escape") close();
  });
  input.addEventListener("blur", close);
}
