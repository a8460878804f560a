"""Writes chem/testdata/fragments.txt: pairs of a fragment and one of the built-in drugs with what RDKit says of them.

Run: python dataset/checks/fragments.py   (needs RDKit)
"""

import csv
import os
import random

from rdkit import Chem, RDLogger

RDLogger.DisableLog("rdApp.*")
HERE = os.path.dirname(os.path.abspath(__file__))
FRAGMENTS = ["C=O", "CO", "CN", "c1ccccc1", "c1ccncc1", "C(=O)N", "C(=O)O", "CCl", "cCl", "C#N", "CF", "S(=O)(=O)N", "C1CCCCC1", "C1CCNCC1", "CC(C)C",
             "C1CNCCN1", "[N+](=O)[O-]", "c1ccc2ccccc2c1", "c1ccsc1", "N=C", "OCCO", "c1cnc[nH]1", "C[NH3+]", "CSC", "C1CC1", "NC=O.CO", "C=C", "CCCC", "NCCN"]

with open(os.path.join(HERE, "..", "builtin", "drugs.csv")) as f:
    drugs = [row["smiles"] for row in csv.DictReader(f)]

chance = random.Random(1)
pairs = {}
for text in FRAGMENTS:
    for smiles in chance.sample(drugs, 30):
        pairs[text, smiles] = None
for _ in range(400):  # pieces of one drug, looked for in another and in itself
    mol = Chem.MolFromSmiles(chance.choice(drugs))
    start = chance.randrange(mol.GetNumAtoms())
    bonds = Chem.FindAtomEnvironmentOfRadiusN(mol, chance.choice([1, 2]), start)
    piece = Chem.MolToSmiles(Chem.PathToSubmol(mol, bonds))
    if bonds and Chem.MolFromSmiles(piece) is not None:
        pairs[piece, chance.choice(drugs)] = None
        pairs[piece, Chem.MolToSmiles(mol)] = None

with open(os.path.join(HERE, "..", "testdata", "fragments.txt"), "w") as f:
    for text, smiles in pairs:
        fragment = Chem.MolFromSmiles(text)
        # An atom in brackets without its hydrogens has radicals, which RDKit wants to find as well.
        if fragment is not None and not any(a.GetNumRadicalElectrons() for a in fragment.GetAtoms()):
            f.write(f"{text} {smiles} {int(Chem.MolFromSmiles(smiles).HasSubstructMatch(fragment))}\n")
