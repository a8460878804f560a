"""Runs GraKeL's own tests against this package.

    python python/tests/grakel_suite.py

The tests are in the wheel of GraKeL 0.1.8, the last release that has them. It is downloaded into a
temporary folder, or given as an argument; in the tests only the name of the package is replaced.
Some tests are there only where cvxopt is, so that an empty module stands in for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = ["grakel==0.1.8", "--python-version", "37", "--platform", "manylinux1_x86_64"]

IMPORT = re.compile(r"^(from|import) grakel\b", re.MULTILINE)


def download(folder: Path) -> Path:
    """Return the wheel, in a folder."""
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--only-binary=:all:",
        "-d",
        str(folder),
    ]
    subprocess.run([*command, *WHEEL], check=True)
    return next(folder.glob("*.whl"))


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        wheel = Path(sys.argv[1]) if len(sys.argv) > 1 else download(folder)
        with zipfile.ZipFile(wheel) as archive:
            for path in archive.namelist():
                if path.startswith("grakel/tests/"):
                    archive.extract(path, folder)
        tests = folder / "suite"
        (folder / "grakel" / "tests").rename(tests)
        (tests / "__init__.py").unlink()
        (tests / "cvxopt.py").write_text("")
        for path in tests.glob("test_*.py"):
            path.write_text(IMPORT.sub(r"\1 mlgkernel", path.read_text()))
        options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-rfE", "--continue-on-collection-errors"]
        command = [sys.executable, "-m", "pytest", *options, str(tests)]
        return subprocess.run(command, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
