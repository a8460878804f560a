"""The examples of docstrings work, every estimator is described, and the reference is made of that."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
import runpy

import pytest

import mlgkernel

MODULES = ["mlgkernel", *(m.name for m in pkgutil.walk_packages(mlgkernel.__path__, "mlgkernel."))]
MODULES.remove("mlgkernel.gpytorch")  # needs PyTorch: torch_gp.py has its tests
CLASSES = [c for name in mlgkernel.__all__ if inspect.isclass(c := getattr(mlgkernel, name))]
ESTIMATORS = [c for c in CLASSES if hasattr(c, "fit")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0


@pytest.mark.parametrize("cls", ESTIMATORS)
def test_estimators_are_documented(cls):
    """All parameters are described, and there is an example."""
    doc = inspect.getdoc(cls)
    described = doc.partition("Parameters\n")[2].partition("\n\n")[0]
    missing = [p for p in inspect.signature(cls).parameters if p not in described.replace(",", " ").split()]
    assert not missing
    assert ">>> " in doc
    # Every entry gives a default, or says where it stands. A formula is marked as code.
    entries = re.findall(r"^(\S[^\n]*)\n((?:[ ]+[^\n]*\n?)*)", described.partition("\n")[2], re.MULTILINE)
    assert entries and not [head for head, body in entries if "default" not in head and "As in" not in body]
    assert "``" in doc


@pytest.mark.parametrize(
    "described",
    [
        *(c for c in CLASSES if not issubclass(c, Exception)),
        *(getattr(mlgkernel.explain, name) for name in ("Picture", "Similarity", "Decision", "decisions")),
        *(mlgkernel.splits.Splits, mlgkernel.datasets.Dataset),
    ],
)
def test_there_is_an_example(described):
    assert ">>> " in inspect.getdoc(described)


def test_reference(repository):
    """docs/reference/python-reference.md is what python/reference.py makes of the docstrings."""
    made = runpy.run_path(str(repository / "python" / "reference.py"))["reference"]()
    written = (repository / "docs" / "reference" / "python-reference.md").read_text()
    assert written == made, "run python/reference.py"
