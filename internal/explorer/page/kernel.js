// The panel of the kernel: its text, words that may follow while it is typed, and the form of a single kernel. The server
// reads and writes all texts.

import { $, h } from "./dom.js";
import { get, stopped } from "./api.js";
import { WordList } from "./words.js";
import { ChooseBox, chosenText } from "./choose.js";

// sliderOf returns the slider of a number: for whole numbers their range, for others two powers of
// ten to each side of the default.
function sliderOf(p) {
  if (p.low === null || p.high === null) return null;
  if (p.type === "integer") return { min: p.low, max: p.high, step: 1, from: Number, to: Number };
  const middle = Math.log10(Number(p.default));
  if (!(p.low > 0) || !Number.isFinite(middle)) return null;
  return { min: Math.max(middle - 2, Math.log10(p.low)), max: Math.min(middle + 2, Math.log10(p.high)), step: 0.05,
    from: Math.log10, to: (x) => Number((10 ** x).toPrecision(2)) };
}

// fieldOf makes the field of a parameter; set(value, wait) gets texts. It returns the element and fill(value).
function fieldOf(p, set) {
  const id = `p-${p.name}`;
  const label = h("label", { for: id }, h("b", {}, p.name), " ", h("span", { class: "muted" }, p.help));
  const changed = (e) => set(e.target.value);
  if (p.type === "boolean") {
    const check = h("input", { type: "checkbox", id, onchange: (e) => set(String(e.target.checked)) });
    label.prepend(check);
    return [h("div", {}, label), (v) => (check.checked = v === "true")];
  }
  if (p.choices.length) {
    const select = h("select", { id, onchange: changed }, p.choices.map((value) => h("option", { value }, value)));
    return [h("div", { class: "field whole" }, label, select), (v) => (select.value = v)];
  }
  const scale = p.type === "integer" || p.type === "number" ? sliderOf(p) : null;
  if (scale) {
    const number = h("input", { id, type: "number", step: "any", onchange: (e) => {
      slider.value = scale.from(Number(e.target.value));
      changed(e);
    } });
    const slider = h("input", { type: "range", min: scale.min, max: scale.max, step: scale.step,
      "aria-label": `${p.name}: ${p.help}`, oninput: (e) => {
        number.value = scale.to(Number(e.target.value));
        set(number.value, 120);
      } });
    return [h("div", { class: "field" }, label, slider, number), (v) => {
      number.value = v;
      slider.value = scale.from(Number(v));
    }];
  }
  const clean = (text) => (p.type.endsWith("s") ? text.replace(/[\s;,]+/g, ",").replace(/^,|,$/g, "") : text.trim());
  const input = h("input", { id, spellcheck: "false", autocapitalize: "off", list: p.suggests.length && `${id}-list`,
    inputmode: p.type !== "text" && "decimal", onchange: (e) => set(clean(e.target.value)) });
  return [h("div", { class: "field whole" }, label, input,
    p.suggests.length > 0 && h("datalist", { id: `${id}-list` }, p.suggests.map((value) => h("option", { value })))),
  (v) => (input.value = p.type === "text" ? v : v.replaceAll(",", ", "))];
}

const shownBefore = 16; // characters of a wrong text before the place, and behind it
const shownBehind = 11;

// place shows where a text is wrong: a part of it with a caret below.
function place(text, at) {
  const all = [...text.replace(/\s/g, " ")];
  const from = at > shownBefore ? at - shownBefore : 0;
  const to = at + shownBehind < all.length ? at + shownBehind : all.length;
  const [before, behind] = [from > 0 ? "…" : "", to < all.length ? "…" : ""];
  return `${before}${all.slice(from, to).join("")}${behind}\n${" ".repeat(before.length + at - from)}^`;
}

// KernelPanel shows the kernel of the data; changed(text) is called for another one, empty for the default.
export class KernelPanel {
  constructor(app, changed) {
    Object.assign(this, { app, changed, fields: new Map(), of: null, text: "", answer: null });
    this.box = $("kernel-text");
    this.words = new WordList(this.box, $("kernel-words"), () => this.typed());
    this.box.addEventListener("input", () => this.typed());
    this.box.addEventListener("keydown", (e) => this.key(e));
    this.box.addEventListener("blur", () => {
      this.words.close();
      if (this.box.value.trim() !== this.written) this.apply({ text: this.box.value });
    });
    this.chooseBox = new ChooseBox(app, () => this.apply({ text: chosenText }));
    $("settings").addEventListener("toggle", () => this.grow());
    $("kernel").addEventListener("submit", (e) => e.preventDefault());
    $("kernel-name").addEventListener("change", (e) => this.apply({ text: e.target.value }));
    $("reset").addEventListener("click", () => this.apply({ text: "" }));
  }

  // use shows other data.
  use() {
    const { info } = this.app;
    const usual = info.saved ? [h("option", { value: "" }, "as it was trained")] : [];
    $("kernel-name").replaceChildren(...usual, ...info.kernels.map((k) => h("option", { value: k.name, title: k.about }, k.name)),
      h("option", { value: "+", disabled: true, hidden: true }, "several"));
    $("kernel-note").hidden = !info.saved;
    $("kernel-terms").replaceChildren(...info.terms.map((t) => h("li", {}, t)));
    this.box.placeholder = info.saved ? "the model as it was trained" : info.kernel;
    $("reset").textContent = info.saved ? "Back to the model as it was trained" : "Reset to the default";
    this.of = null;
    this.chooseBox.follow().catch(() => {}); // a convenience
  }

  // show shows the kernel of the page.
  async show(text) {
    const answer = await this.ask({ text });
    if (answer) this.fill(answer, text);
    this.chooseBox.show();
  }

  // ask asks the server what a text means; null is the answer where nobody wants it any more.
  async ask(values) {
    this.job?.abort();
    this.job = new AbortController();
    try {
      return await get("kernel", values, this.job.signal);
    } catch (e) {
      if (!stopped(e)) this.refuse(e);
      return null;
    }
  }

  // typed offers words, and lets the form follow a text that is right.
  async typed() {
    const { box } = this;
    this.grow();
    const text = box.value;
    const answer = await this.ask({ text, cursor: [...this.words.before()].length });
    if (!answer || box.value !== text) return;
    this.words.show(answer.begun, document.activeElement === box ? answer.words : [], Boolean(answer.error));
    if (!answer.error) this.form(answer);
    this.wrong(answer.words.length ? null : answer.error, text); // what can be completed is not wrong yet
  }

  key(e) {
    if (this.words.key(e) || e.key !== "Enter") return;
    e.preventDefault();
    this.words.close();
    this.apply({ text: this.box.value });
  }

  // apply makes a text, or the present one with a parameter set, the kernel of the page.
  async apply(values) {
    this.words.close();
    const answer = await this.ask(values);
    if (!answer) return;
    if (answer.error) {
      this.wrong(answer.error, values.text);
      return $(`p-${values.set}`)?.setAttribute("aria-invalid", "true");
    }
    this.fill(answer, values.text);
    const { info } = this.app;
    this.changed(answer.text === info.kernel && !info.saved ? "" : answer.text);
    this.chooseBox.show();
  }

  // set sets a parameter, a moment later while a slider moves.
  set(name, value, wait = 0) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.apply({ text: this.text, set: name, value }), wait);
  }

  // fill shows what a text means.
  fill(answer, text) {
    this.box.value = this.written = answer.error ? text : answer.text;
    this.grow();
    if (!answer.error) this.form(answer);
    const { info } = this.app;
    $("kernel-sum").title = $("kernel-sum").textContent = (answer.error ? !info.saved && info.kernel : answer.text) || "as trained";
    this.wrong(answer.error, text);
  }

  // form shows the fields of a single kernel.
  form(answer) {
    this.text = answer.text;
    const { name, parameters } = answer;
    const about = this.app.info.kernels.find((k) => k.name === name)?.about;
    $("kernel-name").value = name || (answer.text ? "+" : "");
    $("kernel-about").textContent = answer.text === chosenText ? "The kernels that mlg train would choose for these data." : about ? `Compares ${about}.` : answer.text
      ? "This text is more than one kernel with its parameters, so it has no form. Edit the text." : "";
    if (this.of !== name) {
      this.fields.clear();
      $("kernel-fields").replaceChildren(...parameters.map((p) => {
        const [el, fill] = fieldOf(p, (value, wait) => this.set(p.name, value, wait));
        this.fields.set(p.name, fill);
        return el;
      }));
      this.of = name;
    }
    for (const p of parameters) this.fields.get(p.name)(p.value);
  }

  // wrong shows what is wrong with a text, and where; null for nothing.
  wrong(error, text) {
    const placed = Number.isInteger(error?.position);
    for (const el of document.querySelectorAll("#kernel-fields [aria-invalid]")) el.removeAttribute("aria-invalid");
    $("kernel-error").hidden = !error;
    $("kernel-place").hidden = !placed;
    $("kernel-place").textContent = placed ? place(text, error.position) : "";
    $("kernel-message").textContent = error ? error.message : "";
    this.box.setAttribute("aria-invalid", String(placed));
  }

  // refuse shows why the page has nothing for a text.
  refuse(error, text = "") {
    $("settings").open = true;
    this.wrong(error, text);
  }

  // grow makes the box as high as its text.
  grow() {
    this.box.style.height = "auto";
    if (this.box.scrollHeight) this.box.style.height = `${this.box.scrollHeight + 2}px`;
  }
}
