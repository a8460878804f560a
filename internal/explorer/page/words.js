// The list of words that may follow in a text while it is typed.

import { h } from "./dom.js";

export class WordList {
  // The box is the text, the list is below it; typed() is called when a word was taken.
  constructor(box, list, typed) {
    Object.assign(this, { box, list, typed, words: [], begun: "", at: -1, behind: "" });
    for (const event of ["scroll", "resize"]) addEventListener(event, () => this.open && this.place(), true);
  }

  // show offers words in place of the one that is begun. In a text that is not complete the first one is
  // chosen, so that Enter takes it; in others Enter means the text as it is.
  show(begun, words, incomplete) {
    const done = words.length === 1 && words[0].word === begun;
    Object.assign(this, { begun, words: done ? [] : words, behind: this.before() });
    this.at = incomplete && (begun || words.length === 1) ? 0 : -1;
    this.list.replaceChildren(...this.words.map((w, k) => h("li", {
      role: "option", id: `word-${k}`, onpointerdown: (e) => {
        e.preventDefault(); // the box keeps the focus
        this.take(k);
      },
    }, h("code", {}, w.word), h("span", { class: "muted" }, w.help))));
    this.list.hidden = !this.words.length;
    this.list.scrollTop = 0;
    this.place();
    this.box.setAttribute("aria-expanded", String(this.open));
    this.mark();
  }

  // place puts the list below the box, or above where there is more room. It may be wider than the panel.
  place() {
    const at = this.box.getBoundingClientRect();
    const [above, below] = [at.top, innerHeight - at.bottom];
    const over = below < 180 && above > below;
    Object.assign(this.list.style, {
      left: `${at.left}px`, width: `${Math.max(at.width, Math.min(430, innerWidth - at.left - 12))}px`,
      top: over ? "auto" : `${at.bottom + 4}px`, bottom: over ? `${innerHeight - at.top + 4}px` : "auto",
      maxHeight: `${Math.min(300, (over ? above : below) - 14)}px`,
    });
  }

  get open() {
    return !this.list.hidden;
  }

  // before is the text before the cursor. Words are for the text that they were asked for, which may have grown.
  before() {
    return this.box.value.slice(0, this.box.selectionStart);
  }

  get fresh() {
    return this.open && this.behind === this.before();
  }

  mark() {
    [...this.list.children].forEach((li, k) => li.setAttribute("aria-selected", String(k === this.at)));
    if (this.at < 0 || !this.open) return this.box.removeAttribute("aria-activedescendant");
    this.box.setAttribute("aria-activedescendant", `word-${this.at}`);
    this.list.children[this.at].scrollIntoView({ block: "nearest" });
  }

  close() {
    this.show("", [], false);
  }

  // take puts a word in place of the one that is begun.
  take(k) {
    if (!this.fresh) return;
    const end = this.box.selectionStart;
    this.box.setRangeText(this.words[k].word, end - this.begun.length, end, "end");
    this.close();
    this.typed();
  }

  // key reacts to a key, and returns whether it did.
  key(e) {
    const ask = e.key === " " && e.ctrlKey || e.key === "ArrowDown" && !this.open &&
      this.box.selectionStart === this.box.value.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (ask) this.typed();
    else if (!this.open) return false;
    else if (step) {
      const n = this.words.length;
      this.at = this.at < 0 ? (step > 0 ? 0 : n - 1) : (this.at + step + n) % n;
      this.mark();
    } else if (e.key === "Escape") this.close();
    else if ((e.key === "Enter" || e.key === "Tab") && !e.shiftKey && this.at >= 0 && this.fresh) this.take(this.at);
    else return false;
    e.preventDefault();
    return true;
  }
}
