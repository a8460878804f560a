"""What the comparisons with RDKit share: running our reader."""

import json
import os
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))


def build():
    """Builds the command dump and returns its path."""
    path = os.path.join(tempfile.mkdtemp(), "dump")
    subprocess.run(["go", "build", "-o", path, "./dump"], cwd=HERE, check=True)
    return path


def ours(dump, text, *flags):
    """Returns what our reader makes of every line or record."""
    out = subprocess.run([dump, *flags], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in out.stdout.splitlines()]
