"""What the comparisons with RDKit share: running our reader."""

import json
import os
import subprocess
import tempfile

from rdkit import Chem

HERE = os.path.dirname(os.path.abspath(__file__))


def ours(text, ending=".smi"):
    """Returns what our reader makes of every line or, with the ending .sdf, every record."""
    table = Chem.GetPeriodicTable()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "in" + ending)
        with open(path, "w") as f:
            f.write(text)
        subprocess.run(["go", "test", "-count=1", "-run", "^TestDump$", "."], cwd=os.path.join(HERE, "..", "chem"),
                       env={**os.environ, "MLG_DUMP": path}, check=True, stdout=subprocess.DEVNULL)
        with open(path + ".json") as f:
            results = [json.loads(line) for line in f]
    for r in results:
        r["atoms"] = [{k.lower(): v for k, v in a.items()} for a in r.get("atoms") or []]
        for a in r["atoms"]:
            a["element"] = table.GetElementSymbol(a["element"]) if a["element"] else "*"
        r["bonds"] = [{"a": b["A"], "b": b["B"], "order": "-=#$:"[b["Order"] - 1]} for b in r.get("bonds") or []]
    return results
