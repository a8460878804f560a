"""What an installed wheel must do, with nothing else on the path: no Go, no checkout, no pytest."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import mlgkernel
from mlgkernel import MLGClassifier, MultiscaleLaplacian, ShortestPath, _engine

assert shutil.which("go") is None, "go is on the path"
package = Path(mlgkernel.__file__).resolve().parent
assert "site-packages" in package.parts, package
assert _engine.binary().is_relative_to(package), _engine.binary()
assert [p.name for p in (package / "bin").iterdir()] == [_engine.binary().name]
assert (package / "py.typed").exists()
command = Path(sys.executable).with_name("mlg")


def said(*args: str) -> str:
    return subprocess.run([command, *args], check=True, capture_output=True, text=True).stdout


assert "234" in said("info", "builtin:drugs")
assert said("version").startswith(f"mlg {mlgkernel.__version__} ("), said("version")
drugs = mlgkernel.datasets.load("builtin:drugs")
assert MultiscaleLaplacian().fit_transform(drugs.graphs).shape == (234, 234)
assert ShortestPath().fit_transform(["CCO"]).tolist() == [[8]]  # 2² for C-C, 1 for each of 4 others
assert MLGClassifier(C=100).fit(drugs.graphs, drugs.target).score(drugs.graphs, drugs.target) > 0.9
print(f"mlgkernel {mlgkernel.__version__} works as a wheel")
