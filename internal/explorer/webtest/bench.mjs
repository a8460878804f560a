// Measures the page in Chromium: the time to paint a frame of a map of 10 000 points while it
// moves, and the time from the change of a parameter until the map and until the cross-validated
// accuracy are there, on the source that is given (builtin:drugs). Run by "make bench-explorer".

import { spawn } from "node:child_process";
import { chromium } from "playwright-core";

const command = process.env.MLG ?? "../../../bin/mlg";
const source = process.argv[2] ?? "builtin:drugs";
const server = spawn(command, ["serve", "--quiet", "--port", "0", source], { stdio: ["ignore", "pipe", "inherit"] });
const base = await new Promise((resolve, reject) => {
  server.once("error", reject);
  server.stdout.once("data", (d) => resolve(String(d).trim()));
});
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  await page.goto(base);
  await page.locator("#score b").waitFor();
  const result = await page.evaluate(async () => {
    const { app } = await import("/app.js");
    const { MapView } = await import("/map.js");
    const pause = (ms) => new Promise((r) => setTimeout(r, ms));
    const summary = (list) => {
      list.sort((a, b) => a - b);
      const at = (p) => Number(list[Math.floor(((list.length - 1) * p) / 100)].toFixed(1));
      return { median_ms: at(50), p90_ms: at(90), max_ms: at(100), times: list.length };
    };

    const n = 10000;
    const canvas = document.createElement("canvas");
    Object.assign(canvas.style, { position: "fixed", width: "900px", height: "700px", inset: "0" });
    document.body.append(canvas);
    const map = new MapView(canvas, String, { pick() {} });
    map.color({ kind: "class", class: Array.from({ length: n }, (_, i) => i % 13), classes: app.info.classes });
    await pause(100);
    map.place(Array.from({ length: n }, (_, i) => Math.sin(i) * Math.cos(i * i)),
      Array.from({ length: n }, (_, i) => Math.cos(i * 1.7) * Math.sin(i * i)), "neighbours");
    const frames = [];
    for (let i = 0; i < 100; i++) {
      map.zoom = [1 + i / 100, i / 1000, 0];
      const begin = performance.now();
      map.paint();
      map.context.getImageData(0, 0, 1, 1); // until it is really there
      frames.push(performance.now() - begin);
      await pause(0);
    }
    canvas.remove();

    const score = document.getElementById("score");
    const input = document.getElementById("p-eta");
    const [maps, scores] = [[], []];
    for (let i = 0; i < 10; i++) {
      const places = app.places;
      const begin = performance.now();
      input.value = 0.11 + i / 100;
      input.dispatchEvent(new Event("change"));
      while (app.places === places) await pause(2);
      maps.push(performance.now() - begin);
      while (score.classList.contains("stale")) await pause(2);
      scores.push(performance.now() - begin);
      await pause(300);
    }
    return { graphs: app.info.graphs, frame_of_10000_points: summary(frames), parameter_to_map: summary(maps),
      parameter_to_accuracy: summary(scores) };
  });
  console.log(JSON.stringify(result, null, 2));
} finally {
  await browser.close();
  server.kill("SIGINT");
}
