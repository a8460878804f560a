"""What the comparisons with RDKit share: running our reader."""

import json
import os
import subprocess
import tempfile

from rdkit import Chem

HERE = os.path.dirname(os.path.abspath(__file__))


def build():
    """Builds the command dump and returns its path."""
    path = os.path.join(tempfile.mkdtemp(), "dump")
    subprocess.run(["go", "build", "-o", path, "./dump"], cwd=HERE, check=True)
    return path


def ours(dump, text, *flags):
    """Returns what our reader makes of every line or record."""
    out = subprocess.run([dump, *flags], input=text.encode(), stdout=subprocess.PIPE, check=True)
    results = [json.loads(line) for line in out.stdout.splitlines()]
    table = Chem.GetPeriodicTable()
    for r in results:
        r["atoms"] = [{k.lower(): v for k, v in a.items()} for a in r["atoms"] or []]
        for a in r["atoms"]:
            a["element"] = table.GetElementSymbol(a["element"]) if a["element"] else "*"
        r["bonds"] = [{"a": b["A"], "b": b["B"], "order": "-=#$:"[b["Order"] - 1], "kekule": k} for b, k in zip(r["bonds"] or [], r["kekule"], strict=True)]
    return results
