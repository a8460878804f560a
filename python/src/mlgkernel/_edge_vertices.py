"""Numbers of edges as attributes: every edge becomes a vertex between its ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from .exceptions import GraphError
from .graph import Graph

_PREFIX = "edge "  # begins the labels of these vertices, as in files


def edges_as_vertices(g: Graph, numbers: Any) -> Graph:
    """Return a graph in which every edge is a vertex between its ends, with a row of numbers as attributes.

    An edge that stands in both directions is one vertex, with the mean of both rows. The attributes of these
    vertices stand behind zeros for those of the others, which get zeros behind theirs. Distances double
    (docs/reference/formats.md, ``--edge-attributes``).
    """
    rows = np.asarray(numbers, np.float64)
    if not np.isfinite(rows).all():
        at = int(np.argmin(np.isfinite(rows).all(1)))
        raise GraphError(f"edge_attr: row {at}: {rows[at].tolist()!r:.60}, want finite numbers")
    first: list[int] = []  # edge of each new vertex
    back: list[int] = []  # the edge in the other direction, the same where there is none
    waiting: dict[tuple[int, int], list[int]] = {}
    for i, (u, v) in enumerate(g.edges.tolist()):
        if not g.arcs and u != v and waiting.get((v, u)):
            back[waiting[v, u].pop(0)] = i
            continue
        waiting.setdefault((u, v), []).append(len(first))
        first.append(i)
        back.append(i)
    k, n = len(first), g.n
    made = np.arange(n, n + k)
    u, v = g.edges[first].reshape(-1, 2).T
    ends = np.stack([np.stack([u, made], 1), np.stack([made, v], 1)], 1).reshape(-1, 2)
    keep = np.ones(2 * k, bool)
    if not g.arcs:
        keep[1::2] = u != v  # a self-loop has one end
    dim = 0 if g.attributes is None else g.attributes.shape[1]
    attributes = np.zeros((n + k, dim + rows.shape[1]))
    if dim:
        attributes[:n, :dim] = g.attributes
    attributes[n:, dim:] = (rows[first] + rows[back]) / 2
    labels = None
    if g._labels is not None or g._edge_labels is not None:
        texts = g.edge_labels or [""] * len(g.edges)
        labels = [*(g.labels or [""] * n), *(_PREFIX + texts[i] for i in first)]
    weights = None if g.weights is None else np.repeat((g.weights[first] + g.weights[back]) / 2, 2)[keep]
    return Graph.from_arrays(
        ends[keep],
        n + k,
        labels=labels,
        attributes=attributes,
        weights=weights,
        id=g.id,
        target=g.target,
        arcs=g.arcs,
    )
