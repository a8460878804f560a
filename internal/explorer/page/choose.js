// The kernels that mlg train would choose: a choice that goes on beside everything else, and then is the kernel of the page.

import { $, h, number, percent, toast } from "./dom.js";
import { aside, stageOf, stopped } from "./api.js";

export const chosenText = "chosen"; // in place of the text of a kernel

const pace = 500; // milliseconds between looks at the progress

// ChooseBox is the part of the panel of the kernel; use() makes what was chosen the kernel of the page.
export class ChooseBox {
  constructor(app, use) {
    Object.assign(this, { app, use, job: null, answers: new Map() });
    $("choose").addEventListener("click", () => this.choose());
    $("choosing-stop").addEventListener("click", () => this.job?.abort());
  }

  // follow shows what is chosen for the data of the page: a choice that is running there goes on being followed.
  async follow() {
    this.job?.abort();
    this.job = null;
    const { info } = this.app;
    $("choose-box").hidden = info.task === "none";
    this.show();
    if (info.task === "none") return;
    const p = await this.progress().catch(() => null);
    if (p?.state === "running" && info === this.app.info) this.choose();
  }

  progress() {
    return aside("progress", { kernel: chosenText });
  }

  async choose() {
    if (this.job) return;
    const { info, state } = this.app;
    const before = state.kernel;
    const job = this.job = new AbortController();
    const mine = () => this.job === job;
    this.say("waiting for another choice");
    const timer = setInterval(async () => {
      const p = await this.progress().catch(() => null);
      if (mine() && p?.state === "running") this.say(stageOf(p), p);
    }, pace);
    try {
      const answer = await aside("chosen", {}, job.signal);
      this.answers.set(info.source, answer);
      if (!mine()) return;
      if (state.kernel === before || state.kernel === chosenText) this.use();
      else toast("The kernels are chosen. Press the button again to use them.");
    } catch (e) {
      if (mine() && !stopped(e)) this.app.fail(e);
      if (mine() && stopped(e)) toast("The choice of kernels is stopped.");
    } finally {
      clearInterval(timer);
      if (mine()) {
        this.job = null;
        this.show();
      }
    }
  }

  // say shows how far the choice is.
  say(text, p = {}) {
    for (const id of ["choosing", "choosing-text", "choosing-sum"]) $(id).hidden = false;
    for (const id of ["choose", "choose-about"]) $(id).hidden = true;
    $("choosing-text").textContent = `Choosing kernels: ${text}`;
    $("choosing-sum").textContent = `choosing${p.total > 0 ? ` ${percent(p.done / p.total, 0)}` : ""}`;
    if (p.total > 0) $("choosing-bar").value = p.done / p.total;
    else $("choosing-bar").removeAttribute("value");
  }

  // show shows the button, and the kernels where they are those of the page.
  show() {
    const { info, state } = this.app;
    const answer = this.answers.get(info.source);
    const here = state.kernel === chosenText;
    for (const id of ["choosing", "choosing-text", "choosing-sum"]) $(id).hidden = this.job === null;
    for (const id of ["choose", "choose-about"]) $(id).hidden = here || this.job !== null;
    $("choose").textContent = answer ? "Use the kernels that were chosen" : "Choose kernels as mlg train does";
    $("chosen-kernels").hidden = !here || !answer;
    if (here && !answer) { // a link that has led here
      aside("chosen").then((a) => {
        this.answers.set(info.source, a);
        if (this.app.info === info) this.show();
      }).catch(() => {}); // the map says what is wrong
    }
    if (here && answer) {
      $("chosen-kernels").replaceChildren(...answer.kernels.map((k) => h("li", { title: k.kernel }, h("span", {}, k.candidate), h("span", {}, number(k.weight, 3)))),
        ...answer.changes.map((c) => h("li", { class: "muted small" }, c)));
    }
  }
}
