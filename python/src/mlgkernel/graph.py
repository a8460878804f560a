"""Graphs as this package keeps them: arrays of edges, labels and attributes."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ._edges import (
    MAX_VERTICES,
    as_pairs,
    between,
    check_range,
    check_weights,
    edge_array,
    from_matrix,
    numbered,
    symmetric,
    whole_pairs,
)
from ._engine import counted
from ._graph_methods import GraphMethods
from ._labels import as_labels, is_vector, label_of_edge, rows_of
from .exceptions import GraphError


class Part(NamedTuple):
    """A part of a row: a structure, which is the next `vertices` of the row, or a value.

    A category has -1 vertices and a number -2. Both have a text, None for one that is missing.
    """

    name: str
    text: str | None
    smiles: str
    vertices: int


class Graph(GraphMethods):
    """A graph with labels or attributes on its vertices.

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
    arcs : bool, optional
        Whether edges are arcs, from the first vertex to the second. By default they are those of a
        matrix that is not symmetric, and of a graph with some edges in both directions and others
        in one.

    Notes
    -----
    Vertices may be anything that can be hashed. They are numbered in ascending order. If they cannot
    be sorted, they are numbered in the order in which they come. Edges may be given in one direction
    or in both.

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
        Number of edges without directions, repetitions and self-loops.
    edges : ndarray of shape (rows, 2)
        Numbers of the end vertices, as they were given: an edge in both directions has two rows.
    weights : ndarray of shape (rows,) or None
    labels : list of str or None
    directed : bool
        Whether `edges` has an entry for every direction. Otherwise one stands for both.
    arcs : bool
        Whether kernels see directions.
    attributes : ndarray of shape (n, d) or None
    edge_labels : list of str or None
    coordinates : ndarray of shape (n, 2) or None
    vertices : list
        The vertices as they were given, by number.
    id, target : str
    smiles : str
        For pictures: the molecule, with its atoms in the order of the vertices.
    parts : dict
        What a row of a table has: structures, numbers and texts by name (`datasets.from_table`).
    """

    __slots__ = (
        "_edge_labels",
        "_labels",
        "_parts",
        "arcs",
        "attributes",
        "coordinates",
        "directed",
        "edges",
        "id",
        "n",
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
    arcs: bool
    _labels: list[Any] | None  # texts and whole numbers
    _edge_labels: list[Any] | None
    _parts: list[Part] | None

    def __init__(
        self,
        initialization_object: Any = None,
        node_labels: Any = None,
        edge_labels: Any = None,
        graph_format: str = "auto",
        construct_labels: bool = False,
        arcs: bool | None = None,
    ) -> None:
        self.id = self.target = self.smiles = ""
        self.coordinates = self.attributes = self._labels = self._edge_labels = self._parts = None
        self.directed, self.arcs = True, bool(arcs)
        if graph_format not in ("auto", "dictionary", "adjacency", "all", None):
            raise ValueError(f"graph_format={graph_format!r}, want auto, dictionary, adjacency or all")
        matrix = from_matrix(initialization_object)
        pairs: Collection[Any]
        if matrix is not None:
            self.n, self.edges, weights = matrix
            self.vertices = range(self.n)
            pairs = self.edges
            if arcs is None:
                self.arcs = not symmetric(self.edges, weights)
        else:
            keys = node_labels if isinstance(node_labels, Mapping) else ()
            usual = whole_pairs(initialization_object, keys)
            if usual is not None:
                pairs, weights = initialization_object, None
                self.vertices, self.edges = usual
            else:
                pairs, weights, seen = as_pairs(initialization_object)
                self.vertices, self.edges = numbered(pairs, seen, keys)
            self.n = len(self.vertices)
        self.weights = check_weights(weights, len(self.edges))
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

    @property
    def parts(self) -> dict[str, Graph | float | str | None]:
        """The parts of a row of a table by name: structures, numbers and texts; None for a missing one.

        A graph that is no row has none.
        """
        out: dict[str, Graph | float | str | None] = {}
        at = 0
        for p in self._parts or ():
            if p.vertices == 0 or (p.text is None and p.vertices < 0):
                out[p.name] = None
            elif p.vertices < 0:
                out[p.name] = float(p.text or "") if p.vertices == -2 else p.text
            else:
                keep = np.zeros(self.n, dtype=bool)
                keep[at : at + p.vertices] = True
                g = self._induced(keep)
                g.id, g.target, g.smiles, g._parts = "", "", p.smiles, None
                if isinstance(self.vertices, range):
                    g.vertices = range(g.n)
                out[p.name] = g
                at += p.vertices
        return out

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
        arcs: bool = False,
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
        arcs : bool
            Whether edges are arcs, from the first vertex to the second.
        """
        g = cls.__new__(cls)
        g.id, g.target, g.smiles = str(id), str(target), str(smiles)
        g.edges = edge_array(edges)
        if n is None:
            for given in (labels, attributes):
                if given is not None:
                    n = len(given)
                    break
            else:
                n = int(g.edges.max()) + 1 if len(g.edges) else 0
        g.n = _check_count(n)
        g.vertices = range(g.n)
        check_range(g.edges, g.n)
        g.edges = g.edges.astype(np.int32)
        g.weights = check_weights(weights, len(g.edges))
        g._labels = g.attributes = g._edge_labels = g.coordinates = g._parts = None
        g.directed = g.arcs = bool(arcs)
        g._set_labels(labels)
        if attributes is not None:
            rows = rows_of("attributes", attributes, g.n)
            if g.attributes is not None:
                raise GraphError(
                    "labels: vectors are attributes, but attributes are given too; want one of them"
                )
            g.attributes = rows if rows.shape[1] else None
        g._set_edge_labels(edge_labels)
        if coordinates is not None:
            g.coordinates = rows_of("coordinates", coordinates, g.n)
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
                    rows = rows_of("node_labels", given, self.n)
                    self.attributes = rows if rows.shape[1] else None
                    return
                given = given.tolist()
            values = list(given)
            if len(values) != self.n:
                raise GraphError(f"node_labels: {len(values)} labels, want {self.n}")
        if not values:
            return
        if type(values[0]) is not str and all(map(is_vector, values)):
            lengths = {len(v) for v in values}
            if len(lengths) > 1:
                raise GraphError(f"node_labels: vectors of lengths {sorted(lengths)}, want one length")
            rows = rows_of("node_labels", [list(v) for v in values], self.n)
            self.attributes = rows if rows.shape[1] else None
            return
        self._labels = as_labels("node_labels", values)

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
                values = [label_of_edge(given, *p) for p in pairs]
        else:
            values = given.tolist() if isinstance(given, np.ndarray) else list(given)
            if len(values) != len(self.edges):
                raise GraphError(f"edge_labels: {len(values)} labels, want {len(self.edges)}")
        if values:
            self._edge_labels = as_labels("edge_labels", values)

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


def _check_count(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or not 0 <= n <= MAX_VERTICES:
        raise GraphError(f"n: {n!r} vertices, want a whole number from 0 to {MAX_VERTICES}")
    return int(n)
