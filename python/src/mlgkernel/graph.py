"""Graphs as this package keeps them: arrays of edges, labels and attributes."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ._engine import counted
from ._graph_methods import GraphMethods, between
from .exceptions import GraphError

MAX_VERTICES = 1 << 28


class Graph(GraphMethods):
    """An undirected graph with labels or attributes on its vertices.

    Parameters
    ----------
    initialization_object : dict, iterable of tuples, or square matrix
        The edges, in one of these forms:

        - ``{u: {v: weight}}``, ``{u: [v, ...]}`` or ``{(u, v): weight}``,
        - an iterable of ``(u, v)`` or ``(u, v, weight)``,
        - a square adjacency matrix: lists, a NumPy array or a SciPy sparse matrix.
    node_labels : dict or sequence, optional
        The label of every vertex, by vertex or in the order of the vertices. Numbers and texts
        are discrete labels. They are compared as text: 1 and "1" are the same. Lists, tuples and
        arrays of numbers are attributes. All must have one length.
    edge_labels : dict or sequence, optional
        The label of every edge, by pairs of vertices (one direction is enough) or in the order
        of the edges.
    graph_format : {"auto", "dictionary", "adjacency", "all"}
        With ``"adjacency"`` vertices have numbers in place of their names.
    construct_labels : bool
        If there are no `node_labels`, the label of every vertex is its degree.

    Notes
    -----
    Vertices may be anything that can be hashed. They are numbered in ascending order. If they cannot
    be sorted, they are numbered in the order in which they come. Edges may be given in one direction
    or in both. Kernels take all graphs as undirected.

    The methods are those of GraKeL's graphs. They return edges as they were given. ``purpose`` says
    whether vertices are given by number (``"adjacency"``) or by name (``"dictionary"``). ``print``
    shows all vertices, edges and labels. `labels` and `edge_labels` are lists; dictionaries, as GraKeL
    has them, are `node_labels` and ``get_labels("edge", "dictionary")``.

    Examples
    --------
    >>> from mlgkernel import Graph
    >>> water = Graph({"a": ["b", "c"]}, {"a": "O", "b": "H", "c": "H"})
    >>> water
    <Graph: 3 vertices, 2 edges>
    >>> water.get_label_group()
    {'O': ['a'], 'H': ['b', 'c']}
    >>> water.get_adjacency_matrix()
    array([[0., 1., 1.],
           [0., 0., 0.],
           [0., 0., 0.]])

    Attributes
    ----------
    n : int
        Number of vertices.
    m : int
        Number of edges as kernels see them: without directions, repetitions and self-loops.
    edges : ndarray of shape (rows, 2)
        Numbers of the end vertices, as they were given: an edge in both directions has two rows.
    weights : ndarray of shape (rows,) or None
    labels : list of str or None
    directed : bool
        Whether an edge stands for one direction only. Otherwise it stands for both.
    attributes : ndarray of shape (n, d) or None
    edge_labels : list of str or None
    coordinates : ndarray of shape (n, 2) or None
    vertices : list
        The vertices as they were given, by number.
    id, target : str
    smiles : str
        For pictures: the molecule, with its atoms in the order of the vertices.
    """

    __slots__ = (
        "_edge_labels",
        "_labels",
        "attributes",
        "coordinates",
        "directed",
        "edges",
        "id",
        "n",
        "one_way",
        "smiles",
        "target",
        "vertices",
        "weights",
    )

    n: int
    edges: np.ndarray
    weights: np.ndarray | None
    attributes: np.ndarray | None
    coordinates: np.ndarray | None
    vertices: Sequence[Any]
    id: str
    target: str
    smiles: str
    directed: bool
    one_way: bool  # a matrix or a directed graph none of whose edges has both directions
    _labels: list[Any] | None  # texts and whole numbers
    _edge_labels: list[Any] | None

    def __init__(
        self,
        initialization_object: Any = None,
        node_labels: Any = None,
        edge_labels: Any = None,
        graph_format: str = "auto",
        construct_labels: bool = False,
    ) -> None:
        self.id = self.target = self.smiles = ""
        self.coordinates = self.attributes = self._labels = self._edge_labels = None
        self.directed, self.one_way = True, False
        if graph_format not in ("auto", "dictionary", "adjacency", "all", None):
            raise ValueError(f"graph_format={graph_format!r}, want auto, dictionary, adjacency or all")
        matrix = _as_matrix(initialization_object)
        pairs: Collection[Any]
        if matrix is not None:
            self.n, self.edges, weights = matrix
            self.vertices = range(self.n)
            pairs = self.edges
            self.one_way = _no_reverse(self.edges)
        else:
            keys = node_labels if isinstance(node_labels, Mapping) else ()
            usual = _whole_pairs(initialization_object, keys)
            if usual is not None:
                pairs, weights = initialization_object, None
                self.vertices, self.edges = usual
            else:
                pairs, weights, seen = _as_pairs(initialization_object)
                self.vertices, self.edges = _numbered(pairs, seen, keys)
            self.n = len(self.vertices)
        self.weights = _check_weights(weights, len(self.edges))
        if node_labels is None and construct_labels:
            node_labels = self._degrees()
        self._set_labels(node_labels)
        self._set_edge_labels(edge_labels, pairs if matrix is None else None)
        if graph_format == "adjacency":
            self.vertices = range(self.n)

    def _degrees(self) -> np.ndarray:
        """Return the number of neighbours of every vertex."""
        return np.bincount(between(self.edges).reshape(-1), minlength=self.n)

    @property
    def labels(self) -> list[str] | None:
        return None if self._labels is None else list(map(str, self._labels))

    @labels.setter
    def labels(self, given: list[Any] | None) -> None:
        self._labels = None
        self._set_labels(given)

    @property
    def edge_labels(self) -> list[str] | None:
        return None if self._edge_labels is None else list(map(str, self._edge_labels))

    @edge_labels.setter
    def edge_labels(self, given: list[Any] | None) -> None:
        self._edge_labels = None
        self._set_edge_labels(given)

    @classmethod
    def from_arrays(
        cls,
        edges: Any,
        n: int | None = None,
        labels: Any = None,
        attributes: Any = None,
        weights: Any = None,
        edge_labels: Any = None,
        coordinates: Any = None,
        id: str = "",
        target: str = "",
        smiles: str = "",
    ) -> Graph:
        """Make a graph from arrays.

        Parameters
        ----------
        edges : array of shape (m, 2)
            Vertices from 0.
        n : int, optional
            Number of vertices. By default the number of labels or attributes. Without these, one
            more than the largest vertex of an edge.
        labels : sequence of n labels, optional
        attributes : array of shape (n, d), optional
        weights : array of shape (m,), optional
        edge_labels : sequence of m labels, optional
        coordinates : array of shape (n, 2), optional
        id, target : str
        smiles : str
            For pictures: the molecule, with its atoms in the order of the vertices.
        """
        g = cls.__new__(cls)
        g.id, g.target, g.smiles = str(id), str(target), str(smiles)
        g.edges = _edge_array(edges)
        if n is None:
            for given in (labels, attributes):
                if given is not None:
                    n = len(given)
                    break
            else:
                n = int(g.edges.max()) + 1 if len(g.edges) else 0
        g.n = _check_count(n)
        g.vertices = range(g.n)
        _check_range(g.edges, g.n)
        g.edges = g.edges.astype(np.int32)
        g.weights = _check_weights(weights, len(g.edges))
        g._labels = g.attributes = g._edge_labels = g.coordinates = None
        g.directed = g.one_way = False
        g._set_labels(labels)
        if attributes is not None:
            rows = _matrix("attributes", attributes, g.n)
            if g.attributes is not None:
                raise GraphError(
                    "labels: vectors are attributes, but attributes are given too; want one of them"
                )
            g.attributes = rows if rows.shape[1] else None
        g._set_edge_labels(edge_labels)
        if coordinates is not None:
            g.coordinates = _matrix("coordinates", coordinates, g.n)
            if g.coordinates.shape[1] != 2:
                raise GraphError(f"coordinates: shape {g.coordinates.shape}, want ({g.n}, 2)")
        return g

    def _set_labels(self, given: Any) -> None:
        if given is None:
            return
        if isinstance(given, Mapping):
            try:
                values = list(map(given.__getitem__, self.vertices))
            except KeyError as e:
                raise GraphError(f"node_labels: vertex {e.args[0]!r} has no label") from None
            if len(given) > self.n:
                unknown = next(v for v in given if v not in self.vertices)
                raise GraphError(f"node_labels: the graph has no vertex {unknown!r}")
        else:
            if isinstance(given, np.ndarray) and given.dtype != object:
                if given.ndim == 2:
                    rows = _matrix("node_labels", given, self.n)
                    self.attributes = rows if rows.shape[1] else None
                    return
                given = given.tolist()
            values = list(given)
            if len(values) != self.n:
                raise GraphError(f"node_labels: {len(values)} labels, want {self.n}")
        if not values:
            return
        if type(values[0]) is not str and all(map(_is_vector, values)):
            lengths = {len(v) for v in values}
            if len(lengths) > 1:
                raise GraphError(f"node_labels: vectors of lengths {sorted(lengths)}, want one length")
            rows = _matrix("node_labels", [list(v) for v in values], self.n)
            self.attributes = rows if rows.shape[1] else None
            return
        self._labels = _labels("node_labels", values)

    def _set_edge_labels(self, given: Any, pairs: Collection[Any] | None = None) -> None:
        """Take labels of edges. `pairs` are their vertices as they were given, where they have names."""
        if given is None:
            return
        if isinstance(given, Mapping):
            if not given and len(self.edges):
                return
            if pairs is None:
                pairs = [(self.vertices[u], self.vertices[v]) for u, v in self.edges.tolist()]
            try:
                values = list(map(given.__getitem__, pairs))
            except (KeyError, TypeError):  # labels for one direction, or edges that are lists
                values = [_label_of_edge(given, *p) for p in pairs]
        else:
            values = given.tolist() if isinstance(given, np.ndarray) else list(given)
            if len(values) != len(self.edges):
                raise GraphError(f"edge_labels: {len(values)} labels, want {len(self.edges)}")
        if values:
            self._edge_labels = _labels("edge_labels", values)

    def __repr__(self) -> str:
        name = f" {self.id!r}" if self.id else ""
        size = f"{counted(self.n, 'vertex', 'vertices')}, {counted(self.m, 'edge')}"
        return f"<Graph{name}: {size}>"

    def _repr_svg_(self) -> str:
        from .explain import draw

        return draw(self)._repr_svg_()

    def as_tuple(self) -> tuple[Any, ...]:
        """Return (edges, vertex labels, edge labels) as a set of pairs and two dictionaries.

        Edges stand in both directions. Attributes take the place of labels where there are none.
        """
        pairs = self.edges.tolist()
        both = {(u, v) for a, b in pairs for u, v in ((a, b), (b, a))}
        labels = self._by_number() or {}
        edge_labels = {}
        for (a, b), text in zip(pairs, self._edge_labels or ()):
            edge_labels[a, b] = edge_labels[b, a] = text
        return both, labels, edge_labels


def _label_of_edge(labels: Mapping[Any, Any], u: Any, v: Any) -> Any:
    """Return the label of an edge, which may stand under its other direction."""
    for pair in ((u, v), (v, u)):
        if pair in labels:
            return labels[pair]
    raise GraphError(f"edge_labels: edge ({u!r}, {v!r}) has no label")


class Row(str):
    """A label that stands for a row of numbers, which it has as `numbers`.

    Its text is the place of the 1 in a one-hot row, and the row itself otherwise. So a row has the same
    text in collections in which all rows are one-hot, and whose labels are those places, and in others.
    """

    numbers: np.ndarray

    def __new__(cls, row: list[Any]) -> Row:
        whole = [int(x) if x == int(x) else x for x in row]
        one_hot = len(row) > 1 and sorted(whole) == [0] * (len(row) - 1) + [1]
        out = super().__new__(cls, whole.index(1) if one_hot else whole)
        out.numbers = np.array(row)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.numbers.tolist(),)


def _labels(field: str, values: list[Any]) -> list[Any]:
    """Return labels as texts and whole numbers, whose texts are what is compared."""
    if set(map(type, values)) <= {str, int, Row}:
        return values
    return [_label(field, v) for v in values]


def _label(field: str, value: Any) -> str:
    """Return a label as text: equal numbers have the same."""
    if isinstance(value, str):
        return str(value)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise GraphError(f"{field}: {value} is no label")
        return str(int(value)) if value == int(value) else repr(float(value))
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return _label(field, value.item())
    if value is None:
        raise GraphError(f"{field}: None is no label")
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, (list, tuple, set, frozenset, dict, np.ndarray)):
        if field == "edge_labels" or isinstance(value, tuple):
            if isinstance(value, (list, tuple)):
                value = type(value)(x.item() if isinstance(x, np.generic) else x for x in value)
            return repr(value.tolist() if isinstance(value, np.ndarray) else value)
        raise GraphError(
            f"{field}: {value!r:.60}, want a number or a text, or vectors of numbers for all vertices"
        )
    return repr(value)


def _is_vector(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf"
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(x, (int, float, np.integer, np.floating)) for x in value)
    )


def _matrix(field: str, given: Any, rows: int) -> np.ndarray:
    try:
        a = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as e:
        raise GraphError(f"{field}: {e}") from None
    if rows == 0 and a.size == 0:
        return a.reshape(0, a.shape[1] if a.ndim == 2 else 0)
    if a.ndim != 2 or len(a) != rows:
        raise GraphError(f"{field}: shape {a.shape}, want ({rows}, d)")
    bad = ~np.isfinite(a)
    if bad.any():
        v, j = np.argwhere(bad)[0]
        raise GraphError(f"{field}: vertex {v}: number {j} is {a[v, j]}, want a finite number")
    return a


def _check_count(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= MAX_VERTICES:
        raise GraphError(f"n: {n!r} vertices, want a whole number from 0 to {MAX_VERTICES}")
    return int(n)


def _edge_array(given: Any) -> np.ndarray:
    a = np.asarray(given)
    if a.size == 0:
        return np.empty((0, 2), np.int64)
    if a.ndim != 2 or a.shape[1] != 2:
        raise GraphError(f"edges: shape {a.shape}, want (m, 2)")
    if a.dtype.kind not in "iu":
        with np.errstate(invalid="ignore"):
            whole = a.astype(np.float64) if a.dtype.kind in "bf" else None
            if whole is None or not (np.floor(whole) == whole).all() or np.abs(whole).max() >= 2**62:
                raise GraphError(f"edges: entries of type {a.dtype}, want whole numbers")
    if a.dtype.kind == "u" and a.max() > np.iinfo(np.int64).max:
        raise GraphError(f"edges: vertex {a.max()} out of range [0, {MAX_VERTICES})")
    return np.array(a, dtype=np.int64)


def _check_range(edges: np.ndarray, n: int) -> None:
    if len(edges) == 0:
        return
    bad = (edges < 0) | (edges >= n)
    if bad.any():
        e, side = np.argwhere(bad)[0]
        raise GraphError(f"edges: edge {e}: vertex {edges[e, side]} out of range [0, {n})")


def _check_weights(given: Any, m: int) -> np.ndarray | None:
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


def _as_matrix(given: Any) -> tuple[int, np.ndarray, Any] | None:
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
        if a.ndim == 2 and a.shape[1] in (2, 3) and isinstance(given, np.ndarray):
            return None  # an array of edges
        raise GraphError(f"adjacency matrix: shape {a.shape}, want a square matrix")
    if a.dtype.kind not in "biuf":
        raise GraphError(f"adjacency matrix: entries of type {a.dtype}, want numbers")
    pairs = np.argwhere(a != 0)
    w = a[pairs[:, 0], pairs[:, 1]].astype(np.float64)
    return len(a), pairs.astype(np.int32), _adjacency_weights(pairs, w)


def _adjacency_weights(pairs: np.ndarray, w: np.ndarray) -> np.ndarray:
    bad = ~((w > 0) & (w < np.inf))
    if bad.any():
        i = int(np.argmax(bad))
        u, v = pairs[i].tolist()
        raise GraphError(f"adjacency matrix: entry ({u}, {v}) is {w[i]}, want a positive, finite number or 0")
    return w


def _no_reverse(edges: np.ndarray) -> bool:
    """Report whether there are edges between different vertices, none of them in both directions."""
    ends = edges[edges[:, 0] != edges[:, 1]]
    return len(ends) > 0 and len(between(ends)) == len(np.unique(ends, axis=0))


def _as_pairs(given: Any) -> tuple[Collection[Any], list[Any] | None, Collection[Any]]:
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


def _whole_pairs(given: Any, labelled: Collection[Any]) -> tuple[Sequence[Any], np.ndarray] | None:
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


def _numbered(
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
