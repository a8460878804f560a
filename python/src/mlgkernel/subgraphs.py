"""Kernels of neighbourhoods, trees and common subgraphs."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._kernel import Compiled, number, within
from ._labels import Row
from ._language import Text, kernel_text
from .exceptions import GraphError
from .graph import Graph


class NeighborhoodSubgraphPairwiseDistance(Compiled):
    """The neighbourhood subgraph pairwise distance kernel (NSPD),
    ``k(G, G') = sum over r' from 0 to r, d' from 0 to d of k_r'd'(G, G')``.

    ``k_r'd'`` is the dot product of the numbers of pairs of vertices at distance d', by the invariants of the
    subgraphs within r' steps of them, divided by ``sqrt(k_r'd'(G, G) * k_r'd'(G', G'))``. It is 0 where a
    graph has no such pair.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    r : int from 0 to 64, default 3
        Largest radius of a neighbourhood.
    d : int from 0 to 65536, default 4
        Largest distance of a pair.

    Notes
    -----
    Labels of edges count if the graphs have them. Values do not depend on other graphs, nor on the order
    of vertices. In GraKeL 0.1.11 they do: if G has no pair but another graph has one, ``k_r'd'(G, G)`` is 1,
    and equal neighbourhoods are not always found equal.

    Examples
    --------
    >>> from mlgkernel import NeighborhoodSubgraphPairwiseDistance
    >>> NeighborhoodSubgraphPairwiseDistance(r=1, d=1).fit_transform(["CCO", "CCC"]).round(3)
    array([[4.   , 2.227],
           [2.227, 4.   ]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        r: int = 3,
        d: int = 4,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.r = r
        self.d = d

    def _text(self) -> Text:
        return kernel_text(
            "nspd",
            r=within("r", self.r, 0, 64),
            d=within("d", self.d, 0, 65536),
            labels="labels",
            normalize=bool(self.normalize),
        )


class OddSth(Compiled):
    """The kernel of ordered decompositional DAGs (ODD-STh),
    ``k(G, G') = sum over trees T of n_T(G) * n_T(G')``.

    From every vertex v of a graph, the shortest paths of up to h steps make a DAG. ``n_T(G)`` is the number
    of vertices u in all these DAGs from which the visit of the DAG is the tree T, with labels.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    h : int from 1 to 65536 or None, default None
        Number of steps. None means any number.

    Notes
    -----
    In GraKeL 0.1.11 trees have weights that depend on the other graphs of the collection.

    Examples
    --------
    >>> from mlgkernel import OddSth
    >>> OddSth(h=2).fit_transform(["CCO", "CCC"])
    array([[13., 10.],
           [10., 25.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        h: int | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.h = h

    def _text(self) -> Text:
        return kernel_text(
            "odd-sth",
            h=0 if self.h is None else within("h", self.h, 1, 65536),
            labels="labels",
            normalize=bool(self.normalize),
        )


_SIZES = {
    "uniform": lambda n: 1,
    "increasing": lambda n: n,
    "decreasing": lambda n: 1 / n,
    "strong_decreasing": lambda n: 1 / n**2,
}


class SubgraphMatching(Compiled):
    """The subgraph matching kernel, ``k(G, G') = sum over isomorphisms between connected induced subgraphs of
    lw(number of vertices) * product of kv(a, a') * product of ke(b, b')``.

    The products run over the vertices and edges of the subgraph of G. A vertex with the label a is mapped to
    one with the label a', and an edge with the label b to one with the label b'.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`.
    k : int from 1 to 7, default 5
        Largest number of vertices.
    kv : "equal", None or callable, default "equal"
        Kernel of the labels of vertices. "equal" gives 1 for equal labels and 0 for others. With None labels
        do not count. A symmetric function of two labels gives any number. It gets attributes as arrays.
    ke : "equal", None or callable, default "equal"
        The same for labels of edges. With "equal", all edges without labels are equal.
    lw : str, sequence or callable, default "uniform"
        Weights for n vertices: "uniform" (1), "increasing" (n), "decreasing" (1/n) or "strong_decreasing"
        (1/n**2); or a function of n; or ``k + 1`` numbers for 0 to k vertices. The first of them has no
        effect.

    Notes
    -----
    A function is called once for every two different labels. There may be up to 4096 labels. Labels are
    texts. A function gets a number if the text is a number, and an array if it is a list of numbers. With
    functions, graphs are compared pair by pair. The time is in proportion to the number of isomorphisms.
    GraKeL 0.1.11 calls a function `lw` with ``n - 1``, and accepts no sequence.

    Examples
    --------
    >>> from mlgkernel import SubgraphMatching
    >>> SubgraphMatching(k=3).fit_transform(["CCO", "CCC"])
    array([[ 9., 10.],
           [10., 19.]])
    >>> def alike(a, b):
    ...     return 1 if a == b else 0.5
    >>> SubgraphMatching(k=2, kv=alike).fit_transform(["CCO", "CCC"])
    array([[12.25, 13.5 ],
           [13.5 , 17.  ]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        k: int = 5,
        kv: Any = "equal",
        ke: Any = "equal",
        lw: Any = "uniform",
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.k = k
        self.kv = kv
        self.ke = ke
        self.lw = lw

    def _text(self) -> Text:
        tables = getattr(self, "_tables", {})
        for name, value in (("kv", self.kv), ("ke", self.ke)):
            if callable(value) and name not in tables:
                raise ValueError(f"{name}={value!r}, want 'equal' or None for the base of another kernel")
            if not callable(value) and value not in ("equal", None):
                raise ValueError(f"{name}={value!r}, want 'equal', None or a function of two labels")
        given: dict[str, Any] = {}
        for name, labels, values in (("kv", "vertices", "vertex_values"), ("ke", "edges", "edge_values")):
            if name in tables:
                given[labels], given[values] = tables[name].values_of()
        return kernel_text(
            "subgraph-matching",
            weights=self._weights(within("k", self.k, 1, 7)),
            edge_labels=self.ke is not None,
            labels="unlabeled" if self.kv is None else "labels",
            **given,
            normalize=bool(self.normalize),
        )

    def _weights(self, k: int) -> list[float]:
        lw = _SIZES.get(self.lw) if isinstance(self.lw, str) else self.lw
        if not callable(lw) and not isinstance(lw, Iterable):
            raise ValueError(f"lw={self.lw!r}, want {', '.join(_SIZES)}, {k + 1} numbers, or a function")
        weights = [lw(n) for n in range(1, k + 1)] if callable(lw) else list(lw)[1:]
        if len(weights) != k:
            raise ValueError(f"lw has {len(weights) + 1} numbers, want {k + 1}: for 0 to {k} vertices")
        if not all(np.isfinite(w) and w >= 0 for w in weights):
            raise ValueError(f"lw gives {weights}, want finite numbers that are not negative")
        return [float(w) for w in weights]

    def _fit(self, X: Any, gram: bool) -> np.ndarray | None:
        self._forget()  # also when reading the graphs fails
        vars(self).pop("_train", None)
        self._tables = {name: _Table() for name in ("kv", "ke") if callable(getattr(self, name))}
        if self._tables:
            self._text()  # wrong parameters are told before wrong graphs
            X = self._numbered(as_graphs(X))
            self._train = pack(X)
        return super()._fit(X, gram)

    def _adjust(self, result: dict[str, Any]) -> None:
        result["kernel"] = re.sub(r" (vertices|edges|vertex_values|edge_values)=\S+", "", result["kernel"])

    def _cross(self, X: Any, bar: Any) -> np.ndarray:
        if getattr(self, "_tables", None):
            sizes = [len(t.rows) for t in self._tables.values()]
            X = self._numbered(as_graphs(X, self))
            if sizes != [len(t.rows) for t in self._tables.values()]:  # labels that the worker does not know
                self._held = _engine.Held("fit", self._request(), self._train)
        return super()._cross(X, bar)

    def _numbered(self, graphs: list[Graph]) -> list[Graph]:
        """Return graphs whose labels are rows of the tables, which become longer by new labels."""
        out = []
        for i, g in enumerate(graphs):
            h = copy.copy(g)
            if "kv" in self._tables and g.n:
                rows = g.attributes if g.attributes is not None else g._labels
                if rows is None:
                    raise GraphError(f"graph {i} has no labels, which kv compares")
                h._labels, h.attributes = self._tables["kv"].numbers(self.kv, rows), None
            if "ke" in self._tables and len(g.edges):
                if g._edge_labels is None:
                    raise GraphError(f"graph {i} has no labels of edges, which ke compares")
                h._edge_labels = self._tables["ke"].numbers(self.ke, g._edge_labels)
                found: dict[tuple[int, ...], int] = {}
                for pair, label in zip(map(tuple, np.sort(g.edges).tolist()), h._edge_labels):
                    if found.setdefault(pair, label) != label:
                        u, v = (g.vertices[x] for x in pair)
                        raise GraphError(
                            f"graph {i}: edge ({u!r}, {v!r}) has different labels by direction, want one"
                        )
            out.append(h)
        return out


class _Table:
    """The values of a function of two labels, for the labels that were met."""

    def __init__(self) -> None:
        self.rows: dict[Hashable, int] = {}
        self.labels: list[Any] = []
        self.values: list[list[float]] = []  # those with the labels before, and with itself

    def numbers(self, function: Callable[[Any, Any], Any], labels: Iterable[Any]) -> list[int]:
        """Return the rows of labels, new ones included."""
        out = []
        for label in labels:
            key = tuple(label) if isinstance(label, np.ndarray) else str(label)
            if key not in self.rows:
                if len(self.labels) == 4096:
                    raise GraphError("more than 4096 different labels, want fewer for functions of labels")
                self.labels.append(label if isinstance(label, np.ndarray) else value_of(label))
                name = getattr(function, "__name__", "the function of labels")
                self.values.append([number(name, function(self.labels[-1], x)) for x in self.labels])
                self.rows[key] = len(self.rows)
            out.append(self.rows[key])
        return out

    def values_of(self) -> tuple[list[str], list[float]]:
        """Return the labels, which are numbers, and the values of every two, row by row."""
        n = len(self.values)
        table = np.zeros((n, n))
        for i, row in enumerate(self.values):
            table[i, : i + 1] = table[: i + 1, i] = row
        return list(map(str, range(n))), table.ravel().tolist()


def value_of(text: Any) -> Any:
    """Return the number, or array of numbers, that a text is, or the text."""
    if isinstance(text, Row):
        return text.numbers
    try:
        value = json.loads(str(text).replace("(", "[").replace(")", "]"))
    except ValueError:
        return text
    if isinstance(value, list):
        return np.array(value)
    return value if isinstance(value, (int, float)) else text
