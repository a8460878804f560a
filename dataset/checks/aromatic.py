"""Aromatic atoms and bonds must be those that RDKit finds, in strings with aromatic and with alternating bonds.

Molecules: those of smiles.py, heterocycles as heterocycles.py makes them, and large systems of fused rings in which atoms are
exchanged, charged, saturated or given a double bond outwards at random. Each is read as RDKit writes it and as a Kekulé structure.

Run: python dataset/checks/aromatic.py   (needs Go and RDKit)
"""

import collections
import random
import sys

import rdkit
from rdkit import Chem, RDLogger

from common import as_written, ours
from heterocycles import heterocycle
from smiles import molecules

RDLogger.DisableLog("rdApp.*")
# acenaphthylene, pyrene, fluoranthene, corannulene, coronene, porphin, pentalene, heptalene, indacene, azulenes, chrysene,
# pentacene, triphenylene, perylene, carbazole, benzophenazine, porphyrazine, ketones, indolizines, and a few with CH2
SYSTEMS = """C1=CC2=CC=CC3=C2C1=CC=C3 c1cc2ccc3cccc4ccc(c1)c2c34 c1ccc2c(c1)-c1cccc3cccc-2c13 c1cc2ccc3ccc4ccc5ccc1c1c2c3c4c51
c1cc2ccc3ccc4ccc5ccc6ccc1c1c2c3c4c5c61 C1=CC2=CC3=CC=C(N3)C=C3C=CC(=N3)C=C3C=CC(=CC1=N2)N3 C1=CC2=CC=CC2=C1
C1=CC=C2C=CC=CC=C2C=C1 C1=CC2=CC3=CC=CC3=CC2=C1 C1=CC2=CC=C3C=CC=C3C=C2C=C1 c1ccc2c(c1)ccc1c2ccc2ccccc12
c1ccc2cc3cc4cc5ccccc5cc4cc3cc2c1 c1ccc2c(c1)c1ccccc1c1ccccc21 c1cc2cccc3c4cccc5cccc(c(c1)c23)c54 c1ccc2[nH]c3ccccc3c2c1
c1ccc2c(c1)nc1ccc3ccccc3c1n2 C1=CC2=NC1=NC1=NC(=NC3=NC(=NC4=NC(=N2)C=C4)C=C3)C=C1 O=C1C=CC2=C3C1=CC=CC3=CC=C2
O=C1c2ccccc2C(=O)c2c1ccc1ccccc21 C1=CC2=CC=CN2C=C1 C1=CN2C=CN3C=CC=C3C2=C1 c1ccc2c(c1)c1cccc3c1n2cc3
C1CC2=CC=CC3=C2C1=CC=C3 C1=CC2CC3=CC=CC3=CC2=C1""".split()
HETEROCYCLES, CHANGES = 20000, 600


def changed(m):
    """Returns a fused system with some atoms and bonds exchanged, as a Kekulé string."""
    r = Chem.RWMol(m)
    for a in r.GetAtoms():
        if random.random() < 0.12:
            a.SetAtomicNum(random.choice([7, 7, 7, 8, 16]))
            a.SetNumExplicitHs(0)
            a.SetNoImplicit(False)
        elif random.random() < 0.03:
            a.SetFormalCharge(random.choice([1, -1]))
    for b in r.GetBonds():
        if b.GetBondType() == Chem.BondType.DOUBLE and random.random() < 0.08:
            b.SetBondType(Chem.BondType.SINGLE)
    for a in list(r.GetAtoms()):
        single = all(b.GetBondType() == Chem.BondType.SINGLE for b in a.GetBonds())
        if a.GetAtomicNum() == 6 and a.GetDegree() == 2 and single and random.random() < 0.2:
            r.AddBond(a.GetIdx(), r.AddAtom(Chem.Atom(random.choice([8, 16, 7, 6]))), Chem.BondType.DOUBLE)
    return Chem.MolToSmiles(r, kekuleSmiles=True)


def strings():
    """Returns the canonical strings of all molecules, by where they come from."""
    out = {"RDKit's examples and drugs": {Chem.MolToSmiles(m) for m in molecules()}, "heterocycles": set(), "fused systems": set()}
    while len(out["heterocycles"]) < HETEROCYCLES:
        m = Chem.MolFromSmiles(heterocycle())
        if m is not None:
            out["heterocycles"].add(Chem.MolToSmiles(m))
    for s in SYSTEMS:
        kekule = Chem.MolFromSmiles(s)
        Chem.Kekulize(kekule, clearAromaticFlags=True)
        made = (Chem.MolFromSmiles(changed(kekule)) for _ in range(CHANGES))
        out["fused systems"].update(Chem.MolToSmiles(m) for m in made if m is not None)
    return out


def main():
    random.seed(1)
    bad = 0
    for name, texts in strings().items():
        both = []
        for s in sorted(t for t in texts if "->" not in t and "<-" not in t):  # RDKit's own symbols for dative bonds
            m = Chem.MolFromSmiles(s)
            Chem.Kekulize(m, clearAromaticFlags=True)
            both += [s, Chem.MolToSmiles(m, kekuleSmiles=True)]
        count = collections.Counter()
        for s, r in zip(both, ours("".join(x + "\n" for x in both)), strict=True):
            m = as_written(s)
            want = {frozenset((b.GetBeginAtomIdx(), b.GetEndAtomIdx())): b.GetIsAromatic() for b in m.GetBonds()}
            got = {frozenset((b["a"], b["b"])): x for b, x in zip(r["bonds"], r.get("aromatic_bonds") or [])}
            same = "error" not in r and want == got and [a.GetIsAromatic() for a in m.GetAtoms()] == r["aromatic_atoms"]
            count[same] += 1
            if not same and count[same] <= 20:
                print("DIFFERENT", s, r.get("error", ""))
        bad += count[False]
        print(f"RDKit {rdkit.__version__}, {name}: {len(both)} strings, aromatic and Kekulé: {count[False]} differ")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
