"""Tables as they come: several targets, missing values, rows that cannot be read."""

import numpy as np
import pytest

from mlgkernel import datasets

TABLE = """NR-AR,SR-p53,mol_id,smiles
0,,a,CCO
,1,b,CCN
1,0,c,CC(
0,1,d,[Na+].CC(=O)[O-]
"""


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "tox.csv"
    file.write_text(TABLE)
    return file


def test_several_targets(path):
    d = datasets.load(path)
    assert d.ids == ["a", "b", "d"]
    np.testing.assert_array_equal(d.target, [[0, np.nan], [np.nan, 1], [0, 1]])
    assert d.columns["smiles"] == ["CCO", "CCN", "[Na+].CC(=O)[O-]"]
    assert d.info["skipped"] == {
        "count": 1,
        "first": [{"line": 4, "reason": "SMILES position 3: branch is not closed"}],
    }
    assert [c["role"] for c in d.info["columns"]] == ["target", "target", "id", "structure"]


def test_one_target(path):
    d = datasets.load(path, target=["SR-p53"])
    np.testing.assert_array_equal(d.target, [np.nan, 1, 1])
    assert datasets.load(path, target="NR-AR,SR-p53").target.shape == (3, 2)


def test_options(path):
    with pytest.raises(ValueError, match=r"tox\.csv:4: SMILES position 3"):
        datasets.load(path, strict=True)
    assert datasets.load(path, largest_fragment=True).graphs[2].n == 4
