// Tables as CSV.

// cell quotes what has to be, and keeps spreadsheets from taking texts for formulas.
function cell(v) {
  if (typeof v === "number") return String(v);
  const text = String(v ?? "");
  const safe = /^[=+@\t\r]|^-(?!\.?\d)/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

// csv writes rows of cells.
export const csv = (rows) => rows.map((r) => `${r.map(cell).join(",")}\n`).join("");
