"""Compares what pictures of molecules show with RDKit.

Each picture is written as a connection table: the drawn places, orders, charges, isotopes, dots and
wedges, and nothing else. RDKit has to read the molecule back from it with the same stereochemistry.
Molecules: the built-in drugs, each with stereochemistry that RDKit gives it at random, and the list
in structures.txt.

Run: python dataset/checks/pictures.py   (needs Go and RDKit; python/requirements-test.txt has the version)
     python dataset/checks/pictures.py FOLDER   writes a page there with our pictures of structures.txt
     beside those of RDKit
"""

import csv
import html
import json
import os
import random
import subprocess
import sys
import tempfile

import rdkit
from rdkit import Chem, RDLogger
from rdkit.Chem.Draw import rdMolDraw2D
from rdkit.Chem.EnumerateStereoisomers import EnumerateStereoisomers, StereoEnumerationOptions

from common import HERE

RDLogger.DisableLog("rdApp.*")


def drawn(strings, folder=None):
    """Returns what our pictures of SMILES strings show."""
    with tempfile.TemporaryDirectory() as temporary:
        path = os.path.join(temporary, "in.smi")
        with open(path, "w") as f:
            f.write("".join(s + "\n" for s in strings))
        env = {**os.environ, "MLG_DUMP": path, **({"MLG_PICTURES": folder} if folder else {})}
        subprocess.run(["go", "test", "-count=1", "-run", "^TestDump$", "."], cwd=os.path.join(HERE, "..", "..", "draw"),
                       env=env, check=True, stdout=subprocess.DEVNULL)
        with open(path + ".json") as f:
            return [json.loads(line) for line in f]


def charge(text):
    if not text:
        return 0
    return int(text[:-1] or 1) * (1 if text[-1] == "+" else -1)


def table(r):
    """Returns a picture as a connection table, V3000. Hydrogens in the text of an atom are no atoms: the
    valence of an atom says how many there are."""
    used = [0] * len(r["atoms"])
    bonds = []
    for b in r["bonds"] or []:
        bonds.append([b["a"], b["b"], b["order"], ""])
        used[b["a"]] += b["order"]
        used[b["b"]] += b["order"]
    atoms = []
    for a, n in zip(r["atoms"], used, strict=True):
        symbol, mass = (a["symbol"], a["isotope"]) if a["symbol"] not in "DT" else ("H", "23"["DT".index(a["symbol"])])
        atoms.append([symbol, a["x"], a["y"], charge(a["charge"]), mass, a["unpaired"], n + a["hydrogens"]])
    for w in r["wedges"] or []:
        to = w["to"]
        if to < 0:
            at = atoms[w["atom"]]
            to = len(atoms)
            atoms.append(["H", at[1] + 0.7 * w["x"], at[2] + 0.7 * w["y"], 0, "", 0, 1])
            bonds.append([w["atom"], to, 1, ""])
        bond = next(b for b in bonds if {b[0], b[1]} == {w["atom"], to})
        bond[0], bond[1], bond[3] = w["atom"], to, " CFG=1" if w["up"] else " CFG=3"
    lines = ["", "", "", "  0  0  0     0  0            999 V3000", "M  V30 BEGIN CTAB", f"M  V30 COUNTS {len(atoms)} {len(bonds)} 0 0 0", "M  V30 BEGIN ATOM"]
    for i, (symbol, x, y, q, mass, dots, valence) in enumerate(atoms):
        extra = (f" CHG={q}" if q else "") + (f" MASS={mass}" if mass else "") + (f" RAD={[0, 2, 3, 3][min(dots, 3)]}" if dots else "")
        lines.append(f"M  V30 {i + 1} {symbol} {x:.4f} {y:.4f} 0 0{extra} VAL={valence or -1}")
    lines += ["M  V30 END ATOM", "M  V30 BEGIN BOND"]
    lines += [f"M  V30 {i + 1} {order} {a + 1} {b + 1}{wedge}" for i, (a, b, order, wedge) in enumerate(bonds)]
    return "\n".join(lines + ["M  V30 END BOND", "M  V30 END CTAB", "M  END", ""])


def compared(strings):
    """Returns the number of pictures that RDKit reads as another molecule, and of stereocentres and
    double bonds with sides in all."""
    bad, centres, doubles = 0, 0, 0
    for s, r in zip(strings, drawn(strings), strict=True):
        want = Chem.MolFromSmiles(s)
        Chem.AssignStereochemistry(want, cleanIt=True, force=True)
        centres += len(Chem.FindMolChiralCenters(want))
        doubles += sum(b.GetStereo() != Chem.BondStereo.STEREONONE for b in want.GetBonds())
        got = Chem.MolFromMolBlock(table(r))
        for b in got.GetBonds() if got else ():  # a place says nothing of a double bond whose sides are open
            asked = want.GetBondBetweenAtoms(b.GetBeginAtomIdx(), b.GetEndAtomIdx())
            if asked is not None and asked.GetStereo() == Chem.BondStereo.STEREONONE:
                b.SetStereo(Chem.BondStereo.STEREONONE)
            b.SetBondDir(Chem.BondDir.NONE)
        if got is None or Chem.MolToSmiles(got) != Chem.MolToSmiles(want):
            bad += 1
            if bad <= 20:
                print("DIFFERENT", Chem.MolToSmiles(want), Chem.MolToSmiles(got) if got else None)
    return bad, centres, doubles


def structures():
    """Yields the names and SMILES strings of structures.txt."""
    with open(os.path.join(HERE, "..", "..", "draw", "testdata", "structures.txt")) as f:
        for line in f:
            if line.strip() and not line.startswith("#"):
                yield line.split(maxsplit=1)[::-1]


def sheet(folder):
    """Writes a page with both pictures of every structure."""
    os.makedirs(folder, exist_ok=True)
    rows = [(name.strip(), smiles) for name, smiles in structures()]
    results = drawn([s for _, s in rows], folder)
    with open(os.path.join(folder, "sheet.html"), "w") as page:
        page.write("<style>div{display:inline-block;width:560px;margin:4px;font:12px sans-serif;border:1px solid #ccc}img{width:270px;height:230px;object-fit:contain}</style>\n")
        for i, ((name, smiles), r) in enumerate(zip(rows, results, strict=True)):
            m = Chem.MolFromSmiles(smiles)
            d = rdMolDraw2D.MolDraw2DSVG(360, 300)
            d.drawOptions().prepareMolsBeforeDrawing = True
            d.DrawMolecule(m)
            d.FinishDrawing()
            with open(os.path.join(folder, f"{i}-rdkit.svg"), "w") as f:
                f.write(d.GetDrawingText())
            note = f"{r['crossings']} crossings, bonds {r['shortest']:.2f}–{r['longest']:.2f}, {r['nearest']:.2f} apart"
            page.write(f"<div>{i} {html.escape(name)}: {note}<br><img src={i}.svg><img src={i}-rdkit.svg></div>\n")


def main():
    if len(sys.argv) > 1:
        return sheet(sys.argv[1])
    random.seed(1)
    strings = []
    with open(os.path.join(HERE, "..", "builtin", "drugs.csv")) as f:
        for row in csv.DictReader(f):
            options = StereoEnumerationOptions(maxIsomers=2, rand=1, unique=True)
            for m in EnumerateStereoisomers(Chem.MolFromSmiles(row["smiles"]), options):
                strings.append(Chem.MolToSmiles(m, canonical=False, doRandom=True))
    bad = 0
    for what, texts in (("drugs with stereochemistry at random", strings), ("structures", [s for _, s in structures()])):
        wrong, centres, doubles = compared(texts)
        bad += wrong
        print(f"RDKit {rdkit.__version__}: {len(texts)} pictures of {what}, {centres} stereocentres, {doubles} double bonds with sides: {wrong} read as another molecule")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
