"""Compares our stereodescriptors with those of RDKit's new CIP labels.

Molecules: all strings of the tables in the folder $MLG_TABLES, default ../shared/tables beside the
repository, or those of the files that are given. Of each string the descriptors of all atoms and double
bonds are compared. Prints the share that agrees, and examples of what does not. With --sdf RDKit draws the
molecules, and we read its connection tables, V2000 and V3000 in turn.

Run: python dataset/checks/stereo.py [--sdf] [FILE…]   (needs Go and RDKit)
"""

import collections
import csv
import glob
import os
import sys

from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem, rdCIPLabeler

from common import HERE, as_written, ours

RDLogger.DisableLog("rdApp.*")
TABLES = os.environ.get("MLG_TABLES", os.path.join(HERE, "..", "..", "..", "shared", "tables"))
COLUMNS = ("smiles", "ligand", "additive", "base", "aryl halide", "cation", "anion")


def strings():
    """Returns the different strings."""
    out = {}
    for path in [a for a in sys.argv[1:] if a != "--sdf"] or sorted(glob.glob(os.path.join(TABLES, "*.csv"))):
        with open(path) as f:
            for row in csv.DictReader(f):
                out.update((row[c], None) for c in COLUMNS if row.get(c))
    return list(out)


SDF = "--sdf" in sys.argv


def drawn(s):
    """Returns the molecule of a string with places in the plane, None if RDKit cannot read it."""
    m = Chem.MolFromSmiles(s)
    if m is not None:
        AllChem.Compute2DCoords(m)
    return m


def records(some):
    """Returns the strings that RDKit reads, and their connection tables."""
    kept = [(s, m) for s, m in ((s, drawn(s)) for s in some) if m is not None]
    texts = [Chem.MolToMolBlock(m, forceV3000=i % 2 == 1) + "$$$$\n" for i, (_, m) in enumerate(kept)]
    return [s for s, _ in kept], "".join(texts)


def theirs(s):
    """Returns RDKit's descriptors by atom and by pair of atoms, and which atoms and bonds may have one."""
    m = drawn(s) if SDF else as_written(s)
    if m is None:
        return None
    try:
        rdCIPLabeler.AssignCIPLabels(m, maxRecursiveIterations=2_000_000)
    except RuntimeError:
        return None
    found, possible = {}, set()
    for a in m.GetAtoms():
        if a.HasProp("_CIPCode"):
            found[a.GetIdx()] = a.GetProp("_CIPCode")
    for b in m.GetBonds():
        if b.HasProp("_CIPCode"):
            found[tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx())))] = b.GetProp("_CIPCode")
    for e in Chem.FindPotentialStereo(m):
        if e.specified == Chem.StereoSpecified.Unspecified:
            b = m.GetBondWithIdx(e.centeredOn) if e.type == Chem.StereoType.Bond_Double else None
            possible.add(tuple(sorted((b.GetBeginAtomIdx(), b.GetEndAtomIdx()))) if b else e.centeredOn)
    return found, possible


def place(r, k):
    """Returns what is at an atom or between a pair of atoms of ours."""
    if not isinstance(k, tuple):
        return r["atoms"][k]["element"]
    text = [a["element"] + ("H" if a["hydrogens"] else "") for a in (r["atoms"][i] for i in k)]
    return "=".join(sorted(text))


def main():
    some = strings()
    kinds, examples, differing = collections.Counter(), collections.defaultdict(list), set()
    compared = 0
    text, ending = "".join(s + "\n" for s in some), ".smi"
    if SDF:
        some, text = records(some)
        ending = ".sdf"
    for s, r in zip(some, ours(text, ending), strict=True):
        t = theirs(s)
        if t is None or "error" in r:
            kind = f"strings left out: {r.get('error', 'RDKit gives up')}"
            kinds[kind] += 1
            examples[kind].append(("", s))
            continue
        compared += 1
        a = {i: d for i, d in enumerate(r["atom_descriptors"]) if d}
        for b, d in zip(r["bonds"], r["bond_descriptors"], strict=True):
            if d:
                a[tuple(sorted((b["a"], b["b"])))] = d
        found, possible = t
        for k in sorted({*a, *found}, key=str):
            x, y = a.get(k, ""), found.get(k, "")
            if x == "?" and not y:
                kind = "both unspecified" if k in possible else "unspecified, not stereogenic to RDKit"
            elif x == y:
                kind = "both " + x
            else:
                kind = f"{x or 'none'} here, {y or 'none'} there"
                differing.add(s)
            kinds[kind] += 1
            if len(examples[kind]) < 8:
                examples[kind].append((k, s))
        for k in possible - a.keys():
            kind = "unspecified to RDKit alone: " + place(r, k)
            kinds[kind] += 1
            if len(examples[kind]) < 8:
                examples[kind].append((k, s))
    print(f"{len(some)} strings, {compared} compared, {len(differing)} with another descriptor")
    for kind, n in kinds.most_common():
        print(f"{n:7d}  {kind}")
        if not kind.startswith("both"):
            for k, s in examples[kind]:
                print("        ", k, s)


main()
