"""Random graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

__all__ = ["generate_dataset"]


def generate_dataset(
    n_graphs: int = 100,
    r_vertices: tuple[int, int] = (1, 20),
    r_connectivity: tuple[float, float] = (0.2, 0.8),
    r_weight_edges: tuple[float, float] = (1, 1),
    n_graphs_test: int = 20,
    random_state: Any = None,
    features: Any = "nl",
) -> tuple[list[Any], list[Any]]:
    """Return random graphs for training and for a test, in GraKeL's form.

    Parameters
    ----------
    n_graphs : int
        Number of graphs in all.
    r_vertices, r_connectivity, r_weight_edges : pairs
        Least and largest number of vertices, probability of an edge, and weight of an edge.
    n_graphs_test : int
        How many of the graphs are for the test.
    random_state : int, RandomState or None
    features : str, tuple or None
        ``"nl"`` or ``"na"`` for labels or attributes of vertices, ``"el"`` or ``"ea"`` for those of
        edges. In a tuple, a number after such a text is the number of different labels, or the length
        of attributes. Both are 4 by default.

    Returns
    -------
    train, test : lists of (adjacency matrix, vertex labels, edge labels)
        Entries that `features` does not name are left out. Test graphs may have one label that no
        training graph has.

    Examples
    --------
    >>> from mlgkernel import ShortestPath
    >>> from mlgkernel.datasets import generate_dataset
    >>> train, test = generate_dataset(30, n_graphs_test=10, random_state=0)
    >>> ShortestPath().fit(train).transform(test).shape
    (10, 20)
    """
    rng = check_random_state(random_state)
    if not 0 <= n_graphs_test <= n_graphs:
        raise ValueError(f"n_graphs_test={n_graphs_test}, want 0 to n_graphs={n_graphs}")
    asked = _features(features)
    train, test = [], []
    for i in range(n_graphs):
        is_test = i >= n_graphs - n_graphs_test
        n = rng.randint(r_vertices[0], r_vertices[1] + 1)
        p = rng.uniform(*r_connectivity)
        upper = np.triu(rng.uniform(size=(n, n)) < p, 1) * rng.uniform(*r_weight_edges, size=(n, n))
        matrix = upper + upper.T
        graph: list[Any] = [matrix]
        for kind, place in (
            ("n", list(range(n))),
            ("e", [tuple(e) for e in np.argwhere(matrix > 0).tolist()]),
        ):
            if kind in asked:
                graph.append(_values(rng, place, *asked[kind], is_test))
            elif kind == "n" and asked:
                graph.append({})
        (test if is_test else train).append(tuple(graph))
    return train, test


def _features(features: Any) -> dict[str, tuple[str, int]]:
    """Return, for vertices (n) and edges (e), labels (l) or attributes (a) and their number."""
    given = (features,) if isinstance(features, str) else tuple(features or ())
    out: dict[str, tuple[str, int]] = {}
    for i, x in enumerate(given):
        if x in ("nl", "na", "el", "ea") and x[0] not in out:
            count = given[i + 1] if i + 1 < len(given) and not isinstance(given[i + 1], str) else 4
            out[x[0]] = (x[1], int(count))
        elif isinstance(x, str) or i == 0 or not isinstance(given[i - 1], str) or x < 1:
            raise ValueError(
                f"features={features!r}, want nl or na, and el or ea, each with a number or without"
            )
    return out


def _values(rng: Any, places: list[Any], kind: str, count: int, is_test: bool) -> dict[Any, Any]:
    if kind == "a":
        drawn: Any = dict(zip(places, rng.uniform(size=(len(places), count))))
    else:
        drawn = dict(zip(places, rng.randint(count + is_test, size=len(places)).tolist()))
    for p in drawn:  # both directions of an edge have one value
        if isinstance(p, tuple) and p[0] > p[1]:
            drawn[p] = drawn[p[::-1]]
    return drawn
