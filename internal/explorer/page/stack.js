// Points that lie on each other: a list of them, from which one is chosen.

import { $, h, signed, whole } from "./dom.js";

const most = 50; // that are listed

// stack shows the list beside the first of some graphs, and hides it for a single one; run(ref) is called for the chosen one.
export function stack(app, refs, run) {
  const el = $("stack");
  el.hidden = refs.length < 2;
  if (el.hidden) return;
  $("tip").hidden = true;
  const close = () => {
    el.hidden = true;
    $("map").focus();
  };
  const item = (ref) => h("li", {}, h("button", { "data-graph": ref, onclick: () => {
    close();
    run(ref);
  } }, h("b", {}, app.name(ref)), h("span", { class: "muted" }, signed(app.source.targets[Number(ref)] ?? ""))));
  el.replaceChildren(h("p", { class: "muted small" }, `${whole(refs.length)} graphs lie here:`), h("ul", {}, refs.slice(0, most).map(item)),
    refs.length > most ? h("p", { class: "muted small" }, `and ${whole(refs.length - most)} more`) : "",
    h("button", { class: "quiet", onclick: () => {
      close();
      app.pick(refs.map(Number), "table", "lie on each other");
    } }, "Show all in the table"));
  const buttons = [...el.querySelectorAll("button")];
  el.onkeydown = (e) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step) buttons[(buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length].focus();
    else if (e.key === "Escape") close();
    else return;
    e.preventDefault();
  };
  const [x, y] = app.map.at(refs[0]);
  const box = $("map").getBoundingClientRect();
  const inner = $("map").parentElement.getBoundingClientRect();
  el.style.left = `${Math.max(8, Math.min(x + 12, box.width - el.offsetWidth - 8))}px`;
  el.style.top = `${Math.max(8, Math.min(y + box.top - inner.top - 20, inner.height - el.offsetHeight - 8))}px`;
  buttons[0].focus();
}

// The list is gone once something else is pressed.
addEventListener("pointerdown", (e) => {
  if (!e.target.closest("#stack")) $("stack").hidden = true;
});
