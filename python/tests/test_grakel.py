"""Comparison with GraKeL: its matrices in grakel.json, and GraKeL itself where it is installed."""

from __future__ import annotations

import itertools
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from grakel_kernels import (
    ATTRIBUTED,
    KERNELS,
    LEVELS,
    MULTISCALE,
    PYRAMID,
    WIDE,
    collections,
    make,
    means,
    weighted,
)
from sklearn.svm import SVC

import mlgkernel
from mlgkernel import MultiscaleLaplacian, _inputs

THEIRS = json.loads(Path(__file__).with_name("grakel.json").read_text())


@pytest.mark.parametrize("name", [*KERNELS, *ATTRIBUTED])
def test_matrices(name):
    plain, vectors = collections()
    if name in ATTRIBUTED:
        plain = vectors
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "lamda")
        for normalize in (False, True):
            got = make(mlgkernel, name, normalize).fit_transform(plain)
            np.testing.assert_allclose(got, THEIRS[name][normalize], rtol=1e-9, atol=1e-9 if normalize else 0)


@pytest.mark.parametrize("name", WIDE)
def test_means_of_random_bins(name):
    ours, error = means(mlgkernel, name)
    theirs, their_error = np.array(THEIRS[name])
    assert (np.abs(ours - theirs) <= 5 * np.hypot(error, their_error)).all()
    assert (error > 0).any()


@pytest.mark.parametrize("levels", PYRAMID)
def test_pyramid_match_differs_by_factors_only(levels):
    """GraKeL's matrix is a sum of the matches of levels 0 to L-1, with factors of its own."""
    matrices = [mlgkernel.PyramidMatch(L=level, d=3).fit_transform(weighted()) for level in range(levels)]
    # By the definition k_L = (matches of level L + k_(L-1)) / 2.
    matches = [matrices[0]] + [2 * b - a for a, b in itertools.pairwise(matrices)]
    theirs = sum(f * m for f, m in zip(PYRAMID[levels], matches))
    np.testing.assert_allclose(theirs, THEIRS[f"pyramid match {levels}"], rtol=1e-9)


def laplacian(a, eta):
    return np.diag(a.sum(1)) - a + eta * np.eye(len(a))


def multiscale(graphs, radii, eta, gamma, rank, half):
    """Compute the low-rank kernel with all vertices as samples by its definition, with or without
    the factor 1/2 before the sum of inverse covariances."""
    graphs = _inputs.as_graphs(graphs)
    adjacency = []
    for g in graphs:
        a = np.zeros((g.n, g.n))
        a[g.edges[:, 0], g.edges[:, 1]] = a[g.edges[:, 1], g.edges[:, 0]] = 1
        adjacency.append(a)

    def log_det(s):
        return np.linalg.slogdet(s)[1]

    def gram(covariances):
        factor = 0.5 if half else 1.0
        return np.array(
            [
                [np.exp(log_det(s) / 4 + log_det(t) / 4 - log_det(factor * (s + t)) / 2) for t in covariances]
                for s in covariances
            ]
        )

    def features(k):
        w, u = np.linalg.eigh(k)
        w, u = w[::-1], u[:, ::-1]
        p = min(rank, int((w > 1e-10 * w[0]).sum()))
        return k @ u[:, :p] / np.sqrt(w[:p])

    def covariance(a, q):
        return q.T @ np.linalg.solve(laplacian(a, eta), q) + gamma * np.eye(q.shape[1])

    start = np.cumsum([0] + [g.n for g in graphs])
    x = np.vstack([g.attributes for g in graphs])
    q = features(x @ x.T)
    for r in radii:
        all_s = []
        for i, a in enumerate(adjacency):
            near = np.linalg.matrix_power(a + np.eye(len(a)), r) > 0
            for row in near:
                ball = np.flatnonzero(row)
                all_s.append(covariance(a[np.ix_(ball, ball)], q[start[i] + ball]))
        q = features(gram(all_s))
    return gram([covariance(a, q[start[i] : start[i + 1]]) for i, a in enumerate(adjacency)])


@pytest.mark.parametrize("level", LEVELS)
def test_multiscale_differs_by_one_half_only(level):
    """GraKeL's matrix is the definition without the factor 1/2, ours is the definition with it."""
    _, vectors = collections()
    radii = [1, 2, 4][:level]
    samples = sum(len(labels) for _, labels in vectors)
    par = {"eta": MULTISCALE["heta"], "gamma": MULTISCALE["gamma"], "rank": MULTISCALE["P"]}
    theirs = np.array(THEIRS[f"multiscale {level}"])
    np.testing.assert_allclose(theirs, multiscale(vectors, radii, **par, half=False), rtol=1e-9)
    np.testing.assert_allclose(np.diag(theirs), 2 ** (-par["rank"] / 2), rtol=1e-9)
    ours = MultiscaleLaplacian(L=level, n_samples=samples, **MULTISCALE).fit_transform(vectors)
    np.testing.assert_allclose(ours, multiscale(vectors, radii, **par, half=True), rtol=1e-9)
    assert (np.diag(ours) == 1).all()


def test_isolated_vertices():
    """The optimal assignment counts vertices without edges, as its definition does; GraKeL does not."""
    graphs = [({(0, 1): 1, (1, 0): 1}, {0: "a", 1: "b", 2: "a"}), ({(0, 1): 1, (1, 0): 1}, {0: "a", 1: "b"})]
    par = {"n_iter": 1, "normalize": False}
    ours = mlgkernel.WeisfeilerLehmanOptimalAssignment(**par).fit_transform(graphs)
    # colourings 0 and 1: all three vertices match themselves in both
    np.testing.assert_array_equal(ours, [[6, 4], [4, 4]])
    kernels = pytest.importorskip("grakel.kernels")
    theirs = kernels.WeisfeilerLehmanOptimalAssignment(**par).fit_transform(graphs)
    np.testing.assert_array_equal(theirs, [[4, 4], [4, 4]])


def path(labels):
    edges = {(v, v + 1) for v in range(len(labels) - 1)}
    edges |= {(v, u) for u, v in edges}
    return edges, dict(enumerate(labels)), dict.fromkeys(edges, "-")


def test_trees_do_not_depend_on_other_graphs():
    """A tree has one weight here. In GraKeL it has others beside other graphs; they agree on short paths of
    different labels."""
    graphs = [path("ab"), path("abc"), path("abcd")]
    ours = [mlgkernel.OddSth(h=h).fit_transform(graphs) for h in (1, 2)]
    np.testing.assert_array_equal(ours[0], [[4, 4, 4], [4, 9, 9], [4, 9, 14]])
    assert mlgkernel.OddSth(h=2).fit_transform(graphs[1:2]) == ours[1][1, 1] == 13
    kernels = pytest.importorskip("grakel.kernels")
    np.testing.assert_array_equal(kernels.OddSth(h=1).fit_transform(graphs), ours[0])
    alone, among = (kernels.OddSth(h=2).fit_transform(x) for x in (graphs[1:2], [*graphs, path("aaa")]))
    assert alone[0, 0] != among[1, 1]


def test_pairs_of_neighborhoods_do_not_depend_on_the_order_of_vertices():
    """A molecule and itself with other numbers are the same here, not so in GraKeL."""
    edges, labels, orders = collections()[0][0]
    new = np.random.RandomState(0).permutation(len(labels)).tolist()
    other = (
        {(new[u], new[v]) for u, v in edges},
        {new[v]: x for v, x in labels.items()},
        {(new[u], new[v]): x for (u, v), x in orders.items()},
    )
    graphs = [(edges, labels, orders), other]
    ours = mlgkernel.NeighborhoodSubgraphPairwiseDistance(r=1, d=1).fit_transform(graphs)
    np.testing.assert_allclose(ours, 4, rtol=1e-12)
    kernels = pytest.importorskip("grakel.kernels")
    theirs = kernels.NeighborhoodSubgraphPairwiseDistance(r=1, d=1).fit_transform(graphs)
    assert theirs[0, 1] < 3.9


def test_first_core():
    """The first core is chosen; in GraKeL it is always the 0-core."""
    graphs = [path("ab"), path("abc")]
    ours = mlgkernel.CoreFramework(min_core=0, base_graph_kernel=mlgkernel.VertexHistogram)
    np.testing.assert_array_equal(ours.fit_transform(graphs), [[2, 2], [2, 3]])
    kernels = pytest.importorskip("grakel.kernels")
    theirs = kernels.CoreFramework(min_core=0, base_graph_kernel=kernels.VertexHistogram).fit_transform(
        graphs
    )
    np.testing.assert_array_equal(theirs, [[4, 4], [4, 6]])


def test_weights_of_matches():
    """Weights by name, by number of vertices, and as a function of it."""
    graphs = [path("abcd")]
    for lw in ("increasing", [0, 1, 2, 3], lambda n: n):
        # 4 vertices, 3 edges and 2 paths of 3
        assert mlgkernel.SubgraphMatching(k=3, lw=lw).fit_transform(graphs) == 4 + 2 * 3 + 3 * 2
    for bad in ({"k": 8}, {"k": 3, "lw": [1]}, {"lw": "some"}, {"lw": lambda n: -1}, {"kv": "some"}):
        with pytest.raises(ValueError, match=f"{next(iter(bad))}|lw"):
            mlgkernel.SubgraphMatching(**bad).fit(graphs)


def test_kernels_of_labels():
    """Functions of labels, with labels that only new graphs have, in copies, and where they cannot work."""
    seen = []

    def product(a, b):
        seen.append((a, b))
        return a * b

    def edge(weight):
        return [{(0, 1): 1}, {0: "a", 1: "b"}, {(0, 1): weight}]

    k = mlgkernel.SubgraphMatching(k=2, ke=product).fit([edge(2)])
    np.testing.assert_array_equal(k.transform([edge(2), edge(5.5), edge("7")]), [[2 + 4], [2 + 11], [2 + 14]])
    assert len(seen) == 6 and {type(x) for pair in seen for x in pair} == {int, float}
    np.testing.assert_array_equal(k.diagonal()[1], [2 + 4, 2 + 30.25, 2 + 49])

    k = mlgkernel.SubgraphMatching(k=2, ke=np.dot, n_jobs=1).fit([edge([1, 2])])
    k = pickle.loads(pickle.dumps(k))
    np.testing.assert_array_equal(k.transform([edge((3, 1)), edge([0, np.float64(1.5)])]), [[2 + 5], [2 + 3]])
    assert k.kernel_ == "subgraph-matching weights=1,1 labels=labels normalize=false"

    rows = [
        [(0, 1)],
        {0: [1, 2], 1: [3, 1]},
    ]  # dot products 5, 5, 5 and 10
    assert mlgkernel.SubgraphMatching(k=2, kv=np.dot).fit_transform([rows]) == 5 + 5 + 10 + 5 + 5 * 10 + 5 * 5

    many = [(v, v + 1) for v in range(400)]  # a table of 160 801 values
    ring = [many, dict(enumerate(np.random.RandomState(0).rand(401).tolist()))]
    values = np.array(list(ring[1].values()))
    got = mlgkernel.SubgraphMatching(k=1, kv=np.minimum).fit_transform([ring])
    np.testing.assert_allclose(got, np.minimum.outer(values, values).sum(), rtol=1e-12)

    both = {(0, 1): 1, (1, 0): 2}
    for graph, text in (
        ([{(0, 1): 1}], "graph 0 has no labels"),
        ([{(0, 1): 1}, {0: 1, 1: 2}], "graph 0 has no labels of edges"),
        ([list(both), {0: 1, 1: 2}, both], r"graph 0: edge \(0, 1\) has different labels"),
    ):
        with pytest.raises(mlgkernel.GraphError, match=text):
            mlgkernel.SubgraphMatching(kv=product, ke=product).fit([graph])
    with pytest.raises(ValueError, match=r"divide=.*nan.*, want a finite number"):
        mlgkernel.SubgraphMatching(ke=np.divide).fit([edge(0)])
    with pytest.raises(ValueError, match=r"kv=.*want 'equal' or None for the base"):
        mlgkernel.WeisfeilerLehman(base_graph_kernel=(mlgkernel.SubgraphMatching, {"kv": product})).fit(
            [edge(1)]
        )


def test_base_kernels():
    """Kernels as classes, pairs and objects, of frameworks of frameworks, and by name."""
    graphs = collections()[0]
    from mlgkernel import CoreFramework, GraphKernel, OddSth, WeisfeilerLehman

    want = CoreFramework(base_graph_kernel=(WeisfeilerLehman, {"n_iter": 1, "base_graph_kernel": OddSth}))
    want = want.fit_transform(graphs)
    inner = WeisfeilerLehman(n_iter=1, base_graph_kernel=OddSth(normalize=True), normalize=True)
    np.testing.assert_array_equal(CoreFramework(base_graph_kernel=inner).fit_transform(graphs), want)
    names = ["CORE", {"name": "WL", "n_iter": 1}, "odd_sth"]
    np.testing.assert_array_equal(GraphKernel(names).fit_transform(graphs), want)
    labelled = GraphKernel({"name": "random_walk", "with_labels": True, "p": 2}).fit_transform(graphs)
    np.testing.assert_array_equal(mlgkernel.RandomWalkLabeled(p=2).fit_transform(graphs), labelled)
    with pytest.raises(ValueError, match="want it last"):
        GraphKernel(["odd_sth", "WL"]).fit(graphs)
    for bad in (3, dict, (OddSth,)):
        with pytest.raises(TypeError, match="base_graph_kernel"):
            CoreFramework(base_graph_kernel=bad).fit(graphs)
    with pytest.raises(ValueError, match="its values depend on the collection"):
        CoreFramework(base_graph_kernel=mlgkernel.MultiscaleLaplacian).fit(graphs)


def test_live_on_real_data(tudatasets):
    """GraKeL itself, on MUTAG, split into training and test."""
    kernels = pytest.importorskip("grakel.kernels")
    data = mlgkernel.datasets.fetch_dataset(str(tudatasets / "MUTAG"), verbose=False)
    train, test = data.data[:150], data.data[150:]
    for name in (
        "vertex histogram",
        "wl",
        "wl-oa",
        "shortest path",
        "edge histogram",
        "hadamard code",
        "core",
        "propagation",
    ):
        ours, theirs = make(mlgkernel, name, True), make(kernels, name, True)
        np.testing.assert_allclose(
            ours.fit_transform(train), theirs.fit_transform(train), rtol=1e-9, atol=1e-9
        )
        np.testing.assert_allclose(ours.transform(test), theirs.transform(test), rtol=1e-9, atol=1e-9)


def test_graphs_of_grakel():
    """GraKeL's own Graph objects, in both of its formats, with labels, vectors, weights and edge labels."""
    grakel = pytest.importorskip("grakel")
    labels = {0: "O", 1: "H", 2: "H"}
    edge_labels = {(0, 1): "x", (1, 0): "x", (0, 2): "y", (2, 0): "y"}
    matrix = grakel.Graph([[0, 2.0, 1], [2.0, 0, 0], [1, 0, 0]], labels, edge_labels)
    edges = grakel.Graph({0: {1: 2.0, 2: 1.0}, 1: {0: 2.0}, 2: {0: 1.0}}, labels, edge_labels)
    bare = grakel.Graph([(0, 1), (1, 0)])
    vectors = grakel.Graph([(0, 1), (1, 0)], {0: np.array([1.0, 2.0]), 1: np.array([0.0, 1.0])})
    a, b, c, d = mlgkernel.as_graphs([matrix, edges, bare, vectors])
    for g in (a, b):
        assert g.labels == ["O", "H", "H"] and sorted(g.edge_labels) == ["x", "x", "y", "y"]
        assert sorted(g.weights.tolist()) == [1, 1, 2, 2]
    assert c.n == 2 and c.labels is None and c.weights is None
    assert d.labels is None and d.attributes.tolist() == [[1, 2], [0, 1]]
    theirs = grakel.kernels.ShortestPath().fit_transform([matrix, edges])
    np.testing.assert_allclose(mlgkernel.ShortestPath().fit_transform([matrix, edges]), theirs)


# The next tests make the calls that GraKeL's documentation makes, with this package imported.


def test_introduction():
    from mlgkernel import Graph, GraphKernel
    from mlgkernel.kernels import ShortestPath, VertexHistogram, WeisfeilerLehman

    water = Graph(
        initialization_object=[[0, 1, 1], [1, 0, 0], [1, 0, 0]], node_labels={0: "O", 1: "H", 2: "H"}
    )
    ion = Graph([[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], {0: "O", 1: "H", 2: "H", 3: "H"})
    for kernel in (GraphKernel(kernel="shortest_path"), ShortestPath()):
        assert kernel.fit_transform([water]).tolist() == [[12.0]]
        assert kernel.transform([ion]).tolist() == [[24.0]]
    kernel = ShortestPath(normalize=True)
    assert kernel.fit_transform([water]).tolist() == [[1.0]]
    assert kernel.transform([ion])[0, 0] == pytest.approx(0.94280904, abs=1e-8)
    assert WeisfeilerLehman(base_graph_kernel=VertexHistogram).fit_transform([water]).tolist() == [[30.0]]
    kernel = GraphKernel(kernel={"name": "graphlet_sampling", "sampling": {"n_samples": 5}}, random_state=42)
    assert kernel.fit([water]).transform([ion]).shape == (1, 1)


def test_forms_of_graphs_in_the_introduction():
    import scipy.sparse

    from mlgkernel import Graph

    entries = ([0.5, 0.2, 0.5, 0.2], ([0, 0, 1, 2], [1, 2, 0, 0]))
    forms = [
        Graph({1: {2: 0.5, 3: 0.2}, 2: {1: 0.5}, 3: {1: 0.2}}),
        Graph({(1, 2): 0.5, (1, 3): 0.2, (2, 1): 0.5, (3, 1): 0.2}),
        Graph([(1, 2, 0.5), (1, 3, 0.2), (2, 1, 0.5), (3, 1, 0.2)]),
        Graph([[0, 0.5, 0.2], [0.5, 0, 0], [0.2, 0, 0]]),
        Graph(scipy.sparse.csr_matrix(entries, shape=(3, 3))),
        Graph(
            {1: {2: 0.5, 3: 0.2}, 2: {1: 0.5}, 3: {1: 0.2}},
            node_labels={1: [1.2, 0.5], 2: [2.8, 0.6], 3: [0.7, 1.1]},
        ),
    ]
    k = mlgkernel.ShortestPath(with_labels=False).fit_transform(forms)
    assert (k == k[0, 0]).all()


def test_classification_of_mutag(tudatasets):
    from sklearn.model_selection import GridSearchCV, cross_val_predict, train_test_split
    from sklearn.pipeline import make_pipeline

    from mlgkernel.datasets import fetch_dataset
    from mlgkernel.kernels import ShortestPath, VertexHistogram, WeisfeilerLehman
    from mlgkernel.utils import cross_validate_Kfold_SVM

    mutag = fetch_dataset(str(tudatasets / "MUTAG"), verbose=False)
    G_train, G_test, y_train, y_test = train_test_split(
        mutag.data, mutag.target, test_size=0.1, random_state=42
    )
    for gk in (
        ShortestPath(normalize=True),
        WeisfeilerLehman(n_iter=4, base_graph_kernel=VertexHistogram, normalize=True),
    ):
        svc = SVC(kernel="precomputed").fit(gk.fit_transform(G_train), y_train)
        assert (svc.predict(gk.transform(G_test)) == y_test).mean() > 0.6
    estimator = make_pipeline(
        mlgkernel.GraphKernel(kernel={"name": "shortest_path"}, normalize=True),
        GridSearchCV(SVC(kernel="precomputed"), {"C": [1.0, 10.0]}, scoring="accuracy"),
    )
    assert (cross_val_predict(estimator, mutag.data, mutag.target, cv=3) == mutag.target).mean() > 0.7
    matrices = [WeisfeilerLehman(n_iter=i, normalize=True).fit_transform(mutag.data) for i in (1, 2)]
    options = {"n_iter": 1, "n_splits": 3, "C_grid": [0.1, 10], "random_state": 0}
    scores = cross_validate_Kfold_SVM([matrices], mutag.target, **options)
    assert 0.7 < np.mean(scores[0]) <= 1


def test_networkx_example():
    import networkx as nx

    from mlgkernel.utils import graph_from_networkx

    path, triangle = nx.path_graph(3), nx.complete_graph(3)
    plain = list(graph_from_networkx([path, triangle]))
    assert plain[0] == [{0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}}, None, None]
    for g in (path, triangle):
        nx.set_node_attributes(g, {0: "a", 1: "b", 2: "a"}, "label")
        nx.set_node_attributes(g, {v: np.array([v, 0.5]) for v in range(3)}, "attributes")
    labelled = graph_from_networkx([path, triangle], node_labels_tag="label")
    assert mlgkernel.VertexHistogram().fit_transform(labelled).tolist() == [[5, 5], [5, 5]]
    vectors = graph_from_networkx([path, triangle], node_labels_tag="attributes")
    assert mlgkernel.MultiscaleLaplacian().fit_transform(vectors).shape == (2, 2)
