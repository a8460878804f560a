"""Molecules with aromatic and with alternating bonds must become the same graphs.

    python aromatic.py MLG FILE.csv ... > docs/checks/aromatic.log

Every FILE has a column smiles. RDKit writes each molecule twice, with aromatic and with Kekulé bonds, and
`mlg convert` reads both. Molecules differ here if the numbers of bonds of each order do; they go to standard error.
"""

import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from rdkit import Chem, RDLogger, rdBase

RDLogger.DisableLog("rdApp.*")


def strings(paths):
    """Return aromatic and Kekulé strings of all molecules that RDKit reads."""
    smiles = {row["smiles"] for path in paths for row in csv.DictReader(open(path))}
    out = []
    for text in sorted(smiles):
        mol = Chem.MolFromSmiles(text)
        if mol is None:
            continue
        aromatic = Chem.MolToSmiles(mol, isomericSmiles=False)
        mol = Chem.MolFromSmiles(aromatic)
        if mol is not None:
            Chem.Kekulize(mol, clearAromaticFlags=True)
            out.append((aromatic, Chem.MolToSmiles(mol, kekuleSmiles=True, isomericSmiles=False)))
    return out


def bonds(mlg, texts):
    """Return the numbers of bonds of each order, by position; molecules that are not read are missing."""
    with tempfile.TemporaryDirectory() as folder:
        smi, jsonl = pathlib.Path(folder, "in.smi"), pathlib.Path(folder, "out.jsonl")
        smi.write_text("".join(f"{text} {i}\n" for i, text in enumerate(texts)))
        subprocess.run([mlg, "convert", smi, jsonl, "--quiet"], check=True)
        graphs = map(json.loads, jsonl.open())
        return {int(g["id"]): collections.Counter(g.get("edge_labels", [])) for g in graphs}


def main(mlg, *paths):
    pairs = strings(paths)
    aromatic, kekule = (bonds(mlg, [pair[i] for pair in pairs]) for i in (0, 1))
    both = sorted(aromatic.keys() & kekule.keys())
    differ = [i for i in both if aromatic[i] != kekule[i]]
    print(f"RDKit {rdBase.rdkitVersion}: {len(both)} molecules, {len(differ)} differ")
    for i in differ:
        print(*pairs[i], sep="\t", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
