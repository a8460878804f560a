#!/usr/bin/env python3
"""At most so many different molecules of a table.

python3 sample.py TABLE TARGET NUMBER > sample.csv

Rows that RDKit cannot read or that have no value are left out, and of molecules that it writes alike the
first one stays. Rows are drawn by seed 0.
"""

import csv
import random
import sys

from rdkit import Chem, RDLogger

RDLogger.DisableLog("rdApp.*")
table, target, number = sys.argv[1:]
kept = {}
with open(table) as f:
    for row in csv.DictReader(f):
        molecule = Chem.MolFromSmiles(row["smiles"])
        if molecule is not None and row[target] != "":
            kept.setdefault(Chem.MolToSmiles(molecule), (row["smiles"], row[target]))
rows = list(kept.values())
random.Random(0).shuffle(rows)
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerows([("smiles", target), *rows[: int(number)]])
