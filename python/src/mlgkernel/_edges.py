"""Edges as they are given: dictionaries, pairs, arrays and matrices become arrays of vertex numbers."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .exceptions import GraphError

MAX_VERTICES = 1 << 28


def edge_array(given: Any) -> np.ndarray:
    a = np.asarray(given)
    if a.size == 0:
        return np.empty((0, 2), np.int64)
    if a.ndim != 2 or a.shape[1] != 2:
        hint = ": edge_index.T" if a.ndim == 2 and len(a) == 2 else ""
        raise GraphError(f"edges: shape {a.shape}, want (m, 2){hint}")
    if len(a) == 2 and plain(a.T) and not plain(a):  # rows are edges, of which one would be a loop
        raise GraphError("edges: two rows that are edges only as columns, want shape (m, 2): edge_index.T")
    if a.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):
            whole = a.astype(np.float64) if a.dtype.kind in "bf" else None
            if whole is None or not (np.floor(whole) == whole).all() or np.abs(whole).max() >= 2**62:
                raise GraphError(f"edges: entries of type {a.dtype}, want whole numbers")
    if a.dtype.kind == "u" and a.max() > np.iinfo(np.int64).max:
        raise GraphError(f"edges: vertex {a.max()} out of range [0, {MAX_VERTICES})")
    return np.array(a, dtype=np.int64)


def check_range(edges: np.ndarray, n: int) -> None:
    if len(edges) == 0:
        return
    bad = (edges < 0) | (edges >= n)
    if bad.any():
        e, side = np.argwhere(bad)[0]
        raise GraphError(f"edges: edge {e}: vertex {edges[e, side]} out of range [0, {n})")


def check_weights(given: Any, m: int) -> np.ndarray | None:
    if given is None:
        return None
    try:
        w = np.array(given, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError) as e:
        raise GraphError(f"weights: {e}") from None
    if len(w) != m:
        raise GraphError(f"weights: {len(w)} weights, want {m}")
    bad = ~((w > 0) & (w < np.inf))
    if bad.any():
        at = int(np.argmax(bad))
        raise GraphError(f"weights: edge {at}: weight {w[at]}, want a positive, finite number")
    return None if (w == 1).all() else w


def from_matrix(given: Any) -> tuple[int, np.ndarray, Any] | None:
    """Return number of vertices, edges and weights of an adjacency matrix, None for other forms."""
    if given is None or isinstance(given, (Mapping, set, frozenset, str)):
        return None
    if hasattr(given, "tocoo"):
        coo = given.tocoo()
        if coo.shape[0] != coo.shape[1]:
            raise GraphError(f"adjacency matrix: shape {coo.shape}, want a square matrix")
        pairs, w = np.stack([coo.row, coo.col], axis=1), np.asarray(coo.data, dtype=np.float64)
        keep = w != 0
        return coo.shape[0], pairs[keep].astype(np.int32), _adjacency_weights(pairs[keep], w[keep])
    if isinstance(given, np.ndarray):
        a = given
    elif isinstance(given, (list, tuple)):
        n = len(given)
        if n == 0 or not all(
            isinstance(r, (list, np.ndarray)) or (isinstance(r, tuple) and len(r) == n) for r in given
        ):
            return None
        if all(isinstance(r, tuple) for r in given) and n in (2, 3):
            return None  # two pairs, or three triples: edges
        try:
            a = np.array(given, dtype=np.float64)
        except (TypeError, ValueError):
            raise GraphError("adjacency matrix: want numbers, and rows of equal lengths") from None
    else:
        return None
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        if isinstance(given, np.ndarray):
            not_transposed(a, None)
            if a.ndim == 2 and a.shape[1] in (2, 3):
                return None  # an array of edges
        raise GraphError(f"adjacency matrix: shape {a.shape}, want a square matrix")
    if a.dtype.kind not in "biuf":
        raise GraphError(f"adjacency matrix: entries of type {a.dtype}, want numbers")
    pairs = np.argwhere(a != 0)
    w = a[pairs[:, 0], pairs[:, 1]].astype(np.float64)
    return len(a), pairs.astype(np.int32), _adjacency_weights(pairs, w)


def plain(pairs: np.ndarray) -> bool:
    """Report whether all rows can be pairs of different vertices."""
    return pairs.dtype.kind in "iu" and bool((pairs[:, 0] != pairs[:, 1]).all()) and pairs.min() >= 0


def not_transposed(edges: np.ndarray, n: int | None) -> None:
    """Raise an error for what is, or may be, an array of shape (2, m), as torch-geometric has it.

    Two pairs are the same transposed, unless they have no vertex in common. Of two rows of three numbers the
    last may be a weight.
    """
    if edges.ndim != 2 or edges.shape[0] != 2 or edges.shape[1] < 2:
        return
    turned = edges.T
    if edges.shape[1] <= 3:
        fits = plain(turned) and (n is None or turned.max() < n)
        ends = edges[:, :2]
        if not fits or (edges.shape[1] == 2 and len(np.unique(edges)) < 4 and plain(ends)):
            return
    raise GraphError(
        f"edges: an array of shape {edges.shape} may be an edge_index, want a list of pairs (u, v) or "
        "(u, v, weight), or Graph.from_arrays(edge_index.T, labels=labels)"
    )


def _adjacency_weights(pairs: np.ndarray, w: np.ndarray) -> np.ndarray:
    bad = ~((w > 0) & (w < np.inf))
    if bad.any():
        i = int(np.argmax(bad))
        u, v = pairs[i].tolist()
        raise GraphError(f"adjacency matrix: entry ({u}, {v}) is {w[i]}, want a positive, finite number or 0")
    return w


def between(edges: np.ndarray) -> np.ndarray:
    """Return the pairs of different vertices that edges join, each once, the smaller vertex first."""
    ends = edges[edges[:, 0] != edges[:, 1]]
    return np.unique(np.sort(ends, axis=1), axis=0)


def symmetric(edges: np.ndarray, weights: Any) -> bool:
    """Report whether a matrix is the same in both directions, but for rounding."""
    there, back = np.lexsort(edges.T), np.lexsort(edges.T[::-1])
    if not np.array_equal(edges[there], edges[back][:, ::-1]):
        return False
    w = np.ones(len(edges)) if weights is None else np.asarray(weights, np.float64)
    return bool(np.allclose(w[there], w[back], rtol=1e-9, atol=0))


def as_pairs(given: Any) -> tuple[Collection[Any], list[Any] | None, Collection[Any]]:
    """Return edges as pairs of vertices, weights (None: all 1), and vertices that have no edge."""
    if given is None:
        return (), None, ()
    if isinstance(given, Mapping):
        near = given.values()
        if all(isinstance(v, (Mapping, list, tuple, set, frozenset)) for v in near):
            pairs = [(u, v) for u, vs in given.items() for v in vs]
            if not any(isinstance(vs, Mapping) for vs in near):
                return pairs, None, given
            return pairs, [vs[v] if isinstance(vs, Mapping) else 1.0 for vs in near for v in vs], given
        for key in given:
            if not isinstance(key, tuple) or len(key) != 2:
                raise GraphError(
                    f"edges: key {key!r}, want pairs of vertices, or lists of neighbours as values"
                )
        return given.keys(), list(near), ()
    try:
        items: Any = given.tolist() if isinstance(given, np.ndarray) else given
        items = items if isinstance(items, (list, tuple, set, frozenset)) else list(items)
    except TypeError:
        raise GraphError(
            f"edges: {type(given).__name__}, want a dictionary, pairs of vertices or a matrix"
        ) from None
    if set(map(type, items)) == {tuple} and set(map(len, items)) == {2}:
        return items, None, ()
    for e in items:
        if not isinstance(e, (tuple, list)) or len(e) not in (2, 3):
            raise GraphError(f"edges: {e!r:.60}, want (u, v) or (u, v, weight)")
    return [(e[0], e[1]) for e in items], [e[2] if len(e) == 3 else 1.0 for e in items], ()


def _span(vertices: Collection[Any]) -> range | None:
    """Return vertices that are successive whole numbers, in whatever order, as a range."""
    if 0 < len(vertices) < 10000 and list(vertices) == list(range(len(vertices))):
        return range(len(vertices))
    if not 0 < len(vertices) <= MAX_VERTICES or set(map(type, vertices)) != {int}:
        return None
    order = sorted(vertices)
    return range(order[0], order[-1] + 1) if order[-1] - order[0] == len(order) - 1 else None


def whole_pairs(given: Any, labelled: Collection[Any]) -> tuple[Sequence[Any], np.ndarray] | None:
    """Return vertices and edges in the usual form: pairs of successive whole numbers that have labels.

    It makes few passes over the pairs, and returns None for all other forms.
    """
    span = _span(labelled) if given and isinstance(given, (set, frozenset, list, tuple)) else None
    if span is None or not 0 <= span[0] < 1 << 30:  # differences that overflow are then large, too
        return None
    try:
        u, v = zip(*given, strict=True)
        ends = np.frombuffer(array("i", u + v), np.int32) - np.int32(span[0])
    except (TypeError, ValueError, OverflowError):
        return None
    inside = ends.view(np.uint32).max() < len(span)  # negative numbers are large ones
    return (span, ends.reshape(2, -1).T) if inside else None


def numbered(
    pairs: Collection[Any], seen: Collection[Any], labelled: Collection[Any]
) -> tuple[Sequence[Any], np.ndarray]:
    """Return the vertices in order, and the edges by their numbers."""
    flat = list(chain.from_iterable(pairs))
    span = _span(labelled or seen)
    if span is not None:  # the usual case, without a dictionary
        try:
            ends = np.frombuffer(array("q", chain(seen, flat) if seen else flat), np.int64)
        except (TypeError, OverflowError):  # vertices of another kind
            ends = None
        if ends is not None and (not len(ends) or (ends.min() >= span[0] and ends.max() <= span[-1])):
            return span, (ends[len(ends) - len(flat) :] - span[0]).reshape(-1, 2).astype(np.int32)
    try:
        vertices = dict.fromkeys(chain(seen, flat, labelled))
    except TypeError as e:
        raise GraphError(f"edges: a vertex that cannot be a key of a dictionary: {e}") from None
    if len(vertices) > MAX_VERTICES:
        raise GraphError(f"edges: {len(vertices)} vertices, want at most {MAX_VERTICES}")
    try:
        order: Sequence[Any] = sorted(vertices)
    except TypeError:
        order = list(vertices)
    n = len(order)
    if n and set(map(type, order)) == {int} and order[-1] - order[0] == n - 1:
        order = range(order[0], order[0] + n)
        numbers = np.array(flat, dtype=np.int64) - order[0]
    else:
        number = {v: i for i, v in enumerate(order)}
        numbers = np.array([number[v] for v in flat], dtype=np.int64)
    return order, numbers.reshape(-1, 2).astype(np.int32)
