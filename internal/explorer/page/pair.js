// Two graphs side by side: similarity scale by scale, vertices that correspond linked.

import { fixed, h, s } from "./dom.js";
import { Drawing } from "./drawing.js";

// pairView returns the elements for two graphs of the API and their comparison. chosen is the
// level, choose(level) is called for another.
export function pairView(a, b, answer, chosen, choose) {
  const level = answer.levels.find((l) => l.level === chosen) ?? answer.levels.at(-1);
  const names = h("div", { class: "pair-names" },
    h("b", {}, a.id),
    h("div", {}, h("div", { class: "pair-value" }, fixed(answer.k, 4)), h("div", { class: "muted small" }, "similarity")),
    h("b", {}, b.id));
  if (!level) return [names, h("p", { class: "empty" }, answer.note || "There are no scales to show.")];

  const named = level.pairs.length > 0; // vertices are matched
  const say = h("p", { class: "key", "aria-live": "polite" }, named ? hint(level) : "This kernel matches no vertices at this level.");
  const svg = picture(a, b, level, (text) => (named && (say.textContent = text ?? hint(level))));
  const rows = h("div", { class: "levels", role: "radiogroup", "aria-label": "Scale at which vertices are matched" },
    answer.levels.map((l) => h("button", {
      role: "radio", "aria-checked": String(l === level), tabindex: l === level ? 0 : -1, onclick: () => choose(l.level),
      onkeydown: (e) => {
        const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[e.key];
        const next = answer.levels[answer.levels.indexOf(l) + step];
        if (next) {
          e.preventDefault();
          choose(next.level, true);
        }
      },
    },
    h("span", {}, nameOf(l)),
    track(l.k),
    h("span", { class: "right" }, fixed(l.k, 3)))));
  return [names, svg, say, h("div", { class: "levels-box" }, h("h3", {}, "Similarity at each scale"),
    answer.of && h("p", { class: "muted small" }, `Of the kernel ${answer.of}, which is a part of this one.`), rows)];
}

export const scaleName = (level, radius) => (level === 0 ? "vertices alone" : `within ${radius} hop${radius === 1 ? "" : "s"}`);

// nameOf is what a level is called.
const nameOf = (l) => l.name || scaleName(l.level, l.radius);

export function track(value) {
  const fill = h("div", { class: "fill" });
  fill.style.width = `${100 * Math.min(Math.max(value, 0), 1)}%`;
  return h("div", { class: "track" }, fill);
}

const hint = (level) =>
  `Point at a vertex to see its match (${nameOf(level)}). A stronger colour means more similar.`;

function picture(a, b, level, say) {
  const drawings = [];
  const partner = [new Map(), new Map()];
  for (const p of level.pairs) {
    partner[0].set(p.g, [p.h, p.similarity]);
    partner[1].set(p.h, [p.g, p.similarity]);
  }
  const stacked = window.innerWidth < 620;
  const links = s("g");
  const place = [];
  const show = (side, v, how) => {
    if (how === "pick") return;
    links.replaceChildren();
    drawings.forEach((d) => d.over.replaceChildren());
    if (how === "leave") return say(null);
    drawings[side].ring(v, "center");
    const found = partner[side].get(v);
    if (!found) return say(`${drawings[side].describe(v)} has no match.`);
    const [w, similarity] = found;
    drawings[1 - side].ring(w, "center");
    const from = [drawings[side].positions[v][0] + place[side][0], drawings[side].positions[v][1] + place[side][1]];
    const to = [drawings[1 - side].positions[w][0] + place[1 - side][0], drawings[1 - side].positions[w][1] + place[1 - side][1]];
    const bend = stacked ? 0 : -0.12 * Math.abs(to[0] - from[0]);
    links.append(s("path", { class: "link", d: `M${from}Q${(from[0] + to[0]) / 2} ${(from[1] + to[1]) / 2 + bend} ${to}` }));
    const other = drawings[1 - side].describe(w).replace("V", "v");
    say(`${drawings[side].describe(v)} matches ${other}: similarity ${fixed(similarity, 3)}.`);
  };
  [a, b].forEach((g, side) => {
    drawings.push(new Drawing(g, { choose: (v, how) => show(side, v, how), label: `Drawing of ${g.id}` }));
    for (const [v, [, similarity]] of partner[side]) {
      const [x, y] = drawings[side].positions[v];
      drawings[side].under.append(s("circle", { class: "match", cx: x, cy: y, r: drawings[side].radius,
        "fill-opacity": 0.7 * Math.max(similarity, 0) }));
    }
  });
  const [p, q] = [a.drawing, b.drawing];
  let width, height;
  if (stacked) {
    width = Math.max(p.width, q.width);
    height = p.height + q.height;
    place.push([(width - p.width) / 2, 0], [(width - q.width) / 2, p.height]);
  } else {
    width = p.width + q.width + 40;
    height = Math.max(p.height, q.height);
    place.push([0, (height - p.height) / 2], [p.width + 40, (height - q.height) / 2]);
  }
  drawings.forEach((d, i) => d.root.setAttribute("transform", `translate(${place[i]})`));
  return s("svg", { class: "drawing pair-svg valued", viewBox: `0 0 ${width} ${height}`, role: "group",
    "aria-label": `${a.id} and ${b.id}` },
    drawings.map((d) => d.root), links);
}
