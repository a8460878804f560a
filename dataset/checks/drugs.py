"""Compares the built-in drugs with RDKit: atoms, bonds and formula of every entry.

Run: python dataset/checks/drugs.py   (needs Go and RDKit)
"""

import csv
import os
import sys

import rdkit
from rdkit import Chem
from rdkit.Chem.rdMolDescriptors import CalcMolFormula

from common import HERE, ours

with open(os.path.join(HERE, "..", "builtin", "drugs.csv")) as f:
    rows = list(csv.DictReader(f))
results = ours("".join(r["smiles"] + "\n" for r in rows))
bad = 0
seen = {}
for row, r in zip(rows, results, strict=True):
    m = Chem.MolFromSmiles(row["smiles"])
    theirs = (m.GetNumAtoms(), m.GetNumBonds(), CalcMolFormula(m))
    mine = (len(r["atoms"]), len(r["bonds"]), r["formula"])
    problems = []
    if mine != theirs:
        problems.append(f"ours {mine}, RDKit {theirs}")
    if row["formula"] != theirs[2]:
        problems.append(f"stated {row['formula']}, RDKit {theirs[2]}")
    key = Chem.MolToSmiles(m)
    if key in seen:
        problems.append(f"same molecule as {seen[key]}")
    seen[key] = row["name"]
    if problems:
        bad += 1
        print(row["name"], "; ".join(problems))
classes = sorted({r["class"] for r in rows})
print(f"RDKit {rdkit.__version__}: {len(rows)} drugs in {len(classes)} classes, {bad} with a difference in atoms, bonds or formula")
sys.exit(bad > 0)
