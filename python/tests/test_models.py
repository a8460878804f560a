"""Model files: what is saved comes back, and those of the command are read."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import r2_score

import mlgkernel
from mlgkernel import MLGClassifier, MLGRegressor, MultiscaleLaplacian, _engine


def test_model_files(drugs, tmp_path):
    x, y = drugs.graphs, drugs.target
    path = tmp_path / "drugs.mlg"
    model = MLGClassifier(C=100).fit(x, y)
    model.save(path)
    other = MLGClassifier.load(path)
    assert (other.predict(x) == model.predict(x)).all()
    assert other.decision_function(x).tobytes() == model.decision_function(x).tobytes()
    other.save(tmp_path / "again.mlg")
    assert (tmp_path / "again.mlg").read_bytes() == path.read_bytes()
    values = MLGRegressor().fit(x, [g.n for g in x])
    values.save(tmp_path / "values.mlg")
    got = MLGRegressor.load(tmp_path / "values.mlg")
    for a, b in zip(got.predict(x, return_std=True), values.predict(x, return_std=True), strict=True):
        assert a.tobytes() == b.tobytes()
    assert got.noise_ == values.noise_
    with pytest.raises(ValueError, match="want one for classification"):
        MLGClassifier.load(tmp_path / "values.mlg")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError):
        MLGClassifier.load(path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["again.mlg", "drugs.mlg", "values.mlg"]


def test_model_files_of_the_command(drugs, tmp_path):
    """A model that the command has trained, where it can train, is read here and agrees."""
    text = subprocess.run([str(_engine.binary()), "--help"], capture_output=True, text=True).stdout
    if "  train " not in text:
        pytest.skip("this mlg has no command train")
    path = tmp_path / "model.mlg"
    done = subprocess.run(
        [str(_engine.binary()), "train", "builtin:drugs", "-o", str(path), "--quiet"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    model = MLGClassifier.load(path)
    assert model.predict(drugs.graphs[:3]).shape == (3,)
    # It combines kernels. Contributions add up to the margin, slopes do not.
    why = mlgkernel.explain.decision(model, drugs.graphs[0])
    assert why.vertices.shape == (drugs.graphs[0].n,) and "<svg" in why.picture._repr_svg_()
    assert why.baseline == 0 and why.vertices.sum() == pytest.approx(why.value, abs=1e-9)
    slopes = mlgkernel.explain.decision(model, drugs.graphs[0], slopes=True)
    assert slopes.value == pytest.approx(why.value) and abs(slopes.vertices.sum() - why.value) > 1e-3
    pairs = mlgkernel.explain.similarity(*drugs.graphs[:2], model, match=1).matching
    assert len(pairs) == min(g.n for g in drugs.graphs[:2])


def test_models_say_how_graphs_are_read(tmp_path):
    """New molecules get the labels and weights that the command has given to those of training."""
    table, path, query = tmp_path / "values.csv", tmp_path / "values.mlg", "C=Cc1ccc([NH3+])cc1"
    rows = ["C=C", "CC", "CC=O", "CC[NH3+]", "c1ccccc1O", "C#N", "CC(=O)[O-]", "c1ccncc1", "CC(C)=O"]
    table.write_text("smiles,y\n" + "".join(f"{s},{i}.5\n" for i, s in enumerate(rows)))

    def mlg(*args):
        done = subprocess.run(
            [str(_engine.binary()), "--quiet", *args], capture_output=True, text=True, timeout=240
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    flags = ["--edge-weight", "order", "--atoms", "charge,aromatic", "--hydrogens", "explicit"]
    mlg("train", str(table), "--kernel", "mlg", "--folds", "3", "-o", str(path), *flags)
    said = json.loads(mlg("--json", "predict", str(path), query))
    want = said["value"]
    model = MLGRegressor.load(path)
    assert model.predict([query]) == [want]
    assert model.predict([query], return_std=True)[1] == [said["deviation"]]
    (tmp_path / "new.smi").write_text(query + "\n")
    assert model.predict(str(tmp_path / "new.smi")) == [want]
    assert model.predict(mlgkernel.as_graphs([query])) != [want]
    assert model.predict(mlgkernel.as_graphs([query], model)) == [want]
    assert mlgkernel.explain.decision(model, query).value == pytest.approx(want)


def test_loaded_models_have_their_parameters(drugs, tmp_path):
    x, y, path = drugs.graphs[:40], np.array([g.n > 20 for g in drugs.graphs[:40]]), tmp_path / "m.mlg"
    given = {"C": 7, "class_weight": {False: 2.0}}
    kernel = MultiscaleLaplacian(radii=(1,), eta=0.2, rank=5, random_state=np.random.RandomState(3))
    model = MLGClassifier(kernel, **given, n_jobs=1, random_state=np.random.RandomState(3)).fit(x, y)
    model.save(path)
    got = MLGClassifier.load(path)
    assert {k: getattr(got, k) for k in given} == given and got.n_jobs is None
    assert got.kernel == got.kernel_ == model.kernel_ and "eta=0.2 " in got.kernel
    again = clone(got).fit(x, y)  # with the seed that was drawn
    assert again.decision_function(x).tobytes() == model.decision_function(x).tobytes()
    command = [str(_engine.binary()), "--quiet", "train", "builtin:drugs", "-o", str(path)]
    subprocess.run([*command, "--kernel", "mlg radii=1,3 eta=0.25"], check=True, timeout=240)
    got = MLGClassifier.load(path)
    assert got.kernel == "mlg radii=1,3 eta=0.25"


@pytest.mark.parametrize("classes", [("-1", "1"), (-1, 1), (0.0, 1.0), (False, True), ("a", "b")])
def test_loaded_models_have_their_classes(drugs, tmp_path, classes):
    y = np.array([classes[g.n > 20] for g in drugs.graphs[:40]])
    model = MLGClassifier().fit(drugs.graphs[:40], y)
    model.save(tmp_path / "m.mlg")
    got = MLGClassifier.load(tmp_path / "m.mlg")
    assert got.classes_.dtype == y.dtype
    assert got.score(drugs.graphs[:40], y) == model.score(drugs.graphs[:40], y)


def test_model_of_several_targets(drugs, tmp_path):
    """A target of a model that the command has trained for several is read by its name."""
    text = subprocess.run([str(_engine.binary()), "--help"], capture_output=True, text=True).stdout
    if "  train " not in text:
        pytest.skip("this mlg has no command train")
    table, path = tmp_path / "two.csv", tmp_path / "two.mlg"
    smiles = ["C" * n + end for n in range(2, 12) for end in ("O", "N")]
    rows = [f"{s},{len(s)}.5,{s[-1] if len(s) % 4 else ''}" for s in smiles]
    table.write_text("\n".join(["smiles,size,kind", *rows]) + "\n")
    done = subprocess.run(
        [
            str(_engine.binary()),
            "train",
            str(table),
            "--target",
            "size,kind",
            "--kernel",
            "wl",
            "-o",
            str(path),
        ],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    kind, size = MLGClassifier.load(path, target="kind"), MLGRegressor.load(path, target="Size")
    assert kind.predict(["CCCCCCO", "CCCCCCN"]).tolist() == ["O", "N"]
    values, deviations = size.predict(["CCCCCCO"], return_std=True)
    assert abs(values[0] - 7.5) < 1 and deviations[0] > 0
    with pytest.raises(ValueError, match=r"want one of its targets as target: size \(regression\), kind"):
        MLGRegressor.load(path)
    with pytest.raises(ValueError, match='no target "weight", want one of size, kind'):
        MLGRegressor.load(path, target="weight")
    with pytest.raises(ValueError, match="want one for regression"):
        MLGRegressor.load(path, target="kind")


SERIES = ["C" * n + end for n in range(2, 14) for end in ("O", "N", "")]


def test_table_of_values(tmp_path):
    """Several columns of y are learned together, missing values allowed, and predicted as a table."""
    sizes = np.array([len(s) for s in SERIES], dtype=float)
    y = pd.DataFrame({"size": sizes, "double": 2 * sizes + 1})
    y.loc[::5, "double"] = np.nan
    model = MLGRegressor("wl").fit(SERIES, y)
    assert model.targets_ == ["size", "double"] and model.noise_.shape == (2,)
    values, deviations = model.predict(SERIES, return_std=True)
    assert values.shape == deviations.shape == (len(SERIES), 2) and (deviations > 0).all()
    assert (model.predict(SERIES) == values).all()
    known = ~y["double"].isna()
    alone = MLGRegressor("wl").fit([s for s, k in zip(SERIES, known, strict=True) if k], y["double"][known])
    assert np.corrcoef(values[:, 1], alone.predict(SERIES))[0, 1] > 0.99
    one = MLGRegressor("wl").fit(SERIES, sizes)  # all values are known: the same model
    assert values[:, 0].tobytes() == one.predict(SERIES).tobytes()
    path = tmp_path / "two.mlg"
    model.save(path)
    got = MLGRegressor.load(path)
    assert got.targets_ == model.targets_ and got.noise_.tobytes() == model.noise_.tobytes()
    assert got.predict(SERIES).tobytes() == values.tobytes()
    assert MLGRegressor.load(path, target="double").predict(SERIES).tobytes() == values[:, 1].tobytes()
    assert MLGRegressor("wl").fit(SERIES, y.to_numpy()).targets_ == ["0", "1"]
    assert model.score(SERIES, np.column_stack([sizes, 2 * sizes + 1])) > 0.9
    weights = 1.0 + np.arange(len(SERIES)) % 3
    parts = [
        r2_score(y[c][k], values[k, i], sample_weight=weights[k])
        for i, (c, k) in enumerate({"size": known | True, "double": known}.items())
    ]
    assert model.score(SERIES, y, weights) == pytest.approx(np.mean(parts))
    assert model.score(SERIES, y.assign(double=np.nan)) == pytest.approx(r2_score(sizes, values[:, 0]))
    with pytest.raises(ValueError, match="y has no known entries to score"):
        model.score(SERIES, y * np.nan)
    for ask in (
        lambda: model.predict(SERIES, return_cov=True),
        lambda: model.sample_y(SERIES),
        lambda: mlgkernel.explain.decision(model, SERIES[0]),
    ):
        with pytest.raises(ValueError, match="models of one target"):
            ask()
    with pytest.raises(ValueError, match="column double: 0 entries are known"):
        MLGRegressor("wl").fit(SERIES, y.assign(double=np.nan))
    with pytest.raises(ValueError, match="want a different name for each"):
        MLGRegressor("wl").fit(SERIES, y.set_axis(["a", "A"], axis=1))
    with pytest.raises(ValueError, match="want equal numbers"):
        MLGRegressor("wl").fit(SERIES[1:], y)


def test_table_of_classes(tmp_path):
    y = pd.DataFrame({"end": [s[-1] for s in SERIES], "long": [float(len(s) > 7) for s in SERIES]})
    y.loc[::7, "end"] = None
    y.loc[::6, "long"] = np.nan
    model = MLGClassifier("wl").fit(SERIES, y)
    assert [c.tolist() for c in model.classes_] == [["C", "N", "O"], [0, 1]]
    said, shares = model.predict(SERIES), model.predict_proba(SERIES)
    assert said.shape == (len(SERIES), 2)
    assert [p.shape for p in shares] == [(len(SERIES), 3), (len(SERIES), 2)]
    for k in range(2):
        assert (model.classes_[k][shares[k].argmax(axis=1)] == said[:, k]).all()
    assert model.score(SERIES, y) > 0.9
    path = tmp_path / "two.mlg"
    model.save(path)
    got = MLGClassifier.load(path)
    assert [c.tolist() for c in got.classes_] == [["C", "N", "O"], [0, 1]]
    assert (got.predict(SERIES) == said).all()
    end = MLGClassifier.load(path, target="end")
    assert end.targets_ is None and (end.predict(SERIES) == said[:, 0]).all()
    assert MLGClassifier.load(path, target="long").classes_.tolist() == [0, 1]
    weights = np.ones(len(SERIES))
    weights[y["end"] == "N"] = 0  # left out
    assert MLGClassifier("wl").fit(SERIES, y, weights).classes_[0].tolist() == ["C", "O"]
    with pytest.raises(ValueError, match="column long: the column has 1 class"):
        MLGClassifier("wl").fit(SERIES, y.assign(long=1))
    with pytest.raises(ValueError, match="models of one target"):
        model.decision_function(SERIES)
