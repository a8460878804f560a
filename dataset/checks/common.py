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
        for key in ("bonds", "kekule"):
            r[key] = [{"a": b["A"], "b": b["B"], "order": "-=#$:~"[b["Order"] - 1]} for b in r.get(key) or []]
    return results


BONDS = {"-": Chem.BondType.SINGLE, "=": Chem.BondType.DOUBLE, "#": Chem.BondType.TRIPLE, "$": Chem.BondType.QUADRUPLE}


def kekule(r):
    """Returns the Kekulé structure of a result as a molecule of RDKit, which then finds its aromatic
    rings itself."""
    m = Chem.RWMol()
    for a, unpaired in zip(r["atoms"], r["unpaired"] or [], strict=True):
        atom = Chem.Atom(a["element"])
        atom.SetFormalCharge(a["charge"])
        atom.SetIsotope(a["isotope"])
        atom.SetNoImplicit(True)
        atom.SetNumExplicitHs(a["hydrogens"])
        atom.SetAtomMapNum(a["class"])
        atom.SetNumRadicalElectrons(unpaired)
        m.AddAtom(atom)
    for b in r["kekule"]:
        m.AddBond(b["a"], b["b"], BONDS[b["order"]])
    Chem.SanitizeMol(m)
    return m


def as_written(s):
    """Returns RDKit's molecule of a SMILES string, with its hydrogen atoms."""
    p = Chem.SmilesParserParams()
    p.removeHs = False
    return Chem.MolFromSmiles(s, p)


def structure(m):
    """Returns the canonical SMILES of a molecule without stereochemistry, and its unpaired electrons. Those
    of metals are left out: we count none."""
    m = Chem.Mol(m)
    Chem.RemoveStereochemistry(m)
    radicals = sum(a.GetNumRadicalElectrons() for a in m.GetAtoms() if a.GetSymbol() in NON_METALS)
    for a in m.GetAtoms():
        a.SetNumRadicalElectrons(0)
        a.SetNumExplicitHs(a.GetTotalNumHs())
        a.SetNoImplicit(True)
    return Chem.MolToSmiles(m), radicals


NON_METALS = "H B C N O F Si P S Cl As Se Br Te I".split()
