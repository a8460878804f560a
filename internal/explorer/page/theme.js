// Light and dark.

import { $ } from "./dom.js";

// themes follows the system, or the button; changed is called when the theme is another.
export function themes(changed) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try {
    chosen = localStorage.getItem("mlg-theme");
  } catch {
    // no storage: the choice lasts for this page
  }
  const theme = (kind) => {
    document.documentElement.dataset.theme = kind;
    changed();
  };
  const now = () => chosen ?? (system.matches ? "dark" : "light");
  theme(now());
  system.addEventListener("change", () => theme(now()));
  $("theme").addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    try {
      localStorage.setItem("mlg-theme", chosen);
    } catch {
      // as above
    }
    theme(chosen);
  });
}
