#!/usr/bin/env python3
"""Classes of molecules: AUC of `mlg train` beside XGBoost, on the same random split of a table.

    python3 bench/chemistry/classes.py MLG SEED TABLE... > scores.txt

MLG is the command. A TABLE is CSV with the column smiles and columns of zeros and ones. Four fifths of the rows that
have a value train, the rest are predicted. XGBoost has 300 trees on RDKit's 2D descriptors and counts of Morgan
fingerprints of radius 2, folded to 2048. Needs rdkit, xgboost, scikit-learn and pandas.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd
import xgboost
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, rdFingerprintGenerator
from sklearn.metrics import roc_auc_score

NAMES = [name for name, _ in Descriptors.descList]


def features(smiles):
    """Return a row of numbers for each molecule, without numbers for one that RDKit cannot read."""
    morgan = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
    out = np.full((len(smiles), len(NAMES) + 2048), np.nan, np.float32)
    for row, text in zip(out, smiles, strict=True):
        if molecule := Chem.MolFromSmiles(text):
            found = Descriptors.CalcMolDescriptors(molecule, missingVal=np.nan)
            row[: len(NAMES)] = [np.clip(found[name], -1e9, 1e9) for name in NAMES]
            row[len(NAMES) :] = morgan.GetCountFingerprintAsNumPy(molecule)
    return out


def command(mlg, *args):
    done = subprocess.run([mlg, "--quiet", "--json", *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{args}: {done.stderr}")
    return done.stdout


def compare(mlg, seed, table, target, x):
    """Print the AUC of both methods and what train says, and return the difference."""
    known = np.flatnonzero(table[target].notna() & ~np.isnan(x[:, -1]))
    np.random.default_rng(seed).shuffle(known)
    train, test = np.split(known, [len(known) * 4 // 5])
    y = table[target].to_numpy(float)
    trees = xgboost.XGBClassifier(n_estimators=300, n_jobs=2, tree_method="hist").fit(x[train], y[train])
    theirs = roc_auc_score(y[test], trees.predict_proba(x[test])[:, 1])
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for name, rows in ("train", train), ("test", test):
            table.iloc[rows][["smiles", target]].to_csv(at / f"{name}.csv", index=False)
        task = "--task", "classification"
        plan = json.loads(command(mlg, "train", at / "train.csv", "-o", at / "m.mlg", "--target", target, *task))
        said = [json.loads(line) for line in command(mlg, "predict", at / "m.mlg", at / "test.csv").splitlines()]
    one = next(c for c in plan["classes"] if float(c) == 1)
    ours = roc_auc_score(y[test], [s["probability"][one] for s in said])
    told = plan["estimate"]
    print(f"{target}: {len(train)} to train, mlg {ours:.4f}, XGBoost {theirs:.4f}, {ours - theirs:+.4f}; ", end="")
    print(f"told {told['measure']} {told['value']:.4f} ± {told['deviation']:.4f}", flush=True)
    return ours - theirs


def main():
    mlg, seed, *tables = sys.argv[1:]
    RDLogger.DisableLog("rdApp.*")
    for path in tables:
        table = pd.read_csv(path)
        x = features(table.smiles)
        found = [compare(mlg, int(seed), table, target, x) for target in table.columns if target != "smiles"]
        error = np.std(found, ddof=1) / len(found) ** 0.5 if len(found) > 1 else float("nan")
        print(f"{path}: median {np.median(found):+.4f}, mean {np.mean(found):+.4f} ± {error:.4f}")


if __name__ == "__main__":
    main()
