"""Compares our SMILES reader with RDKit on strings that RDKit writes, and on damaged ones.

Molecules: the built-in drugs and the example files that come with RDKit. Each is written
in several ways (canonical, random order, kekulised, explicit hydrogens, all bonds). Both
readers keep the order of the atoms in the string, so the graphs are compared atom by atom
and bond by bond, which is stronger than isomorphism. Of our Kekulé structure RDKit has to make
the same aromatic molecule with the same hydrogens and unpaired electrons, and of the string that
we write the same molecule with its stereochemistry. Then characters are changed at
random, and both must reject or accept the same strings.

Run: python dataset/checks/smiles.py   (needs Go and RDKit)
"""

import collections
import csv
import glob
import os
import random
import sys

import rdkit
from rdkit import Chem, RDConfig, RDLogger

from common import HERE, as_written, kekule, ours, structure

RDLogger.DisableLog("rdApp.*")
random.seed(1)
ORDER = {Chem.BondType.SINGLE: "-", Chem.BondType.DOUBLE: "=", Chem.BondType.TRIPLE: "#", Chem.BondType.QUADRUPLE: "$", Chem.BondType.AROMATIC: ":"}


def molecules():
    """Yields molecules of the drugs and of RDKit's examples."""
    with open(os.path.join(HERE, "..", "builtin", "drugs.csv")) as f:
        for r in csv.DictReader(f):
            yield Chem.MolFromSmiles(r["smiles"])
    base = os.path.dirname(rdkit.__file__)
    for path in sorted(glob.glob(base + "/**/*.smi", recursive=True)):
        with open(path, errors="replace") as f:
            for line in f:
                for word in line.replace(",", " ").split():
                    m = Chem.MolFromSmiles(word) if len(word) > 3 else None
                    if m is not None:
                        yield m
    for path in sorted(glob.glob(base + "/**/*.sdf", recursive=True)):
        yield from (m for m in Chem.SDMolSupplier(path) if m is not None)
    path = os.path.join(RDConfig.RDDataDir, "Pains", "test_data", "wehi_mols.csv")
    if os.path.exists(path):
        with open(path) as f:
            for k, r in enumerate(csv.reader(f)):
                if k % 5 == 0 and r:
                    m = Chem.MolFromSmiles(r[-1]) or Chem.MolFromSmiles(r[0])
                    if m is not None:
                        yield m


def ways(m):
    """Yields SMILES strings of a molecule."""
    yield Chem.MolToSmiles(m)
    yield Chem.MolToSmiles(m, canonical=False, doRandom=True)
    yield Chem.MolToSmiles(m, allBondsExplicit=True, canonical=False, doRandom=True)
    yield Chem.MolToSmiles(m, allHsExplicit=True, canonical=False, doRandom=True)
    yield Chem.MolToSmiles(Chem.AddHs(m), canonical=False, doRandom=True)
    k = Chem.Mol(m)
    Chem.Kekulize(k, clearAromaticFlags=True)
    yield Chem.MolToSmiles(k, kekuleSmiles=True, canonical=False, doRandom=True)


def read(s):
    """RDKit's atoms and bonds as written, with the hydrogens, and the charges where it rewrites a group, after its checks; None
    when it refuses the string."""
    p = Chem.SmilesParserParams()
    p.removeHs = False
    p.sanitize = False
    raw = Chem.MolFromSmiles(s, p)
    if raw is None:
        return None
    m = Chem.Mol(raw)
    try:
        Chem.SanitizeMol(m)
    except Exception:
        return None
    Chem.FastFindRings(raw)
    atoms = []
    for a, b in zip(raw.GetAtoms(), m.GetAtoms(), strict=True):
        atoms.append((a.GetSymbol(), b.GetFormalCharge(), b.GetTotalNumHs(), a.GetIsAromatic(), a.GetIsotope()))
    bonds = []
    for b, after in zip(raw.GetBonds(), m.GetBonds(), strict=True):
        order = ORDER[b.GetBondType()]
        if order in "=#" and after.GetBondType() in (Chem.BondType.SINGLE, Chem.BondType.DOUBLE):
            order = ORDER[after.GetBondType()]
        if order == ":" and not b.IsInRing():
            order = "-"
        bonds.append((min(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), max(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), order))
    return atoms, sorted(bonds)


def mine(r):
    atoms = [(a["element"], a["charge"], a["hydrogens"], a["aromatic"], a["isotope"]) for a in r["atoms"] or []]
    bonds = sorted((min(b["a"], b["b"]), max(b["a"], b["b"]), b["order"]) for b in r["bonds"] or [])
    return atoms, bonds


def same(x, y):
    return x == y


def documented(s, want, r):
    """Names the rule by which we follow OpenSMILES and RDKit does not, if one explains a
    difference (docs/explanation/molecules.md)."""
    if want is None and "(." in s:
        return "RDKit has no dot at the beginning of a branch"
    error = r.get("error", "")
    if want is not None and "aromatic but in no ring" in error and "bond" in error:
        return "RDKit takes an aromatic bond outside a ring as single"
    if want is not None and "opens with bond" in error:
        return "RDKit lets a ring close with another bond than it opens with"
    if want is None:
        return None
    ringed = {x for a, b, order in want[1] if order == ":" for x in (a, b)}
    if "no alternation" in error and any(a[3] and i not in ringed for i, a in enumerate(want[0])):
        return "RDKit ignores that an atom is aromatic when no bond of it is"
    if "error" not in r and want[1] == mine(r)[1]:
        different = [(i, p) for i, (p, q) in enumerate(zip(want[0], mine(r)[0])) if not same(([p], []), ([q], []))]
        if all(p[3] and i not in ringed for i, p in different):
            return "RDKit ignores that an atom is aromatic when no bond of it is"
    return None


def damage(s):
    """Changes one or two characters."""
    s = list(s)
    for _ in range(random.choice((1, 1, 2))):
        i = random.randrange(len(s))
        kind = random.randrange(4)
        c = random.choice("CNOSPFIBcnosp()[]=#$:-+123456%@/\\.HlraeX*")
        if kind == 0 and len(s) > 1:
            del s[i]
        elif kind == 1:
            s.insert(i, c)
        elif kind == 2:
            s[i] = c
        else:
            j = random.randrange(len(s))
            s[i], s[j] = s[j], s[i]
    return "".join(s)


def main():
    strings, base = [], set()
    for m in molecules():
        key = Chem.MolToSmiles(m)
        if key in base or not key:
            continue
        base.add(key)
        strings += ways(m)
    strings = sorted(s for s in set(strings) if "->" not in s and "<-" not in s)  # RDKit's own symbols for dative bonds
    bad, again = 0, collections.Counter()
    for s, r in zip(strings, ours("".join(x + "\n" for x in strings)), strict=True):
        want = read(s)
        if want is None:
            continue
        if "error" in r or not same(want, mine(r)):
            bad += 1
            if bad <= 20:
                print("DIFFERENT", s, r.get("error", ""))
                if "error" not in r:
                    a, b = want, mine(r)
                    print("  ", [(p, q) for p, q in zip(a[0], b[0]) if p != q][:3], sorted(set(a[1]) ^ set(b[1]))[:4])
            continue
        theirs = as_written(s)
        for what, wrong in (("Kekulé structures", structure(kekule(r)) != structure(theirs)),
                            ("strings that we write", Chem.MolToSmiles(as_written(r["smiles"])) != Chem.MolToSmiles(theirs))):
            again[what] += wrong
            if wrong and again[what] <= 20:
                print("DIFFERENT", what, s, r["smiles"])
    print(f"RDKit {rdkit.__version__}: {len(base)} molecules, {len(strings)} strings that RDKit writes: {bad} differ")
    print(f"  of these {again['Kekulé structures']} Kekulé structures and {again['strings that we write']} strings that we write are other molecules")

    damaged = sorted({damage(random.choice(strings)) for _ in range(20000)})
    counts = collections.Counter()
    examples = collections.defaultdict(list)
    for s, r in zip(damaged, ours("".join(x + "\n" for x in damaged)), strict=True):
        want = read(s)
        reject = "error" in r
        agree = reject if want is None else not reject and same(want, mine(r))
        why = None if agree else documented(s, want, r)
        if why:
            counts["documented: " + why] += 1
            continue
        if want is None and reject:
            counts["both reject"] += 1
        elif want is None:
            counts["only RDKit rejects"] += 1
            examples["only RDKit rejects"].append((s, ""))
        elif reject:
            counts["only we reject"] += 1
            examples["only we reject"].append((s, r["error"]))
        elif same(want, mine(r)):
            counts["both accept, same graph"] += 1
        else:
            counts["both accept, different graphs"] += 1
            examples["both accept, different graphs"].append((s, str([(p, q) for p, q in zip(want[0], mine(r)[0]) if p != q][:2]) + str(sorted(set(want[1]) ^ set(mine(r)[1]))[:3])))
    print(f"{len(damaged)} damaged strings:")
    for k, n in counts.most_common():
        print(f"  {n:6} {k}")
    for k, list_ in examples.items():
        print(f"{k}: the shortest of {len(list_)}")
        for s, why in sorted(list_, key=lambda x: len(x[0]))[:12]:
            print("  ", s, why)
    sys.exit(bad > 0 or any(again.values()) or counts["both accept, different graphs"] > 0)


if __name__ == "__main__":
    main()
