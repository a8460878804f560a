// Small tools for the document.

const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

// h makes an element. Properties that start with "on" are listeners, "class" and "data-…" and
// "aria-…" are attributes; false and null leave an attribute out.
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

// s makes an SVG element.
export function s(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(el, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) el.addEventListener(name.slice(2), value);
    else el.setAttribute(name, value === true ? "" : value);
  }
  el.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return el;
}

// hidden is a text for screen readers alone.
export const hidden = (text) => h("span", { class: "visually-hidden" }, text);

// announce tells a screen reader.
export function announce(text) {
  $("announce").textContent = text;
}

let toastTimer;

// toast shows a line for a moment.
export function toast(text) {
  $("toast").textContent = text;
  $("toast").hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => ($("toast").hidden = true), 3500);
}

// showError writes an error under a form, or hides it.
export function showError(el, error) {
  el.textContent = error ? error.message : "";
  el.hidden = !error;
}

// number writes a number with the digits that matter.
export function number(x, digits = 4) {
  const v = Number(Number(x).toPrecision(digits));
  return (Math.abs(v) >= 1e4 && Math.abs(v) < 1e15 ? v.toLocaleString("en") : String(v)).replace("-", "−");
}

// fixed writes a number with so many places.
export const fixed = (x, places) => x.toFixed(places).replace("-", "−");

// whole writes a number of things.
export const whole = (n) => n.toLocaleString("en");

// signed writes numbers in a text with the sign that numbers have on the page.
export const signed = (text) => text.replace(/(?<=^|\s)-(?=\.?\d)/g, "−");

// withDeviation writes a predicted value.
export const withDeviation = (p) => likeDeviation(p.value, p.deviation) + (p.deviation > 0 ? ` ± ${number(p.deviation, 2)}` : "");

// likeDeviation writes a value with the places that its deviation has.
const likeDeviation = (value, deviation) => !(deviation > 0) ? number(value) :
  value.toFixed(Math.min(12, Math.max(0, 1 - Math.floor(Math.log10(deviation))))).replace("-", "−");

// endsOf writes the ends of the interval of a predicted value, with the places of its deviation.
export const endsOf = (p) => [p.interval.low, p.interval.high].map((v) => likeDeviation(v, p.deviation));

// count writes a number of things: "1 graph", "2 graphs".
export const count = (n, thing) => `${whole(n)} ${thing}${n === 1 ? "" : "s"}`;

// nameless is what targets are called that have no name.
export const nameless = "target";

export const percent = (x, digits = 1) => `${(100 * x).toFixed(digits)} %`;

// extent returns the least and the largest of many numbers.
export const extent = (values) => values.reduce(([low, high], v) => [Math.min(low, v), Math.max(high, v)], [Infinity, -Infinity]);

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// save hands bytes to the browser as a file.
export function save(blob, name) {
  const a = h("a", { href: URL.createObjectURL(blob), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}

// radios makes the buttons of a group behave like radio buttons: arrow keys choose, one is
// in the tab order. choose is called with the button.
export function radios(group, attribute, choose) {
  const buttons = [...group.querySelectorAll("button")];
  const set = (button) => {
    for (const b of buttons) {
      b.setAttribute(attribute, String(b === button));
      b.tabIndex = b === button ? 0 : -1;
    }
  };
  for (const [i, b] of buttons.entries()) {
    b.addEventListener("click", () => choose(b));
    b.addEventListener("keydown", (e) => {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
      if (!step) return;
      e.preventDefault();
      const next = buttons[(i + step + buttons.length) % buttons.length];
      next.focus();
      choose(next);
    });
  }
  return set;
}
