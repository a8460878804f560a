"""Runs GraKeL's own tests against this package.

    python python/tests/grakel_suite.py

The tests are in the wheel of GraKeL 0.1.8, the last release that has them. It is downloaded into a
temporary folder, or given as an argument; in the tests only the name of the package is replaced.
A name that this package does not have fails the tests that use it, not the whole file. Some tests
are there only where cvxopt is, so that an empty module stands in for it.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = ["grakel==0.1.8", "--python-version", "37", "--platform", "manylinux1_x86_64"]

# One import on a line, as the tests have them.
IMPORT = re.compile(r"^from grakel(\S*) import (\w+)$", re.MULTILINE)

# What stands in for a name that is missing.
ABSENT = """def absent(name):
    def use(*args, **kwargs):
        raise ImportError(f"mlgkernel has no {name}")

    return use
"""


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


def replace(text: str) -> str:
    """Return a test with this package in place of GraKeL."""

    def line(found: re.Match[str]) -> str:
        module, name = found.groups()
        statement = f"from mlgkernel{module} import {name}"
        missing = f"from absent import absent\n    {name} = absent({name!r})"
        return f"try:\n    {statement}\nexcept ImportError:\n    {missing}"

    return IMPORT.sub(line, text)


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
        (tests / "absent.py").write_text(ABSENT)
        (tests / "cvxopt.py").write_text("")
        for path in tests.glob("test_*.py"):
            path.write_text(replace(path.read_text()))
        options = ["-q", "--tb=line", "-p", "no:cacheprovider", "-rfE", "--continue-on-collection-errors"]
        command = [sys.executable, "-m", "pytest", *options, str(tests)]
        return subprocess.run(command, cwd=folder).returncode


if __name__ == "__main__":
    sys.exit(main())
