"""The command mlg: the Go program in the package, started without importing what the package needs."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path


def main() -> None:
    """Become the program, with the arguments of this process."""
    spec = find_spec("mlgkernel")
    if spec is None or spec.origin is None:
        raise SystemExit("mlg: the package mlgkernel is not installed")
    name = "mlg.exe" if sys.platform == "win32" else "mlg"
    program = os.environ.get("MLG_BINARY") or str(Path(spec.origin).with_name("bin") / name)
    command = [program, *sys.argv[1:]]
    if sys.platform == "win32":
        raise SystemExit(subprocess.call(command))
    os.execv(program, command)
