"""What several tests use: the repository around this folder, data, and checks of what is left."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import mlgkernel
from mlgkernel import _engine

ROOT = Path(__file__).resolve().parents[2]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that is skipped fails where CI=true: there everything is tested."""
    report = (yield).get_result()
    if report.skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"not tested: {report.longrepr[2]}"


@pytest.fixture(scope="session")
def drugs():
    return mlgkernel.datasets.load("builtin:drugs")


@pytest.fixture
def mixtures():
    """A table with two structures and a number in each row."""
    import pandas  # the environment of GPyTorch has none

    acids = ["OC(=O)c1ccccc1", "OC(=O)c1ccccc1O", "OC(=O)CCC(=O)O", "OC(=O)CCCCC(=O)O", "OC(=O)Cc1ccccc1"]
    rows = [(a, s, t) for a in acids for s in ("O", "CCO") for t in (298, 323)]
    table = pandas.DataFrame(rows, columns=["acid", "solvent", "T"])
    table["log_s"] = [len(a) / 10 - len(s) + (t - 300) / 100 + i % 3 / 10 for i, (a, s, t) in enumerate(rows)]
    return table


@pytest.fixture(scope="session")
def repository():
    if not (ROOT / "go.mod").exists():
        pytest.skip("the repository is not around these tests")
    return ROOT


@pytest.fixture(scope="session")
def golden(repository):
    def read(path: str):
        return json.loads((repository / path).read_text())

    return read


@pytest.fixture(scope="session")
def tudatasets():
    folder = Path(os.environ.get("MLG_DATASETS", ROOT.parent / "shared" / "datasets"))
    if not (folder / "MUTAG").exists():
        pytest.skip(f"no datasets in {folder} (MLG_DATASETS)")
    return folder


@pytest.fixture(autouse=True, scope="session")
def nothing_left():
    """After all tests, no folder of a worker of this process is left."""
    yield
    mlgkernel.stop_worker()
    assert not [path for path in _seen if os.path.exists(path)]


_seen: set[str] = set()
_start = _engine.Worker.__init__


def _noting(self):
    _start(self)
    _seen.add(self.dir)


_engine.Worker.__init__ = _noting


# Graphs of GraKeL's introduction.
H2O = [[[0, 1, 1], [1, 0, 0], [1, 0, 0]], {0: "O", 1: "H", 2: "H"}]
H3O = [[[0, 1, 1, 1], [1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]], {0: "O", 1: "H", 2: "H", 3: "H"}]


@pytest.fixture
def molecules():
    return [H2O, H3O]
