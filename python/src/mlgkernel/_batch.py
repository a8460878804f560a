"""Graphs as one block of bytes, as the worker reads and writes them.

The layout is described in internal/worker/batch.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .exceptions import GraphError
from .graph import MAX_VERTICES, Graph

_WEIGHTS, _COORDINATES, _LABELS, _EDGE_LABELS = 1, 2, 4, 8

Packed = tuple[dict[str, int], bytes]


def pack(graphs: Sequence[Graph]) -> Packed:
    """Return the layout and the bytes of a batch of graphs."""
    codes: dict[str, int] = {}

    def code(text: str) -> int:
        return codes.setdefault(text, len(codes))

    count = len(graphs)
    n, m, dim, flags = (np.zeros(count, "<i8") for _ in range(4))
    attributes, weights, coordinates, edges = [], [], [], []
    labels: list[int] = []
    edge_labels: list[int] = []
    names = np.full((2, count), -1, "<i4")
    for i, g in enumerate(graphs):
        n[i], m[i] = g.n, len(g.edges)
        edges.append(g.edges.reshape(-1))
        flag = 0
        if g.attributes is not None:
            dim[i] = g.attributes.shape[1]
            attributes.append(g.attributes.reshape(-1))
        if g.weights is not None:
            flag |= _WEIGHTS
            weights.append(g.weights)
        if g.coordinates is not None:
            flag |= _COORDINATES
            coordinates.append(g.coordinates.reshape(-1))
        if g.labels is not None:
            flag |= _LABELS
            labels.extend([code(t) for t in g.labels])
        if g.edge_labels is not None:
            flag |= _EDGE_LABELS
            edge_labels.extend([code(t) for t in g.edge_labels])
        if g.id:
            names[0, i] = code(g.id)
        if g.target:
            names[1, i] = code(g.target)
        flags[i] = flag
    total = int(n.sum())
    if total > MAX_VERTICES:
        raise GraphError(f"graphs: {total} vertices in all, want at most {MAX_VERTICES}")
    texts = [t.encode("utf-8", "surrogatepass") for t in codes]
    parts = [
        n,
        m,
        dim,
        flags,
        _join(attributes, "<f8"),
        _join(weights, "<f8"),
        _join(coordinates, "<f8"),
        _join(edges, "<i4"),
        np.array(labels, "<i4"),
        np.array(edge_labels, "<i4"),
        names,
        np.array([len(t) for t in texts], "<i4"),
    ]
    body = b"".join([p.tobytes() for p in parts] + texts)
    return {"graphs": count, "strings": len(texts)}, body


def _join(parts: list[np.ndarray], dtype: str) -> np.ndarray:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(0, dtype)


def unpack(arrays: dict[str, Any]) -> list[Graph]:
    """Return the graphs of the arrays of an answer."""
    ends = np.cumsum(arrays["lengths"], dtype=np.int64)
    raw = arrays["text"].tobytes()
    texts, at = [], 0
    for e in ends.tolist():
        texts.append(raw[at:e].decode("utf-8", "replace"))
        at = e
    take = dict.fromkeys(("attributes", "weights", "coordinates", "edges", "labels", "edge_labels"), 0)

    def part(name: str, size: int) -> Any:
        start = take[name]
        take[name] = start + size
        return arrays[name][start : start + size]

    out = []
    ids, targets = arrays["ids"].tolist(), arrays["targets"].tolist()
    rows = zip(*(arrays[k].tolist() for k in ("n", "m", "dim", "flags")))
    for i, (n, m, dim, flag) in enumerate(rows):
        g = Graph.__new__(Graph)
        g.n, g.vertices = n, range(n)
        g.edges = part("edges", 2 * m).reshape(m, 2)
        g.attributes = part("attributes", n * dim).reshape(n, dim) if dim else None
        g.weights = part("weights", m) if flag & _WEIGHTS else None
        g.coordinates = part("coordinates", 2 * n).reshape(n, 2) if flag & _COORDINATES else None
        g.labels = [texts[c] for c in part("labels", n).tolist()] if flag & _LABELS else None
        g.edge_labels = None
        if flag & _EDGE_LABELS:
            g.edge_labels = [texts[c] for c in part("edge_labels", m).tolist()]
        g.id = texts[ids[i]] if ids[i] >= 0 else ""
        g.target = texts[targets[i]] if targets[i] >= 0 else ""
        out.append(g)
    return out
