// The graph under the pointer.

import { $, announce, h, signed } from "./dom.js";
import { Drawing } from "./drawing.js";

let tipFor = null;

// tip shows a graph at a place of the map; null hides it.
export async function tip(app, ref, at) {
  tipFor = ref;
  const el = $("tip");
  if (ref === null) return (el.hidden = true);
  const asked = !/^\d/.test(ref);
  const cls = asked ? -1 : app.source.class[Number(ref)] ?? -1;
  const known = ref[0] === "a" && app.state.asked[Number(ref.slice(1))].prediction?.known?.same === "same molecule";
  const target = ref[0] === "s" ? "suggested" : known ? "known" : asked ? "new graph" : app.source.targets[Number(ref)] ?? "";
  const text = [h("b", {}, app.name(ref)), cls >= 0 ? app.chip(cls, target)
    : h("span", { class: "muted" }, app.info.task === "regression" && target && !asked ? `${app.info.target_name} ${signed(target)}`
      : target)];
  if (document.activeElement === $("map")) announce(`${app.name(ref)}, ${target}`);
  let picture = null;
  try {
    picture = new Drawing(await app.graph(ref)).el;
  } catch {
    picture = null;
  }
  if (tipFor !== ref) return;
  el.replaceChildren(...[picture, ...text].filter(Boolean));
  el.hidden = false;
  const box = $("map").getBoundingClientRect();
  const [w, height] = [el.offsetWidth, el.offsetHeight];
  el.style.left = `${Math.max(8, at[0] + 16 + w > box.width ? at[0] - w - 16 : at[0] + 16)}px`;
  el.style.top = `${Math.min(Math.max(8, at[1] - height / 2), Math.max(8, box.height - height - 8))}px`;
}
