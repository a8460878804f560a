"""The command, the explorer and this package give the same answers to the same questions."""

from __future__ import annotations

import contextlib
import json
import pickle
import subprocess
import urllib.parse
import urllib.request

import numpy as np
import pandas
import pytest

import mlgkernel
from mlgkernel import MLGClassifier, MLGRegressor, _engine, datasets

NEW = ["O=C1CN=C(c2ccccc2)c2ccccc2N1", "CN1CCC23C4Oc5c(OC)ccc(CC1C2C=CC4O)c35", "CC(=O)Oc1ccccc1C(=O)O"]
LEARNERS = {
    "svm": ["--kernel", "mlg", "--c", "10"],
    "ridge": ["--kernel", "mlg"],
    "sum": ["--quick"],
}


def command(*args):
    done = subprocess.run(
        [str(_engine.binary()), "--quiet", "--json", *map(str, args)],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=LEARNERS)
def model(request, tmp_path_factory):
    path = tmp_path_factory.mktemp(request.param) / "drugs.mlg"
    command("train", "builtin:drugs", "-o", path, *LEARNERS[request.param])
    return path


@contextlib.contextmanager
def serving(data):
    server = subprocess.Popen(
        [str(_engine.binary()), "--quiet", "serve", str(data)], stdout=subprocess.PIPE, text=True
    )
    url = server.stdout.readline().strip()

    def ask(question, **body):
        request = urllib.request.Request(f"{url}api/v1/{question}")
        if body:
            request.data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        with urllib.request.urlopen(request, timeout=60) as answer:
            data = answer.read()
        return json.loads(data) if answer.headers["Content-Type"] == "application/json" else data.decode()

    yield ask
    server.terminate()
    assert server.wait(30) == 0
    server.stdout.close()


@pytest.fixture
def explorer(model):
    with serving(model) as ask:
        yield ask


def test_same_models(drugs, tmp_path):
    """All three train the same model from the same graphs with the same kernel, to the bit."""
    sizes = [7 - g.n / 3 for g in drugs.graphs]
    values = tmp_path / "values.jsonl"
    command("convert", "builtin:drugs", values)
    graphs = [json.loads(x) for x in values.read_text().splitlines()]
    lines = (json.dumps(dict(g, target=repr(y))) + "\n" for g, y in zip(graphs, sizes, strict=True))
    values.write_text("".join(lines))
    for data, learned, kind in (
        ("builtin:drugs", drugs.target, MLGClassifier),
        (values, sizes, MLGRegressor),
    ):
        path = tmp_path / "model.mlg"
        report = json.loads(command("train", data, "-o", path, "--kernel", "mlg"))
        one, three = kind.load(path), kind().fit(drugs.graphs, learned)
        said = [json.loads(x) for x in command("predict", path, "builtin:drugs").splitlines()]
        with serving(data) as ask:
            shown = ask("predict", graphs=[{"smiles": s} for s in NEW])["predictions"]
            tested = ask("evaluate")
        new = [json.loads(command("predict", path, s)) for s in NEW]
        if kind is MLGClassifier:
            for ask in ("decision_function", "predict_proba"):
                np.testing.assert_array_equal(
                    getattr(one, ask)(drugs.graphs), getattr(three, ask)(drugs.graphs)
                )
            assert three.predict(drugs.graphs).tolist() == [p["class"] for p in said]
            probabilities = [{c["class"]: c["probability"] for c in p["probabilities"]} for p in shown]
            assert probabilities == [p["probability"] for p in new]
            assert tested["accuracy"] == pytest.approx(report["estimate"]["value"], abs=0.03)
        else:
            got, deviations = three.predict(drugs.graphs, return_std=True)
            assert got.tolist() == [p["value"] for p in said]
            assert deviations.tolist() == [p["deviation"] for p in said]
            for key in ("value", "deviation"):
                assert [p[key] for p in shown] == [p[key] for p in new]
        assert tested["estimates"][0] == report["estimate"]


def test_same_rows(mixtures, tmp_path):
    """The command and this package predict the same for rows of a table, to the bit."""
    table, file, path = mixtures, tmp_path / "mixtures.csv", tmp_path / "command.mlg"
    table.to_csv(file, index=False)
    kernel, parts = "wl(acid) * wl(solvent) * gaussian(T)", ["--structure", "acid,solvent", "--with", "T"]
    command("train", file, *parts, "--target", "log_s", "-o", path, "--kernel", kernel)
    said = [json.loads(x) for x in command("predict", path, file).splitlines()]
    data = datasets.from_table(table, structure=["acid", "solvent"], with_columns="T", target="log_s")
    model = MLGRegressor(kernel).fit(data.graphs, data.target)
    model.save(tmp_path / "python.mlg")
    loaded = MLGRegressor.load(tmp_path / "python.mlg")
    copied = pickle.loads(pickle.dumps(model))
    for other in (model, loaded, copied, MLGRegressor.load(path)):
        got, deviations = other.predict(data.graphs, return_std=True)
        assert got.tolist() == [p["value"] for p in said]
        assert deviations.tolist() == [p["deviation"] for p in said]
    # Both files read a new table alike: columns in another order, and an empty cell.
    new = tmp_path / "new.csv"
    new.write_text("T,solvent,acid\n310,O,CC(=O)O\n,CCO,OC(=O)c1ccccc1\n")
    answers = [command("predict", p, new) for p in (path, tmp_path / "python.mlg")]
    values = [[json.loads(x)["value"] for x in text.splitlines()] for text in answers]
    assert values[0] == values[1] == loaded.predict(str(new)).tolist()
    frame = pandas.read_csv(new)
    for other in (model, loaded, copied):
        assert other.predict(datasets.from_table(frame, like=other).graphs).tolist() == values[0]


def test_same_answers(model, explorer, tmp_path):
    file = tmp_path / "new.smi"
    file.write_text("\n".join(NEW) + "\n")
    said = [json.loads(x) for x in command("predict", model, file, "--nearest", 3).splitlines()]
    command("convert", file, tmp_path / "new.jsonl")
    graphs = [json.loads(x) for x in (tmp_path / "new.jsonl").read_text().splitlines()]
    shown = explorer("predict", graphs=[{"graph": dict(g, id="")} for g in graphs], k=3)["predictions"]
    here = MLGClassifier.load(model)
    assert [p["class"] for p in said] == [p["class"] for p in shown] == here.predict(NEW).tolist()
    assert [p["id"] for p in said] == [p["id"] for p in shown] == ["1", "2", "3"]  # graphs without an id
    probability = here.predict_proba(NEW)
    decision = here.decision_function(NEW)
    for i, (a, b) in enumerate(zip(said, shown, strict=True)):
        for key in ("nearest", "similarity", "percentile", "unlike"):
            assert a[key] == b[key]
        at = here.classes_.tolist().index(a["class"])
        assert a["margin"] == pytest.approx(decision[i, at], rel=1e-12)
        assert probability[i].argmax() == at and a["margin"] >= 0
        other = {p["class"]: p["probability"] for p in b["probabilities"]}
        for c, name in enumerate(here.classes_):
            assert a["probability"][name] == pytest.approx(probability[i, c], abs=1e-12)
            assert other[name] == pytest.approx(probability[i, c], abs=1e-12)


def test_same_contributions(model, explorer, tmp_path):
    here = MLGClassifier.load(model)
    picture = tmp_path / "why.svg"
    for smiles in NEW:
        one = json.loads(command("explain", model, smiles, "-o", picture))
        two = explorer("explain", graph={"smiles": smiles})
        three = mlgkernel.explain.decision(here, smiles)
        assert one["class"] == two["class"] == three.towards
        assert one["value"] == pytest.approx(three.value, rel=1e-12)
        assert two["value"] == pytest.approx(three.value, rel=1e-12)
        np.testing.assert_allclose(one["vertices"], three.vertices, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(two["vertices"], three.vertices, rtol=1e-12, atol=1e-15)
        assert sum(one["vertices"]) == pytest.approx(one["value"] - one["baseline"], abs=1e-9)
        assert one["says"] == two["says"] == three.says
        drawn = explorer(f"download/graph.svg?smiles={urllib.parse.quote(smiles)}")
        assert picture.read_text() == drawn == three.picture.svg
        slopes = json.loads(command("explain", model, smiles, "--slopes"))
        assert slopes["slopes"] and slopes["value"] == one["value"]
        other = mlgkernel.explain.decision(here, smiles, slopes=True)
        np.testing.assert_allclose(slopes["vertices"], other.vertices, rtol=1e-12, atol=1e-15)
        assert one["value"] == pytest.approx(
            here.decision_function([smiles])[0, here.classes_.tolist().index(one["class"])], rel=1e-9
        )


def test_same_similarities(model, explorer):
    here = MLGClassifier.load(model)
    g, h = NEW[:2]
    one = json.loads(command("explain", model, g, "--against", h))
    two = explorer("compare", a={"smiles": g}, b={"smiles": h})
    three = mlgkernel.explain.similarity(g, h, here)
    assert one["k"] == pytest.approx(three.k, rel=1e-12)
    assert two["k"] == pytest.approx(three.k, rel=1e-12)
    assert sum(one["g"]["vertices"]) == pytest.approx(one["k"], abs=1e-9)
    np.testing.assert_allclose(one["g"]["vertices"], three.g, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(one["h"]["vertices"], three.h, rtol=1e-12, atol=1e-15)
    for x in two["levels"]:
        pairs = mlgkernel.explain.similarity(g, h, here, match=x["level"]).matching
        assert pairs == [(p["g"], p["h"], p["similarity"]) for p in x["pairs"]]
    # The command compares vertices by the definition, which at level 0 is what the model has.
    exact = json.loads(command("compare", g, h, "--match", "--level", 0))["matching"]["pairs"]
    assert [p["similarity"] for p in exact] == [p["similarity"] for p in two["levels"][0]["pairs"]]
