// How positions are turned and scaled to fill the map, and to stay where they were.

// A turn is [angle, mirrored]: the second coordinate is mirrored first, then all is turned.

// apply returns the turned positions.
function apply(x, y, [angle, mirrored]) {
  const [c, s, m] = [Math.cos(angle), Math.sin(angle), mirrored ? -1 : 1];
  return [x.map((v, i) => c * v - s * m * y[i]), x.map((v, i) => s * v + c * m * y[i])];
}

const mean = (v) => v.reduce((a, b) => a + b, 0) / v.length;

// bestTurn returns the turn that brings positions nearest to others, by the sum of squares after the means are laid on
// each other and the sizes made equal (Procrustes). With axes, it only mirrors: then the axes keep their meaning.
export function bestTurn(x, y, to, axes = false) {
  const [mx, my, mu, mv] = [mean(x), mean(y), mean(to[0]), mean(to[1])];
  let [xu, xv, yu, yv] = [0, 0, 0, 0];
  for (let i = 0; i < x.length; i++) {
    const [a, b, u, v] = [x[i] - mx, y[i] - my, to[0][i] - mu, to[1][i] - mv];
    xu += a * u;
    xv += a * v;
    yu += b * u;
    yv += b * v;
  }
  if (axes) return [xu < 0 ? Math.PI : 0, xu < 0 !== yv < 0];
  // A turn by t gives (xu + yv) cos t + (xv − yu) sin t; after mirroring, (xu − yv) cos t + (xv + yu) sin t.
  const mirrored = Math.hypot(xu - yv, xv + yu) > Math.hypot(xu + yv, xv - yu);
  return mirrored ? [Math.atan2(xv + yu, xu - yv), true] : [Math.atan2(xv - yu, xu + yv), false];
}

// frame returns the turned positions with their middle at 0 and the larger half extent 1; to, which does the same with one
// position; and half, both half extents.
export function frame(x, y, turn) {
  const [u, v] = apply(x, y, turn);
  const bounds = (w) => w.reduce(([a, b], c) => [Math.min(a, c), Math.max(b, c)], [Infinity, -Infinity]);
  const [[u0, u1], [v0, v1]] = [bounds(u), bounds(v)];
  const [wide, high] = [(u1 - u0) / 2 || 1e-9, (v1 - v0) / 2 || 1e-9];
  const scale = 1 / Math.max(wide, high);
  const [mu, mv] = [(u0 + u1) / 2, (v0 + v1) / 2];
  return {
    x: u.map((a) => (a - mu) * scale), y: v.map((b) => (b - mv) * scale),
    to: (a, b) => {
      const [[p], [q]] = apply([a], [b], turn);
      return [(p - mu) * scale, (q - mv) * scale];
    },
    half: [Math.max(wide * scale, 0.05), Math.max(high * scale, 0.05)],
  };
}
