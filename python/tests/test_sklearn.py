"""The conventions of scikit-learn, and the estimators."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
import sys
import types
import typing

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, BaggingRegressor, StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC
from sklearn.utils import get_tags

import mlgkernel
from mlgkernel import (
    EdgeHistogram,
    GraphHopper,
    GraphKernel,
    GraphletSampling,
    MLGClassifier,
    MLGEmbedding,
    MLGRegressor,
    MultiscaleLaplacian,
    NeighborhoodHash,
    Propagation,
    PropagationAttr,
    PyramidMatch,
    RandomWalk,
    ShortestPath,
    ShortestPathAttr,
    TextKernel,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanOptimalAssignment,
    _kernel,
)

KERNELS = [
    EdgeHistogram,
    GraphKernel,
    GraphletSampling,
    MultiscaleLaplacian,
    NeighborhoodHash,
    Propagation,
    PyramidMatch,
    RandomWalk,
    ShortestPath,
    TextKernel,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanOptimalAssignment,
]
ALL = [*KERNELS, MLGClassifier, MLGEmbedding, MLGRegressor]


@pytest.mark.parametrize("cls", ALL)
def test_not_fitted(cls, drugs):
    e = cls()
    for method in ("transform", "predict", "decision_function", "predict_proba", "diagonal", "nearest"):
        if hasattr(e, method):
            with pytest.raises(NotFittedError):
                getattr(e, method)(drugs.graphs[:2]) if method != "diagonal" else e.diagonal()


@pytest.mark.parametrize("cls", ALL)
def test_clone_and_copies(cls, drugs):
    e = cls(n_jobs=1)
    other = clone(e)
    assert other is not e and other.get_params() == e.get_params()
    y = drugs.target[:40]
    if cls is MLGRegressor:
        y = np.arange(40.0)
    e.fit(drugs.graphs[:40], y)
    use = "predict" if hasattr(e, "predict") else "transform"
    want = getattr(e, use)(drugs.graphs[40:50])
    for c in (copy.deepcopy(e), pickle.loads(pickle.dumps(e)), copy.copy(e)):
        np.testing.assert_array_equal(getattr(c, use)(drugs.graphs[40:50]), want)
    assert not hasattr(clone(e), "kernel_")


def test_pipeline_and_grid_search(drugs):
    x, y = drugs.graphs, drugs.target
    keep = [i for i, c in enumerate(y) if c in ("benzodiazepine", "steroid", "barbiturate")] or range(60)
    x, y = [x[i] for i in keep], y[list(keep)]
    pipe = make_pipeline(WeisfeilerLehman(normalize=True), SVC(kernel="precomputed"))
    search = GridSearchCV(pipe, {"weisfeilerlehman__n_iter": [1, 3], "svc__C": [1, 10]}, cv=2, n_jobs=2)
    search.fit(x, y)
    assert search.best_score_ > 0.8
    x1, x2, y1, y2 = train_test_split(x, y, test_size=0.3, random_state=0, stratify=y)
    assert search.best_estimator_.fit(x1, y1).score(x2, y2) > 0.8
    assert cross_val_score(MLGClassifier(C=100), x, y, cv=3).mean() > 0.8
    explicit = make_pipeline(MLGEmbedding(30), LogisticRegression(C=100, max_iter=1000))
    assert cross_val_score(explicit, x, y, cv=3).mean() > 0.8


def test_graph_kernel_names(drugs):
    graphs = drugs.graphs[:20]
    pairs = [
        ("SP", ShortestPath()),
        ({"name": "shortest_path", "with_labels": False}, ShortestPath(with_labels=False)),
        ([{"name": "weisfeiler_lehman", "n_iter": 3}, "subtree_wl"], WeisfeilerLehman(n_iter=3)),
        (
            [{"name": "WL", "n_iter": 2}, {"name": "SP"}],
            WeisfeilerLehman(n_iter=2, base_graph_kernel=ShortestPath),
        ),
        ({"name": "WL-OA"}, WeisfeilerLehmanOptimalAssignment()),
        ({"name": "ML", "L": 1}, MultiscaleLaplacian(L=1)),
        ({"name": "PR", "t_max": 2}, Propagation(t_max=2)),
        ("neighborhood_hash", NeighborhoodHash()),
        ({"name": "pyramid_match", "with_labels": False}, PyramidMatch(with_labels=False)),
    ]
    for given, kernel in pairs:
        g = GraphKernel(given)
        assert g.fit_transform(graphs).tobytes() == kernel.fit_transform(graphs).tobytes()
        assert g.transform(graphs[:3]).tobytes() == kernel.transform(graphs[:3]).tobytes()
    n = GraphKernel("VH", Nystroem=8, random_state=0, normalize=True)
    assert n.fit_transform(graphs).shape == (20, 8) and n.transform(graphs[:2]).shape == (2, 8)
    full = GraphKernel("VH", Nystroem=20, random_state=0, normalize=True).fit_transform(graphs)
    np.testing.assert_allclose(
        full @ full.T, VertexHistogram(normalize=True).fit_transform(graphs), atol=1e-6
    )


def test_classifier(drugs, tmp_path):
    x, y = drugs.graphs, drugs.target
    model = MLGClassifier(C=100, probability=True).fit(x[::2], y[::2])
    assert model.score(x[1::2], y[1::2]) > 0.8
    p = model.predict_proba(x[1:20])
    np.testing.assert_allclose(p.sum(1), 1)
    assert model.decision_function(x[:5]).shape == (5, len(model.classes_))
    best = model.classes_[model.decision_function(x[1::2]).argmax(1)]
    assert (best == model.predict(x[1::2])).mean() > 0.95
    index, similarity, ids = model.nearest(x[1:4], k=3)
    assert index.shape == (3, 3) and (np.diff(similarity, axis=1) <= 0).all()
    assert ids[0][0] == drugs.ids[2 * index[0, 0]]
    with pytest.raises(AttributeError, match="predict_proba"):
        MLGClassifier(C=1).fit(x[:50], y[:50]).predict_proba(x[:2])
    with pytest.raises(ValueError, match="at least 2"):
        MLGClassifier().fit(x[:3], ["a"] * 3)
    with pytest.raises(ValueError, match="X has 50 graphs and y has 49 entries"):
        MLGClassifier().fit(x[:50], y[:49])


def test_two_classes_and_integers(drugs):
    x = drugs.graphs[:60]
    y = np.array([int(g.n > 20) for g in x])
    model = MLGClassifier(C=10).fit(x, y)
    assert model.classes_.tolist() == [0, 1] and model.predict(x).dtype == y.dtype
    d = model.decision_function(x)
    np.testing.assert_array_equal(d > 0, model.predict(x) == 1)
    heavy = MLGClassifier(C=0.1, class_weight={0: 100.0, 1: 0.01}).fit(x, y)
    assert (heavy.predict(x) == 0).mean() >= (model.predict(x) == 0).mean()


def test_classifier_agrees_with_svc(drugs):
    """The same machine as scikit-learn's on the same kernel matrix."""
    x = drugs.graphs[:80]
    y = np.array([int(g.n > 20) for g in x])
    k = MultiscaleLaplacian()
    svc = SVC(kernel="precomputed", C=5, tol=1e-6).fit(k.fit_transform(x), y)
    model = MLGClassifier(C=5, tol=1e-6).fit(x, y)
    np.testing.assert_allclose(
        model.decision_function(drugs.graphs), svc.decision_function(k.transform(drugs.graphs)), atol=1e-4
    )


def test_regressor(drugs):
    x, y = drugs.graphs, np.array([g.n for g in drugs.graphs], float)
    machine = MLGRegressor("mlg rank=20", learner="svm", C=100).fit(x[::2], y[::2])
    assert machine.score(x[1::2], y[1::2]) > 0.5 and machine.noise_ is None
    with pytest.raises(ValueError, match="no deviations, want learner='ridge'"):
        machine.predict(x, return_std=True)
    with pytest.raises(ValueError, match=r"return_cov=True: .* has no deviations"):
        machine.predict(x, return_cov=True)
    with pytest.raises(ValueError, match=r"sample_y: .* has no deviations"):
        machine.sample_y(x)
    wide = MLGRegressor("mlg rank=20", C=100, epsilon=1).fit(x[::2], y[::2])
    assert len(wide.support_) < len(machine.support_) and machine.n_iter_ > 1
    assert MLGRegressor(ridge=0.1).fit(x[::2], y[::2]).n_iter_ == 1
    for wrong, message in (
        ({"epsilon": 0.2}, "epsilon=0.2, but the learner is a ridge regression; want None"),
        ({"learner": "gp"}, "learner='gp', want 'ridge', 'svm' or None"),
        ({"ridge": 0}, "ridge=0, want a positive number"),
        ({}, "2 graphs, want at least 3"),
    ):
        with pytest.raises(ValueError, match=message):
            MLGRegressor(**wrong).fit(x[:2], [1.0, 2.0])
    with pytest.raises(ValueError, match=r"y\[1\] is nan, want a finite number"):
        MLGRegressor().fit(x[:2], [1.0, np.nan])
    with pytest.raises(ValueError, match=r"y\[1\] is 1e\+61, want a number from -1e\+60 to 1e\+60"):
        MLGRegressor().fit(x[:2], [1.0, 1e61])


@pytest.mark.skipif(not hasattr(typing, "get_overloads"), reason="Python 3.11")
def test_types_of_predictions():
    """A type checker knows whether values come alone."""
    told = {}
    for f in typing.get_overloads(MLGRegressor.predict):
        types = typing.get_type_hints(f)
        told[types["return_std"], types["return_cov"]] = types["return"]
    no, yes, pair = typing.Literal[False], typing.Literal[True], tuple[np.ndarray, np.ndarray]
    assert told[no, no] is np.ndarray and told[yes, no] == told[no, yes] == pair


def test_gaussian_process(drugs):
    """Values are those of the textbook, with the inverse written out.

    Deviations look at the 64 nearest graphs. They are never too small, and exact for 64 graphs. Those of
    molecules with new scaffolds are wider, all by one factor.
    """
    x, y = drugs.graphs, np.array([g.n for g in drugs.graphs], float)
    train, new = np.arange(0, len(x), 2), np.arange(1, len(x), 2)
    graphs = [x[i] for i in train]
    kernel = MultiscaleLaplacian(eta=0.3, gamma=0.3)
    model = MLGRegressor(kernel, ridge=0.05, n_jobs=1).fit(graphs, y[train])
    values, std = model.predict([x[i] for i in new], return_std=True)
    inverse = np.linalg.inv(kernel.fit_transform(graphs) + 0.05 * np.eye(len(train)))
    k = kernel.transform([x[i] for i in new])
    u = inverse.sum(axis=0)
    bias = u @ y[train] / u.sum()
    np.testing.assert_allclose(values, bias + k @ inverse @ (y[train] - bias), rtol=1e-8)
    variance = 1 - np.einsum("ij,jk,ik->i", k, inverse, k) + (1 - k @ u) ** 2 / u.sum() + 0.05
    ratio = std / (model.noise_ / np.sqrt(0.05) * np.sqrt(variance))
    assert ratio.min() > 1 - 1e-8 and ratio.max() < 1.1
    few = graphs[:64]
    model = MLGRegressor(kernel, ridge=0.05, n_jobs=1).fit(few, y[train][:64])
    std = model.predict([x[i] for i in new], return_std=True)[1]
    inverse = np.linalg.inv(kernel.fit_transform(few) + 0.05 * np.eye(64))
    k = kernel.transform([x[i] for i in new])
    u = inverse.sum(axis=0)
    variance = 1 - np.einsum("ij,jk,ik->i", k, inverse, k) + (1 - k @ u) ** 2 / u.sum() + 0.05
    ratio = std / (model.noise_ / np.sqrt(0.05) * np.sqrt(variance))
    new_scaffold = ratio > 1 + 1e-8
    np.testing.assert_allclose(ratio[~new_scaffold], 1, rtol=1e-8)
    np.testing.assert_allclose(ratio[new_scaffold], ratio.max(), rtol=1e-8)
    assert 0 < new_scaffold.sum() < len(new) and ratio.max() < 1.1
    # The ridge that is chosen covers what it says, within what 117 graphs tell.
    model = MLGRegressor("mlg eta=0.3 gamma=0.3 rank=20").fit(graphs, y[train])
    values, std = model.predict([x[i] for i in new], return_std=True)
    inside = np.mean(abs(values - y[new]) < 1.645 * std)
    assert 0.8 < inside <= 1 and model.score([x[i] for i in new], y[new]) > 0.5


def test_joint(drugs):
    """Covariances are those of the textbook, and draws have them."""
    graphs, new = drugs.graphs[:64], drugs.graphs[40:90]
    y = np.array([g.n for g in graphs], float)
    kernel = WeisfeilerLehman(n_iter=2, normalize=True)  # its values do not depend on what it is fitted to
    model = MLGRegressor(kernel, ridge=0.05).fit(graphs, y)
    values, covariance = model.predict(new, return_cov=True)
    same, std = model.predict(new, return_std=True)
    assert (values == same).all() and (covariance == covariance.T).all()
    np.testing.assert_allclose(np.sqrt(covariance.diagonal()), std, rtol=1e-12)
    inverse = np.linalg.inv(kernel.fit_transform(graphs) + 0.05 * np.eye(64))
    k, u = kernel.transform(new), inverse.sum(axis=0)
    left = 1 - k @ u
    want = kernel.fit_transform(new) - k @ inverse @ k.T + np.outer(left, left) / u.sum()
    true = covariance - model.noise_**2 * np.eye(len(new))
    d, e = np.sqrt(true.diagonal()), np.sqrt(want.diagonal())
    np.testing.assert_allclose(true / np.outer(d, d), want / np.outer(e, e), atol=1e-6)
    draws = model.sample_y(new, 3000, random_state=4, noise=False)
    assert draws.shape == (50, 3000) and (model.sample_y(new, 2, 4, noise=False) == draws[:, :2]).all()
    np.testing.assert_allclose(np.cov(draws), true, atol=0.15 * true.max())
    assert abs(model.sample_y(new, 3000) - values[:, None]).std() > abs(draws - values[:, None]).std()
    with pytest.raises(ValueError, match="n_samples=0, want at least 1"):
        model.sample_y(new, 0)
    with pytest.raises(ValueError, match="want one of them"):
        model.predict(new, return_std=True, return_cov=True)


def test_few_values(drugs):
    """Deviations are never 0, not even of one graph or of equal values."""
    for n in (1, 2, 5):
        model = MLGRegressor(ridge=0.1).fit(drugs.graphs[:n], [4.0] * n)
        values, std = model.predict(drugs.graphs[:8], return_std=True)
        np.testing.assert_allclose(values, 4)
        assert (std > 0.1).all() and std[:n].max() < std[n:].min() and model.noise_ > 0


def test_embedding(drugs):
    k = MultiscaleLaplacian().fit_transform(drugs.graphs)
    e = MLGEmbedding(len(drugs))
    x = e.fit_transform(drugs.graphs)
    np.testing.assert_allclose(x @ x.T, k, atol=1e-9)
    small = MLGEmbedding(20).fit(drugs.graphs)
    y = small.transform(drugs.graphs)
    assert y.shape == (len(drugs), 20) and len(small.landmarks_) == 20
    rest = np.diag(k) - (y**2).sum(1)
    assert rest.max() == pytest.approx(small.error_, abs=1e-9) and rest.min() > -1e-9
    np.testing.assert_allclose((y @ y.T)[small.landmarks_], k[small.landmarks_], atol=1e-9)
    assert small.get_feature_names_out().tolist() == [f"mlgembedding{i}" for i in range(20)]
    raw = MLGEmbedding(234, kernel=WeisfeilerLehman(n_iter=2))
    z = raw.fit_transform(drugs.graphs)
    np.testing.assert_allclose(
        z @ z.T, WeisfeilerLehman(n_iter=2).fit_transform(drugs.graphs), rtol=1e-6, atol=1e-6
    )
    with pytest.raises(ValueError, match="n_components=0, want at least 1"):
        MLGEmbedding(0).fit(drugs.graphs)


def test_bonds(drugs):
    """Bonds count for molecules by default, as half of the kernel, and it is said what is compared."""
    morphine, hydromorphone = (
        drugs.graphs[[g.id for g in drugs.graphs].index(name)] for name in ("morphine", "hydromorphone")
    )
    both, atoms = MultiscaleLaplacian(), MultiscaleLaplacian(bonds=False)
    k, plain = both.fit(drugs.graphs).transform([morphine]), atoms.fit(drugs.graphs).transform([morphine])
    at = [g.id for g in drugs.graphs].index("hydromorphone")
    assert plain[0, at] == pytest.approx(1) and 0.8 < k[0, at] < 0.9
    assert (
        both.compared_ == "atoms by label, bonds by order"
        and both.kernel_ == "mlg"
        and atoms.kernel_ == "mlg bonds=false"
    )
    assert atoms.compared_ == "atoms by label, bonds alike"
    assert MLGRegressor(ridge=0.1).fit([morphine, hydromorphone], [0, 1]).compared_ == both.compared_
    assert both.diagonal()[0] == pytest.approx(np.ones(len(drugs)))


def test_stereo():
    """Stereoisomers are alike and not equal, unless stereo is left out."""
    alanine = ["C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O", "N[C@@H](C)C(=O)O"]
    seen = MultiscaleLaplacian(normalize=True)
    K = seen.fit_transform(alanine)
    assert 0.5 < K[0, 1] < 0.99 and K[0, 2] == pytest.approx(1)
    assert seen.compared_.endswith("bonds by order, stereo")
    unseen = MultiscaleLaplacian(normalize=True, stereo=False)
    assert unseen.fit_transform(alanine) == pytest.approx(1) and unseen.kernel_ == "mlg stereo=false"
    with pytest.raises(ValueError, match=r"stereo='yes', want 'auto', True or False"):
        MultiscaleLaplacian(stereo="yes").fit(alanine)


def test_set_output_and_feature_names(drugs):
    pandas = pytest.importorskip("pandas")
    frame = MLGEmbedding(3).set_output(transform="pandas").fit_transform(drugs.graphs[:10])
    assert isinstance(frame, pandas.DataFrame) and list(frame) == [
        "mlgembedding0",
        "mlgembedding1",
        "mlgembedding2",
    ]


def test_verbose(drugs, capsys):
    k = VertexHistogram(verbose=True).fit(drugs.graphs[:5])
    k.transform(drugs.graphs[:2])
    told = capsys.readouterr().err
    assert (
        "[VertexHistogram] fitted labels" in told
        and "[VertexHistogram] compared new graphs with 5 graphs in" in told
    )


def test_progress(drugs, monkeypatch):
    """Every long computation tells how far it has come: to tqdm, here a list."""
    shown = []

    class Bar:
        def __init__(self, total, desc, leave):
            self.n, self.total = 0, total
            shown.append((desc, self))

        def update(self, n):
            self.n += n

        def close(self):
            pass

    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=Bar))
    x, y = drugs.graphs, drugs.target
    for e in (WeisfeilerLehman(verbose=True), MLGEmbedding(3, verbose=True), MLGClassifier(verbose=True)):
        shown.clear()
        e.fit(x, y)
        assert shown and all(bar.n == bar.total for _, bar in shown), e
        assert all(desc.startswith(type(e).__name__ + ": ") for desc, _ in shown)
        shown.clear()
        e.nearest(x) if hasattr(e, "nearest") else e.transform(x)
        assert shown, e
    shown.clear()
    WeisfeilerLehman().fit(x)
    assert not shown


def test_probabilities_where_they_are(drugs):
    assert hasattr(MLGClassifier(), "predict_proba") and not hasattr(MLGClassifier(C=1), "predict_proba")
    assert hasattr(MLGClassifier(C=1, probability=True), "predict_proba")
    x, y = drugs.graphs[:60], [g.n > 20 for g in drugs.graphs[:60]]
    model = MLGClassifier(C=1, probability=True).fit(x, y)
    model.set_params(probability=False)  # what was fitted counts
    np.testing.assert_allclose(np.exp(model.predict_log_proba(x)), model.predict_proba(x))
    assert not hasattr(model.fit(x, y), "predict_proba")


def test_ridge_classifier(drugs):
    """Scores are kernel ridge regressions on +1 and -1; probabilities are theirs, and calibrated."""
    x, y = drugs.graphs, drugs.target
    model = MLGClassifier(learner="ridge", ridge=0.1).fit(x[::2], y[::2])
    k = MultiscaleLaplacian().fit(x[::2])
    gram, cross = k.transform(x[::2]), k.transform(x[1::2])
    inverse = np.linalg.inv(gram + 0.1 * np.eye(len(gram)))
    z = np.where(y[::2, None] == model.classes_, 1.0, -1.0)
    bias = inverse.sum(0) @ z / inverse.sum()
    scores = cross @ inverse @ (z - bias)
    # Logarithms of probabilities are scores times a slope, but for what graphs or classes have in common.
    told = np.log(model.predict_proba(x[1::2]))
    own = [m - m.mean(0) - m.mean(1, keepdims=True) + m.mean() for m in (told, scores)]
    slope = np.vdot(*own) / np.vdot(own[1], own[1])
    assert slope > 1
    np.testing.assert_allclose(own[0], slope * own[1], atol=1e-7 * abs(own[0]).max())
    chosen = MLGClassifier(learner="ridge").fit(x[::2], y[::2])
    assert chosen.score(x[1::2], y[1::2]) > 0.9
    assert (chosen.classes_[chosen.predict_proba(x[1::2]).argmax(1)] == chosen.predict(x[1::2])).all()
    assert hasattr(MLGClassifier(learner="ridge"), "predict_proba")
    with pytest.raises(ValueError, match="C=1, but the learner is a ridge regression"):
        MLGClassifier(learner="ridge", C=1).fit(x, y)
    with pytest.raises(ValueError, match="learner='x'"):
        MLGClassifier(learner="x").fit(x, y)


@pytest.mark.parametrize("probability", [False, True])
def test_meta_estimators(drugs, probability):
    """Stacking, bagging and calibration take the probabilities where there are some."""
    x, y = drugs.graphs[:90], np.array([int(g.n > 20) for g in drugs.graphs[:90]])
    one = MLGClassifier("mlg eta=0.3 gamma=0.3", C=10, probability=probability)
    column = np.array([*x, None], dtype=object)[:-1, None]
    for model, graphs in (
        (StackingClassifier([("mlg", one)], cv=2), x),
        (CalibratedClassifierCV(one, cv=2), x),
        (BaggingClassifier(one, 3, random_state=0), column),
        (BaggingClassifier(MLGClassifier(learner="ridge"), 3, random_state=0), column),
        (VotingClassifier([("a", one), ("b", clone(one))], voting="soft" if probability else "hard"), x),
    ):
        assert model.fit(graphs, y).score(graphs, y) > 0.85, model
    bagged = BaggingRegressor(MLGRegressor(), 3, random_state=0).fit(column, [g.n for g in x])
    assert bagged.predict(column).shape == (90,)


def test_sample_weight(drugs):
    """A weight counts graphs; one of 0 leaves it out."""
    x, y = drugs.graphs[:60], np.array([int(g.n > 20) for g in drugs.graphs[:60]])
    weights = np.arange(60) % 3
    kernel = MultiscaleLaplacian().fit([g for g, w in zip(x, weights) if w])
    k = kernel.transform(x)
    svc = SVC(kernel="precomputed", C=2, tol=1e-7)
    svc.fit(k[weights > 0], y[weights > 0], sample_weight=weights[weights > 0])
    model = MLGClassifier(C=2, tol=1e-7).fit(x, y, sample_weight=weights)
    assert model.n_graphs_in_ == 40
    np.testing.assert_allclose(model.decision_function(x), svc.decision_function(k), atol=1e-4)
    # With a ridge a weight divides it.
    ridge = MLGClassifier(learner="ridge", ridge=0.1)
    want = ridge.fit(x, y).decision_function(x)
    got = clone(ridge).set_params(ridge=0.3).fit(x, y, sample_weight=np.full(60, 3.0)).decision_function(x)
    np.testing.assert_allclose(got, want, atol=1e-4)
    got = ridge.fit(x, y, sample_weight=weights > 0).decision_function(x)
    want = ridge.fit([g for g, w in zip(x, weights) if w], y[weights > 0]).decision_function(x)
    np.testing.assert_array_equal(got, want)
    one, other = (clone(ridge).set_params(class_weight={0: 1, 1: w}).fit(x, y) for w in (1, 5))
    assert (one.decision_function(x) < other.decision_function(x)).all()
    with pytest.raises(ValueError, match="sample_weight"):
        MLGClassifier().fit(x, y, sample_weight=weights[:5])
    with pytest.raises(ValueError, match=r"sample_weight\[0\] is -1.0, want"):
        MLGClassifier().fit(x, y, sample_weight=weights - 1)


@pytest.mark.parametrize("more", [{"ridge": 0.1}, {"C": 3, "tol": 1e-10}])
def test_weights_of_values(drugs, tmp_path, more):
    """A weight counts measurements; one of 0 leaves the graph out. Model files keep them."""
    x, y = drugs.graphs[:60], np.array([float(g.n) for g in drugs.graphs[:60]])
    weights = np.arange(60) % 3
    kernel = WeisfeilerLehman(n_iter=2, normalize=True)  # its values do not depend on what it is fitted to
    twice = np.repeat(np.arange(60), weights)
    model = MLGRegressor(kernel, **more).fit(x, y, sample_weight=weights)
    same = MLGRegressor(kernel, **more).fit([x[i] for i in twice], y[twice])
    new = drugs.graphs[60:90]
    assert model.n_graphs_in_ == 40
    np.testing.assert_allclose(model.predict(new), same.predict(new), rtol=1e-5)
    assert abs(model.predict(new) - MLGRegressor(kernel, **more).fit(x, y).predict(new)).max() > 0.01
    ones = MLGRegressor(kernel, **more).fit(x, y, sample_weight=np.ones(60))
    np.testing.assert_allclose(ones.predict(new), MLGRegressor(kernel, **more).fit(x, y).predict(new))
    model.save(tmp_path / "m.mlg")
    for again in (MLGRegressor.load(tmp_path / "m.mlg"), pickle.loads(pickle.dumps(model))):
        assert again.predict(new).tobytes() == model.predict(new).tobytes()
        if "ridge" in more:
            for a, b in zip(again.predict(new, return_cov=True), model.predict(new, return_cov=True)):
                assert a.tobytes() == b.tobytes()
    # A table has the same weights for all columns.
    table = np.stack([y, np.where(np.arange(60) % 5, -y, np.nan)], axis=1)
    several = MLGRegressor(kernel, **more).fit(x, table, sample_weight=weights)
    np.testing.assert_allclose(several.predict(new)[:, 0], model.predict(new), rtol=1e-9)
    for wrong, message in (
        (weights[:5], "sample_weight"),
        (weights - 1, r"sample_weight\[0\] is -1.0, want a finite number of at least 0"),
        (np.zeros(60), "sample_weight is zero for all graphs, want a weight above 0"),
        (np.where(weights, np.nan, 1), r"sample_weight\[1\] is nan, want"),
        (np.where(weights, np.inf, 1), r"sample_weight\[1\] is inf, want"),
        (weights[:, None], r"sample_weight has the shape \(60, 1\) for 60 graphs, want \(60,\)"),
    ):
        for targets in (y, table):
            with pytest.raises(ValueError, match=message):
                MLGRegressor(kernel, **more).fit(x, targets, sample_weight=wrong)


def test_weighted_process(drugs):
    """Values and deviations are those of the textbook, with the noise's variance divided by the weight."""
    graphs, new = drugs.graphs[:50], drugs.graphs[50:90]
    y, weights = np.array([float(g.n) for g in graphs]), 0.5 + np.arange(50) % 4
    kernel = WeisfeilerLehman(n_iter=2, normalize=True)
    model = MLGRegressor(kernel, ridge=0.2).fit(graphs, y, sample_weight=weights)
    values, covariance = model.predict(new, return_cov=True)
    inverse = np.linalg.inv(kernel.fit_transform(graphs) + np.diag(0.2 / weights))
    k, u = kernel.transform(new), inverse.sum(axis=0)
    bias, left = u @ y / u.sum(), 1 - k @ u
    np.testing.assert_allclose(values, bias + k @ inverse @ (y - bias), rtol=1e-8)
    true = kernel.fit_transform(new) - k @ inverse @ k.T + np.outer(left, left) / u.sum()
    got = covariance - model.noise_**2 * np.eye(len(new))
    d, e = np.sqrt(true.diagonal()), np.sqrt(got.diagonal())
    np.testing.assert_allclose(got / np.outer(e, e), true / np.outer(d, d), atol=1e-6)
    # A ridge that is chosen sees the weights: ten measurements each have a tenth of the noise.
    y = np.array([g.smiles.upper().count("O") / g.n for g in graphs])
    one, ten = (MLGRegressor(kernel).fit(graphs, y, sample_weight=np.full(50, w)) for w in (1.0, 10.0))
    np.testing.assert_allclose(one.predict(new), ten.predict(new), rtol=1e-6)
    assert ten.noise_ == pytest.approx(np.sqrt(10) * one.noise_)
    assert (
        GridSearchCV(MLGRegressor(kernel), {"ridge": [0.1, 1]}, cv=2)
        .fit(graphs, y, sample_weight=weights)
        .best_params_
    )


def test_wrong_values(drugs):
    """An error about y names the entry."""
    x = drugs.graphs[:3]
    for y, message in (
        ([1.0, "a", 2.0], r"y\[1\] is 'a', want a number"),
        ([1.0, 2.0, None], r"y\[2\] is nan, want a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            MLGRegressor(ridge=0.1).fit(x, y)


def test_refit_forgets(drugs):
    x, y = drugs.graphs[:30], drugs.target[:30]
    k = GraphKernel("VH", Nystroem=5).fit(x)
    k.set_params(Nystroem=False)
    assert k.fit(x).transform(x[:2]).shape == (2, 30) and not hasattr(k, "nystroem_")
    k = WeisfeilerLehman().fit(x)
    k.transform(x)
    assert isinstance(k.fit(x).diagonal(), np.ndarray)
    with pytest.raises(ValueError):
        k.fit([])
    with pytest.raises(NotFittedError):
        k.transform(x)
    model = MLGClassifier().fit(x, y)
    with pytest.raises(ValueError, match="C=-1"):
        model.set_params(C=-1).fit(x, y)
    assert not hasattr(model, "classes_")
    # Wrong targets and wrong graphs count, too.
    for fitted in (MLGClassifier().fit(x, y), mlgkernel.MLGRegressor().fit(x, range(30))):
        with pytest.raises(ValueError, match="X has 30 graphs and y has 1 entry"):
            fitted.fit(x, y[:1] if isinstance(fitted, MLGClassifier) else [1.0])
        assert not hasattr(fitted, "kernel_")
    hopper = mlgkernel.GraphHopper().fit([[[(0, 1)], {0: [1.0], 1: [2.0]}]])
    named = GraphKernel("VH").fit(x)
    for fitted, wrong in ((hopper, x), (named, [3])):
        with pytest.raises(mlgkernel.GraphError):
            fitted.fit_transform(wrong)
        assert not hasattr(fitted, "kernel_")


def test_defaults_are_those_of_the_command(drugs):
    assert MultiscaleLaplacian().fit(drugs.graphs[:3]).kernel_ == TextKernel().fit(drugs.graphs[:3]).kernel_
    assert (
        {cls().kernel for cls in (MLGClassifier, MLGEmbedding, MLGRegressor)}
        == {TextKernel().text}
        == {"mlg"}
    )


def test_defaults_are_not_nearly_diagonal(tudatasets):
    """Graphs are similar to others, and not only to themselves."""
    data = mlgkernel.datasets.load(tudatasets / "MUTAG")
    median = {}
    for name, kernel in {
        "ours": MultiscaleLaplacian(),
        "GraKeL's": MultiscaleLaplacian(L=3, P=10, gamma=0.01, heta=0.01, n_samples=50),
    }.items():
        k = kernel.fit_transform(data.graphs)
        median[name] = np.median(k[~np.eye(len(k), dtype=bool)])
    assert median["ours"] > 0.1 and median["GraKeL's"] < 0.05


def test_grakel_names():
    graphs = ["CCO", "CCN", "c1ccccc1O"]
    ours = MultiscaleLaplacian(radii=(1, 2, 4), eta=0.2, rank=7)
    theirs = MultiscaleLaplacian(L=3, heta=0.2, P=7)
    assert ours.fit_transform(graphs).tobytes() == theirs.fit_transform(graphs).tobytes()


def test_two_names_of_one_parameter():
    """A grid over one of them does not pass the other by."""
    graphs = ["CCO", "CCN", "c1ccccc1O"]
    for given, message in (
        ({"L": 3, "radii": (1,)}, r"L=3 and radii=\(1,\) say the same, want one of them"),
        ({"L": 2, "radii": (1, 2)}, "L=2 and radii"),
        ({"heta": 0.3, "eta": 0.1}, "heta=0.3 and eta=0.1 say the same"),
        ({"P": 3, "rank": 3}, "P=3 and rank=3 say the same"),
    ):
        for e in (MultiscaleLaplacian(**given), MLGClassifier(MultiscaleLaplacian(**given))):
            with pytest.raises(ValueError, match=f"^(kernel: )?{message}"):
                e.fit(graphs, [0, 1, 0])
    search = GridSearchCV(
        MLGClassifier(MultiscaleLaplacian(heta=0.3), ridge=0.1), {"kernel__eta": [0.1, 0.3]}, cv=2
    )
    with pytest.raises(ValueError, match=r"heta=0.3 and eta=0.1 say the same"):
        search.fit(graphs * 2, [0, 1, 0] * 2)


def test_options_of_sampling(drugs):
    """Nothing in the dictionary is passed by."""
    x = drugs.graphs[:5]
    inner, outer, other = (
        GraphletSampling(sampling={"n_samples": 50, **more}, random_state=s).fit_transform(x)
        for more, s in (({"random_state": 7}, 1), ({}, 7), ({}, 1))
    )
    np.testing.assert_array_equal(inner, outer)
    assert (inner != other).any()
    with pytest.raises(ValueError, match=r"sampling=.* want n_samples, or delta, epsilon and a"):
        GraphletSampling(sampling={"n_samples": 50, "delta": 0.1}).fit(x)


def test_errors_name_parameters():
    graphs = ["CCO", "CCN", "c1ccccc1O"]
    for kernel, text in [
        (MultiscaleLaplacian(P=0), "P=0, want at least 1"),
        (MultiscaleLaplacian(rank=0), "rank=0, want at least 1"),
        (MultiscaleLaplacian(heta=-1), "heta=-1, want a positive, finite number"),
        (MultiscaleLaplacian(gamma=0), "gamma=0, want a positive, finite number"),
        (MultiscaleLaplacian(n_samples=0), "n_samples=0, want at least 1"),
        (MLGClassifier(max_iter=0), "max_iter=0, want at least 1"),
        (MLGClassifier(device="gpu"), "device='gpu', want one of cpu, cuda, auto"),
        (
            MLGClassifier(class_weight={0: -1, 1: 1}),
            "class_weight: -1.0 for the class 0, want a positive number",
        ),
        (MLGClassifier(tol=0), "tol=0, want a positive, finite number"),
        (MLGRegressor(learner="svm", epsilon=-1), "epsilon=-1, want at least 0"),
        (MLGEmbedding(tol=2), "tol=2, want 0 or more and less than 1"),
    ]:
        with pytest.raises(ValueError) as e:
            kernel.fit(graphs, [0, 1, 0])
        assert str(e.value) == text


def test_errors_name_options(tmp_path):
    """Options of reading and drawing have the names that they have here."""
    (tmp_path / "t.csv").write_text("smiles\nCCO\n")
    for name in ("format", "hydrogens", "edge_weight"):
        with pytest.raises(ValueError, match=f"^{name}=x, want one of"):
            mlgkernel.datasets.load(tmp_path / "t.csv", **{name: "x"})
    with pytest.raises(ValueError, match=r'^style="x", want auto, molecule or network'):
        mlgkernel.explain.draw("CCO", style="x")
    with pytest.raises(ValueError, match=r"^match=9, want 0 … 2"):
        mlgkernel.explain.similarity("CCO", "CCN", match=9)


@pytest.mark.parametrize(
    "cls", [c for c in vars(mlgkernel).values() if isinstance(c, type) and issubclass(c, _kernel.OnGraphs)]
)
@pytest.mark.filterwarnings("ignore:lamda")
def test_errors_name_every_parameter(cls):
    """Whatever is wrong, the message starts with the name of the parameter."""
    graphs = ["CCO", "CCN", "c1ccccc1O"]
    if cls in (GraphHopper, PropagationAttr, ShortestPathAttr):
        graphs = [[[(0, 1)], {0: [1.0], 1: [2.0]}]] * 3
    for name in inspect.signature(cls).parameters:
        if name in ("verbose", "class_weight"):  # whatever is true; told by scikit-learn
            continue
        for value in (float("nan"), "x", 2.5, -7, 10**9, [], [object()], object()):
            if value == 10**9 and name in ("n_samples", "rank", "P", "n_jobs", "C"):  # may be as large
                continue
            try:
                cls(**{name: value}).fit(graphs, [0, 1, 0])
            except (ValueError, TypeError) as e:
                assert re.match(rf"{name}\b", str(e)), (name, value, str(e))


def test_tags(drugs):
    for cls in ALL:
        tags = get_tags(cls())
        assert not tags.input_tags.two_d_array and tags.input_tags.string and tags.requires_fit
