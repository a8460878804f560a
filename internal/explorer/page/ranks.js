// The numbers of suggestions on a map: discs that do not cover each other, each with a line to its point.

import { dark } from "./colors.js";

const radius = 9; // pixels of a disc

// apart moves points until any two are so far from each other, within [left, right, top, bottom].
export function apart(points, distance, [left, right, top, bottom]) {
  const out = points.map((p) => [...p]);
  for (let round = 0; round < 80; round++) {
    let moved = false;
    out.forEach((p, i) => out.slice(0, i).forEach((q) => {
      let [dx, dy] = [p[0] - q[0], p[1] - q[1]];
      let d = Math.hypot(dx, dy);
      if (d >= distance - 0.01) return;
      if (d < 0.01) [dx, dy, d] = [Math.cos(2.4 * i) / 100, Math.sin(2.4 * i) / 100, 0.01]; // any direction
      const push = (distance - d) / 2 / d;
      p[0] += dx * push;
      p[1] += dy * push;
      q[0] -= dx * push;
      q[1] -= dy * push;
      moved = true;
    }));
    for (const p of out) {
      p[0] = Math.min(right, Math.max(left, p[0]));
      p[1] = Math.min(bottom, Math.max(top, p[1]));
    }
    if (!moved) break;
  }
  return out;
}

// drawRanks draws the numbers of map.ranked, and returns where their discs are.
export function drawRanks(map, r, ink) {
  const ranked = map.ranked.map((m) => ({ ...m, from: map.at(m.ref) })).filter((m) => m.from);
  const edge = radius + 2;
  const places = apart(ranked.map((m) => m.from), 2 * edge, [edge, map.width - edge, edge, map.height - edge]);
  const g = map.context;
  const ground = dark() ? "#191d21" : "#ffffff";
  ranked.forEach(({ from }, k) => {
    g.beginPath();
    g.moveTo(...from);
    g.lineTo(...places[k]);
    g.lineWidth = 1.5;
    g.strokeStyle = ink;
    g.stroke();
    g.beginPath();
    g.arc(...from, Math.max(2.5, r * 0.6), 0, 2 * Math.PI);
    g.fillStyle = ink;
    g.fill();
  });
  g.textAlign = "center";
  g.font = "600 11px system-ui, sans-serif";
  ranked.forEach(({ name }, k) => {
    const [x, y] = places[k];
    g.beginPath();
    g.arc(x, y, radius, 0, 2 * Math.PI);
    g.fillStyle = ink;
    g.fill();
    g.lineWidth = 1.5;
    g.strokeStyle = ground;
    g.stroke();
    g.fillStyle = ground;
    g.fillText(name, x, y + 4);
  });
  g.textAlign = "start";
  return ranked.map(({ ref }, k) => ({ ref, at: places[k] }));
}

// rankAt returns the graph whose disc is at a pixel, null for none.
export function rankAt(discs, px, py) {
  const found = discs.find(({ at: [x, y] }) => Math.hypot(x - px, y - py) <= radius);
  if (!found) return null;
  return /^\d/.test(found.ref) ? Number(found.ref) : found.ref;
}
