// Small drawings in tables, which are fetched when they come into view.

import { h } from "./dom.js";
import { Drawing } from "./drawing.js";

const waiting = new Map(); // what fetches the graph of an element

const seen = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    const fetch = isIntersecting && waiting.get(target);
    if (!fetch) continue;
    waiting.delete(target);
    seen.unobserve(target);
    fetch().then((g) => {
      const d = new Drawing(g, { label: "" });
      d.el.setAttribute("aria-hidden", "true");
      target.replaceChildren(d.el);
    }).catch(() => {}); // the row stays without a drawing
  }
}, { rootMargin: "200px" });

// structure returns an element for the drawing of a graph that fetch() promises.
export function structure(fetch) {
  const el = h("span", { class: "structure" });
  waiting.set(el, fetch);
  seen.observe(el);
  return el;
}
