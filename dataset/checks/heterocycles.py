"""Makes 500 aromatic heterocycles, compares our Kekulé structures with RDKit, and writes the facts for
the Go test that needs no RDKit.

Skeletons are rings of five and six atoms, alone and fused. Each place gets an atom at random: carbon with
or without a substituent or an oxygen on a double bond, nitrogen of every kind, oxygen, sulfur, selenium,
charged ones too. RDKit decides which of them exist. A line of the file has the string, the valence of
every atom (bonds and hydrogens) and the number of double bonds.

Run: python dataset/checks/heterocycles.py   (needs Go and RDKit; python/requirements-test.txt has the version)
"""

import os
import random
import sys

import rdkit
from rdkit import Chem, RDLogger

from common import HERE, as_written, kekule, ours, structure

RDLogger.DisableLog("rdApp.*")
COUNT = 500
# A letter is a place: x anywhere in a ring, f where rings meet.
SKELETONS = ["x1xxxx1", "x1xxxxx1", "x1xxf2xxxxf2x1", "x1xxf2xxxf2x1", "x1xf2xxxf2x1", "x1xxf2f(x1)xxxx2", "x1xf2xxxxf2x1", "x1xxf2f(x1)xf1xxxxf1x2",
             "x1xxf2f(x1)xf1xxxf12", "x1xf2f(x1)xxf1xxxf12", "x1xxf(xx1)-f1xxxx1", "x1xxf2f3f(xxf2x1)xxx3"]
PLACES = {
    "x": [("c", 12), ("n", 8), ("[nH]", 3), ("c(C)", 2), ("c(N)", 1), ("c(F)", 1), ("c(=O)", 3), ("c(=S)", 1), ("n(C)", 1), ("o", 2), ("s", 2), ("[se]", 1),
          ("[n+](C)", 1), ("[n+]([O-])", 1), ("[nH+]", 1), ("[n-]", 1), ("[o+]", 1), ("[s+]", 1), ("c(O)", 1), ("c([O-])", 1), ("[cH-]", 1), ("c(=N)", 1)],
    "f": [("c", 12), ("n", 3), ("[n+]", 1)],
}


def heterocycle():
    text = ""
    for c in random.choice(SKELETONS):
        if c not in PLACES:
            text += c
            continue
        atoms, weights = zip(*PLACES[c])
        text += random.choices(atoms, weights)[0]
    # A ring number follows its atom, before what hangs on it.
    for digit in "123":
        for group in ("(C)", "(N)", "(F)", "(=O)", "(=S)", "([O-])", "(O)", "(=N)"):
            text = text.replace(group + digit, digit + group)
    return text


def main():
    random.seed(1)
    strings, seen = [], set()
    while len(strings) < COUNT:
        s = heterocycle()
        m = Chem.MolFromSmiles(s)
        raw = Chem.MolFromSmiles(s, sanitize=False)
        if m is None or not any(a.GetIsAromatic() and a.GetSymbol() != "C" for a in m.GetAtoms()):
            continue
        # Where RDKit finds fewer aromatic bonds than are written, Kekulé structures are different molecules to it.
        if any(a.GetIsAromatic() and not b.GetIsAromatic() for a, b in zip(raw.GetBonds(), m.GetBonds(), strict=True)):
            continue
        key = Chem.MolToSmiles(m)
        if key not in seen:
            seen.add(key)
            strings.append(s)
    bad = 0
    lines = ["# Made by dataset/checks/heterocycles.py: SMILES, valences of the atoms, double bonds.\n"]
    for s, r in zip(strings, ours("".join(x + "\n" for x in strings)), strict=True):
        m = as_written(s)
        if "error" in r or structure(kekule(r)) != structure(m) or Chem.MolToSmiles(as_written(r["smiles"])) != Chem.MolToSmiles(m):
            bad += 1
            print("DIFFERENT", s, r.get("error", r.get("smiles")))
        Chem.Kekulize(m, clearAromaticFlags=True)
        valences = "".join(str(a.GetTotalValence()) for a in m.GetAtoms())
        lines.append(f"{s} {valences} {sum(b.GetBondType() == Chem.BondType.DOUBLE for b in m.GetBonds())}\n")
    with open(os.path.join(HERE, "..", "chem", "testdata", "heterocycles.txt"), "w") as f:
        f.writelines(lines)
    print(f"RDKit {rdkit.__version__}: {len(strings)} aromatic heterocycles: {bad} Kekulé structures differ")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
