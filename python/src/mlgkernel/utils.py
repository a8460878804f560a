"""Helpers of GraKeL that its examples use, under the same names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._edge_vertices import edges_as_vertices
from ._engine import counted, warn_of
from ._inputs import _elements, _from_data, _is_data, _kind, _numpy, _rows
from .exceptions import GraphError
from .graph import Graph

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "KMTransformer",
    "cross_validate_Kfold_SVM",
    "graph_from_csv",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_torch_geometric",
]


def _collected(
    vertices: Iterable[Any],
    rows: list[tuple[Any, Any, float, Any]],
    labels: dict[Any, Any] | None,
    directed: bool,
    as_Graph: bool,
) -> Any:
    """Return a graph in GraKeL's form, from rows of two vertices, weight and label (None for none).

    Of edges that are given several times, the last one counts, with a warning.
    """
    warn_of({"repeated": len(rows) - len({(u, v) for u, v, _, _ in rows})})
    edges: dict[Any, dict[Any, float]] = {v: {} for v in vertices}
    edge_labels: dict[Any, Any] = {}
    for u, v, weight, label in rows:
        for a, b in ((u, v),) if directed else ((u, v), (v, u)):
            edges.setdefault(a, {})[b] = weight
            edges.setdefault(b, {})
            if label is not None:
                edge_labels[a, b] = label
    parts = [edges, labels or None, edge_labels or None]
    return Graph(*parts, arcs=directed) if as_Graph else parts


def graph_from_networkx(
    X: Iterable[Any],
    node_labels_tag: str | None = None,
    edge_labels_tag: str | None = None,
    edge_weight_tag: str | None = None,
    as_Graph: bool = False,
    val_node_labels: Any = None,
    val_edge_labels: Any = None,
    node_attributes_tags: Iterable[str] | None = None,
    edge_attributes_tags: Iterable[str] | None = None,
) -> Iterator[Any]:
    """Yield networkx graphs as ``[edges, node labels, edge labels]``, GraKeL's form.

    Parameters
    ----------
    X : iterable of networkx graphs
    node_labels_tag, edge_labels_tag : str, optional
        Data of nodes and edges that are their labels; without them there are none.
    edge_weight_tag : str, optional
        Datum of edges that is their weight; without it all weights are 1.
    as_Graph : bool
        Yield `Graph` objects.
    val_node_labels, val_edge_labels
        Label of nodes or edges that have none.
    node_attributes_tags : iterable of str, optional
        Data of nodes that are numbers, or rows of numbers. They are attributes, in this order. Graphs then
        are `Graph` objects, which `as_Graph` must say.
    edge_attributes_tags : iterable of str, optional
        The same of edges. Every edge becomes a vertex between its ends, which has its numbers as attributes,
        as with ``--edge-attributes`` of the command.

    Notes
    -----
    Kernels also take networkx graphs as they are; then the usual names of data are tried, see `as_graphs`.

    Examples
    --------
    >>> import networkx
    >>> from mlgkernel import graph_from_networkx
    >>> g = networkx.Graph([("a", "b")])
    >>> g.add_node("a", element="C"); g.add_node("b", element="O")
    >>> next(graph_from_networkx([g], node_labels_tag="element"))
    [{'a': {'b': 1.0}, 'b': {'a': 1.0}}, {'a': 'C', 'b': 'O'}, None]
    """

    def datum(data: Any, tag: str | None, value: Any, what: str) -> Any:
        if tag is None or (tag not in data and value is not None):
            return value
        if tag not in data:
            raise GraphError(f"{what} has no attribute {tag!r}")
        return data[tag]

    def numbers(data: Any, tags: list[str], what: str) -> np.ndarray:
        return np.hstack([np.asarray(datum(data, t, None, what), float) for t in tags])

    tags = None if node_attributes_tags is None else list(node_attributes_tags)
    edge_tags = None if edge_attributes_tags is None else list(edge_attributes_tags)
    for name, given in (("node_attributes_tags", tags), ("edge_attributes_tags", edge_tags)):
        if given is not None and not as_Graph:
            raise ValueError(f"{name}: GraKeL's form has no attributes, want as_Graph=True")
    for i, g in enumerate(X):
        try:
            labels = {
                v: datum(d, node_labels_tag, val_node_labels, f"node {v!r}") for v, d in g.nodes(data=True)
            }
            rows = [
                (
                    u,
                    v,
                    float(datum(d, edge_weight_tag, None if edge_weight_tag else 1, f"edge ({u!r}, {v!r})")),
                    datum(d, edge_labels_tag, val_edge_labels, f"edge ({u!r}, {v!r})"),
                )
                for u, v, d in g.edges(data=True)
            ]
        except GraphError as e:
            raise GraphError(f"graph {i}: {e}") from None
        pairs = {(u, v) for u, v, _, _ in rows}
        directed = g.is_directed()
        if not as_Graph:
            warn_of({"undirected": int(directed and any((v, u) not in pairs for u, v in pairs))})
        known = {v: x for v, x in labels.items() if x is not None}
        out = _collected(g.nodes, rows, known, directed, as_Graph)
        try:
            if tags is not None:
                found = [numbers(g.nodes[v], tags, f"node {v!r}") for v in out.vertices]
                kept = out._labels
                out._set_labels(found)
                out._labels = kept
            if edge_tags is not None:
                of = {(u, v): numbers(d, edge_tags, f"edge ({u!r}, {v!r})") for u, v, d in g.edges(data=True)}
                if not directed:
                    of = {(v, u): row for (u, v), row in of.items()} | of
                ends = [(out.vertices[u], out.vertices[v]) for u, v in out.edges.tolist()]
                out = edges_as_vertices(out, [of[pair] for pair in ends])
        except (TypeError, ValueError) as e:
            raise GraphError(f"graph {i}: {e}") from None
        yield out


def graph_from_pandas(
    edge_df: tuple[Any, ...],
    node_df: tuple[Any, ...] | None = None,
    directed: bool = False,
    as_Graph: bool = False,
) -> dict[Any, Any]:
    """Return the graphs of tables as a dictionary, whose keys are the values of the graph column.

    Parameters
    ----------
    edge_df : (DataFrame, graph column, (source column, target column), weight column, label column)
        The edges. The weight column and the label column may be None. The label column may also be a list
        of columns, whose numbers are attributes.
    node_df : (DataFrame, graph column, label column), optional
        The vertices. Their names are the index of the table. The label column is as above.
    directed : bool
        Whether the table has both directions of every edge.
    as_Graph : bool
        Return `Graph` objects, not ``[edges, node labels, edge labels]``.

    Examples
    --------
    >>> import pandas
    >>> from mlgkernel import graph_from_pandas
    >>> edges = pandas.DataFrame({"graph": [7, 7], "from": [0, 1], "to": [1, 2]})
    >>> graph_from_pandas((edges, "graph", ("from", "to"), None, None))
    {7: [{0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}}, None, None]}
    """

    def column(table: Any, name: Any) -> list[Any]:
        if name is None:
            return [None] * len(table)
        if isinstance(name, (list, tuple)):
            return list(table[list(name)].to_numpy(dtype=float))
        return table[name].tolist()

    try:
        table, graph, (source, target), weight, label = edge_df
    except (TypeError, ValueError):
        want = "(table, graph column, (source column, target column), weight column, label column)"
        raise ValueError(f"edge_df has other parts, want {want}") from None
    rows: dict[Any, list[Any]] = {}
    labels: dict[Any, dict[Any, Any]] = {}
    if node_df is not None:
        try:
            vertices, place, vertex_label = node_df
        except (TypeError, ValueError):
            raise ValueError("node_df has other parts, want (table, graph column, label column)") from None
        for key, v, x in zip(
            column(vertices, place), vertices.index.tolist(), column(vertices, vertex_label)
        ):
            rows.setdefault(key, [])
            labels.setdefault(key, {})[v] = x
    weights = [1.0] * len(table) if weight is None else column(table, weight)
    columns = [column(table, name) for name in (graph, source, target)]
    for key, u, v, w, x in zip(*columns, weights, column(table, label)):
        if node_df is not None and not (key in labels and u in labels[key] and v in labels[key]):
            raise GraphError(f"graph {key!r}: edge ({u!r}, {v!r}) has an end that is not in node_df")
        rows.setdefault(key, []).append((u, v, float(w), x))
    return {
        key: _collected(
            labels.get(key, ()),
            found,
            {v: x for v, x in labels.get(key, {}).items() if x is not None},
            directed,
            as_Graph,
        )
        for key, found in rows.items()
    }


def graph_from_csv(
    edge_files: tuple[Any, ...],
    node_files: tuple[Any, ...] | None = None,
    index_type: Any = str,
    directed: bool = False,
    sep: str = ",",
    as_Graph: bool = False,
) -> Iterator[Any]:
    """Yield the graphs of text files, one file of edges for each.

    Parameters
    ----------
    edge_files : (paths, weighted, attributes)
        The files. A line has two vertices, and a weight if `weighted` is true. Then it has a label if
        `attributes` is False, numbers if it is True, and nothing if it is None.
    node_files : (paths, attributes), optional
        Files in which a line has a vertex, and its label or numbers, as above.
    index_type : callable
        What makes a vertex of its text.
    directed : bool
        Whether the files have both directions of every edge.
    sep : str
        What stands between fields.
    as_Graph : bool
        Yield `Graph` objects, not ``[edges, node labels, edge labels]``.

    Examples
    --------
    >>> import os, tempfile
    >>> from mlgkernel import graph_from_csv
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "edges.csv")
    ...     with open(path, "w") as f:
    ...         _ = f.write("a,b,2.5\\nb,c,1\\n")
    ...     list(graph_from_csv(([path], True, None)))
    [[{'a': {'b': 2.5}, 'b': {'a': 2.5, 'c': 1.0}, 'c': {'b': 1.0}}, None, None]]
    """
    try:
        paths, weighted, attributes = edge_files
    except (TypeError, ValueError):
        raise ValueError("edge_files has other parts, want (paths, weighted, attributes)") from None
    vertex_paths: Iterable[Any] = itertools.repeat(None)
    vertex_attributes: bool | None = None
    if node_files is not None:
        vertex_paths, vertex_attributes = list(node_files[0]), node_files[1]
        paths = list(paths)
        if len(paths) != len(vertex_paths):
            raise ValueError(
                f"{len(paths)} files of edges and {len(vertex_paths)} of nodes, want equal numbers"
            )

    def label(fields: list[str], kind: bool | None) -> Any:
        if kind is None:
            return None
        return np.array([float(x) for x in fields]) if kind else sep.join(fields)

    def vertex(fields: list[str]) -> tuple[Any, Any]:
        return index_type(fields[0]), label(fields[1:], vertex_attributes)

    def edge(fields: list[str]) -> tuple[Any, Any, float, Any]:
        u, v, *rest = fields
        weight = float(rest.pop(0)) if weighted else 1.0
        return index_type(u), index_type(v), weight, label(rest, attributes)

    def lines(path: Any, least: int, read: Any) -> Iterator[Any]:
        with open(path, encoding="utf-8") as f:
            for number, line in enumerate(f, 1):
                fields = [x.strip() for x in line.rstrip("\n").split(sep)]
                if fields == [""]:
                    continue
                if len(fields) < least:
                    raise GraphError(
                        f"{path}:{number}: {counted(len(fields), 'field')}, want at least {least}"
                    )
                try:
                    yield read(fields)
                except ValueError as e:
                    raise GraphError(f"{path}:{number}: {e}") from None

    for path, vertex_path in zip(paths, vertex_paths):
        labels = {}
        if vertex_path is not None:
            labels = dict(lines(vertex_path, 1 + (vertex_attributes is not None), vertex))
        rows = list(lines(path, 2 + bool(weighted) + (attributes is not None), edge))
        known = {v: x for v, x in labels.items() if x is not None}
        yield _collected(labels, rows, known, directed, as_Graph)


def graph_from_torch_geometric(
    data: Any,
    node_one_hot: bool = False,
    edge_one_hot: bool = False,
    ignore_y: bool = False,
    edge_attributes: bool = False,
) -> dict[str, Any]:
    """Return torch-geometric data as `Graph` objects, and their classes.

    Parameters
    ----------
    data : Data, Batch, dataset, loader, or iterable of Data
    node_one_hot, edge_one_hot : bool
        Take rows of `x` and `edge_attr` for labels, not attributes. All rows must be one-hot. Without
        `edge_one_hot`, a row that is not one-hot is the label of its edge as a whole.
    ignore_y : bool
        Leave out the classes.
    edge_attributes : bool
        Compare the numbers of `edge_attr`: every edge becomes a vertex between its ends, with them as
        attributes, as with the option of this name in `datasets.load`. An edge in both directions is one
        vertex, with the mean of both rows. Distances double.

    Returns
    -------
    dict
        ``graph``: a `Graph` for one ``Data``, else a list of them. ``y``: a number, or a list of them;
        one ``Data`` without a class has none.
    """
    single = _is_data(data)
    items = [data] if single else list(_elements(data))
    if edge_attributes and edge_one_hot:
        raise ValueError("edge_one_hot and edge_attributes: rows are labels or attributes, want one of them")
    graphs = _from_data(list(enumerate(items)), vectors=True, edge_attributes=edge_attributes)
    for field, asked in (("x", node_one_hot), ("edge_attr", edge_one_hot)):
        rows = [_rows(d, field) for d in items]
        if asked and any(r is not None and r.size for r in rows) and _kind(rows) not in ("one-hot", "whole"):
            option = "node_one_hot" if field == "x" else "edge_one_hot"
            raise GraphError(f"{field}: rows are not one-hot in all graphs, which {option}=True needs")
    for g in graphs:
        if node_one_hot:
            g.attributes = None
    out: dict[str, Any] = {"graph": graphs[0] if single else graphs}
    if not ignore_y:
        y = [_class(i, d.y) for i, d in enumerate(items) if getattr(d, "y", None) is not None]
        if y or not single:
            out["y"] = y[0] if single else y
    return out


def _class(i: int, y: Any) -> int | float:
    """Return the class or value of graph `i`."""
    y = _numpy(y)
    if y.size != 1:
        raise GraphError(f"graph {i}: y has {counted(y.size, 'number')}, want 1, or ignore_y=True")
    value = y.item()
    return int(value) if float(value).is_integer() else value


class KMTransformer(TransformerMixin, BaseEstimator):
    """A known kernel matrix as a step of a pipeline. Its input is positions of graphs in the matrix.

    Parameters
    ----------
    K : array of shape (n, n), sparse matrix, or Bunch with ``mat``; no default
        The kernel matrix. `transform` returns ``K[X][:, X_]`` for the positions X_ of `fit`.

    Attributes
    ----------
    K_ : ndarray of shape (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from mlgkernel import KMTransformer
    >>> KMTransformer([[2, 1], [1, 3]]).fit([0, 1]).transform([1])
    array([[1., 3.]])
    """

    def __init__(self, K: Any = None) -> None:
        self.K = K

    def initialize(self) -> None:
        """Check the matrix."""
        k = getattr(self.K, "mat", self.K)
        k = np.asarray(k.toarray() if hasattr(k, "toarray") else k, dtype=np.float64)
        if k.ndim != 2 or k.shape[0] != k.shape[1]:
            raise ValueError(f"K: shape {k.shape}, want a square matrix")
        self.K_ = k

    def _positions(self, X: Any) -> np.ndarray:
        x = np.asarray(list(X)).reshape(-1)
        if x.dtype.kind not in "iu" or (len(x) and not (x.min() >= 0 and x.max() < len(self.K_))):
            raise ValueError(f"X: want positions from 0 to {len(self.K_) - 1}")
        return x

    def fit(self, X: Any, y: Any = None) -> Self:
        """Take the training graphs by their positions in the matrix."""
        self.initialize()
        self.X_ = self._positions(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the matrix between graphs and the training graphs."""
        check_is_fitted(self, "X_")
        return self.K_[np.ix_(self._positions(X), self.X_)]


def cross_validate_Kfold_SVM(
    K: Any,
    y: Any,
    n_iter: int = 10,
    n_splits: int = 10,
    C_grid: Any = None,
    random_state: Any = None,
    scoring: Any = "accuracy",
    fold_reduce: Any = None,
) -> list[Any]:
    """Cross-validate SVMs on kernel matrices, choosing matrix and C in the training part.

    Parameters
    ----------
    K : list of kernel matrices, or of lists of them
        Each entry is one kernel. A list is one kernel with several parameters.
    y : array of classes
    n_iter, n_splits : int
        Repeats and folds.
    C_grid : sequence of float, optional
        By default 1e-7, 1e-5, …, 1e5, divided by the number of graphs.
    random_state : int, RandomState or None
        Seed of the folds. These are the same for all kernels.
    scoring : str or callable
        Score by which C is chosen, and which is returned.
    fold_reduce : callable or None
        Function that makes one result of the scores of the folds of a repeat. None is their mean.

    Returns
    -------
    list
        For each kernel, the results of the repeats.

    Examples
    --------
    >>> from mlgkernel import VertexHistogram, cross_validate_Kfold_SVM
    >>> K = VertexHistogram(normalize=True).fit_transform(["C", "CC", "CCC", "O", "OO", "OOO"] * 2)
    >>> scores = cross_validate_Kfold_SVM([K], [0, 0, 0, 1, 1, 1] * 2, n_iter=2, n_splits=3, random_state=0)
    >>> len(scores), len(scores[0])
    (1, 2)
    """
    y = np.asarray(y)
    reduce = np.mean if fold_reduce is None else fold_reduce
    if C_grid is None:
        C_grid = (10.0 ** np.arange(-7, 7, 2) / len(y)).tolist()
    seeds = check_random_state(random_state).randint(2**31 - 1, size=n_iter)
    results = []
    for given in K:
        matrices = [given] if np.ndim(given) == 2 else list(given)
        scores = []
        for s in seeds:
            folds = KFold(n_splits=n_splits, shuffle=True, random_state=s)
            fold_scores = []
            for train, test in folds.split(y):
                best = None
                for m in matrices:
                    m = np.asarray(m)
                    search = GridSearchCV(SVC(kernel="precomputed"), {"C": C_grid}, scoring=scoring, cv=3)
                    search.fit(m[np.ix_(train, train)], y[train])
                    if best is None or search.best_score_ > best[0]:
                        best = search.best_score_, search.score(m[np.ix_(test, train)], y[test])
                if best is not None:
                    fold_scores.append(best[1])
            scores.append(reduce(fold_scores))
        results.append(scores)
    return results
