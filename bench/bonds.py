#!/usr/bin/env python3
"""What should count when molecules are compared? Cross-validated scores for each choice of atom and bond features.

    python3 bench/bonds.py MLG DATASETS FOLDER KERNEL LEARNERS REPEATS DATA... >> scores.csv

MLG is the command, DATASETS the folder with MUTAG, PTC_MR and AIDS, FOLDER one for temporary files, KERNEL paper or
wide, LEARNERS ridge, svm or ridge,svm. DATA is the name of a dataset, builtin:drugs, or a table with the columns
smiles and target (or y). Datasets have elements and bond orders as numbers, and become SDF files first; a nitro group
gets the charges that the numbers leave out. Parameters of the learner are chosen inside the training parts.
"""

import csv
import json
import pathlib
import subprocess
import sys

ELEMENTS = {
    "MUTAG": "C N O F I Cl Br",
    "PTC_MR": "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca",
    "AIDS": "C O N Cl F S Se P Na I Co Br Li Si Mg Cu As B Pt Ru K Pd Au Te W Rh Zn Bi Pb Ge Sb Sn Ga Hg Ho Tl Ni Tb",
}
ORDERS = {"MUTAG": [4, 1, 2, 3], "PTC_MR": [3, 2, 1, 4], "AIDS": [1, 2, 3]}  # 4: aromatic

CHOICES = {  # whether bonds count, and further flags
    "elements": ("false", ["--atoms", "element"]),
    "aromatic": ("false", ["--atoms", "aromatic"]),
    "charge": ("false", ["--atoms", "charge"]),
    "hydrogens": ("false", ["--atoms", "hydrogens"]),
    "order as weight": ("false", ["--atoms", "element", "--edge-weight", "order"]),
    "bonds": ("true", ["--atoms", "element"]),
    "bonds, aromatic": ("true", ["--atoms", "aromatic"]),
    "bonds, charge": ("true", ["--atoms", "charge"]),
    "bonds, hydrogens": ("true", ["--atoms", "hydrogens"]),
    "bonds, all": ("true", ["--atoms", "aromatic,charge,hydrogens"]),
}
KERNELS = {"paper": "mlg", "wide": "mlg combine=sum rank=32 samples=300"}


def charges(atoms, bonds):
    """Return the charges of nitro groups N(=O)-O as pairs of an atom and a charge."""
    near = {}
    for a, b, order in bonds:
        near.setdefault(a, []).append((b, order))
        near.setdefault(b, []).append((a, order))
    out = []
    for a, symbol in enumerate(atoms, 1):
        ends = near.get(a, [])
        if symbol == "N" and sorted(order for _, order in ends) == [1, 1, 2]:
            oxygens = [b for b, order in ends if order == 1 and atoms[b - 1] == "O" and len(near[b]) == 1]
            if oxygens:
                out += [(a, 1), (oxygens[0], -1)]
    return out


def molecules(folder, name, out):
    """Write a dataset with numbers for elements and bonds as an SDF file."""

    def lines(part):
        return (folder / name / f"{name}_{part}.txt").read_text().split("\n")[:-1]

    targets = lines("graph_labels")
    atoms, bonds, at = [[] for _ in targets], [[] for _ in targets], {}
    symbols = ELEMENTS[name].split()
    graph = [int(x) - 1 for x in lines("graph_indicator")]
    for v, label in enumerate(lines("node_labels")):
        atoms[graph[v]].append(symbols[int(label)])
        at[v + 1] = len(atoms[graph[v]])
    for pair, label in zip(lines("A"), lines("edge_labels")):
        a, b = map(int, pair.split(","))
        if a < b:
            bonds[graph[a - 1]].append((at[a], at[b], ORDERS[name][int(label)]))
    with open(out, "w") as f:
        for i, target in enumerate(targets):
            f.write(f"{i + 1}\n\n\n{len(atoms[i]):3}{len(bonds[i]):3}  0  0  0  0            999 V2000\n")
            f.writelines(f"    0.0000    0.0000    0.0000 {x:3} 0  0  0  0  0  0\n" for x in atoms[i])
            f.writelines(f"{a:3}{b:3}{order:3}  0\n" for a, b, order in bonds[i])
            f.writelines(f"M  CHG  1{a:4}{charge:4}\n" for a, charge in charges(atoms[i], bonds[i]))
            f.write(f"M  END\n> <target>\n{target.strip()}\n\n$$$$\n")


def scores(mlg, arguments):
    """Return the row of mlg of an evaluation."""
    done = subprocess.run([mlg, "evaluate", *arguments, "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return next(r for r in json.loads(done.stdout)["results"] if r["name"].startswith("mlg"))


def arguments(data, datasets, folder):
    """Return the arguments for a dataset, a table or a built-in collection, and its name."""
    if data in ELEMENTS:
        path = pathlib.Path(folder) / f"{data}.sdf"
        molecules(pathlib.Path(datasets), data, path)
        return [str(path), "--target", "target"], data
    if data.startswith("builtin:"):
        return [data], data
    path = pathlib.Path(data)
    target = "target" if "target" in path.open().readline().strip().split(",") else "y"
    return [data, "--target", target], path.stem


def main(mlg, datasets, folder, kernel, learners, repeats, *sets):
    out = csv.writer(sys.stdout)
    for data in sets:
        where, name = arguments(data, datasets, folder)
        for choice, (bonds, flags) in CHOICES.items():
            for learner in learners.split(","):
                inner = {"ridge": "loo", "svm": "holdout"}[learner]
                r = scores(mlg, [*where, "--kernel", f"{KERNELS[kernel]} bonds={bonds}", *flags, "--learner", learner, "--inner", inner, "--repeats", repeats])
                measure = "rmse" if "rmse_mean" in r else "accuracy"
                row = [r[measure + "_mean"], r[measure + "_std"]]
                out.writerow([kernel, name, learner, choice, measure, *(f"{x:.4f}" for x in row), r["repeats"]])
                sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
