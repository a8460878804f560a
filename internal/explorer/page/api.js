// Requests to the server. What takes longer than a moment is shown with its progress, and can be cancelled.

import { $, count, percent, save } from "./dom.js";
import { chosen } from "./state.js";

class ApiError extends Error {
  constructor(status, message, field = "", position = null) {
    super(message);
    Object.assign(this, { status, field, position });
  }
}

// Cancelled is the error of a request that the user has stopped.
class Cancelled extends Error {
  constructor() {
    super("Cancelled.");
    this.name = "Cancelled";
  }
}

// stopped reports whether an error says that nobody wants the answer any more.
export const stopped = (e) => e.name === "AbortError" || e.name === "Cancelled";

let source = null; // that all requests are about; null for the one given at the start

export const useSource = (id) => (source = id);

// query writes values as a query string; null leaves one out.
function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined) q.set(name, Array.isArray(value) ? value.join(",") : value);
  }
  const text = q.toString();
  return text ? `?${text}` : "";
}

const address = (path, values = {}) => `/api/v1/${path}${query({ source, ...values })}`;

// What is being done, by the first word of a path.
const doing = {
  info: "Loading", graphs: "Loading", kernel: "Reading the kernel", map: "Placing the graphs", colors: "Colouring", columns: "Loading", trust: "Testing predictions", structure: "Looking at the structure", outliers: "Looking for outliers", report: "Writing the report", session: "Preparing the file", open: "Reading the file", suggest: "Choosing what to measure", derive: "Making the new data", target: "Making the new data", evaluate: "Testing predictions",
  matrix: "Ordering the matrix", predict: "Predicting", explain: "Explaining", compare: "Comparing",
  vertex: "Looking for similar vertices", neighbours: "Looking for similar graphs", graph: "Drawing", find: "Searching", download: "Preparing the file", export: "Preparing the file",
  upload: "Reading the file", batch: "Predicting", member: "Loading", table: "Preparing the file", read: "Reading the file",
};

// Stages of a computation in words.
const stages = {
  fit: "fitting the kernel", gram: "comparing all pairs", components: "principal components", map: "finding positions",
  learn: "preparing the learner", ridge: "training", deviations: "how sure predictions are", order: "clustering", structure: "finding groups", draw: "drawing", predict: "predicting", choosing: "weighing candidates", vertices: "features of vertices",
  neighbours: "finding neighbours", landmarks: "preparing the solver", centres: "comparing with the centres", "held out": "predicting what was left out", "numbers of groups": "finding groups", trust: "", suggest: "predicting", evaluation: "",
};

// stageOf says in words what is computed, and how far that is.
export const stageOf = (p) => [stages[p.stage] ?? p.stage, p.total > 0 && percent(p.done / p.total, 0)].filter(Boolean).join(", ");

const patience = 600; // milliseconds after which the progress is shown
const jobs = new Set();
let timer = null;

// tracked runs a request that the bar of progress knows of.
async function tracked(path, signal, run, said = doing[path.match(/^\w+/)[0]] ?? "Computing") {
  const own = new AbortController();
  const job = { what: said, begin: performance.now(), cancel: () => own.abort(new Cancelled()), done: null, key: null };
  jobs.add(job);
  timer ??= setTimeout(show, patience);
  try {
    return await run(signal ? AbortSignal.any([signal, own.signal]) : own.signal, job);
  } finally {
    jobs.delete(job);
    if (!jobs.size) hide();
  }
}

function hide() {
  clearTimeout(timer);
  timer = null;
  $("work").hidden = true;
}

// show shows the progress of the oldest request, again and again while there is one.
async function show() {
  const job = [...jobs].find((j) => performance.now() - j.begin >= patience);
  if (job) {
    const asked = () => fetch(address("progress", { ...chosen(), upload: job.key }))
      .then((r) => (r.ok ? r.json() : null)).catch(() => null);
    const p = job.done ?? (await asked());
    if (!jobs.size) return hide();
    const read = p?.upload;
    const stage = read ? count(read.graphs, "graph") : p?.state === "waiting" ? "waiting for another computation"
      : p ? stageOf(p) : "";
    $("work").hidden = false;
    $("work-text").textContent = stage ? `${job.what}: ${stage}` : job.what;
    if (p?.total > 0) $("work-bar").value = p.done / p.total;
    else $("work-bar").removeAttribute("value");
  }
  timer = setTimeout(show, 200);
}

// cancel stops all requests, and what the server computes for them, which it else goes on with for some seconds.
export function cancel() {
  for (const job of jobs) job.cancel();
  for (const wait of [50, 400, 1500]) setTimeout(() => fetch("/api/v1/stop", json({})).catch(() => {}), wait); // once the server knows that nobody waits
}

async function failure(r) {
  const error = (await r.json().catch(() => null))?.error;
  return new ApiError(r.status, error?.message ?? `The server answered with error ${r.status}.`, error?.field, error?.position);
}

async function send(url, options) {
  let r;
  try {
    r = await fetch(url, options);
  } catch (e) {
    if (options.signal?.aborted) throw e;
    throw new ApiError(0, "The server does not answer. Is mlg serve still running?");
  }
  if (!r.ok) throw await failure(r);
  return r;
}

// get asks; said is what is being done, by default what the path says.
export const get = (path, values = {}, signal = undefined, said = undefined) =>
  tracked(path, signal, async (s) => (await send(address(path, values), { signal: s })).json(), said);

// aside is get for what goes on beside the rest: the bar of progress does not know of it.
export async function aside(path, values = {}, signal = undefined) {
  return (await send(address(path, values), { signal })).json();
}

const json = (body) => ({ method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });

export const post = (path, body, signal) =>
  tracked(path, signal, async (s) => (await send(address(path), { ...json(body), signal: s })).json());

// download saves a file that the server makes: from a GET with values, or from a POST with a body.
export async function download(path, name, values, body = null) {
  await tracked(path, null, async (signal) => {
    const r = await send(address(path, values), { ...(body && json(body)), signal });
    save(await r.blob(), r.headers.get("Content-Disposition")?.match(/filename="?([^";]+)"?/)?.[1] ?? name);
  });
}

// sendFile sends a file and says how much of it has arrived.
export function sendFile(path, file, values) {
  return tracked(path, null, (signal, job) => new Promise((resolve, reject) => {
    job.key = String(Math.random()); // of this one among others
    const xhr = new XMLHttpRequest();
    xhr.open("POST", `/api/v1/${path}${query({ name: file.name, key: job.key, ...values })}`);
    xhr.setRequestHeader("Content-Type", "application/octet-stream");
    xhr.responseType = "json";
    xhr.upload.onprogress = (e) => (job.done = { stage: `${(e.loaded / 1e6).toFixed(1)} MB`, done: e.loaded, total: e.total });
    xhr.upload.onload = () => (job.done = null); // now the server reads it
    xhr.onload = () => {
      const error = xhr.response?.error;
      if (xhr.status === 200) resolve(xhr.response);
      else reject(new ApiError(xhr.status, error?.message ?? `The server answered with error ${xhr.status}.`, error?.field));
    };
    xhr.onerror = () => reject(new ApiError(0, "The server does not answer, or it refused the file."));
    xhr.onabort = () => reject(signal.reason);
    signal.addEventListener("abort", () => xhr.abort());
    xhr.send(file);
  }));
}
