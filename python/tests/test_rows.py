"""Rows of a table with several structures, numbers and categories."""

import copy
import pickle

import numpy as np
import pandas
import pytest

from mlgkernel import (
    Graph,
    GraphError,
    MLGClassifier,
    MLGRegressor,
    TextKernel,
    WeisfeilerLehman,
    as_graphs,
    datasets,
    explain,
)
from mlgkernel._batch import pack, unpack

TABLE = {
    "solute": ["CCO", "c1ccccc1", "CCO", "CC(=O)O"],
    "solvent": ["O", "CC#N.O", None, "O"],
    "T": [298.5, 310, float("nan"), 298],
    "batch": ["1", "2", "1", None],
    "y": [0.5, 1.5, 2.5, 3.5],
}
ASKED = {"structure": ["solute", "solvent"], "with_columns": ["T", "batch"], "target": "y"}


def rows(table=TABLE, **more):
    return datasets.from_table(table, **{**ASKED, **more})


def shown(g):
    return {name: p.smiles if isinstance(p, Graph) else p for name, p in g.parts.items()}


def test_parts():
    data = rows()
    assert list(map(shown, data.graphs)) == [
        {"solute": "CCO", "solvent": "O", "T": 298.5, "batch": "1"},
        {"solute": "c1ccccc1", "solvent": "CC#N.O", "T": 310.0, "batch": "2"},
        {"solute": "CCO", "solvent": None, "T": None, "batch": "1"},
        {"solute": "CC(=O)O", "solvent": "O", "T": 298.0, "batch": None},
    ]
    assert data.target.tolist() == TABLE["y"]
    mixture = data.graphs[1].parts["solvent"]
    assert (mixture.labels, mixture.edges.tolist()) == (["C", "C", "N", "O"], [[0, 1], [1, 2]])
    assert (mixture.parts, mixture.id, mixture.target) == ({}, "", "")
    assert data.graphs[1].n == 10 and data.graphs[1].smiles == "c1ccccc1.CC#N.O"


@pytest.mark.parametrize(
    "same",
    [
        lambda g: unpack(np.frombuffer(pack([g]), np.uint8))[0],
        lambda g: pickle.loads(pickle.dumps(g)),
        copy.copy,
        copy.deepcopy,
        lambda g: as_graphs([g])[0],
        lambda g: g.get_subgraph(g.vertices),
    ],
)
def test_parts_are_kept(same):
    for g in rows().graphs:
        assert shown(same(g)) == shown(g)


def test_batch():
    """Rows and other graphs stand in one batch; the program reads what this package writes."""
    graphs = [*rows().graphs, *as_graphs(["CCN"])]
    data = pack(graphs)
    again = unpack(np.frombuffer(data, np.uint8))
    assert pack(again) == data and again[4].parts == {} and again[4].smiles == "CCN"
    # Kernels of a part are those of the structures alone, so the parts arrive as they are.
    solutes = [g.parts["solute"] for g in graphs[:4]]
    got = TextKernel("wl(solute)").fit_transform(graphs[:4])
    np.testing.assert_array_equal(got, TextKernel("wl").fit_transform(solutes))


def test_values():
    """Values of numbers and categories by their definition; missing ones are like each other alone."""
    graphs = rows().graphs
    categories = TextKernel("labels(batch)").fit_transform(graphs)
    want = [[1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_array_equal(categories, want)
    t = np.array([298.5, 310, 298])
    numbers = TextKernel("gaussian(T)").fit_transform(graphs)
    exact = np.exp(-((t[:, None] - t) ** 2) / (2 * t.var()))
    np.testing.assert_allclose(numbers[np.ix_([0, 1, 3], [0, 1, 3])], exact, rtol=1e-12)
    np.testing.assert_array_equal(numbers[2], [0, 0, 1, 0])


def test_subgraph():
    g = rows().graphs[1]
    h = g.get_subgraph([0, 1, 8])
    assert h.parts["solute"].labels == ["C", "C"] and h.parts["solvent"].labels == ["N"]
    assert (
        h.parts["T"] == 310 and h.parts["solute"].smiles == "" and h.get_subgraph([8]).parts["solute"] is None
    )
    assert WeisfeilerLehman(normalize=True).fit_transform([g, h]).shape == (2, 2)


def test_frames(tmp_path):
    """A DataFrame, a dict and a file are the same rows, whatever the types of the columns."""
    frame = pandas.DataFrame(TABLE)
    frame.to_csv(tmp_path / "t.csv", index=False)
    want = pack(rows().graphs)
    frame["batch"] = pandas.array([1, 2, 1, None], "Int64")
    other = frame.assign(batch=[1.0, 2.0, 1.0, np.nan], T=frame["T"].astype(np.float32))
    for table in (frame, other, other.sort_index(axis=1)):
        assert pack(rows(table).graphs) == want
    assert pack(datasets.load(tmp_path / "t.csv", **ASKED).graphs) == want
    assert datasets.from_table(frame, **ASKED, id="solute").ids[1] == "c1ccccc1"
    kinds = rows(with_columns="T:category, batch:number").graphs[0].parts
    assert kinds["T"] == "298.5" and kinds["batch"] == 1.0


def test_several_targets_and_reactions():
    table = {"rxn": ["CCO>O>CC", "CCN>>CC"], "a": [1, 2], "b": [2, None]}
    data = datasets.from_table(table, structure="rxn", target=["a", "b"])
    np.testing.assert_array_equal(data.target, [[1, 2], [2, np.nan]])
    assert shown(data.graphs[1]) == {"reactants": "CCN", "agents": None, "products": "CC"}


def test_errors():
    bad = dict(TABLE, solvent=["O", "O", "CC(", "O"])
    with pytest.raises(GraphError, match=r"^row 2: solvent: SMILES position 3: branch is not closed"):
        rows(bad)
    left = rows(bad, strict=False)
    assert len(left) == 3 and left.info["skipped"]["first"][0]["line"] == 4
    with pytest.raises(ValueError, match='no column "base" among'):
        rows(structure=["solute", "base"])
    with pytest.raises(GraphError, match=r'^row 1: "warm".* in the column "T"'):
        rows(dict(TABLE, T=[298, "warm", 300, 301]), with_columns="T:number")
    with pytest.raises(ValueError, match=r"lengths \[1, 4\], want one length"):
        rows(dict(TABLE, T=[298]))
    with pytest.raises(TypeError, match="list, want a DataFrame or a dict"):
        rows([["CCO", "O"]])
    with pytest.raises(GraphError, match=r"datasets\.from_table makes graphs of rows"):
        as_graphs(pandas.DataFrame(TABLE))


def test_estimators(mixtures):
    data = datasets.from_table(mixtures, structure="acid,solvent", with_columns="T", target="log_s")
    kernel = "wl(acid) * wl(solvent) * gaussian(T)"
    model = MLGRegressor(kernel, ridge=1e-3).fit(data.graphs, data.target)
    K = TextKernel(kernel).fit_transform(data.graphs)
    assert model.score(data.graphs, data.target) > 0.9 and model.kernel_ == kernel
    np.testing.assert_allclose(model.nearest(data.graphs, 1).similarity, K.max(axis=1)[:, None])
    why = explain.decision(model, data.graphs[0])
    assert why.vertices.shape == (data.graphs[0].n,) and why.picture.svg.startswith("<svg")
    classes = (mixtures["solvent"] == "O").to_numpy()
    clf = MLGClassifier("wl(solvent)").fit(data.graphs, classes)
    np.testing.assert_array_equal(clf.predict(data.graphs), classes)
    np.testing.assert_array_equal(model.predict(["OC(=O)c1ccccc1; O; 323"]), model.predict(data.graphs[1:2]))
    # A table is read as a file of it is: by names, in any order.
    frame = mixtures[["T", "log_s", "solvent", "acid"]]
    np.testing.assert_array_equal(model.predict(frame), model.predict(data.graphs))
    assert model.score(frame, data.target) == model.score(data.graphs, data.target)
    with pytest.raises(GraphError, match=r'^table: no column "T" among "solvent", "acid"'):
        model.predict(frame[["solvent", "acid"]])
    with pytest.raises(GraphError, match="is a table with 4 columns, want one column of graphs or SMILES"):
        MLGRegressor("wl", ridge=0.1).fit(["CC", "CO"], [1, 2]).predict(frame)  # which one is not guessed
    with pytest.raises(ValueError, match="1 part, want 3 with semicolons between them"):
        model.predict(["CCO"])
    with pytest.raises(ValueError, match=r'"T".*which the model compares'):
        datasets.from_table({"acid": ["CC"], "solvent": ["O"]}, like=model)
    with pytest.raises(ValueError, match='part "base"'):
        MLGRegressor("wl(base)").fit(data.graphs, data.target)


def test_like_keeps_kinds():
    """A category of training stays one, though new data have numbers alone."""
    table = dict(TABLE, code=["1", "2", "x", "1"])
    data = rows(table, with_columns="code")
    model = MLGRegressor("wl(solute) * labels(code)", ridge=0.1).fit(data.graphs, data.target)
    new = datasets.from_table({"code": [1, 2], "solvent": ["O", "O"], "solute": ["CC", "CC"]}, like=model)
    assert [g.parts["code"] for g in new.graphs] == ["1", "2"]
