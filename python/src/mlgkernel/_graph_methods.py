"""The methods that GraKeL's graphs have."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from ._edges import between
from .exceptions import GraphError

if TYPE_CHECKING:
    from typing_extensions import Self

    from .graph import Part

_FORMATS = ("dictionary", "adjacency", "all")


def _shown(label: Any) -> str:
    """Return a label as GraKeL prints it: texts and vectors in brackets."""
    if isinstance(label, np.ndarray):
        return f"[{','.join(map(str, label.tolist()))}]"
    return f"[{label}]" if isinstance(label, str) else str(label)


class GraphMethods:
    """Ways to look at a graph. All formats of GraKeL are there at any time.

    Its attributes `adjacency_matrix`, `edge_dictionary`, `node_labels`, `index_node_labels` and
    `index_edge_labels` are made when they are asked for.
    """

    __slots__ = ()

    n: int
    edges: np.ndarray
    weights: np.ndarray | None
    attributes: np.ndarray | None
    vertices: Sequence[Any]
    directed: bool
    _labels: list[Any] | None
    _edge_labels: list[Any] | None
    _parts: list[Part] | None

    @property
    def m(self) -> int:
        """Number of edges as kernels see them: without directions, repetitions and self-loops."""
        return len(between(self.edges))

    @property
    def names(self) -> list[str] | None:
        """The vertices as texts, which explanations show; None where no vertex is given by a text."""
        if not any(isinstance(v, str) for v in self.vertices):
            return None
        return list(map(str, self.vertices))

    @property
    def adjacency_matrix(self) -> np.ndarray:
        """What `get_adjacency_matrix` returns."""
        return self.get_adjacency_matrix()

    @property
    def edge_dictionary(self) -> dict[Any, dict[Any, float]]:
        """What `get_edge_dictionary` returns."""
        return self.get_edge_dictionary()

    @property
    def node_labels(self) -> dict[Any, Any] | None:
        """The labels of vertices by name, or their attributes; None for none."""
        return self.get_labels(purpose="dictionary", return_none=True)

    @property
    def index_node_labels(self) -> dict[int, Any] | None:
        """The labels of vertices by number, or their attributes; None for none."""
        return self.get_labels(return_none=True)

    @property
    def index_edge_labels(self) -> dict[tuple[int, int], Any] | None:
        """The labels of edges by the numbers of their vertices; None for none."""
        return self.get_labels("edge", return_none=True)

    def __str__(self) -> str:
        """Return vertices, edges, weights and labels as lines of text, as GraKeL does."""
        lines = ["#vertices", ",".join(map(str, self.vertices))]
        lines += ["#edges", *(f"{pair},{w}" for pair, w in self._arcs("dictionary").items())]
        labels, edge_labels = self.node_labels, self.get_labels("edge", "dictionary", True)
        if labels is not None:
            lines += ["#node_labels", *(f"{v}->{_shown(x)}" for v, x in labels.items())]
        if edge_labels is not None:
            lines += ["#edge_labels", *(f"{u},{v}->{_shown(x)}" for (u, v), x in edge_labels.items())]
        return "\n".join(lines)

    def nv(self) -> int:
        """Return the number of vertices."""
        return self.n

    def get_vertices(self, purpose: str = "adjacency") -> Any:
        """Return the numbers of the vertices, or the set of their names."""
        return set(self.vertices) if self._named(purpose) else range(self.n)

    def get_edges(self, purpose: str = "adjacency", with_weights: bool = False) -> list[Any]:
        """Return edges as pairs, or as ``((u, v), weight)``."""
        arcs = self._arcs(purpose)
        return list(arcs.items()) if with_weights else list(arcs)

    def get_edge_dictionary(self) -> dict[Any, dict[Any, float]]:
        """Return ``{u: {v: weight}}`` by the names of vertices."""
        out: dict[Any, dict[Any, float]] = {v: {} for v in self.vertices}
        for (u, v), w in self._arcs("dictionary").items():
            out[u][v] = w
        return out

    def get_adjacency_matrix(self) -> np.ndarray:
        """Return the matrix of weights."""
        out = np.zeros((self.n, self.n))
        for (u, v), w in self._arcs("adjacency").items():
            out[u, v] = w
        return out

    def get_graph_object(self) -> dict[Any, dict[Any, float]]:
        """Return what `get_edge_dictionary` does."""
        return self.get_edge_dictionary()

    def get_labels(
        self, label_type: str = "vertex", purpose: str = "adjacency", return_none: bool = False
    ) -> dict[Any, Any] | None:
        """Return the labels of vertices or edges, or the attributes of vertices without labels."""
        if label_type not in ("vertex", "edge"):
            raise ValueError(f"label_type={label_type!r}, want vertex or edge")
        found: dict[Any, Any] | None
        if label_type == "edge":
            found = None if self._edge_labels is None else self._arcs(purpose, self._edge_labels)
        else:
            found = self._by_number()
            if found is not None and self._named(purpose):
                found = dict(zip(self.vertices, found.values()))
        if found is None and not return_none:
            raise GraphError(f"the graph has no {label_type} labels")
        return found

    def get_label_group(
        self, label_type: str = "vertex", purpose: str = "dictionary"
    ) -> dict[Any, list[Any]]:
        """Return, for each label, its vertices or edges."""
        out: dict[Any, list[Any]] = {}
        for key, label in (self.get_labels(label_type, purpose) or {}).items():
            out.setdefault(tuple(label) if isinstance(label, np.ndarray) else label, []).append(key)
        return out

    def label(self, obj: Any, label_type: str = "vertex", purpose: str = "dictionary") -> Any:
        """Return the label of a vertex or an edge."""
        return (self.get_labels(label_type, purpose) or {})[obj]

    def neighbors(self, vertex: Any, purpose: str = "any", with_weights: bool = False) -> Any:
        """Return the neighbours of a vertex as a list, or as ``{neighbour: weight}``."""
        near = {v: w for (u, v), w in self._arcs(purpose).items() if u == vertex}
        return near if with_weights else list(near)

    def build_shortest_path_matrix(
        self, algorithm_type: str = "auto", clean: bool = False, labels: str = "vertex"
    ) -> Any:
        """Return the lengths of shortest paths, and with them labels.

        Parameters
        ----------
        algorithm_type, clean
            Have no effect.
        labels : {"vertex", "edge", "all", "none"}
            Which labels stand behind the matrix.
        """
        kinds = {"vertex": ("vertex",), "edge": ("edge",), "all": ("vertex", "edge"), "none": ()}
        if labels not in kinds:
            raise ValueError(f"labels={labels!r}, want vertex, edge, all or none")
        matrix = shortest_path(self.get_adjacency_matrix()) if self.n else np.zeros((0, 0))
        found = [self.get_labels(kind, "adjacency") for kind in kinds[labels]]
        return (matrix, *found) if found else matrix

    def laplacian(self, save: bool = True) -> np.ndarray:
        """Return the Laplacian. `save` has no effect."""
        a = self.get_adjacency_matrix()
        return np.diag(a.sum(axis=1)) - a

    def produce_neighborhoods(
        self,
        r: int = 3,
        purpose: str = "adjacency",
        with_distances: bool = False,
        d: int = -1,
        sort_neighbors: bool = True,
    ) -> Any:
        """Return the vertices within 0, …, r steps of each vertex.

        Parameters
        ----------
        r : int
            The largest number of steps.
        purpose : {"adjacency", "dictionary"}
        with_distances : bool
            Also return the pairs of vertices by their distance, and the distance of each pair, up
            to the distance `d`, or `r` where that is negative. Neighbourhoods then go as far, too.
        d : int
        sort_neighbors : bool
            Has no effect: they are in the order of the vertices.
        """
        names: Any = list(self.vertices) if self._named(purpose) else list(range(self.n))
        hops = shortest_path(self.get_adjacency_matrix(), unweighted=True) if self.n else np.zeros((0, 0))
        near = {
            level: {v: [names[j] for j in np.flatnonzero(hops[i] <= level)] for i, v in enumerate(names)}
            for level in range(max(r, d if with_distances else r) + 1)
        }
        if not with_distances:
            return near
        last = r if d < 0 else d
        distance = {(names[i], names[j]): int(hops[i, j]) for i, j in np.argwhere(hops <= last).tolist()}
        pairs: dict[int, set[Any]] = {level: set() for level in range(last + 1)}
        for pair, level in distance.items():
            pairs[level].add(pair)
        return near, pairs, distance

    def get_subgraph(self, vertices: Iterable[Any]) -> Self:
        """Return the induced subgraph on some vertices, by their names."""
        number = {v: i for i, v in enumerate(self.vertices)}
        wanted = set(vertices)
        unknown = wanted - number.keys()
        if unknown:
            raise ValueError(f"vertices: {next(iter(unknown))!r} is no vertex")
        return self._induced(np.array([v in wanted for v in self.vertices], dtype=bool))

    def _induced(self, keep: np.ndarray) -> Self:
        """Return the induced subgraph on the vertices of a mask."""
        inside = keep[self.edges].all(axis=1) if len(self.edges) else np.zeros(0, dtype=bool)
        out = copy.copy(self)
        out.vertices = [v for v, k in zip(self.vertices, keep) if k]
        out.n = len(out.vertices)
        out.edges = (np.cumsum(keep) - 1).astype(np.int32)[self.edges[inside]]
        out.smiles = ""
        for name, mask in (("attributes", keep), ("coordinates", keep), ("weights", inside)):
            rows = getattr(self, name)
            setattr(out, name, None if rows is None else rows[mask])
        for name, mask in (("_labels", keep), ("_edge_labels", inside)):
            values = getattr(self, name)
            kept = None if values is None else [x for x, k in zip(values, mask) if k]
            setattr(out, name, kept or None)
        if self._parts is not None:
            out._parts, at = [], 0
            for p in self._parts:
                if p.vertices > 0:
                    kept_here = int(keep[at : at + p.vertices].sum())
                    at += p.vertices
                    if kept_here < p.vertices:
                        p = p._replace(vertices=kept_here, smiles="")
                out._parts.append(p)
        return out

    def relabel(
        self, new_labels: dict[Any, Any], purpose: str = "dictionary", label_type: str = "vertex"
    ) -> None:
        """Replace the labels of vertices or edges."""
        g: Any = self
        names = self.vertices if self._named(purpose) else range(self.n)
        try:
            if label_type == "edge":
                ends = [(names[u], names[v]) for u, v in self.edges.tolist()]
                g._edge_labels = None
                g._set_edge_labels([new_labels[p] if p in new_labels else new_labels[p[::-1]] for p in ends])
            else:
                values = [new_labels[v] for v in names]
                g._labels = g.attributes = None
                g._set_labels(values)
        except KeyError as e:
            raise GraphError(f"new_labels: {e.args[0]!r} has no label") from None

    def construct_labels(self, label_type: str = "vertex", purpose: str = "adjacency") -> None:
        """Label vertices by their degree, or edges by their weight."""
        g: Any = self
        if label_type == "edge":
            g.edge_labels = [1.0] * len(self.edges) if self.weights is None else self.weights
        else:
            g.labels = g._degrees()

    def convert_labels(
        self, target_format: str = "dictionary", purpose: str = "all", init: bool = False
    ) -> None:
        """Do nothing: labels are there in all formats."""

    def change_format(self, graph_format: str) -> None:
        """With ``"adjacency"``, forget the names of vertices; else do nothing."""
        if graph_format not in _FORMATS:
            raise ValueError(f"graph_format={graph_format!r}, want one of {', '.join(_FORMATS)}")
        if graph_format == "adjacency":
            self.vertices = range(self.n)

    def desired_format(self, graph_format: str, warn: bool = False) -> None:
        """Do nothing: graphs are there in all formats."""
        if graph_format not in _FORMATS:
            raise ValueError(f"graph_format={graph_format!r}, want one of {', '.join(_FORMATS)}")

    def build_graph(self, g: Any, node_labels: Any = None, edge_labels: Any = None) -> None:
        """Become another graph."""
        self.__init__(g, node_labels, edge_labels)  # type: ignore[misc]

    def copy(self) -> Self:
        """Return a copy."""
        return copy.deepcopy(self)

    def clone(self) -> Self:
        """Return a copy."""
        return copy.deepcopy(self)

    def _named(self, purpose: str) -> bool:
        """Report whether a purpose means names of vertices, not numbers."""
        if purpose not in ("adjacency", "dictionary", "any", "all"):
            raise ValueError(f"purpose={purpose!r}, want adjacency, dictionary or any")
        return purpose in ("dictionary", "any")

    def _by_number(self) -> dict[int, Any] | None:
        """Return the labels of vertices by number, or their attributes where there are none."""
        if self._labels is not None:
            return dict(enumerate(self._labels))
        return None if self.attributes is None else dict(enumerate(self.attributes))

    def _arcs(self, purpose: str, values: list[Any] | None = None) -> dict[tuple[Any, Any], Any]:
        """Return what belongs to each direction of the edges, by default their weights."""
        if values is None:
            values = [1.0] * len(self.edges) if self.weights is None else self.weights.tolist()
        names: Any = self.vertices if self._named(purpose) else range(self.n)
        arcs = {(names[u], names[v]): x for (u, v), x in zip(self.edges.tolist(), values)}
        if not self.directed:
            arcs.update({(v, u): x for (u, v), x in arcs.items()})
        return arcs
