"""Splits: scaffolds, and files that the command and Python share."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit, cross_val_score

import mlgkernel
from mlgkernel import _engine
from mlgkernel.splits import Splits, scaffolds


def test_scaffolds():
    got = scaffolds(["CCO", "Cc1ccccc1", "c1ccccc1O", "C1CCCCC1", "CC", "O=C1CCCCC1"])
    assert got.tolist() == [0, 1, 1, 2, 0, 3]
    with pytest.raises(ValueError, match="has no scaffold"):
        scaffolds([mlgkernel.Graph([(0, 1)], {0: "no", 1: "atom"})])


def test_scikit_learn(drugs):
    x, y = drugs.graphs, drugs.target
    groups = scaffolds(x)
    s = Splits.of(GroupKFold(4).split(x, y, groups), len(x))
    assert s.get_n_splits() == 4 and not s.forward
    for train, test in s.split(x):
        assert not set(groups[train]) & set(groups[test])
    scores = cross_val_score(mlgkernel.MLGClassifier(C=10), x, y, cv=s)
    assert len(scores) == 4 and scores.mean() > 0.5


def test_of():
    s = Splits.of(list(KFold(3).split(range(9))) + list(KFold(3, shuffle=True).split(range(9))), 9)
    assert s.fold.shape == (2, 9) and s.fold[0].tolist() == [0] * 3 + [1] * 3 + [2] * 3
    t = Splits.of(TimeSeriesSplit(3).split(range(8)), 8)
    assert t.forward and t.fold.tolist() == [[-1, -1, 0, 0, 1, 1, 2, 2]]
    assert [a.tolist() for a, _ in t.split()] == [[0, 1], [0, 1, 2, 3], [0, 1, 2, 3, 4, 5]]
    with pytest.raises(ValueError, match="pairs: want each fold trained"):
        Splits.of([([0], [1]), ([1], [2])], 4)
    with pytest.raises(ValueError, match="X has 3 graphs, but the splits are of 8"):
        list(t.split(range(3)))


def run(*args, cwd):
    command = [str(_engine.binary()), "--json", "--quiet", "evaluate", "builtin:drugs", *args]
    out = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    return json.loads(out.stdout)


def test_same_file_in_command_and_python(drugs, tmp_path):
    """The command's folds are read here; those written here give the same figures there."""
    flags = ["--kernel", "wl", "--folds", "4", "--repeats", "2"]
    there = run(*flags, "--split", "scaffold", "--save-splits", "s.json", cwd=tmp_path)
    s = Splits.read(tmp_path / "s.json", drugs.ids)
    groups = scaffolds(drugs.graphs)
    assert s.fold.shape == (2, len(drugs)) and s.grouped and s.scheme == "by scaffold"
    for train, test in s.split(drugs.graphs):
        assert not set(groups[train]) & set(groups[test])
    s.write(tmp_path / "again.json", drugs.ids)
    again = run("--kernel", "wl", "--split", "again.json", cwd=tmp_path)
    assert [r["fold_scores"] for r in again["results"]] == [r["fold_scores"] for r in there["results"]]
    with pytest.raises(ValueError, match="for other graphs"):
        Splits.read(tmp_path / "s.json", drugs.ids[1:])
    (tmp_path / "bad.json").write_text('{"folds": 2}')
    with pytest.raises(ValueError, match="is no file of splits"):
        Splits.read(tmp_path / "bad.json")
    assert np.array_equal(Splits.read(tmp_path / "again.json").fold, s.fold)
