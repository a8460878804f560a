"""Compares our MOL reader with RDKit on the SDF files that come with RDKit and on V2000
and V3000 tables that RDKit writes for the built-in drugs: atoms, charges, isotopes,
hydrogens and bonds; and stereochemistry, from wedges or from places in space.

Run: python dataset/checks/sdf.py   (needs Go and RDKit)
"""

import csv
import glob
import os
import sys

import rdkit
from rdkit import Chem, RDLogger
from rdkit.Chem import AllChem
from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions

from common import HERE, ours

RDLogger.DisableLog("rdApp.*")
ORDER = {Chem.BondType.SINGLE: "-", Chem.BondType.DOUBLE: "=", Chem.BondType.TRIPLE: "#", Chem.BondType.AROMATIC: ":", Chem.BondType.DATIVE: "-"}


def table(m):
    atoms = [(a.GetSymbol(), a.GetFormalCharge(), a.GetIsotope(), a.GetTotalNumHs()) for a in m.GetAtoms()]
    return atoms, sorted((min(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), max(b.GetBeginAtomIdx(), b.GetEndAtomIdx()), ORDER[b.GetBondType()]) for b in m.GetBonds())


def records():
    """Yields name and text of connection tables."""
    for path in sorted(glob.glob(os.path.dirname(rdkit.__file__) + "/**/*.sdf", recursive=True)):
        with open(path, errors="replace") as f:
            for k, text in enumerate(f.read().split("$$$$\n")):
                if text.strip():
                    yield f"{os.path.basename(path)} {k + 1}", text
    with open(os.path.join(HERE, "..", "builtin", "drugs.csv")) as f:
        for r in csv.DictReader(f):
            m = Chem.MolFromSmiles(r["smiles"])
            yield r["name"] + " V2000", Chem.MolToMolBlock(m)
            yield r["name"] + " V3000", Chem.MolToV3KMolBlock(m)
            yield r["name"] + " V3000 with hydrogens", Chem.MolToV3KMolBlock(Chem.AddHs(m))
            for m in EnumerateStereoisomers(m, StereoEnumerationOptions(maxIsomers=2, rand=1)):
                yield r["name"] + " V2000 with wedges", Chem.MolToMolBlock(m)
                yield r["name"] + " V3000 with wedges", Chem.MolToV3KMolBlock(m)
                m = Chem.AddHs(m)
                if AllChem.EmbedMolecule(m, randomSeed=1, maxAttempts=3) == 0:
                    yield r["name"] + " in space", Chem.MolToMolBlock(m)
    for s in ["C[N+](C)(C)C.[Cl-]", "[13CH3][OH]", "[CH3]", "[O-]S(=O)(=O)[O-].[Na+].[Na+]", "[Fe+2]", "C[Si](C)(C)C", "OB(O)c1ccccc1", "CP(C)(C)=O", "[2H]C", "[CH2-][N+]#N", "[nH]1cccc1"]:
        m = Chem.MolFromSmiles(s)
        yield s + " V2000", Chem.MolToMolBlock(m)
        yield s + " V3000", Chem.MolToV3KMolBlock(m)


def stereo(m, sides):
    """Returns the canonical SMILES of a molecule with its chirality, nitrogen left out, and perhaps the sides of
    its double bonds."""
    m = Chem.RemoveHs(m)
    for a in m.GetAtoms():
        if a.GetSymbol() == "N" and a.GetDegree() == 3:
            a.SetChiralTag(Chem.ChiralType.CHI_UNSPECIFIED)
    for b in m.GetBonds():
        b.SetBondDir(Chem.BondDir.NONE)
        if not sides:
            b.SetStereo(Chem.BondStereo.STEREONONE)
    Chem.AssignStereochemistry(m, cleanIt=not sides, force=not sides)
    return Chem.MolToSmiles(m)


def main():
    names, texts, wants = [], [], []
    centres, doubles, wrong = [0, 0], 0, 0
    for name, text in records():
        m = Chem.MolFromMolBlock(text, sanitize=False, removeHs=False)
        if m is None:
            continue
        try:
            checked = Chem.Mol(m)
            Chem.SanitizeMol(checked, Chem.SanitizeFlags.SANITIZE_PROPERTIES)
            want = table(checked)
        except Exception:
            continue
        names.append(name)
        texts.append(text if text.endswith("\n") else text + "\n")
        wants.append(want)
    results = ours("".join(t + "$$$$\n" for t in texts), ".sdf")
    bad = 0
    for name, want, r in zip(names, wants, results, strict=True):
        atoms = [(a["element"], a["charge"], a["isotope"], a["hydrogens"]) for a in r["atoms"] or []]
        bonds = sorted((min(b["a"], b["b"]), max(b["a"], b["b"]), b["order"]) for b in r["bonds"] or [])
        if "error" in r or (atoms, bonds) != want:
            bad += 1
            if bad <= 20:
                print("DIFFERENT", name, r.get("error", ""), [(p, q) for p, q in zip(want[0], atoms) if p != q][:3], sorted(set(want[1]) ^ set(bonds))[:3])
    for name, text, r in zip(names, texts, results, strict=True):
        m = Chem.MolFromMolBlock(text)
        if m is None or not m.GetNumConformers() or "smiles" not in r:
            continue
        solid = m.GetConformer().Is3D()
        if solid:
            Chem.AssignStereochemistryFrom3D(m)
        mine = Chem.MolFromSmiles(r["smiles"])
        centres[solid] += len(Chem.FindMolChiralCenters(m))
        doubles += solid * sum(b.GetStereo() in (Chem.BondStereo.STEREOE, Chem.BondStereo.STEREOZ) for b in m.GetBonds())
        if mine is not None and stereo(mine, solid) != stereo(m, solid):
            wrong += 1
            if wrong <= 20:
                print("OTHER STEREOCHEMISTRY", name, stereo(mine, solid), stereo(m, solid))
    print(f"RDKit {rdkit.__version__}: {len(names)} connection tables: {bad} differ")
    print(f"{centres[0]} stereocentres with wedges, {centres[1]} and {doubles} double bonds in space: {wrong} molecules have other stereochemistry")
    sys.exit(bad + wrong > 0)


main()
