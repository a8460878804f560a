"""GraKeL's utilities: converters, known matrices, cross-validation, random graphs, methods of graphs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas
import pytest
import scipy.sparse
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import Bunch

import mlgkernel
from mlgkernel import (
    DirectedWarning,
    Graph,
    GraphError,
    GraphKernel,
    KMTransformer,
    MLGClassifier,
    VertexHistogram,
    WeisfeilerLehman,
    cross_validate_Kfold_SVM,
    datasets,
    explain,
    graph_from_csv,
    graph_from_networkx,
    graph_from_pandas,
)

grakel = pytest.importorskip("grakel")


def same(a, b):
    """Report whether values of any nesting are equal, arrays and numbers of NumPy included."""
    if isinstance(a, dict):
        return set(a) == set(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    return np.array_equal(a, b)


def example():
    g = nx.Graph()
    g.add_node("z", l=1)
    g.add_edge("a", "b", w=2.5, e="x", weight=7.0)
    g.nodes["a"]["l"], g.nodes["b"]["l"] = 2, 3
    return g


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"node_labels_tag": "l", "edge_labels_tag": "e", "edge_weight_tag": "w"},
        {"val_node_labels": 1, "val_edge_labels": 2},
    ],
)
def test_networkx_as_grakel(options):
    ours = list(graph_from_networkx([example(), nx.path_graph(3)][: 1 + (not options)], **options))
    theirs = list(grakel.graph_from_networkx([example(), nx.path_graph(3)][: 1 + (not options)], **options))
    assert same(ours, theirs)
    (g,) = graph_from_networkx([example()], "l", "e", "w", as_Graph=True)
    assert isinstance(g, Graph) and g.get_labels(purpose="dictionary") == {"z": 1, "a": 2, "b": 3}


def test_networkx_errors_and_warnings():
    with pytest.raises(GraphError, match="graph 0: node 'z' has no attribute 'nothing'"):
        list(graph_from_networkx([example()], "nothing"))
    with pytest.warns(DirectedWarning, match="1 graph is directed"):
        list(graph_from_networkx([nx.DiGraph([(0, 1)])]))
    with pytest.warns(DirectedWarning, match="1 parallel edge"):
        list(graph_from_networkx([nx.MultiGraph([(0, 1), (0, 1)])]))


EDGES = pandas.DataFrame(
    {"g": [0, 0, 1], "s": [0, 1, 3], "t": [1, 2, 4], "w": [1.0, 2.0, 3.0], "l": list("xyx")}
)
NODES = pandas.DataFrame({"g": [0, 0, 0, 1, 1], "l": list("abcab"), "x": [0.5, 1, 2, 3, 4], "y": [1.0] * 5})


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("label", [None, "l"])
def test_pandas_as_grakel(directed, label):
    given = (EDGES, "g", ("s", "t"), "w", label), (NODES, "g", "l")
    ours, theirs = (
        graph_from_pandas(*given, directed=directed),
        grakel.graph_from_pandas(*given, directed=directed),
    )
    assert [same(ours[k][:2], theirs[k][:2]) for k in theirs] == [True, True]
    assert all(same(ours[k][2] or {}, theirs[k][2] or {}) for k in theirs)


def test_parts_that_are_missing():
    with pytest.raises(ValueError, match=r"edge_df has other parts, want \(table, graph column, \(source"):
        graph_from_pandas((EDGES, "g", "s", "t"))
    with pytest.raises(ValueError, match="node_df has other parts, want"):
        graph_from_pandas((EDGES, "g", ("s", "t"), None, None), (NODES, "g"))
    with pytest.raises(ValueError, match="edge_files has other parts, want"):
        list(graph_from_csv((["a.csv"],)))


def test_pandas():
    graphs = graph_from_pandas((EDGES, "g", ("s", "t"), None, None), (NODES, "g", ["x", "y"]), as_Graph=True)
    np.testing.assert_array_equal(graphs[0].attributes, [[0.5, 1], [1, 1], [2, 1]])
    assert graph_from_pandas((EDGES, "g", ("s", "t"), None, None))[1] == [
        {3: {4: 1.0}, 4: {3: 1.0}},
        None,
        None,
    ]
    with pytest.raises(GraphError, match=r"graph 1: edge \(3, 4\) has an end that is not in node_df"):
        graph_from_pandas((EDGES, "g", ("s", "t"), None, None), (NODES[:3], "g", "l"))


def test_rows_that_repeat_an_edge(tmp_path):
    """The last one counts, as in GraKeL, and it is told."""
    twice = pandas.DataFrame({"g": [0, 0], "s": [0, 0], "t": [1, 1], "w": [1.0, 2.0]})
    with pytest.warns(DirectedWarning, match="1 parallel edge is left out"):
        (got,) = graph_from_pandas((twice, "g", ("s", "t"), "w", None)).values()
    assert got[0] == {0: {1: 2.0}, 1: {0: 2.0}}
    (tmp_path / "e.csv").write_text("0,1\n0,1\n")
    with pytest.warns(DirectedWarning, match="1 parallel edge is left out"):
        list(graph_from_csv(([tmp_path / "e.csv"], False, None)))


def test_csv_as_grakel(tmp_path):
    edges, nodes = tmp_path / "e.csv", tmp_path / "n.csv"
    edges.write_text("0,1,2.0,x\n1,2,1.0,y\n")
    nodes.write_text("0,a\n1,b\n2,c\n3,d\n")
    for options in ({}, {"index_type": int}, {"index_type": int, "directed": True}):
        given = ([str(edges)], True, False), ([str(nodes)], False)
        assert same(list(graph_from_csv(*given, **options)), list(grakel.graph_from_csv(*given, **options)))
    edges.write_text("0 1 3.5 1\n\n")
    (g,) = graph_from_csv(([edges], False, True), sep=" ", index_type=int)
    assert same(g, [{0: {1: 1.0}, 1: {0: 1.0}}, None, {(0, 1): [3.5, 1], (1, 0): [3.5, 1]}])
    edges.write_text("0 1\n2\n")
    with pytest.raises(GraphError, match=r"e\.csv:2: 1 field, want at least 2"):
        list(graph_from_csv(([edges], False, None), sep=" "))
    edges.write_text("0 1 one\n")
    with pytest.raises(GraphError, match=r"e\.csv:1: could not convert"):
        list(graph_from_csv(([edges], True, None), sep=" "))


def test_known_matrices(drugs):
    y = np.array([g.n > 20 for g in drugs.graphs])
    k = WeisfeilerLehman(n_iter=2, normalize=True).fit_transform(drugs.graphs)
    for given in (k, k.tolist(), scipy.sparse.csr_matrix(k), Bunch(mat=k)):
        t = KMTransformer(given)
        np.testing.assert_array_equal(t.fit([3, 5]).transform([1, 2, 3]), k[np.ix_([1, 2, 3], [3, 5])])
    pipe = make_pipeline(KMTransformer(k), SVC(kernel="precomputed", C=10))
    want = cross_val_score(
        make_pipeline(WeisfeilerLehman(n_iter=2, normalize=True), SVC(kernel="precomputed", C=10)),
        drugs.graphs,
        y,
    )
    np.testing.assert_array_equal(cross_val_score(pipe, np.arange(len(y)), y), want)
    for bad in ([[1, 2]], np.zeros(3)):
        with pytest.raises(ValueError, match="want a square matrix"):
            KMTransformer(bad).fit([0])
    with pytest.raises(ValueError, match="positions from 0 to 233"):
        KMTransformer(k).fit([234])


def test_cross_validation(drugs):
    y = np.array(["S" in g.labels for g in drugs.graphs])
    k = VertexHistogram(normalize=True).fit_transform(drugs.graphs)
    noise = np.eye(len(y))
    options = {"n_iter": 2, "n_splits": 3, "random_state": 0, "C_grid": [100.0]}
    alone, chosen, nothing = cross_validate_Kfold_SVM([k, [noise, k], [noise]], y, **options)
    assert len(alone) == 2 and min(alone) > 0.9 > max(nothing)
    assert chosen == alone
    (folds,) = cross_validate_Kfold_SVM([k], y, fold_reduce=list, **options)
    assert [len(x) for x in folds] == [3, 3]
    same = cross_validate_Kfold_SVM([k, k.tolist()], y, **options)
    assert same == [alone, alone]  # all kernels have the same folds


@pytest.mark.parametrize(
    "features", [None, "nl", ("nl", 3), ("na", 5), ("el", 4), ("nl", 2, "el", 3), ("na", "ea")]
)
def test_random_graphs(features):
    options = {"r_vertices": (5, 9), "r_weight_edges": (0.5, 2.0), "n_graphs_test": 4, "random_state": 3}
    options["features"] = features
    train, test = datasets.generate_dataset(12, **options)
    assert (len(train), len(test)) == (8, 4)
    for graph in train + test:
        a = graph[0]
        assert 5 <= len(a) <= 9 and (a == a.T).all() and (np.diag(a) == 0).all()
        assert ((a == 0) | ((a >= 0.5) & (a <= 2))).all()
        if features and "na" in features:
            assert all(x.shape == (5 if 5 in features else 4,) for x in graph[1].values())
    if features in ("nl", ("nl", 3)):
        most = 3 if features == "nl" else 2
        assert {x for g in train for x in g[1].values()} == set(range(most + 1))
        assert max(x for g in test for x in g[1].values()) == most + 1
    again, _ = datasets.generate_dataset(12, **options)
    assert same(list(again), list(train))
    with pytest.raises(ValueError, match="features="):
        datasets.generate_dataset(features=("x",))
    with pytest.raises(ValueError, match="n_graphs_test=5"):
        datasets.generate_dataset(4, n_graphs_test=5)


def test_dataset_info(tudatasets):
    got = datasets.get_dataset_info(str(tudatasets / "ENZYMES"))
    assert got == datasets.get_dataset_info("ENZYMES") == {"nl": True, "el": False, "na": True, "ea": False}
    assert datasets.get_dataset_info("no such collection", 7) == 7
    for name in ("MUTAG", "IMDB-BINARY", "AIDS", "BZR", "PTC_MR", "NCI1"):
        found = datasets.get_dataset_info(str(tudatasets / name))
        assert found == datasets.get_dataset_info(name), name
    bunch = datasets.read_data(str(tudatasets / "MUTAG"), with_classes=False)
    assert "target" not in bunch and bunch.data[0][1][0] == 0  # labels are numbers, as in the files


def test_texts_among_numbers(tmp_path):
    path = tmp_path / "t.csv"
    smiles = ["C" * (1 + i) for i in range(12)]
    values = ["1.5", "2.5", ">10", "n/a", "3.25", "4", "5.5", "6", "7.5", "8", "9.5", "1e1"]
    path.write_text("smiles,y\n" + "".join(f"{s},{v}\n" for s, v in zip(smiles, values)))
    target = datasets.load(path, target="y").target
    want = [1.5, 2.5, np.nan, np.nan, 3.25, 4, 5.5, 6, 7.5, 8, 9.5, 10]
    np.testing.assert_array_equal(target, want)
    path.write_text("smiles,y\nC,active\nCC,?\nCCC,inactive\nCCCC,active\n")
    assert datasets.load(path, target="y").target.tolist() == ["active", "", "inactive", "active"]


def test_every_decision_is_explained(drugs):
    x, y = drugs.graphs[:60], drugs.target[:60]
    model = MLGClassifier(C=10).fit(x, y)
    found = explain.decisions(model, [*x[:3], "CCO"])
    assert len(found) == 4 and [len(d.vertices) for d in found] == [*(g.n for g in x[:3]), 3]
    for d in found:
        assert d.vertices.sum() == pytest.approx(d.value - d.baseline, abs=1e-9)
    assert [d.towards for d in found] == model.predict([*x[:3], "CCO"]).tolist()
    with pytest.raises(GraphError, match="a list of graphs inside"):
        explain.decision(model, x[:2])


@pytest.mark.parametrize("name", ["LovaszTheta", "SvmTheta"])
def test_kernels_that_are_left_out(name):
    """A program that imports them runs, and one that uses them is told why it cannot."""
    short = {"LovaszTheta": "lovasz_theta", "SvmTheta": "svm_theta"}[name]
    for use in (getattr(mlgkernel, name), getattr(mlgkernel.kernels, name), GraphKernel({"name": short}).fit):
        with pytest.raises(NotImplementedError, match=f"mlgkernel has no {name}: it "):
            use([[[(0, 1)]]])
    assert name not in mlgkernel.__all__


def test_unknown_tag_of_weights():
    g = nx.Graph([("a", "b")])
    with pytest.raises(GraphError, match=r"graph 0: edge \('a', 'b'\) has no attribute 'typo'"):
        list(graph_from_networkx([g], edge_weight_tag="typo"))
