"""Helpers of GraKeL that its examples use, under the same names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.svm import SVC

from ._inputs import from_networkx, from_torch_geometric
from .exceptions import GraphError
from .graph import Graph

__all__ = ["cross_validate_Kfold_SVM", "graph_from_networkx", "graph_from_torch_geometric"]


def graph_from_networkx(
    X: Iterable[Any],
    node_labels_tag: str | None = None,
    edge_labels_tag: str | None = None,
    edge_weight_tag: str | None = None,
    as_Graph: bool = False,
    val_node_labels: Any = None,
    val_edge_labels: Any = None,
) -> Iterator[Any]:
    """Yield networkx graphs as `Graph`.

    Parameters
    ----------
    X : iterable of networkx graphs
    node_labels_tag, edge_labels_tag, edge_weight_tag : str, optional
        Data of nodes and edges to take.
    as_Graph : bool
        Has no effect: the results are always `Graph` objects, which every kernel takes.
    val_node_labels, val_edge_labels
        Label of all nodes or edges where there is none.
    """
    for i, g in enumerate(X):
        try:
            out = from_networkx(g, node_labels_tag, edge_labels_tag, edge_weight_tag)
            if out.labels is None and out.attributes is None and val_node_labels is not None:
                out._set_labels([val_node_labels] * out.n)
            if out.edge_labels is None and val_edge_labels is not None:
                out._set_edge_labels([val_edge_labels] * len(out.edges))
        except GraphError as e:
            raise GraphError(f"graph {i}: {e}") from None
        yield out


def graph_from_torch_geometric(
    data: Any, node_one_hot: bool = False, edge_one_hot: bool = False, ignore_y: bool = False
) -> dict[str, Any]:
    """Return torch-geometric data as `Graph` objects and their classes.

    Parameters
    ----------
    data : Data, or iterable of Data
    node_one_hot, edge_one_hot : bool
        Take rows of `x` and `edge_attr` for labels, not attributes.
    ignore_y : bool
        Leave out the classes.
    """
    single = hasattr(data, "edge_index") and not hasattr(data, "to_data_list")
    items = [data] if single else (data.to_data_list() if hasattr(data, "to_data_list") else list(data))
    graphs: list[Graph] = []
    for i, d in enumerate(items):
        try:
            g = from_torch_geometric(d)
            if node_one_hot:
                if g.labels is None:
                    raise GraphError("x: rows that are not one-hot")
                g.attributes = None
            if edge_one_hot and g.edge_labels is None and len(g.edges):
                raise GraphError("edge_attr: rows that are not one-hot")
        except GraphError as e:
            raise GraphError(f"graph {i}: {e}") from None
        graphs.append(g)
    out: dict[str, Any] = {"graph": graphs[0] if single else graphs}
    if not ignore_y:
        out["y"] = [int(np.asarray(d.y).reshape(-1)[0]) for d in items if getattr(d, "y", None) is not None]
    return out


def cross_validate_Kfold_SVM(
    K: list[list[Any]],
    y: Any,
    n_iter: int = 10,
    n_splits: int = 10,
    C_grid: Any = None,
    random_state: Any = None,
    scoring: str = "accuracy",
    fold_reduce: Any = np.mean,
) -> list[Any]:
    """Cross-validate SVMs on lists of kernel matrices, choosing matrix and C in the training part.

    Parameters
    ----------
    K : list of lists of kernel matrices
        Each list is one kernel with several parameters.
    y : array of classes
    n_iter, n_splits : int
        Repeats and folds.
    C_grid : sequence of float, optional
        By default powers of 10 from 1e-7 to 1e7, divided by the number of graphs.
    random_state : int, RandomState or None
    scoring : str
        Of the choice of C and of the result.
    fold_reduce : callable
        What a repeat makes of the scores of its folds.

    Returns
    -------
    list
        For each list of matrices, the results of the repeats.
    """
    y = np.asarray(y)
    if C_grid is None:
        C_grid = (10.0 ** np.arange(-7, 8, 2) / len(y)).tolist()
    rng = (
        np.random.RandomState(random_state)
        if not isinstance(random_state, np.random.RandomState)
        else random_state
    )
    results = []
    for matrices in K:
        scores = []
        for _ in range(n_iter):
            folds = KFold(n_splits=n_splits, shuffle=True, random_state=rng.randint(2**31 - 1))
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
            scores.append(fold_reduce(fold_scores))
        results.append(scores)
    return results
