"""Graphs as one block of bytes, as the worker reads and writes them.

The layout is described in graph/batch.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np

from ._edges import MAX_VERTICES
from .exceptions import GraphError
from .graph import Graph, Part


def pack(graphs: Sequence[Graph]) -> bytes:
    """Return graphs as a batch."""
    codes = _Codes()
    shapes = np.zeros((5, len(graphs)), "<i8")
    attributes, coordinates, weights, edges = ([] for _ in range(4))
    labels: list[int] = []
    vertices: list[int] = []
    edge_labels: list[int] = []
    rows: list[int] = []
    parts: list[int] = []
    for i, g in enumerate(graphs):
        m = len(g.edges)
        shapes[:2, i] = g.n, m
        edges.append(g.edges)
        labels += [-1] * g.n if g._labels is None else map(codes.__getitem__, g._labels)
        edge_labels += [-1] * m if g._edge_labels is None else map(codes.__getitem__, g._edge_labels)
        if g.attributes is not None:
            shapes[2, i] = g.attributes.shape[1]
            attributes.append(g.attributes.reshape(-1))
        if g.coordinates is not None:
            shapes[3, i] = 2
            coordinates.append(g.coordinates.reshape(-1))
        if g.weights is not None:
            shapes[4, i] = 1
            weights.append(g.weights)
        if g.arcs:
            shapes[4, i] |= 2
        if (given := g.names) is not None:
            shapes[4, i] |= 4
            vertices += map(codes.__getitem__, given)
        if g._parts is not None:
            shapes[4, i] |= 8
            rows.append(len(g._parts))
            for name, text, smiles, count in g._parts:
                parts += [
                    codes[name],
                    -1 if text is None else codes[text],
                    codes[smiles] if smiles else -1,
                    count,
                ]
    total = int(shapes[0].sum())
    if total > MAX_VERTICES:
        raise GraphError(f"graphs: {total} vertices in all, want at most {MAX_VERTICES}")
    names = [
        codes[text] if text else -1
        for texts in (*(map(attrgetter(key), graphs) for key in ("id", "target")), map(_smiles, graphs))
        for text in texts
    ]
    texts = [t.encode("utf-8", "surrogatepass") for t in codes.texts]
    arrays = [
        np.array([len(graphs), len(texts)], "<i8"),
        shapes,
        *(_join(parts, "<f8") for parts in (attributes, coordinates, weights)),
        _join(edges, "<i4"),
        *(np.array(numbers, "<i4") for numbers in (labels, edge_labels, names, vertices, rows, parts)),
        np.array([len(t) for t in texts], "<i4"),
    ]
    return b"".join([a.tobytes() for a in arrays] + texts)


def _smiles(g: Graph) -> str:
    """Return the SMILES string of a graph. That of a row is those of its parts."""
    return g.smiles if g._parts is None else ""


class _Codes(dict[Any, int]):
    """Numbers of labels by label, in the order of their texts, of which equal ones have one number."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def __missing__(self, label: Any) -> int:
        self[label] = code = self.texts.setdefault(str(label), len(self.texts))
        return code


def _join(parts: list[np.ndarray], dtype: str) -> np.ndarray:
    return np.concatenate(parts).astype(dtype, copy=False) if parts else np.empty(0, dtype)


class _Taker:
    """Takes arrays off the front of another one."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data

    def take(self, count: int, dtype: str | None = None) -> np.ndarray:
        size = count * (np.dtype(dtype).itemsize if dtype else 1)
        out, self.data = self.data[:size], self.data[size:]
        return out.view(dtype) if dtype else out


def unpack(data: np.ndarray) -> list[Graph]:
    """Return the graphs of a batch."""
    body = _Taker(data)
    count, strings = body.take(2, "<i8").tolist()
    shapes = body.take(5 * count, "<i8").reshape(5, count)
    n, m, dim, places, kind = shapes
    attributes, coordinates, weights = (
        _Taker(body.take(int(size.sum()), "<f8")) for size in (n * dim, n * places, m * (kind & 1))
    )
    edges, labels, edge_labels = (_Taker(body.take(int(size.sum()), "<i4")) for size in (2 * m, n, m))
    names = body.take(3 * count, "<i4").reshape(3, count).T.tolist()
    vertices = _Taker(body.take(int(n[kind & 4 != 0].sum()), "<i4"))
    counts = body.take(int((kind & 8 != 0).sum()), "<i4")
    parts = _Taker(body.take(4 * int(counts.sum()), "<i4"))
    of_row = iter(counts.tolist())
    lengths = body.take(strings, "<i4").tolist()
    texts = [body.take(size).tobytes().decode("utf-8", "replace") for size in lengths]

    def strings_of(numbers: Any) -> list[str] | None:
        return [texts[c] for c in numbers.tolist()] if len(numbers) and numbers[0] >= 0 else None

    out = []
    for i, (n, m, dim, places, kind) in enumerate(shapes.T.tolist()):
        g = Graph.__new__(Graph)
        g.n, g.vertices = n, range(n)
        if kind & 4:
            g.vertices = strings_of(vertices.take(n)) or range(n)
        g.edges = edges.take(2 * m).reshape(m, 2)
        g.attributes = attributes.take(n * dim).reshape(n, dim) if dim else None
        g.coordinates = coordinates.take(2 * n).reshape(n, 2) if places else None
        g.weights = weights.take(m) if kind & 1 else None
        g._labels, g._edge_labels = strings_of(labels.take(n)), strings_of(edge_labels.take(m))
        g.directed = g.arcs = bool(kind & 2)
        g.id, g.target, g.smiles = (texts[c] if c >= 0 else "" for c in names[i])
        g._parts = None
        if kind & 8:
            g._parts = [
                Part(
                    texts[name],
                    texts[text] if text >= 0 else None,
                    texts[smiles] if smiles >= 0 else "",
                    count,
                )
                for name, text, smiles, count in parts.take(4 * next(of_row)).reshape(-1, 4).tolist()
            ]
            there = [p.smiles for p in g._parts if p.vertices > 0]
            g.smiles = ".".join(there) if all(there) else ""
        out.append(g)
    return out
