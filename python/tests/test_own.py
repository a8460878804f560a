"""Kernels that are written in Python, and functions of labels that Python calls."""

from __future__ import annotations

import copy
import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import mlgkernel
from mlgkernel import Graph, Kernel, ShortestPath, ShortestPathAttr, VertexHistogram


def histogram(base):
    """Return VertexHistogram as its definition says, as a kernel in Python."""

    class Histogram(base):
        def __init__(self, n_jobs=None, normalize=False, verbose=False, power=1):
            super().__init__(n_jobs=n_jobs, normalize=normalize, verbose=verbose)
            self.power = power

        def initialize(self):
            super().initialize()
            self.numbers = {}

        def parse_input(self, X):
            out = []
            for _, labels in X:
                counts = {}
                for x in labels.values():
                    counts[self.numbers.setdefault(x, len(self.numbers))] = 0
                for x in labels.values():
                    counts[self.numbers[x]] += 1
                out.append(counts)
            return out

        def pairwise_operation(self, x, y):
            return sum(n * y.get(key, 0) for key, n in x.items()) ** self.power

    return Histogram


Histogram = histogram(Kernel)
Histogram.__qualname__ = "Histogram"  # for pickle


class Alone(Kernel):
    """With pairwise_operation alone: x and y are graphs of this package."""

    def pairwise_operation(self, x: Graph, y: Graph) -> float:
        return len(x.edges) * len(y.edges)


@pytest.fixture
def graphs(drugs):
    return [g.as_tuple()[:2] for g in drugs.graphs[:12]]


@pytest.mark.parametrize("normalize", [False, True])
def test_same_as_the_program(graphs, normalize):
    own, ours = Histogram(normalize=normalize), VertexHistogram(normalize=normalize)
    np.testing.assert_allclose(own.fit_transform(graphs[:8]), ours.fit_transform(graphs[:8]), rtol=1e-14)
    np.testing.assert_array_equal(own.diagonal(), ours.diagonal())
    np.testing.assert_allclose(own.transform(graphs[8:]), ours.transform(graphs[8:]), rtol=1e-14)
    for a, b in zip(own.diagonal(), ours.diagonal(), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(own.fit(graphs[:8]).transform(graphs), ours.transform(graphs), rtol=1e-14)
    assert isinstance(own.fit(graphs).diagonal(), np.ndarray)


def test_conventions(graphs):
    own = Histogram(power=2)
    assert own.get_params() == {"n_jobs": None, "normalize": False, "verbose": False, "power": 2}
    with pytest.raises(NotFittedError):
        own.transform(graphs)
    with pytest.raises(NotFittedError):
        own.diagonal()
    want = own.fit(g for g in graphs).transform(graphs)
    for other in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
        assert other.transform(graphs).tobytes() == want.tobytes()
    assert not hasattr(clone(own), "X") and own.n_graphs_in_ == len(own.X) == 12
    with pytest.raises(TypeError):
        own.fit([3])
    with pytest.raises(NotFittedError):  # a fit that fails forgets the one before
        own.transform(graphs)
    y = [len(labels) > 20 for _, labels in graphs]
    data = np.empty(len(graphs), dtype=object)
    data[:] = graphs
    pipeline = make_pipeline(Histogram(normalize=True), SVC(kernel="precomputed"))
    assert cross_val_score(pipeline, data, y, cv=2).shape == (2,)


def test_pairwise_operation_alone(drugs, capsys):
    """Graphs need not be parsed. With verbose a class says once that it is slow."""
    k = Alone(verbose=True).fit_transform(["CCO", "CC", "C"])
    np.testing.assert_array_equal(k, [[4, 2, 0], [2, 1, 0], [0, 0, 0]])
    # Graphs without features: 1 for two of them, 0 for one and another graph.
    n = Alone(normalize=True, verbose=True).fit_transform(["CCO", "CC", "C"])
    np.testing.assert_array_equal(n, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    assert capsys.readouterr().err.count("[Alone] compares graphs in Python, which is slow") == 1
    assert Alone().fit(["CC"]).get_feature_names_out().tolist() == ["alone0"]


def test_what_is_told(graphs):
    class Negative(Alone):
        def pairwise_operation(self, x, y):
            return -1.0

    class Nothing(Alone):
        def parse_input(self, X):
            pass

    with pytest.raises(NotImplementedError, match="Kernel has no pairwise_operation"):
        Kernel().fit_transform(["CC"])
    with pytest.raises(ValueError, match="with itself is negative, want normalize=False"):
        Negative(normalize=True).fit_transform(["CC"])
    with pytest.raises(ValueError, match=r"Nothing.parse_input returns None, want a list"):
        Nothing().fit(["CC"])
    with pytest.raises(ValueError, match="is computed in Python, and such kernels are not explained"):
        mlgkernel.explain.similarity("CC", "CO", Alone().fit(["CC"]))
    with pytest.raises(TypeError, match="base_graph_kernel=Alone"):
        mlgkernel.WeisfeilerLehman(base_graph_kernel=Alone()).fit(["CC"])


def attributed(rng, n):
    edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.5]
    return np.array(edges, dtype=int).reshape(-1, 2), rng.normal(size=(n, 2)).round(2)


def closeness(a, b):
    return np.exp(-((a - b) @ (a - b)))


def literal(g, h, metric):
    """The sum over all pairs of pairs at equal distances."""
    (d, x), (e, y) = (
        (g.build_shortest_path_matrix(labels="none"), g.attributes),
        (h.build_shortest_path_matrix(labels="none"), h.attributes),
    )
    return sum(
        metric(x[u], y[a]) * metric(x[v], y[b])
        for u, v in itertools.permutations(range(g.n), 2)
        for a, b in itertools.permutations(range(h.n), 2)
        if d[u, v] == e[a, b] < np.inf
    )


def test_metric_of_shortest_paths():
    rng = np.random.default_rng(1)
    graphs = [attributed(rng, n) for n in (4, 5, 6)]
    parsed = mlgkernel.as_graphs(graphs)
    got = ShortestPathAttr(metric=closeness).fit_transform(graphs)
    np.testing.assert_allclose(got, [[literal(g, h, closeness) for h in parsed] for g in parsed], rtol=1e-12)
    by_program, by_function = ShortestPathAttr(), ShortestPathAttr(metric=lambda a, b: a @ b)
    np.testing.assert_allclose(
        by_function.fit_transform(graphs), by_program.fit_transform(graphs), rtol=1e-12
    )
    for normalize in (False, True):
        pair = [k.set_params(normalize=normalize).fit(graphs[:2]) for k in (by_function, by_program)]
        np.testing.assert_allclose(*(k.transform(graphs) for k in pair), rtol=1e-12)
        for a, b in zip(*(k.diagonal() for k in pair), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)


def test_metric_of_labels(drugs):
    """Labels are compared too: as texts and numbers. Equality is the kernel on labels."""
    graphs = drugs.graphs[:5]
    got = ShortestPathAttr(metric=lambda a, b: float(a == b)).fit_transform(graphs)
    np.testing.assert_allclose(got, ShortestPath().fit_transform(graphs), rtol=1e-12)
    path = [[(0, 1)], {0: 2, 1: 5}]
    assert ShortestPathAttr(metric=lambda a, b: a * b).fit_transform([path]) == 2 * 4 * 25 + 2 * 10 * 10
    with pytest.raises(mlgkernel.GraphError, match="graph 0 has no labels, which metric compares"):
        ShortestPathAttr(metric=max).fit([[[(0, 1)], None]])


def test_as_grakel(graphs):
    """A kernel that is written for GraKeL gives the same here."""
    grakel = pytest.importorskip("grakel")

    for normalize in (False, True):
        a, b = histogram(Kernel)(normalize=normalize), histogram(grakel.Kernel)(normalize=normalize)
        np.testing.assert_allclose(a.fit_transform(graphs[:8]), b.fit_transform(graphs[:8]), rtol=1e-14)
        np.testing.assert_allclose(a.transform(graphs[8:]), b.transform(graphs[8:]), rtol=1e-14)
        for x, y in zip(a.diagonal(), b.diagonal(), strict=True):
            np.testing.assert_array_equal(np.ravel(x), np.ravel(y))
    metric = ShortestPathAttr(metric=closeness), grakel.kernels.ShortestPathAttr(metric=closeness)
    rng = np.random.default_rng(2)
    vectors = []
    for n in (4, 5):
        edges, x = attributed(rng, n)
        both = {(u, v) for u, v in edges.tolist()} | {(v, u) for u, v in edges.tolist()}
        vectors.append((dict.fromkeys(both, 1.0), dict(enumerate(x))))
    np.testing.assert_allclose(*(k.fit_transform(vectors) for k in metric), rtol=1e-12)
