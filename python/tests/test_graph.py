"""The methods and attributes of graphs are those of GraKeL."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

import mlgkernel
from mlgkernel import Graph, GraphError, ShortestPath

grakel = pytest.importorskip("grakel")


def same(a, b):
    """Report whether values of any nesting are equal, arrays and numbers of NumPy included."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return np.array_equal(a, b)


EDGE_DICTIONARY = {
    "a": {"b": 1, "c": 2.0},
    "b": {"a": 1},
    "c": {"a": 2.0, "d": 1},
    "d": {"c": 1, "e": 3},
    "e": {"d": 3},
}
VERTEX_LABELS = {"a": 1, "b": 2, "c": 1, "d": 2, "e": 5}
EDGE_LABELS = {(u, v): "xy"[min(u, v) > "b"] for u, near in EDGE_DICTIONARY.items() for v in near}
CALLS = [
    ("nv", ()),
    ("get_vertices", ("adjacency",)),
    ("get_vertices", ("dictionary",)),
    ("get_edges", ("adjacency",)),
    ("get_edges", ("adjacency", True)),
    ("get_labels", ()),
    ("get_labels", ("vertex", "dictionary")),
    ("get_labels", ("edge", "adjacency")),
    ("get_labels", ("edge", "dictionary")),
    ("get_label_group", ()),
    ("get_label_group", ("vertex", "adjacency")),
    ("get_label_group", ("edge", "dictionary")),
    ("label", ("a",)),
    ("label", (0, "vertex", "adjacency")),
    ("neighbors", ("a", "dictionary")),
    ("neighbors", ("a", "dictionary", True)),
    ("neighbors", (0, "adjacency")),
    ("get_adjacency_matrix", ()),
    ("laplacian", ()),
    ("build_shortest_path_matrix", ()),
    ("build_shortest_path_matrix", ("auto", False, "all")),
    ("build_shortest_path_matrix", ("dijkstra", False, "none")),
    ("produce_neighborhoods", (2,)),
    ("produce_neighborhoods", (2, "adjacency", True)),
    ("produce_neighborhoods", (1, "dictionary", True, 2)),
]


def plain(x):
    """Return sets where an order says nothing."""
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, tuple) and any(isinstance(y, (dict, np.ndarray)) for y in x):
        return [plain(y) for y in x]
    return set(x) if isinstance(x, (list, set, range)) else x


@pytest.mark.parametrize("method,args", CALLS)
def test_methods_of_graphs(method, args):
    given = EDGE_DICTIONARY, VERTEX_LABELS, EDGE_LABELS
    ours, theirs = Graph(*given), grakel.Graph(*copy.deepcopy(given), graph_format="all")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert same(plain(getattr(ours, method)(*args)), plain(getattr(theirs, method)(*args)))


@pytest.mark.parametrize(
    "name", ["adjacency_matrix", "edge_dictionary", "node_labels", "index_node_labels", "index_edge_labels"]
)
def test_attributes_of_graphs(name):
    given = EDGE_DICTIONARY, VERTEX_LABELS, EDGE_LABELS
    ours, theirs = Graph(*given), grakel.Graph(*copy.deepcopy(given), graph_format="all")
    assert same(getattr(ours, name), getattr(theirs, name))
    bare = Graph(EDGE_DICTIONARY)
    assert getattr(bare, name) is None or not name.endswith("labels")


@pytest.mark.parametrize(
    "given",
    [
        ({0: {1: 1.0, 2: 2.5}, 1: {0: 1.0}, 2: {0: 2.5}}, {0: "O", 1: "H", 2: 3}),
        ([(0, 1), (1, 2)], {0: "a", 1: "b", 2: "c"}, {(0, 1): "x", (1, 2): 4}),
        ([(0, 1), (1, 0)],),
        ([(0, 1)], {0: [1.0, 2.0], 1: [0.5, 3.0]}),
    ],
)
def test_graphs_as_text(given):
    assert str(Graph(*given)) == str(grakel.Graph(*copy.deepcopy(given)))


def test_numbers_of_edges():
    """An edge counts once, however it is given; loops do not count."""
    path = [(0, 1), (1, 2)]
    for edges in (path, [*path, (1, 0), (2, 1)], [*path, (0, 1), (2, 2)], [[0, 1, 0], [1, 0, 1], [0, 1, 0]]):
        g = Graph(edges)
        assert g.m == 2 and repr(g) == "<Graph: 3 vertices, 2 edges>"
    assert repr(Graph([[0]])) == "<Graph: 1 vertex, 0 edges>" and Graph().m == 0
    (smiles,) = mlgkernel.as_graphs(["CO"])
    assert smiles.m == 1 and repr(smiles) == "<Graph 'CO': 2 vertices, 1 edge>"


def test_graphs_change():
    g = Graph(EDGE_DICTIONARY, VERTEX_LABELS, EDGE_LABELS)
    assert g.get_edge_dictionary() == g.get_graph_object() == EDGE_DICTIONARY
    part = g.get_subgraph(["a", "c", "d"])
    assert part.get_edge_dictionary() == {"a": {"c": 2.0}, "c": {"a": 2.0, "d": 1.0}, "d": {"c": 1.0}}
    assert part.get_labels(purpose="dictionary") == {"a": 1, "c": 1, "d": 2}
    assert part.get_labels("edge", "dictionary") == {
        k: v for k, v in EDGE_LABELS.items() if set(k) <= set("acd")
    }
    assert ShortestPath().fit_transform([part])[0, 0] > 0
    with pytest.raises(ValueError, match="'q' is no vertex"):
        g.get_subgraph(["q"])
    other = g.copy()
    other.relabel(dict.fromkeys("abcde", "k"))
    assert other.labels == ["k"] * 5 and g.labels == ["1", "2", "1", "2", "5"]
    other.construct_labels()
    assert other.labels == ["2", "1", "2", "2", "1"]
    other.construct_labels("edge")
    assert set(other.edge_labels) == {"1", "2", "3"}
    other.change_format("adjacency")
    other.desired_format("all")
    assert other.get_vertices("dictionary") == set(range(5))
    other.build_graph([(0, 1)])
    assert other.nv() == 2 and other.get_labels(return_none=True) is None
    with pytest.raises(GraphError, match="no vertex labels"):
        other.get_labels()
    for wrong in (
        lambda: g.get_edges("x"),
        lambda: g.change_format("x"),
        lambda: Graph([(0, 1)], graph_format="x"),
    ):
        with pytest.raises(ValueError, match="'x', want"):
            wrong()
    # Edges that stand for both directions are told in both.
    assert mlgkernel.as_graphs(["CO"])[0].get_edges() == [(0, 1), (1, 0)]
