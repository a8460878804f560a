"""Everything that counts as a graph, and what is said of what does not."""

from __future__ import annotations

import copy
import dataclasses
import decimal
import enum
import fractions
import json
import types
import warnings

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.compose import ColumnTransformer

import mlgkernel
from mlgkernel import (
    DirectedWarning,
    EdgeHistogram,
    Graph,
    GraphError,
    MultiscaleLaplacian,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    as_graphs,
)
from mlgkernel._batch import pack, unpack
from mlgkernel._inputs import from_rdkit

ADJACENCY = [[0, 1, 1], [1, 0, 0], [1, 0, 0]]
LABELS = {0: "O", 1: "H", 2: "H"}


class Tensor:
    """As much of a torch tensor as is used."""

    def __init__(self, data):
        self.data = np.asarray(data)

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.data


def data(**fields):
    """As much of torch-geometric's Data as is used."""
    return types.SimpleNamespace(**{k: Tensor(v) for k, v in fields.items()})


def water_networkx():
    g = nx.Graph()
    g.add_node("o", label="O")
    g.add_node("h1", label="H")
    g.add_node("h2", label="H")
    g.add_edges_from([("o", "h1"), ("o", "h2")])
    return g


def grakel_like():
    g = types.SimpleNamespace()
    cls = type("Graph", (), {"__module__": "grakel.graph"})
    g = cls()
    g.get_edge_dictionary = lambda: {0: {1: 1.0, 2: 1.0}, 1: {0: 1.0}, 2: {0: 1.0}}
    g.get_labels = lambda purpose, return_none: LABELS
    g.edge_labels = {}
    return g


WATER = {
    "adjacency lists": [ADJACENCY, LABELS],
    "adjacency tuple": (ADJACENCY, LABELS),
    "adjacency array": [np.array(ADJACENCY), LABELS],
    "adjacency of floats": [np.array(ADJACENCY, float), LABELS],
    "sparse matrix": [scipy.sparse.csr_matrix(ADJACENCY), LABELS],
    "adjacency, list of labels": [np.array(ADJACENCY), ["O", "H", "H"]],
    "neighbour lists": [{0: [1, 2], 1: [0], 2: [0]}, LABELS],
    "nested dictionary": [{0: {1: 1.0, 2: 1.0}, 1: {0: 1.0}, 2: {0: 1.0}}, LABELS],
    "edge dictionary": [{(0, 1): 1.0, (1, 0): 1.0, (0, 2): 1.0, (2, 0): 1.0}, LABELS],
    "pairs": [[(0, 1), (1, 0), (0, 2), (2, 0)], LABELS],
    "pairs, one direction": [[(0, 1), (0, 2)], LABELS],
    "set of pairs": ({(0, 1), (0, 2)}, LABELS, {}),
    "triples": [[(0, 1, 1.0), (0, 2, 1.0)], LABELS],
    "symbols": [{"a": ["b", "c"], "b": ["a"], "c": ["a"]}, {"a": "O", "b": "H", "c": "H"}],
    "arrays": (np.array([[0, 1], [0, 2]]), np.array(["O", "H", "H"])),
    "arrays, unsigned": (np.array([[0, 1], [0, 2]], np.uint8), np.array(["O", "H", "H"])),
    "Graph": Graph(ADJACENCY, LABELS),
    "Graph.from_arrays": Graph.from_arrays([[0, 1], [0, 2]], labels=["O", "H", "H"]),
    "networkx": water_networkx(),
    "GraKeL graph": grakel_like(),
    "SMILES": "[H]O[H]",
}


@pytest.mark.parametrize("form", WATER)
def test_forms(form):
    with np.errstate(all="raise"):
        k = ShortestPath().fit([WATER["adjacency lists"]])
        np.testing.assert_array_equal(k.transform([WATER[form]]), [[12]])


@pytest.mark.parametrize(
    "edges,labels,want",
    [
        ({(0, 1), (1, 0), (1, 2)}, {0: "a", 1: "b", 2: "c"}, [(0, 1), (1, 0), (1, 2)]),
        ([(5, 6), (6, 7)], {7: "c", 5: "a", 6: "b"}, [(0, 1), (1, 2)]),
        ([(0, 1), [1, 2], (0, 2)], {0: "a", 1: "b", 2: "c"}, [(0, 1), (0, 2), (1, 2)]),
        ([(True, 2), (0, 1)], {0: "a", 1: "b", 2: "c"}, [(1, 2), (0, 1)]),
        ([(0, 1), (1, 2, 3.0)], {0: "a", 1: "b", 2: "c"}, [(0, 1), (1, 2)]),
        (((0.0, 1), (1, 2)), {0: "a", 1: "b", 2: "c"}, [(0, 1), (1, 2)]),
        ([("x", "y"), ("y", "z")], {"x": "a", "y": "b", "z": "c"}, [(0, 1), (1, 2)]),
    ],
)
def test_pairs(edges, labels, want):
    """Pairs are read in a short way where they are usual, and in a longer one with the same result."""
    g = Graph(edges, labels, {(u, v): "s" for u, v, *_ in edges})
    assert g.labels == ["a", "b", "c"] and g.edge_labels == ["s"] * len(want)
    assert sorted(map(tuple, g.edges.tolist())) == sorted(want)


@pytest.mark.parametrize(
    "edges,message",
    [
        ([(0, 1), (1, 3)], "vertex 3 has no label"),
        ([(0, -1)], "vertex -1 has no label"),
        ([(0, 2**32)], "vertex 4294967296 has no label"),
        ([(0, 1.5)], "vertex 1.5 has no label"),
        ([(0, "1")], "vertex '1' has no label"),
        ([(0, 1), (2,)], r"edges: \(2,\), want \(u, v\)"),
        ([(0, 1), "ab"], "edges: 'ab', want"),
    ],
)
def test_wrong_pairs(edges, message):
    with pytest.raises(GraphError, match=message):
        Graph(edges, {0: "a", 1: "b", 2: "c"})


@pytest.mark.parametrize(
    "edges,labels",
    [
        ([[0, 1, 2], [1, 2, 3]], "abcd"),  # the third column is no weight
        ([[0, 1, 2, 3], [1, 2, 3, 0]], "abcd"),
        ([[0, 1], [2, 3]], "abcd"),  # pairs without a common vertex: the other way round they are others
        ([[0, 2], [1, 1]], "abc"),  # a loop, unless it is turned
        ([[0, 1, 2], [1, 2, 3]], None),
        ([[0, 1, 2, 3], [1, 2, 3, 0]], None),
    ],
)
def test_arrays_of_edges_that_may_be_transposed(edges, labels):
    """What torch-geometric calls edge_index is not taken for pairs with weights, or for other pairs."""
    edges = np.array(edges)
    given = edges if labels is None else (edges, list(labels))
    with pytest.raises(GraphError, match=r"edges: .*shape \(2, .\) may be an edge_index, .*edge_index.T"):
        as_graphs([given])
    turned = Graph.from_arrays(edges.T, labels=labels and list(labels))  # as the error says
    assert turned.m == edges.shape[1]
    if edges.shape[1] > 2:
        with pytest.raises(GraphError, match="edge_index"):
            Graph(edges)
    if edges.shape[1] > 2 or (edges[:, 0] == edges[:, 1]).any():
        with pytest.raises(GraphError, match=r"want (shape )?\(m, 2\): edge_index.T"):
            Graph.from_arrays(edges)


@pytest.mark.parametrize(
    "edges,labels,want",
    [
        ([[0, 1], [1, 2]], "abc", [(0, 1), (1, 2)]),  # both ways the same
        ([[0, 1], [2, 0]], "abc", [(0, 1), (0, 2)]),
        ([[0, 1], [0, 2]], "abc", [(0, 1), (0, 2)]),  # turned it has a loop
        ([[0, 1, 5], [1, 2, 3]], "abc", [(0, 1), (1, 2)]),  # there is no vertex 5
        ([[0, 1, 2.0], [1, 2, 1.0]], "abc", [(0, 1), (1, 2)]),  # vertices are whole numbers
        ([[0, 1, 2], [1, 2, 2]], "abc", [(0, 1), (1, 2)]),
    ],
)
def test_arrays_of_two_edges(edges, labels, want):
    (g,) = as_graphs([(np.array(edges), list(labels))])
    assert list(map(tuple, np.unique(np.sort(g.edges, axis=1), axis=0).tolist())) == want


def test_square_arrays_of_two_rows():
    """Without labels they are adjacency matrices, unless they rather look like edges."""
    assert as_graphs([np.array([[0, 1], [1, 0]])])[0].m == 1
    assert as_graphs([np.array([[1, 1], [1, 1]])])[0].m == 1
    for edges in ([[0, 1], [1, 2]], [[0, 0], [1, 2]], [[0, 2], [1, 0]], [[0, 2], [1, 3]]):
        with pytest.raises(
            GraphError, match=r"adjacency matrix or two edges; want Graph\(matrix\), .*index.T"
        ):
            as_graphs([np.array(edges)])
        assert Graph(np.array(edges)).n == 2
        as_graphs([np.array(edges, dtype=float)])
    assert as_graphs([np.array([[0, 3], [3, 0]])])[0].weights.tolist() == [3, 3]
    assert as_graphs([np.array([[0, 1], [0, 0]])])[0].arcs


def test_mixed_and_generators():
    items = list(WATER.values())
    k = WeisfeilerLehman(n_iter=2).fit_transform(x for x in items)
    np.testing.assert_array_equal(k, np.full((len(items), len(items)), 15.0))
    np.testing.assert_array_equal(VertexHistogram().fit_transform(iter(items[:3])), np.full((3, 3), 5.0))
    np.testing.assert_array_equal(
        VertexHistogram().fit_transform(map(copy.deepcopy, items[:2])), np.full((2, 2), 5.0)
    )


def test_never_mutated():
    items = [v for k, v in WATER.items() if k not in ("networkx", "GraKeL graph")]
    before = [repr(x) for x in items]
    arrays = [a.copy() for a in WATER["arrays"]]
    WATER["arrays"][0].flags.writeable = False
    for k in (MultiscaleLaplacian(), ShortestPath(), WeisfeilerLehman()):
        k.fit(items).transform(items)
    assert [repr(x) for x in items] == before
    for a, b in zip(arrays, WATER["arrays"]):
        np.testing.assert_array_equal(a, b)
    g = WATER["networkx"]
    assert nx.utils.graphs_equal(g, water_networkx())


def test_dataset_inputs(tudatasets, drugs):
    k = VertexHistogram(normalize=True)
    a = k.fit_transform(str(tudatasets / "MUTAG"))
    assert a.shape == (188, 188)
    assert k.fit_transform(tudatasets / "MUTAG").tobytes() == a.tobytes()
    assert VertexHistogram().fit_transform([tudatasets / "MUTAG", "CCO"]).shape == (189, 189)
    assert VertexHistogram().fit_transform("builtin:drugs").shape == (len(drugs), len(drugs))


def test_networkx_data():
    g = nx.Graph()
    g.add_node(0, label=1, attributes=[0.5, 1.0])
    g.add_node(1, label=2, attributes=[1.5, 2.0])
    g.add_edge(0, 1, weight=2.5, label="x")
    (out,) = as_graphs([g])
    assert out.labels == ["1", "2"] and out.edge_labels == ["x"]
    np.testing.assert_array_equal(out.attributes, [[0.5, 1.0], [1.5, 2.0]])
    np.testing.assert_array_equal(out.weights, [2.5])
    (tagged,) = mlgkernel.graph_from_networkx([g], node_labels_tag="attributes", as_Graph=True)
    assert tagged.labels is None and tagged.attributes.shape == (2, 2)
    del g.nodes[1]["label"]
    with pytest.raises(GraphError, match=r"graph 0: nodes: some have the attribute 'label'"):
        as_graphs([g])


def test_networkx_edges(tmp_path):
    """Edges without a label have an empty one, as in files. Numbers of edges are compared on request."""
    g = nx.Graph([("u", "v"), ("v", "w")])
    g.edges["u", "v"]["label"] = "calls"
    path = tmp_path / "g.dot"
    path.write_text('graph { u -- v [label="calls"]; v -- w }')
    (ours,), (file,) = as_graphs([g]), mlgkernel.datasets.load(path).graphs
    assert ours.edge_labels == file.edge_labels == ["calls", ""]
    assert ours.names == ["u", "v", "w"] and file.names == ours.names
    assert Graph({0: [1]}).names is None and Graph.from_arrays([[0, 1]]).names is None
    nx.set_edge_attributes(g, {("u", "v"): 1.5, ("v", "w"): 2.5}, "cost")
    with pytest.raises(ValueError, match="edge_attributes_tags: GraKeL's form has no attributes"):
        next(mlgkernel.graph_from_networkx([g], edge_attributes_tags=["cost"]))
    (made,) = mlgkernel.graph_from_networkx([g], as_Graph=True, edge_attributes_tags=["cost"])
    path.write_text("graph { u -- v [cost=1.5]; v -- w [cost=2.5] }")
    (file,) = mlgkernel.datasets.load(path, edge_attributes="cost").graphs
    np.testing.assert_array_equal(made.attributes, file.attributes)
    assert made.n == file.n == 5 and made.m == file.m == 4
    with pytest.raises(GraphError, match=r"graph 0: edge \('u', 'v'\) has no attribute 'price'"):
        next(mlgkernel.graph_from_networkx([g], as_Graph=True, edge_attributes_tags=["price"]))


def test_networkx_numbers(tmp_path):
    """Numbers of nodes are attributes, as in files; what is left out is counted."""
    graphs = []
    for i in range(4):
        g = nx.DiGraph() if i % 2 else nx.Graph()
        for v in range(3 + i % 2):
            g.add_node(
                f"v{v}",
                type="ab"[v % 2],
                a10=v / 4,
                a2=i + v,
                pos=[v, 1.5],
                x=float(v),
                y=1.0,
                on=True,
                os="linux",
            )
        nx.add_path(g, g.nodes, order=2 - i % 2, value=0.5 + i, cost=9)
        graphs.append(g)
    with pytest.warns(UserWarning, match="left out") as told:
        ours = as_graphs(graphs)
    assert sorted(str(w.message) for w in told) == [
        "10 values of edge data 'cost' left out: neither weight nor label. "
        "graph_from_networkx(edge_attributes_tags=['cost']) takes numbers",
        "14 values of node data 'on' left out: neither label nor numbers of all nodes",
        "14 values of node data 'os' left out: neither label nor numbers of all nodes",
    ]
    assert {w.filename for w in told} == {__file__}
    files = []
    for i, g in enumerate(graphs):
        path = tmp_path / f"{i}.json"
        path.write_text(json.dumps(nx.node_link_data(g, edges="links")))
        files += mlgkernel.datasets.load(path).graphs
    for a, b in zip(ours, files):
        np.testing.assert_array_equal(a.attributes, b.attributes)
        np.testing.assert_array_equal(a.coordinates, b.coordinates)
        assert a.attributes.shape[1] == 4 and (a.labels, a.edge_labels) == (b.labels, b.edge_labels)
        assert a.arcs == b.arcs and sorted(a.weights) == sorted(b.weights)
    other = [nx.Graph([(0, 1)]) for _ in range(2)]
    for i, g in enumerate(other):
        nx.set_node_attributes(g, {0: 1.0 + 4 * i, 1: 2.0}, "size")
    k = MultiscaleLaplacian().fit_transform(other)
    assert k[0, 1] < 1
    # Numbers that some nodes lack are no attributes, and soft names do not count where some have them.
    del other[0].nodes[0]["size"]
    other[0].nodes[0]["type"] = "t"
    other[1].edges[0, 1]["value"] = -1.0
    with pytest.warns(UserWarning, match="left out"):
        some = as_graphs(other)
    assert all(g.attributes is None and g.labels is None and g.weights is None for g in some)
    # Rows of numbers under their usual name are the attributes alone.
    for g in other:
        nx.set_node_attributes(g, [0.5, 1.0], "x")
    other[0].nodes[0].pop("type")
    del other[1].edges[0, 1]["value"]
    with pytest.warns(UserWarning, match="node data 'size' left out"):
        assert as_graphs(other)[1].attributes.tolist() == [[0.5, 1.0]] * 2


def test_torch_geometric_data():
    one_hot = data(
        edge_index=[[0, 1, 0, 2], [1, 0, 2, 0]], x=[[1.0, 0], [0, 1], [0, 1]], edge_attr=[[1, 0]] * 4
    )
    (g,) = as_graphs([one_hot])
    assert g.labels == ["0", "1", "1"] and g.attributes.shape == (3, 2) and g.edge_labels == ["0"] * 4
    (g,) = as_graphs([data(edge_index=[[0], [1]], x=[[3], [4]])])
    assert g.labels == ["3", "4"]
    (g,) = as_graphs([data(edge_index=[[0], [1]], x=[[0.5, 0.1], [0.2, 0.9]], edge_weight=[0.5])])
    assert g.labels is None and g.weights.tolist() == [0.5]
    with pytest.raises(GraphError, match=r"graph 0: edges: edge 0: vertex 7 out of range \[0, 2\)"):
        as_graphs([data(edge_index=[[0], [7]], x=[[3], [4]])])
    out = mlgkernel.graph_from_torch_geometric([one_hot], node_one_hot=True, ignore_y=True)
    assert out["graph"][0].attributes is None


class Loader(list):
    """As much of torch-geometric's DataLoader as is used: batches in turn."""


class Batched(types.SimpleNamespace):
    """As much of torch-geometric's Batch as is used."""

    def to_data_list(self):
        return self.items


class Collection(Loader):
    """As much of torch-geometric's datasets as is used: they also have the arrays of all graphs."""

    edge_index = Tensor([[0], [1]])

    def indices(self):
        return range(len(self))


def test_torch_geometric_collections():
    a = data(edge_index=[[0], [1]], x=[[1.0, 0], [0, 1]], edge_attr=[[0, 1]])
    b = data(edge_index=[[0], [1]], x=[[1.0, 0], [0, 1]], edge_attr=[[1, 0]])
    batch = Batched(edge_index=Tensor([[0, 2], [1, 3]]), items=[a, b])
    for collection in ([a, b], Collection([a, b]), batch, Loader([batch]), [batch]):
        got = as_graphs(collection)
        assert [g.n for g in got] == [2, 2] and [g.edge_labels for g in got] == [["1"], ["0"]]
        assert [g.labels for g in got] == [["0", "1"]] * 2
    # One row that is not one-hot makes attributes of all.
    odd = data(edge_index=[[0], [1]], x=[[1.0, 1], [0, 1]], edge_attr=[[2, 1]])
    got = as_graphs([a, odd])
    assert all(g.labels is None and g.attributes.shape == (2, 2) for g in got)
    assert [g.edge_labels for g in got] == [["1"], ["[2, 1]"]]
    # Whatever is beside it, a row has the same label: new graphs fit those of training.
    k = EdgeHistogram()
    assert k.fit([a, b]).transform([b, odd]).tolist() == [[0, 4], [0, 0]]
    assert k.fit([a, odd]).transform([a, b]).tolist() == [[4, 0], [0, 0]]
    odd.edge_attr = Tensor([[2.0, 0.5]])
    with pytest.warns(UserWarning, match=r"edge_attr is left out.*edge_attr\.long\(\)") as told:
        got = as_graphs([a, odd])
    assert [w.filename for w in told] == [__file__]
    assert all(g.edge_labels is None for g in got)
    # What the warning advises.
    odd.edge_attr = Tensor(odd.edge_attr.data.astype(int))
    assert as_graphs([odd])[0].edge_labels == ["[2, 0]"]
    odd.edge_weight, odd.edge_attr = Tensor(odd.edge_attr.data[:, 0]), None
    (got,) = as_graphs([odd])
    assert got.edge_labels is None and got.weights.tolist() == [2.0]
    whole = [data(edge_index=[[0], [1]], x=[[1], [2]], edge_attr=[3]), data(edge_index=[[], []], x=[[5]])]
    assert [g.labels for g in as_graphs(whole)] == [["1", "2"], ["5"]]
    with pytest.raises(TypeError, match="put it into a list"):
        as_graphs(a)
    out = mlgkernel.graph_from_torch_geometric(batch, node_one_hot=True)
    assert len(out["graph"]) == 2 and out["y"] == [] and out["graph"][0].attributes is None
    with pytest.raises(GraphError, match="x: rows are not one-hot in all graphs, which node_one_hot=True"):
        mlgkernel.graph_from_torch_geometric([a, odd], node_one_hot=True)


def test_networkx_attributes_tags():
    g = nx.Graph([("a", "b")])
    nx.set_node_attributes(g, {"a": {"size": 1, "at": [2.0, 3.0]}, "b": {"size": 4, "at": [5.0, 6.0]}})
    nx.set_node_attributes(g, "x", "kind")
    options = {"node_labels_tag": "kind", "node_attributes_tags": ["at", "size"]}
    (out,) = mlgkernel.graph_from_networkx([g], as_Graph=True, **options)
    assert out.attributes.tolist() == [[2, 3, 1], [5, 6, 4]] and out.labels == ["x", "x"]
    with pytest.raises(ValueError, match="want as_Graph=True"):
        next(mlgkernel.graph_from_networkx([g], **options))
    del g.nodes["b"]["size"]
    with pytest.raises(GraphError, match=r"graph 0: node 'b' has no attribute 'size'"):
        next(mlgkernel.graph_from_networkx([g], as_Graph=True, **options))


def test_numbers_on_edges(tmp_path):
    """Numbers of edges are attributes of vertices on them, with the same bits as from a file."""
    ours, paths = [], []
    for i in range(3):
        pairs = [(0, 1), (1, 2), (2, 3 - i)]  # also a self-loop, and parallel edges
        rows = [[0.5 * i, 2.0], [1.0, -3.0 * i], [0.25, 1.0]]
        both = [(p, r) for (u, v), r in zip(pairs, rows) for p in dict.fromkeys([(u, v), (v, u)])]
        ours.append(
            data(
                edge_index=np.array([p for p, _ in both]).T.tolist(),
                x=[[0.5], [1.5 + i], [2.0], [0.0]],
                edge_attr=[r for _, r in both],
            )
        )
        g = nx.Graph() if i < 2 else nx.MultiGraph()
        g.add_nodes_from((v, {"size": float(x)}) for v, x in enumerate([0.5, 1.5 + i, 2.0, 0.0]))
        for (u, v), (a, b) in zip(pairs, rows):
            g.add_edge(u, v, a=a, b=b)
        paths.append(tmp_path / f"{i}.graphml")
        nx.write_graphml(g, paths[-1])
    got = mlgkernel.graph_from_torch_geometric(ours, edge_attributes=True)["graph"]
    want = [g for p in paths for g in mlgkernel.datasets.load(p, edge_attributes="a,b").graphs]
    for a, b in zip(got, want):
        assert a.n == b.n and np.array_equal(a.attributes, b.attributes)
    k = MultiscaleLaplacian().fit_transform(got)
    assert k.tobytes() == MultiscaleLaplacian().fit_transform(want).tobytes() and k[0, 1] < 1
    # Different numbers in the two directions have a mean; labels and weights stay.
    odd = data(edge_index=[[0, 1], [1, 0]], x=[[1], [2]], edge_attr=[[1.0], [2.0]], edge_weight=[3.0, 3.0])
    (g,) = mlgkernel.graph_from_torch_geometric([odd], edge_attributes=True)["graph"]
    assert g.labels == ["1", "2", "edge "] and g.attributes.tolist() == [[0], [0], [1.5]]
    assert g.weights.tolist() == [3, 3] and g.edges.tolist() == [[0, 2], [2, 1]]
    bare = data(edge_index=[[0], [1]], x=[[1], [2]])
    with pytest.raises(GraphError, match="graph 0: no edge_attr, which edge_attributes=True needs"):
        mlgkernel.graph_from_torch_geometric([bare], edge_attributes=True)
    odd.edge_attr = Tensor([[1.0], [np.inf]])
    with pytest.raises(GraphError, match=r"graph 0: edge_attr: row 1: \[inf\], want finite numbers"):
        mlgkernel.graph_from_torch_geometric([odd], edge_attributes=True)
    with pytest.raises(ValueError, match="want one of them"):
        mlgkernel.graph_from_torch_geometric([odd], edge_attributes=True, edge_one_hot=True)


def test_vectors_on_vertices():
    """Molecules of torch-geometric have several whole numbers for each atom: they are labels as well."""
    first = data(edge_index=[[0, 1], [1, 0]], x=[[6, 0, 4], [8, 0, 2]])
    second = data(edge_index=[[0, 1], [1, 0]], x=[[6, 0, 4], [7, 0, 2]])
    np.testing.assert_array_equal(WeisfeilerLehman(n_iter=1).fit_transform([first, second]), [[4, 1], [1, 4]])
    (g,) = as_graphs([first])
    assert g.labels == ["[6, 0, 4]", "[8, 0, 2]"] and g.attributes.tolist() == [[6, 0, 4], [8, 0, 2]]
    assert MultiscaleLaplacian().fit([first, second]).compared_ == "vertices by label and attributes"
    # As the other functions of GraKeL, its converter gives vectors.
    (g,) = mlgkernel.graph_from_torch_geometric([first])["graph"]
    assert g.labels is None and g.attributes.shape == (2, 3)
    # Numbers that are not whole are no labels, and the error says what would be.
    first.x = Tensor([[6.0, 0.5], [8.0, 0.0]])
    for kernel in (WeisfeilerLehman(), mlgkernel.TextKernel("wl labels=labels")):
        with pytest.raises(
            GraphError, match=r"^graph 0 has no labels, .*: \[edges, labels\], .*data.x of whole"
        ):
            kernel.fit([first])
    first.x = Tensor(first.x.data.astype(int))
    assert WeisfeilerLehman().fit([first]).kernel_


def test_vectors_on_edges():
    """Rows of whole numbers are labels as they are, of which functions get arrays; GraKeL keeps all rows."""
    rows = [[1, 2], [1, 2], [0, 1], [0, 1]]  # the last ones are one-hot
    d = data(edge_index=[[0, 1, 1, 2], [1, 0, 2, 1]], x=[[1], [1], [1]], edge_attr=rows)
    np.testing.assert_array_equal(EdgeHistogram().fit_transform([d]), [[8]])
    k = mlgkernel.SubgraphMatching(k=2, ke=np.dot).fit_transform([d])
    np.testing.assert_array_equal(k, [[9 + 2 * (5 + 2 + 2 + 1)]])  # vertices, and edges in two ways
    floats = data(edge_index=[[0], [1]], edge_attr=[[0.5, 2.0]], y=[1.0])
    floats.num_nodes = 2
    out = mlgkernel.graph_from_torch_geometric(floats)
    assert out["graph"].edge_labels == ["[0.5, 2]"] and out["y"] == 1
    assert copy.deepcopy(out["graph"])._edge_labels[0].numbers.tolist() == [0.5, 2.0]
    with pytest.raises(GraphError, match="edge_attr: rows are not one-hot in all graphs, which edge_one_hot"):
        mlgkernel.graph_from_torch_geometric(floats, edge_one_hot=True)
    assert mlgkernel.graph_from_torch_geometric([floats, floats])["y"] == [1, 1]
    floats.y = Tensor([[0.0, 1.0]])
    with pytest.raises(GraphError, match="graph 0: y has 2 numbers, want 1, or ignore_y=True"):
        mlgkernel.graph_from_torch_geometric(floats)
    floats.edge_attr = Tensor([[0.5, np.nan]])
    with pytest.raises(GraphError, match=r"graph 0: edge_attr: row 0: \[0.5, nan\], want finite numbers"):
        mlgkernel.graph_from_torch_geometric(floats)
    del floats.y, floats.edge_attr
    assert "y" not in mlgkernel.graph_from_torch_geometric(floats)


@pytest.mark.parametrize(
    "given,message",
    [
        ([[Graph(ADJACENCY, LABELS)]], "graph 0: a list of graphs inside the collection, want one graph"),
        ([["CCO", "CCN"]], "graph 0: a list of graphs inside the collection"),
        (["CCO", [water_networkx(), water_networkx()]], "graph 1: a list of graphs"),
        (
            [types.SimpleNamespace(edge_types=[], node_types=[])],
            "graph 0: SimpleNamespace has several kinds",
        ),
        (types.SimpleNamespace(edge_types=[], node_types=[]), "SimpleNamespace has several kinds"),
        ([[grakel_like()]], "graph 0: a list of graphs inside the collection"),
        ([b"CCO"], "graph 0: bytes is no graph, want"),
        ("hello", "hello: no such file.* for one molecule, put its SMILES string into a list"),
        (["hello"], "graph 0: 'hello' is no molecule: .*; want a SMILES string, or a pathlib.Path"),
        ([[[[(0, 1)], {0: 1, 1: 2}]] * 2], "graph 0: a list of graphs inside the collection"),
    ],
)
def test_what_is_no_graph(given, message):
    with pytest.raises(GraphError, match=message):
        VertexHistogram().fit(given)


def test_tables():
    """A table with one column is that column; scikit-learn hands such tables on."""
    table = pandas.DataFrame({"smiles": ["CCO", "CC"], "y": [1, 0]})
    want = VertexHistogram().fit_transform(["CCO", "CC"])
    for given in (table.smiles, table[["smiles"]], table[["smiles"]].to_numpy(), np.array([["CCO"], ["CC"]])):
        assert VertexHistogram().fit_transform(given).tobytes() == want.tobytes()
    column = ColumnTransformer([("wl", WeisfeilerLehman(), ["smiles"])])
    assert column.fit_transform(table).shape == (2, 2)
    for given in (table, [table]):
        with pytest.raises(GraphError, match=r"a table with 2 columns, want one .* table\['smiles'\]"):
            VertexHistogram().fit(given)
    with pytest.raises(FileNotFoundError, match="put its SMILES string into a list"):
        VertexHistogram().fit("CCO")


def test_rdkit():
    chem = pytest.importorskip("rdkit.Chem")
    a, b = as_graphs([chem.MolFromSmiles("CCO"), "CCO"])
    assert a.labels == b.labels and sorted(map(tuple, a.edges.tolist())) == sorted(
        map(tuple, b.edges.tolist())
    )


def test_labels_compare_as_text():
    forms = [
        {0: 1, 1: 2},
        {0: "1", 1: "2"},
        {0: 1.0, 1: 2.0},
        {0: np.int32(1), 1: np.float64(2)},
        {0: True, 1: 2},
    ]
    k = VertexHistogram().fit_transform([[[(0, 1)], x] for x in forms])
    np.testing.assert_array_equal(k, np.full((5, 5), 2.0))


class Colour(enum.Enum):
    RED = 1


@dataclasses.dataclass(frozen=True)
class Atom:
    symbol: str


class Paint(str, enum.Enum):
    RED = "red"


class Bare:
    """An object that equals itself alone."""


class Shapeless:
    """An object with equality, whose text is its address."""

    def __eq__(self, other):
        return isinstance(other, Shapeless)

    __hash__ = None


@pytest.mark.parametrize(
    "make",
    [
        lambda: Atom("C"),
        lambda: Colour.RED,
        lambda: ("C", Atom("O"), None),
        lambda: fractions.Fraction(1, 3),
        lambda: decimal.Decimal("0.1"),
        lambda: frozenset(str(n) for n in np.random.default_rng().permutation(20)),
    ],
)
def test_labels_that_are_objects(make):
    """Equal objects are one label, also when they are made again."""
    for at in (1, 2):  # of vertices and of edges
        graphs = []
        for _ in range(2):
            parts = [[(0, 1)], {0: "a", 1: "a"}, {(0, 1): "b"}]
            parts[at] = {key: make() for key in parts[at]}
            graphs.append(parts)
        if at == 1 and isinstance(make(), frozenset):
            continue
        k = (VertexHistogram if at == 1 else EdgeHistogram)().fit_transform(graphs)
        np.testing.assert_array_equal(k, np.full((2, 2), k[0, 0]))


def test_labels_that_are_equal():
    """Equal numbers and texts are one label, whatever their types are."""
    numbers = [1, 1.0, True, np.int8(1), np.float32(1), decimal.Decimal("1.0"), fractions.Fraction(1), "1"]
    texts = ["red", np.str_("red"), Paint.RED]
    halves = [0.5, fractions.Fraction(1, 2), decimal.Decimal("0.50")]
    for labels in (numbers, texts, halves):
        graphs = [[[(0, 1)], {0: x, 1: x}] for x in labels]
        assert (VertexHistogram().fit_transform(graphs) == 4).all(), labels


@pytest.mark.parametrize(
    "label", [Bare(), Shapeless(), ("a", Bare()), lambda: 0, pandas.NA, ("a", float("nan"))]
)
@pytest.mark.parametrize("field", ["node_labels", "edge_labels"])
def test_labels_that_cannot_be_compared(label, field):
    labels = (
        {"node_labels": {0: label, 1: label}} if field == "node_labels" else {"edge_labels": {(0, 1): label}}
    )
    with pytest.raises(GraphError, match=f"^{field}: .* (is no label|cannot be compared with other labels)"):
        Graph([(0, 1)], **labels)


def test_labels_of_edges_may_be_vectors():
    """They are compared as text, as other labels are."""
    labels = {(0, 1): np.array([1.0, 2.0]), (1, 0): np.array([1.0, 2.0])}
    graphs = [[[(0, 1), (1, 0)], {0: 1, 1: 1}, labels], [[(0, 1)], {0: 1, 1: 1}, {(1, 0): [1.0, 2.0]}]]
    np.testing.assert_array_equal(EdgeHistogram().fit_transform(graphs), np.full((2, 2), 4.0))


def test_isolated_vertices_count():
    np.testing.assert_array_equal(
        VertexHistogram().fit_transform([[[(0, 1)], {0: "a", 1: "a", 2: "b"}]]), [[5]]
    )


def multigraph():
    g = nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")])
    nx.set_node_attributes(g, "C", "label")
    nx.set_edge_attributes(g, {("a", "b", 0): 1.0, ("a", "b", 1): 3.0, ("b", "c", 0): 1.0}, "weight")
    return g


def directed(*edges):
    g = nx.DiGraph(edges)
    nx.set_node_attributes(g, "C", "label")
    return g


ALTERED = {
    "DiGraph": (directed((0, 1), (1, 2), (2, 2)), []),
    "asymmetric matrix": ([np.array([[0, 2, 1], [1, 0, 0], [0, 0, 0]]), list("aab")], []),
    "dictionary": ([{0: [1, 2], 1: [0], 2: []}, {0: "a", 1: "a", 2: "a"}], ["1 graph is directed"]),
    "self-loop": ([[[1, 1], [1, 0]], {0: "a", 1: "a"}], ["1 self-loop is left out"]),
    "MultiGraph": (
        multigraph(),
        ["1 parallel edge is joined with another"],
    ),
    "two labels": (
        [[(0, 1), (1, 0)], {0: "a", 1: "a"}, {(0, 1): "x", (1, 0): "y"}],
        ["1 edge has different labels in its two directions"],
    ),
}


@pytest.mark.parametrize("name", ALTERED)
def test_what_is_altered_is_told(name):
    """Every entry tells what it does to a graph, at the line of the caller."""
    item, messages = ALTERED[name]
    good = Graph([(0, 1), (1, 2)], list("CCa"))

    def told(f, *args):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            f(*args)
        found = [w for w in found if w.category is DirectedWarning]
        assert [str(w.message).split(":")[0][: len(m)] for w, m in zip(found, messages)] == messages
        assert len(found) == len(messages) and all(w.filename == __file__ for w in found)

    k = ShortestPath().fit([good])
    model = mlgkernel.MLGClassifier().fit([good, good, "CC"], [0, 1, 1])
    told(ShortestPath().fit, [item])
    told(k.transform, [item])
    told(k.diagonal)
    told(model.predict, [item])
    told(model.nearest, [item])
    told(mlgkernel.MLGEmbedding(1).fit([good]).transform, [item])
    told(mlgkernel.explain.decision, model, item)
    told(mlgkernel.explain.draw, item)
    told(mlgkernel.explain.similarity, good, item)


def test_numbers_agree():
    """One graph, two graphs."""
    mixed = [{0: [1, 2], 1: [0], 2: []}, {0: "a", 1: "a", 2: "a"}]
    with pytest.warns(DirectedWarning, match="2 graphs are directed: some of their edges"):
        VertexHistogram().fit([mixed, mixed])
    with pytest.warns(DirectedWarning, match="1 self-loop is left out"):
        VertexHistogram().fit([[[[1, 1], [1, 0]], {0: "a", 1: "a"}]])


def test_directions():
    """A loop and a diamond differ in their directions alone, however they are given."""
    loop, diamond = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 1), (1, 2), (0, 3), (3, 2)]

    def matrix(arcs):
        a = np.zeros((4, 4))
        a[tuple(np.transpose(arcs))] = 1
        return [a, list("ABCD")]

    def networkx(arcs):
        g = nx.DiGraph()
        g.add_nodes_from((v, {"label": "ABCD"[v]}) for v in range(4))
        g.add_edges_from(arcs)
        return g

    def arrays(arcs):
        return Graph.from_arrays(arcs, labels=list("ABCD"), arcs=True)

    def edges(arcs):
        return Graph(arcs, dict(enumerate("ABCD")), arcs=True)

    values = set()
    for form in matrix, networkx, arrays, edges:
        both = [form(loop), form(diamond)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            values.add(mlgkernel.MultiscaleLaplacian(exact=True).fit_transform(both)[0, 1].round(9))
            assert mlgkernel.TextKernel("wl undirected").fit_transform(both)[0, 1] == 1
    assert len(values) == 1 and values.pop() < 0.1
    plain = [Graph.from_arrays(e, labels=list("ABCD")) for e in (loop, diamond)]
    assert mlgkernel.TextKernel("wl").fit_transform(plain)[0, 1] == 1
    reciprocal = nx.DiGraph([(0, 1, {"label": "calls"}), (1, 0, {"label": "returns"})])
    nx.set_node_attributes(reciprocal, "f", "label")
    other = reciprocal.copy()
    other.edges[1, 0]["label"] = "calls"
    assert mlgkernel.TextKernel("wl").fit_transform([reciprocal, other])[0, 1] < 1


@pytest.mark.parametrize("form", WATER)
def test_what_is_not_altered_is_not_told(form):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ShortestPath().fit([WATER[form]]).transform([WATER[form]])


def test_weights_and_labels_are_merged():
    """Weights are averaged, and labels joined."""
    edges, labels = [(0, 1, 2.0), (1, 0, 4.0), (1, 2, 1.0), (2, 1, 1.0)], {0: "a", 1: "b", 2: "c"}
    want = [[(0, 1, 3.0), (1, 2, 1.0)], labels]
    with pytest.warns(DirectedWarning):
        k = ShortestPath().fit_transform([[edges, labels], want])
    assert k[0, 0] == k[0, 1] == k[1, 1]
    twice = [[(0, 1), (1, 0)], {0: 1, 1: 1}, {(0, 1): "y", (1, 0): "x"}]
    joined = [[(0, 1)], {0: 1, 1: 1}, {(0, 1): "x|y"}]
    with pytest.warns(DirectedWarning):
        k = EdgeHistogram(normalize=True).fit_transform([twice, joined])
    np.testing.assert_array_equal(k, np.ones((2, 2)))


def test_empty_graphs_are_graphs():
    empty, single = Graph.from_arrays([], 0), Graph.from_arrays([], 1, labels=["C"])
    k = WeisfeilerLehman(normalize=True).fit_transform([empty, single, empty])
    np.testing.assert_array_equal(k, [[1, 0, 1], [0, 1, 0], [1, 0, 1]])
    assert MultiscaleLaplacian().fit_transform([empty, single]).shape == (2, 2)


GOOD = [[(0, 1)], {0: "a", 1: "b"}]
HOSTILE = {
    "index out of range": (([[0, 9]], ["a", "b"]), r"edges: edge 0: vertex 9 out of range \[0, 2\)"),
    "negative index": (([[0, -1]], ["a", "b"]), r"edges: edge 0: vertex -1 out of range"),
    "huge index": (([[0, 2**40]], None), r"n: 1099511627777 vertices"),
    "huge unsigned": ((np.array([[0, 2**64 - 1]], np.uint64), None), r"edges: vertex 18446744073709551615"),
    "fractional": (([[0, 0.5]], ["a", "b"]), r"edges: entries of type float64"),
    "edges of nan": (([[0, np.nan]], ["a", "b"]), r"edges: entries of type float64"),
    "edge array of 4 columns": ((np.zeros((5, 4), int), ["a"]), r"adjacency matrix: shape \(5, 4\)"),
    "three axes": ((np.zeros((2, 2, 2)), None), r"shape \(2, 2, 2\)"),
    "text as edges": ((np.array([["a", "b"], ["c", "d"], ["e", "f"]]), ["x"]), r"edges: entries of type"),
    "not square": (([[0, 1, 1], [1, 0, 0]], {}), r"adjacency matrix: shape \(2, 3\)"),
    "ragged": (([[0, 1], [1]], {}), r"adjacency matrix: want numbers, and rows of equal lengths"),
    "nan in adjacency": (
        (np.array([[0, np.nan], [np.nan, 0]]), {0: 1, 1: 2}),
        r"adjacency matrix: entry \(0, 1\) is nan",
    ),
    "negative weight": (([(0, 1, -2.0)], {0: 1, 1: 1}), r"weights: edge 0: weight -2.0"),
    "infinite weight": (({(0, 1): np.inf}, {0: 1, 1: 1}), r"weights: edge 0: weight inf"),
    "weight that is no number": (({(0, 1): "w"}, {0: 1, 1: 1}), r"weights: could not convert"),
    "missing label": (([(0, 1)], {0: "a"}), r"node_labels: vertex 1 has no label"),
    "too few labels": (([[0, 1], [1, 2], [0, 2]], ["a", "b"]), r"vertex 2 out of range \[0, 2\)"),
    "label None": (([(0, 1)], {0: "a", 1: None}), r"node_labels: None is no label"),
    "label nan": (([(0, 1)], {0: 1.0, 1: float("nan")}), r"node_labels: nan is no label"),
    "nan in a vector": (([(0, 1)], {0: [1.0], 1: [np.nan]}), r"node_labels: vertex 1: number 0 is nan"),
    "vectors of two lengths": (([(0, 1)], {0: [1.0], 1: [1.0, 2.0]}), r"vectors of lengths \[1, 2\]"),
    "vector and label": (([(0, 1)], {0: [1.0], 1: "a"}), r"node_labels: \[1.0\], want a number or a text"),
    "attributes of inf": (([[0, 1]], np.array([[np.inf], [1]])), r"number 0 is inf"),
    "missing edge label": (
        ([(0, 1)], {0: 1, 1: 1}, {(5, 6): "x"}),
        r"edge_labels: edge \(0, 1\) has no label",
    ),
    "bad SMILES": ("C1CC", r"'C1CC' is no molecule: SMILES position 2: .*; want a SMILES string"),
    "number": (7, r"int is no graph"),
    "no edges at all": ([], r"edges: nothing is given"),
    "bad pair": ([[(0, 1, 2, 3)], {0: 1}], r"want \(u, v\) or \(u, v, weight\)"),
    "bad key": ([{0: 1.0, 1: 2.0}, {}], r"edges: key 0, want pairs"),
    "unhashable vertex": ([[([0], 1)], {}], r"edges: a vertex that cannot be a key"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(name):
    item, message = HOSTILE[name]
    if isinstance(item, tuple) and isinstance(item[0], list) and item[0] and isinstance(item[0][0], list):
        edges = np.array(item[0]) if name not in ("not square", "ragged") else item[0]
        item = (edges, *item[1:])
    with pytest.raises((GraphError, ValueError), match=message) as e:
        VertexHistogram().fit([GOOD, GOOD, item])
    assert "graph 2" in str(e.value)


def test_hostile_collections():
    with pytest.raises(TypeError, match="want a list or another iterable of graphs"):
        VertexHistogram().fit(3)
    with pytest.raises(ValueError, match="X is empty, want at least one graph"):
        VertexHistogram().fit([])
    with pytest.raises(TypeError, match="put it into a list"):
        VertexHistogram().fit(Graph(ADJACENCY, LABELS))
    with pytest.raises(FileNotFoundError):
        VertexHistogram().fit("/nowhere/at/all")
    with pytest.raises(GraphError, match="n: -1 vertices"):
        Graph.from_arrays([], -1)
    with pytest.raises(GraphError, match="n: 1000000000000 vertices"):
        Graph.from_arrays([], 10**12)
    with pytest.raises(GraphError, match=r"attributes: shape \(3,\), want \(2, d\)"):
        Graph.from_arrays([[0, 1]], 2, attributes=[1.0, 2.0, 3.0])
    with pytest.raises(GraphError, match=r"coordinates: shape"):
        Graph.from_arrays([[0, 1]], 2, coordinates=[[1.0], [2.0]])


def test_what_a_kernel_lacks_is_named():
    """The error says how to give it, in the words of this package."""
    bare = [[(0, 1)], None]
    for kernel, graph, message in (
        (
            WeisfeilerLehman(),
            bare,
            "graph 1 has no labels, which the kernel compares; give every vertex a number",
        ),
        (
            MultiscaleLaplacian(base="labels"),
            bare,
            "graph 1: the base kernel labels .* none; give every vertex",
        ),
        (MultiscaleLaplacian(base="attributes"), "CCO", r"graph 0: .* none; give every vertex a list"),
        (mlgkernel.GraphHopper(), GOOD, "graph 0 has no attributes, which .*; give every vertex a list"),
        (EdgeHistogram(), GOOD, "graph 0: no edge labels, want a label on every edge"),
    ):
        for use in (kernel, mlgkernel.MLGEmbedding(kernel=kernel)):
            with pytest.raises(GraphError, match=f"^{message}"):
                use.fit([GOOD, graph])
    g = Graph(*bare)
    g.construct_labels()  # as it says
    assert WeisfeilerLehman().fit_transform([g]).shape == (1, 1)
    with pytest.raises(GraphError, match=r"^graph 0 \(CCO\): the base kernel attributes"):
        MultiscaleLaplacian(base="attributes").fit(["CCO"])
    k = MultiscaleLaplacian().fit([[[(0, 1)], {0: [1.0, 2.0], 1: [3.0, 4.0]}]])
    with pytest.raises(ValueError, match="graph 0"):
        k.transform([[[(0, 1)], {0: [1.0], 1: [3.0]}]])


@pytest.mark.parametrize(
    "kernel,message",
    [
        (MultiscaleLaplacian(gamma=0), "gamma=0, want"),
        (MultiscaleLaplacian(heta=float("nan")), "heta=nan"),
        (MultiscaleLaplacian(P=0), "P=0, want"),
        (MultiscaleLaplacian(L=-1), "L=-1"),
        (MultiscaleLaplacian(radii=(2, 1)), "radii"),
        (MultiscaleLaplacian(base="nothing"), "nothing"),
        (MultiscaleLaplacian(landmarks="x"), "landmarks"),
        (WeisfeilerLehman(n_iter=0), "n_iter=0"),
        (mlgkernel.GraphletSampling(k=6), "k=6"),
        (mlgkernel.GraphletSampling(sampling={}), "sampling"),
        (mlgkernel.RandomWalk(lamda=-1), "lamda=-1"),
        (mlgkernel.RandomWalk(kernel_type="x"), "kernel_type"),
        (ShortestPath(algorithm_type="x"), "algorithm_type"),
        (mlgkernel.Propagation(t_max=0), "t_max=0"),
        (mlgkernel.Propagation(w=0), "w=0"),
        (mlgkernel.Propagation(M="L1"), "M='L1', want 'TV' or 'H'"),
        (mlgkernel.Propagation(metric=np.dot), "metric="),
        (mlgkernel.PropagationAttr(M="TV"), "M='TV', want 'L1' or 'L2'"),
        (mlgkernel.PyramidMatch(L=21), "L=21"),
        (mlgkernel.PyramidMatch(d=0), "d=0"),
        (mlgkernel.NeighborhoodHash(bits=65), "bits=65"),
        (mlgkernel.NeighborhoodHash(R=0), "R=0"),
        (mlgkernel.NeighborhoodHash(nh_type="x"), "nh_type"),
        (mlgkernel.GraphHopper(kernel_type=("gaussian", 0)), "kernel_type"),
        (mlgkernel.GraphHopper(kernel_type=max), "kernel_type"),
        (mlgkernel.ShortestPathAttr(metric="x"), "metric"),
        (mlgkernel.ShortestPathAttr(algorithm_type="x"), "algorithm_type"),
        (mlgkernel.GraphKernel("nothing"), "nothing"),
        (
            WeisfeilerLehman(base_graph_kernel=MultiscaleLaplacian),
            "^base_graph_kernel=.*, want a kernel: mlg cannot be a base kernel",
        ),
    ],
)
def test_wrong_options(kernel, message):
    with pytest.raises(ValueError, match=message):
        kernel.fit([GOOD])


def test_rdkit_structure():
    """The string of a molecule keeps what labels do not, also through the worker."""
    chem = pytest.importorskip("rdkit.Chem")
    for text in ("Cc1c[nH]cn1", "Cc1cnc[nH]1", "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)[O-]", "[13CH3]C[NH3+]"):
        mol = chem.MolFromSmiles(text)
        g = from_rdkit(mol)
        assert chem.MolToSmiles(chem.MolFromSmiles(g.smiles)) == chem.MolToSmiles(mol)
        assert unpack(np.frombuffer(pack([g]), np.uint8))[0].smiles == g.smiles


def test_rdkit_charges():
    """Labels have the charges of atoms, but for those of neighbours that add up to 0."""
    chem = pytest.importorskip("rdkit.Chem")
    for text, want in {
        "C[N+](=O)[O-]": "C N O O",
        "CC(=O)[O-]": "C C O O-",
        "C[N-][N+]#N": "C N N N",
        "[O-][N+](=O)[O-]": "O- N+ O O-",
        "[Ca+2]": "Ca+2",
        "[NH3+]CC(=O)[O-]": "N+ C C O O-",
    }.items():
        assert " ".join(from_rdkit(chem.MolFromSmiles(text)).labels) == want


@pytest.mark.parametrize("edges", [[[0, 1], [1, 0]], np.eye(2)])
def test_labels_of_unknown_vertices(edges):
    with pytest.raises(GraphError, match="node_labels: the graph has no vertex 2"):
        VertexHistogram().fit([[edges, {0: "a", 1: "a", 2: "a"}]])
