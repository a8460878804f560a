"""Explanations and pictures."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import mlgkernel
from mlgkernel import (
    GraphKernel,
    GraphletSampling,
    MLGClassifier,
    MLGRegressor,
    MultiscaleLaplacian,
    ShortestPath,
    VertexHistogram,
)

PNG = b"\x89PNG\r\n"


def test_files(drugs, tmp_path):
    """The name says the format, and a picture that was kept can still be written."""
    model = MLGRegressor("wl h=2", ridge=0.1).fit(drugs.graphs[:20], range(20))
    pictures = {
        "draw": mlgkernel.explain.draw("CCO", [1.0, 2.0, 3.0]),
        "similarity": mlgkernel.explain.similarity("CCO", "CCN").picture,
        "decision": mlgkernel.explain.decision(model, "CCO").picture,
        "heatmap": mlgkernel.explain.heatmap(np.eye(3)),
        "map": mlgkernel.explain.map_of(np.eye(3), ["a", "b", "a"]),
    }
    mlgkernel.stop_worker()
    for name, picture in pictures.items():
        path = tmp_path / name
        picture.save(path)
        picture.save(tmp_path / f"{name}.svg")
        assert path.read_text() == picture.svg == (tmp_path / f"{name}.svg").read_text()
        picture.save(tmp_path / "one.PNG", scale=1)
        pickle.loads(pickle.dumps(picture)).save(str(tmp_path / "two.png"))
        one, two = (tmp_path / "one.PNG").read_bytes(), (tmp_path / "two.png").read_bytes()
        assert one[:6] == two[:6] == PNG
        sizes = [int.from_bytes(b[16:20], "big") for b in (one, two)]  # the width in the header
        assert abs(sizes[1] - 2 * sizes[0]) <= 1 and sizes[0] > 40
    for wrong, message in (
        (("x.gif",), "want a name that ends in .svg or .png"),
        (("x.png", 0), "scale=0, want"),
    ):
        with pytest.raises(ValueError, match=message):
            picture.save(tmp_path / wrong[0], *wrong[1:])
        assert not (tmp_path / wrong[0]).exists()


def test_wrong_arguments(drugs):
    model = MLGRegressor("wl h=2", ridge=0.1).fit(drugs.graphs[:20], range(20))
    for ask, error, message in (
        (lambda: mlgkernel.explain.decision(model, "CC", classes=("a", "b")), ValueError, "predicts values"),
        (lambda: mlgkernel.explain.decision(MultiscaleLaplacian(), "CC"), TypeError, "model is Multiscale"),
        (lambda: mlgkernel.explain.heatmap(np.eye(3), ["a"]), ValueError, "classes has 1 entry for 3 graphs"),
        (lambda: model.save("nowhere/m.mlg"), FileNotFoundError, "path='nowhere/m.mlg', want a file in a"),
        (lambda: model.save("."), FileNotFoundError, "path='.', want a file"),
    ):
        with pytest.raises(error, match=message):
            ask()


def test_explain(drugs):
    g, h = drugs.graphs[0], drugs.graphs[1]
    model = MultiscaleLaplacian().fit(drugs.graphs)
    s = mlgkernel.explain.similarity(g, h, model, match=1)
    assert s.k == pytest.approx(model.transform([h])[0, 0], rel=1e-12)
    assert s.g.shape == (g.n,) and s.h.shape == (h.n,) and len(s.matching) == min(g.n, h.n)
    assert s._repr_svg_().startswith("<svg") and "<svg" in s._repr_html_()
    assert s.g.sum() == pytest.approx(s.k, abs=1e-9) and s.h.sum() == pytest.approx(s.k, abs=1e-9)
    assert mlgkernel.explain.similarity(g, g, model, slopes=True).g == pytest.approx(np.zeros(g.n), abs=1e-9)
    assert mlgkernel.explain.similarity("CCO", "CCN").k < 1
    classifier = MLGClassifier(C=100).fit(drugs.graphs, drugs.target)
    d = mlgkernel.explain.decision(classifier, g)
    assert d.towards == classifier.predict([g])[0] and d.value > 0 and d.vertices.shape == (g.n,)
    one, two = classifier.classes_[:2]
    a = mlgkernel.explain.decision(classifier, g, classes=(one, two))
    b = mlgkernel.explain.decision(classifier, g, classes=(two, one))
    assert a.value == pytest.approx(-b.value) and a._repr_svg_().startswith("<svg")
    with pytest.raises(ValueError, match="want two of"):
        mlgkernel.explain.decision(classifier, g, classes=("x", "y"))
    sizes = np.array([x.n for x in drugs.graphs], float)
    regressor = MLGRegressor().fit(drugs.graphs, sizes)
    r = mlgkernel.explain.decision(regressor, g)
    assert r.towards is None and r.baseline == pytest.approx(sizes.mean())
    assert r.baseline + r.vertices.sum() == pytest.approx(regressor.predict([g])[0], abs=1e-9)
    with pytest.raises(ValueError, match="the model predicts values"):
        mlgkernel.explain.decision(regressor, g, classes=("x", "y"))
    histogram = VertexHistogram().fit([g])
    assert mlgkernel.explain.similarity(g, h, histogram).k == pytest.approx(histogram.transform([h])[0, 0])
    named = GraphKernel("VH", normalize=True).fit([g])
    assert mlgkernel.explain.similarity(g, h, named).k == pytest.approx(named.transform([h])[0, 0])
    by_function = mlgkernel.SubgraphMatching(k=1, kv=lambda a, b: 1).fit([g])
    with pytest.raises(ValueError, match="SubgraphMatching with functions of labels is not explained"):
        mlgkernel.explain.similarity(g, h, by_function)
    paths = mlgkernel.explain.similarity(g, h, ShortestPath().fit([g]))
    assert paths.g.sum() == pytest.approx(paths.k) and paths.h.sum() == pytest.approx(paths.k)
    normalized = ShortestPath(normalize=True).fit([g])
    same = mlgkernel.explain.similarity(g, g, normalized, slopes=True)
    assert same.g == pytest.approx(np.zeros(g.n), abs=1e-9)
    with pytest.raises(ValueError, match="has no slopes"):
        mlgkernel.explain.similarity(g, h, GraphletSampling().fit([g]), slopes=True)
    k = model.transform(drugs.graphs)
    for picture in (mlgkernel.explain.heatmap(k, drugs.target), mlgkernel.explain.map_of(k, drugs.target)):
        assert picture._repr_svg_().startswith("<svg")
    assert mlgkernel.explain.draw(g, np.arange(g.n))._repr_svg_().startswith("<svg")
    assert g._repr_svg_().startswith("<svg")


def test_names_of_vertices():
    networkx = pytest.importorskip("networkx")
    g = networkx.DiGraph([("main", "read"), ("read", "listen")])
    h = networkx.DiGraph([("main", "connect")])
    why = mlgkernel.explain.similarity(g, h)
    assert why.names == (["main", "read", "listen"], ["main", "connect"])
    model = MLGRegressor(ridge=0.1).fit([g, h], [0.0, 1.0])
    assert mlgkernel.explain.decision(model, h).names == ["main", "connect"]
    assert mlgkernel.explain.decision(model, mlgkernel.Graph([(0, 1)])).names is None
