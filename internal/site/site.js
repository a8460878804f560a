// The menu of narrow screens, and the search. The index is loaded when the search is first used.

const root = document.documentElement.dataset.root;
const input = document.querySelector("#search input");
const found = document.getElementById("found");
const count = document.getElementById("count");
const menu = document.getElementById("menu");
const pages = document.getElementById("pages");
const limit = 12;
let sections; // of all pages

menu.addEventListener("click", () => menu.setAttribute("aria-expanded", pages.classList.toggle("open")));
pages.addEventListener("click", (e) => {
  if (!e.target.closest("a")) return;
  pages.classList.remove("open");
  menu.setAttribute("aria-expanded", false);
});

// The page that is shown is in sight in the list of pages.
const here = pages.querySelector("[aria-current]");
if (here) pages.scrollTop = here.offsetTop - pages.clientHeight / 3;

// searchIndex is called by index.js.
function searchIndex(list) {
  sections = list.map((s) => ({ ...s, words: [s.of, s.title, s.text].map((t) => t.toLowerCase()) }));
  search();
}

function load() {
  const script = document.createElement("script");
  script.src = root + "index.js";
  document.head.append(script);
}

// score says how well a section fits: every word has to be in it. What begins a word counts more
// than what is inside one, the title of a section more than that of its page, and both more than
// the text.
function score(section, words) {
  let sum = 0;
  for (const word of words) {
    let best = 0;
    section.words.forEach((text, i) => {
      const at = begins(text, word);
      if (at < 0) return;
      const start = at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]);
      best += [6, 12, 2][i] * (start ? 2 : 0.25) + (i === 2 ? Math.min(8, text.split(word).length - 1) / 4 : 0);
      if (i < 2 && text === word) best += 12;
    });
    if (best === 0) return 0;
    sum += best;
  }
  return sum;
}

// begins returns where a word is in a text, rather at the beginning of one of its words.
function begins(text, word) {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
  return text.indexOf(word);
}

function search() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0 || !sections;
  if (found.hidden) return;
  const hits = sections.map((section) => [score(section, words), section]).filter(([s]) => s > 0).sort((a, b) => b[0] - a[0]);
  found.replaceChildren(...hits.slice(0, limit).map(([, section]) => item(section, words)));
  count.textContent = hits.length === 0 ? "Nothing found" : `${hits.length} places found`;
  const note = document.createElement("p");
  if (hits.length === 0) note.textContent = "Nothing found.";
  if (hits.length > limit) note.textContent = `${hits.length - limit} more; another word narrows it down.`;
  if (note.textContent) found.append(note);
}

// item is one line of the result.
function item(section, words) {
  const [li, a, title] = ["li", "a", "b"].map((name) => document.createElement(name));
  a.href = root + section.address;
  title.append(...marked(section.title, words));
  if (section.of !== section.title) {
    const of = document.createElement("small");
    of.textContent = ` ${section.of}`;
    title.append(of);
  }
  const at = Math.min(...words.map((w) => begins(section.words[2], w)).filter((i) => i >= 0));
  const from = Number.isFinite(at) && at > 60 ? section.text.indexOf(" ", at - 50) + 1 : 0;
  const text = section.text.slice(from, from + 160);
  a.append(title, ...marked((from > 0 ? "… " : "") + text + (from + 160 < section.text.length ? " …" : ""), words));
  li.append(a);
  return li;
}

// marked returns a text with the words that were looked for set off.
function marked(text, words) {
  const pattern = new RegExp(`(${words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|")})`, "i");
  return text.split(pattern).map((part, i) => {
    if (i % 2 === 0) return part;
    const mark = document.createElement("mark");
    mark.textContent = part;
    return mark;
  });
}

input.addEventListener("focus", load, { once: true });
input.addEventListener("input", search);
input.addEventListener("focus", () => sections && search());
document.addEventListener("click", (e) => e.target.closest("#search") || (found.hidden = true));
document.addEventListener("keydown", (e) => {
  if (e.key === "/" && !e.ctrlKey && !e.metaKey && document.activeElement !== input) {
    e.preventDefault();
    input.focus();
  } else if (e.key === "Escape") {
    found.hidden = true;
    input.blur();
  }
});
document.getElementById("search").addEventListener("keydown", (e) => {
  const links = [...found.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1 }[e.key];
  if (e.key === "Enter" && at < 0) links[0]?.click();
  if (to === undefined || found.hidden) return;
  e.preventDefault();
  (links[to] ?? (to < 0 ? input : links[links.length - 1]))?.focus();
});
// A result on the page that is shown only moves it.
found.addEventListener("click", (e) => {
  if (e.target.closest("a")) found.hidden = true;
});
