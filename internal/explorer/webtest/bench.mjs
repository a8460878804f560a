// Measures the page in Chromium: the time to paint a frame of a map of 10 000 points while it
// moves, and the time from the change of a parameter until the map and until the cross-validated
// accuracy are there, on the source that is given (builtin:drugs). Run by "make bench-explorer".
//
//	node bench.mjs TABLE --target NAME
//
// measures the first look at a table instead: the seconds until a map, the map of neighbours, drawing and neighbours of a
// graph that is clicked meanwhile, and the score are there, with the processor seconds of the server until then.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const command = process.env.MLG ?? "../../../bin/mlg";
const source = process.argv[2] ?? "builtin:drugs";
const server = spawn(command, ["serve", "--quiet", "--port", "0", source, ...process.argv.slice(3)], { stdio: ["ignore", "pipe", "inherit"] });
const base = await new Promise((resolve, reject) => {
  server.once("error", reject);
  server.stdout.once("data", (d) => resolve(String(d).trim()));
});
process.on("exit", () => server.kill("SIGINT"));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync"],
});
// processor returns the seconds that the server has computed (Linux).
function processor() {
  const fields = readFileSync(`/proc/${server.pid}/stat`, "utf8").split(") ")[1].split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

// firstLook measures how a table comes up.
async function firstLook(page) {
  const begin = performance.now();
  const out = { source, graphs: 0, seconds: {}, processor_seconds: {} };
  const mark = (name) => {
    out.seconds[name] = Number(((performance.now() - begin) / 1000).toFixed(1));
    out.processor_seconds[name] = Number(processor().toFixed(1));
    console.error(name, out.seconds[name], out.processor_seconds[name]);
  };
  const until = async (expression) => {
    while (!(await page.evaluate(`import("/app.js").then(({ app }) => Boolean(${expression}))`))) await page.waitForTimeout(50);
  };
  await page.goto(base);
  await until("app.map.x.length > 0");
  mark("first map");
  await page.evaluate(async () => (await import("/app.js")).app.open("7"));
  const clicked = performance.now();
  await page.locator("#detail h3", { hasText: "Most similar graphs" }).waitFor({ timeout: 0 });
  out.click_to_neighbours_seconds = Number(((performance.now() - clicked) / 1000).toFixed(2));
  await Promise.all([until("app.places && !app.places.early").then(() => mark("map of neighbours")),
    until("app.evaluation !== null").then(() => mark("first score"))]);
  await until("app.evaluation && !app.evaluation.note");
  mark("final score");
  out.graphs = await page.evaluate(async () => (await import("/app.js")).app.info.graphs);
  out.learned_from = await page.evaluate(async () => (await import("/app.js")).app.evaluation.graphs);
  out.score = await page.locator("#score").innerText();
  return out;
}

try {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  if (process.argv.length > 2) {
    console.log(JSON.stringify(await firstLook(page), null, 2));
  } else {
    console.log(JSON.stringify(await ofDrugs(page), null, 2));
  }
} finally {
  await browser.close();
  server.kill("SIGINT");
}

// ofDrugs measures frames and parameters.
async function ofDrugs(page) {
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
  return result;
}
