// What the page keeps of each collection beside the address: decisions, notes and rounds. It outlives a reload.

const prefix = "mlg-kept ";
const mostKept = 40; // collections

// empty is what is kept of a collection that is new.
const empty = () => ({ notes: {}, decisions: {}, rounds: [], time: 0 });

const loaded = new Map(); // by source

// keptOf returns what is kept of a collection, to be changed and then written by keep.
export function keptOf(source) {
  if (!loaded.has(source)) {
    let found = null;
    try {
      found = JSON.parse(localStorage.getItem(prefix + source));
    } catch {
      // no storage, or not ours: what is kept lasts as long as this page
    }
    loaded.set(source, { ...empty(), ...found });
  }
  return loaded.get(source);
}

// keep writes what is kept of a collection. The oldest ones go when there are too many.
export function keep(source, change = {}) {
  const all = Object.assign(keptOf(source), change, { time: Date.now() });
  try {
    localStorage.setItem(prefix + source, JSON.stringify(all));
    const others = Object.keys(localStorage).filter((key) => key.startsWith(prefix));
    if (others.length <= mostKept) return;
    const age = (key) => JSON.parse(localStorage.getItem(key)).time;
    localStorage.removeItem(others.sort((a, b) => age(a) - age(b))[0]);
  } catch {
    // as above
  }
}
