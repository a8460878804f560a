"""Kernels as texts: how they are written, what they are worth, and what is told of wrong ones."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mlgkernel import (
    CoreFramework,
    GraphKernel,
    HadamardCode,
    Kernel,
    MLGClassifier,
    MLGEmbedding,
    MLGRegressor,
    MultiscaleLaplacian,
    OddSth,
    RandomWalk,
    ShortestPath,
    ShortestPathAttr,
    SubgraphMatching,
    TextKernel,
    VertexHistogram,
    WeisfeilerLehman,
)
from mlgkernel._engine import binary
from mlgkernel._language import DEFAULT_KERNEL, kernel_text

SUM = "0.5 mlg radii=1 + 0.5 wl h=3 * sp subdivide"
GRAPHS = ["CCO", "CCN", "c1ccccc1O", "CC=O", "CCCC"]


def test_values_as_texts():
    text = kernel_text(
        "x",
        on=True,
        off=np.False_,
        n=np.int64(3),
        small=1e-9,
        large=1e300,
        list=[1, 2.5],
        empty=[],
        lambda_=1,
    )
    assert text == "x on=true off=false n=3 small=1e-09 large=1e+300 list=1,2.5 empty= lambda=1"
    inner = kernel_text("sp", h=1)
    text = kernel_text("core", base=inner, quoted='a "b"\n(é)', words=["a b", "c"], none="")
    assert text == 'core base=(sp h=1) quoted="a \\"b\\"\\n(é)" words="a b",c none=""'
    for name in ("base", "quoted", "words"):
        start, end = text.places[name]
        assert text.parameter(start + 1) == text.parameter(end) == name
        assert text[start - len(name) - 1 : start] == f"{name}="


def test_what_python_writes_go_reads(drugs):
    """Parameters that need quotes or brackets come back as they were."""
    base = "0.5 labels * degree + 0.5 wl h=1"
    got = MultiscaleLaplacian(base=base, bonds=False).fit(drugs.graphs[:5]).kernel_
    assert got == f"mlg base=({base}) bonds=false"
    assert TextKernel(got).fit(drugs.graphs[:5]).kernel_ == got
    inner = WeisfeilerLehman(n_iter=1, base_graph_kernel=OddSth(h=2, normalize=True), normalize=True)
    outer = CoreFramework(base_graph_kernel=inner)
    want = "core base=(wl h=1 base=(odd-sth h=2 labels=labels normalize=false) labels=labels normalize=false)"
    assert outer.fit(drugs.graphs[:5]).kernel_ == f"{want} normalize=false"
    text = CoreFramework(base_graph_kernel=TextKernel("wl h=1 base=(odd-sth h=2)"))
    assert text.fit_transform(drugs.graphs[:9]).tobytes() == outer.fit_transform(drugs.graphs[:9]).tobytes()


def test_sums_and_products(drugs):
    """A text is worth what its parts are."""
    x, new = drugs.graphs[:60], drugs.graphs[60:80]
    subdivided = TextKernel("sp subdivide")
    parts = [TextKernel("mlg radii=1"), WeisfeilerLehman(n_iter=3, normalize=True), subdivided]
    k = TextKernel(SUM)
    a, b, c = (part.fit_transform(x) for part in parts)
    np.testing.assert_allclose(k.fit_transform(x), (a + b * c) / 2, rtol=1e-12)
    a, b, c = (part.transform(new) for part in parts)
    np.testing.assert_allclose(k.transform(new), (a + b * c) / 2, rtol=1e-12)
    np.testing.assert_allclose(k.diagonal()[0], 1)
    assert "wl h=3" in k.kernel_ and k.compared_
    assert clone(k).text == SUM and TextKernel().text == "mlg"


@pytest.mark.parametrize(
    "kernel", [SUM, "wl h=2 normalize=false", "graphlet k=3", "mlg exact radii=1", "flg"]
)
def test_estimators_take_texts(kernel, drugs):
    """Functions are those of a machine on the kernel's matrix."""
    x, y = drugs.graphs[:60], np.array([g.n for g in drugs.graphs[:60]], float)
    model = MLGRegressor(kernel, ridge=0.1).fit(x, y)
    k = TextKernel(kernel)
    inverse = np.linalg.inv(k.fit_transform(x) + 0.1 * np.eye(60))
    bias = inverse.sum(0) @ y / inverse.sum()
    want = bias + k.transform(drugs.graphs) @ inverse @ (y - bias)
    np.testing.assert_allclose(model.predict(drugs.graphs), want, rtol=1e-6)
    vectors = MLGEmbedding(60, kernel, tol=0).fit_transform(x)
    np.testing.assert_allclose(vectors @ vectors.T, k.transform(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("cls", [MLGClassifier, MLGRegressor, MLGEmbedding])
def test_kernels_as_objects(cls, drugs):
    """An object is its text. It is not changed, and its parameters are those of the estimator."""
    x, y = drugs.graphs[:40], [g.n > 20 for g in drugs.graphs[:40]]
    use = "transform" if cls is MLGEmbedding else "predict"
    for given, text in (
        (WeisfeilerLehman(n_iter=2, normalize=True), "wl h=2 labels=labels"),
        (MultiscaleLaplacian(radii=(1,), eta=0.2), "mlg radii=1 eta=0.2"),
        (TextKernel(SUM), SUM),
        (GraphKernel({"name": "WL", "n_iter": 2}, normalize=True), "wl h=2 labels=labels"),
    ):
        model, other = cls(kernel=given).fit(x, y), cls(kernel=text).fit(x, y)
        assert model.kernel_ == other.kernel_ and not hasattr(given, "kernel_")
        assert getattr(model, use)(x).tobytes() == getattr(other, use)(x).tobytes()
    nested = clone(cls(kernel=WeisfeilerLehman(normalize=True)).set_params(kernel__n_iter=3))
    assert nested.get_params()["kernel__n_iter"] == 3 and nested.fit(x, y).kernel_ == "wl h=3 labels=labels"


def test_search_of_kernels(drugs):
    x, y = drugs.graphs[:60], [g.n > 20 for g in drugs.graphs[:60]]
    search = GridSearchCV(MLGClassifier(ridge=0.1), {"kernel": ["labels", "wl h=3", SUM]}, cv=2).fit(x, y)
    assert search.best_params_["kernel"] in ("labels", "wl h=3", SUM)
    search = GridSearchCV(
        MLGClassifier(WeisfeilerLehman(normalize=True), ridge=0.1), {"kernel__n_iter": [1, 3]}, cv=2
    )
    assert search.fit(x, y).best_estimator_.kernel.n_iter in (1, 3)


def test_walks_in_texts():
    """Steps that are too heavy get a weight for which the series converges, with a warning."""
    for fit in (
        TextKernel("rw-plain lambda=2").fit,
        lambda x: MLGRegressor("rw-plain lambda=2").fit(x, range(5)),
    ):
        with pytest.warns(UserWarning, match=r"lambda is too large: .* lambda=0\.\d+ is used") as told:
            fit(["C1CC1O", "CC", "CCC", "CO", "CN"])
        assert [w.filename for w in told] == [__file__]


def test_default_kernel():
    """Those who choose no kernel get that of the command, whose parameters are decided there."""
    said = subprocess.run([binary(), "help", "gram"], capture_output=True, text=True, check=True).stdout
    assert f"By default {DEFAULT_KERNEL}." in " ".join(said.split())
    assert "radii" not in MultiscaleLaplacian()._text() and "eta" not in MultiscaleLaplacian()._text()
    own, command = MultiscaleLaplacian().fit_transform(GRAPHS), TextKernel().fit_transform(GRAPHS)
    assert np.array_equal(own, command)


class Own(Kernel):
    def pairwise_operation(self, x, y):
        return 1.0


@pytest.mark.parametrize(
    "kernel,message",
    [
        ("wl h=-1", "kernel='wl h=-1', character 6: wl: h = -1, want 0 to 65536"),
        (
            "0.5 mlg + sp",
            "kernel='0.5 mlg + sp', character 11: weights of some terms, want all or none to have one",
        ),
        ("wl base=(sp h=x)", "kernel='wl base=(sp h=x)', character 15: sp: h = \"x\", want a whole number"),
        ("", "kernel='', character 1: the end, want a name"),
        (3, "kernel=3, want a text such as 'wl h=3', or a kernel of this package such as WeisfeilerLehman()"),
        (Own(), "kernel=Own() compares graphs in Python"),
        (WeisfeilerLehman(n_iter=0), "kernel: n_iter=0, want a whole number from 1 to 65536"),
        (MultiscaleLaplacian(P=0), "kernel: P=0, want at least 1"),
        (
            MultiscaleLaplacian(exact=True, P=7),
            "kernel: P=7, want 10 with exact: it has no effect on the exact kernel",
        ),
        (
            MultiscaleLaplacian(pair_rank=7),
            "kernel: pair_rank=7, want 0, or exact: it has no effect on the low-rank",
        ),
        (
            "sp * wl normalize=false",
            "kernel='sp * wl normalize=false', character 19: wl: normalize = false, want true: only",
        ),
        (
            MultiscaleLaplacian(base="wl tau=1"),
            "kernel: base='wl tau=1': wl: no parameter tau, want one of h",
        ),
        (TextKernel("wl h="), "kernel: text='wl h=', character 6: wl: h = \"\", want a whole number"),
        (SubgraphMatching(kv=max), "kernel: kv=<built-in function max>, want 'equal' or None"),
        (ShortestPathAttr(metric=max), "kernel: metric=<built-in function max>, want numpy.dot"),
    ],
)
def test_wrong_kernels(kernel, message):
    for e in (MLGClassifier(kernel), MLGEmbedding(kernel=kernel)):
        with pytest.raises(ValueError) as told:
            e.fit(GRAPHS, [0, 1, 0, 1, 0])
        assert str(told.value).startswith(message)


@pytest.mark.parametrize(
    "kernel,message",
    [
        (
            TextKernel("mlg base=(heat tau=1)"),
            "text='mlg base=(heat tau=1)', character 16: heat: no parameter tau",
        ),
        (MultiscaleLaplacian(base="labels) + wl ("), "base='labels) + wl (': ')', want +, * or the end"),
        (MultiscaleLaplacian(radii=(2, 1)), "radii=(2, 1), want radii that do not decrease"),
        (MultiscaleLaplacian(landmarks="a b"), "landmarks='a b', want uniform, classes or pivoted"),
        (MultiscaleLaplacian(L=2, heta=0), "heta=0, want a positive, finite number"),
        (HadamardCode(n_iter=70), "n_iter=70, want less, because sums of labels exceed 2⁶⁴"),
        (
            WeisfeilerLehman(base_graph_kernel=MultiscaleLaplacian()),
            "base_graph_kernel=MultiscaleLaplacian(), want a kernel: mlg cannot be a base kernel",
        ),
        (ShortestPath(n_jobs="x"), None),
    ],
)
def test_errors_name_what_python_knows(kernel, message):
    with pytest.raises((ValueError, TypeError)) as told:
        kernel.fit(GRAPHS)
    assert str(told.value).startswith(message or "n_jobs='x'")


def test_errors_name_graphs():
    bare = [[(0, 1)], None]
    for e in (VertexHistogram(), TextKernel("wl labels=labels"), MLGRegressor("wl labels=labels")):
        with pytest.raises(ValueError, match=r"^graph 1 has no labels, which the kernel compares; give"):
            e.fit([[[(0, 1)], {0: "a", 1: "b"}], bare, bare], [1.0, 2.0, 3.0])
    assert RandomWalk().fit([bare]).kernel_
