// Colours, each with one meaning: classes have marks of a colour and a shape, similarity is teal, numbers on the map go
// from light to violet, and orange and blue say more and less, for and against. What is chosen is black on white.

const luminance = ([r, g, b]) => (0.2126 * r + 0.7152 * g + 0.0722 * b) / 255;
const parse = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
const css = (rgb) => `rgb(${rgb.map(Math.round).join(" ")})`;

export const dark = () => document.documentElement.dataset.theme === "dark";

// onTheme lightens colours that would be lost on a dark ground.
export function onTheme(hex) {
  if (!dark()) return hex;
  if (onDark[hex]) return onDark[hex];
  const rgb = parse(hex);
  const l = luminance(rgb);
  if (l >= 0.45) return hex;
  const t = Math.min(0.6, (0.5 - l) * 1.1);
  return css(rgb.map((v) => v + (255 - v) * t));
}

// The scales are those of the pictures that the server draws.
let similarities, numbers, differences, onDark = {};
export let unknown;

// paint takes the palette of the API.
export function paint(palette) {
  [similarities, numbers, differences] = [palette.similarities, palette.numbers, palette.differences].map((s) => s.map(parse));
  ({ unknown } = palette);
  onDark = Object.fromEntries(palette.dark);
}

function blend(stops, t) {
  t = Math.min(Math.max(t, 0), 1) * (stops.length - 1);
  const i = Math.min(Math.floor(t), stops.length - 2);
  const f = t - i;
  return stops[i].map((v, c) => v + f * (stops[i + 1][c] - v));
}

// similarityColor returns the colour of a similarity in [0, 1] as [r, g, b], light to dark; on a dark ground dark to
// light, so that the largest stand out on either.
export const similarityColor = (t) => blend(similarities, dark() ? 1 - t : t);

export const similarityCss = (t) => css(similarityColor(t));

// numberColor is for numbers on the map, in [0, 1], or in [−1, 1] around a middle.
export const numberColor = (t, twoSided) =>
  css(twoSided ? blend(differences, (t + 1) / 2) : blend(numbers, dark() ? 0.85 - 0.85 * t : 0.05 + 0.95 * t));

// marks are shapes, so that classes differ in more than colour: those of the pictures, in their order.
const shapes = [
  (c, r) => c.arc(0, 0, r, 0, 2 * Math.PI),
  (c, r) => c.rect(-r * 0.88, -r * 0.88, r * 1.76, r * 1.76),
  (c, r) => polygon(c, [[0, -r * 1.25], [r * 1.25, 0], [0, r * 1.25], [-r * 1.25, 0]]),
  (c, r) => polygon(c, [[0, -r * 1.2], [r * 1.1, r * 0.8], [-r * 1.1, r * 0.8]]),
];

function polygon(c, points) {
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.closePath();
}

// mark draws the mark of a class at the origin.
export function mark(c, shape, r, color) {
  c.beginPath();
  shapes[shape % shapes.length](c, r);
  c.fillStyle = color;
  c.fill();
  if (r < 3.2) return; // a rim would eat it
  c.lineWidth = Math.max(0.8, r * 0.16);
  c.strokeStyle = dark() ? "rgb(16 19 22 / .9)" : "rgb(255 255 255 / .95)";
  c.stroke();
}

// shapeOf returns the shape of class i; colours with the same shape differ most.
export const shapeOf = (i) => i % shapes.length;

// markCanvas returns a small picture of a mark for legends.
export function markCanvas(shape, color) {
  const el = document.createElement("canvas");
  el.className = "mark";
  el.width = el.height = 26;
  el.setAttribute("aria-hidden", "true");
  const c = el.getContext("2d");
  c.translate(13, 13);
  mark(c, shape, 8.5, color);
  return el;
}

// colorBar returns a strip of colours, from t = from to 1.
export function colorBar(color, from = 0) {
  const el = document.createElement("span");
  el.className = "gradient";
  const stops = Array.from({ length: 9 }, (_, i) => color(from + ((1 - from) * i) / 8));
  el.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
  return el;
}
