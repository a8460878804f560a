// Requests to the server.

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

async function send(path, options) {
  let r;
  try {
    r = await fetch(`/api/v1/${path}`, options);
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new ApiError(0, "The server does not answer. Is mlg serve still running?");
  }
  const body = await r.json().catch((e) => {
    if (e.name === "AbortError") throw e;
    return null;
  });
  if (!r.ok) throw new ApiError(r.status, body?.error?.message ?? `The server said ${r.status}.`);
  return body;
}

// query writes parameters as a query string; null leaves one out.
export function query(values) {
  const q = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== null && value !== undefined) q.set(name, Array.isArray(value) ? value.join(",") : value);
  }
  const text = q.toString();
  return text ? `?${text}` : "";
}

export const get = (path, values = {}, signal) => send(path + query(values), { signal });

export const post = (path, body, signal) =>
  send(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
