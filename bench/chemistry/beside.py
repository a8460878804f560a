#!/usr/bin/env python3
"""Molecules: XGBoost and Tanimoto kernels on the rows that bench/holdout.py leaves out.

    python3 bench/chemistry/beside.py TABLES TABLE:TARGET:SEED,SEED… …  >> beside.txt

TABLES is a folder of tables with a column smiles. A fifth of the rows is left out at random, the same as in holdout.py,
whose format the lines have. Methods, none of which sees what is left out:

    xgboost   300 trees with the defaults of XGBoost, on RDKit's 2D descriptors and counts of Morgan fingerprints of
              radius 2, folded to 2048
    tanimoto  values: Gaussian process with the Tanimoto kernel of these counts, not folded, and the ridge of the largest
              leave-one-out predictive density. Classes: support vector machine with this kernel, and C of 0.1, 1, 10 and
              100 by the AUC of five folds

    chemprop  with CHEMPROP=COMMAND, and then alone: a message passing network with the defaults of chemprop 2 (50 epochs,
              a tenth of the rows for training to stop by)

Needs rdkit, xgboost and scikit-learn. Rows that RDKit cannot read are left out.
"""

import csv
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import xgboost
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, rdFingerprintGenerator
from scipy import sparse
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from compare import process

DESCRIPTORS = [name for name, _ in Descriptors.descList]
MORGAN = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def described(molecules):
    """Return descriptors and folded counts."""
    out = np.full((len(molecules), len(DESCRIPTORS) + 2048), np.nan, np.float32)
    for row, m in zip(out, molecules, strict=True):
        found = Descriptors.CalcMolDescriptors(m, missingVal=np.nan)
        row[: len(DESCRIPTORS)] = [np.clip(found[name], -1e9, 1e9) for name in DESCRIPTORS]
        row[len(DESCRIPTORS) :] = MORGAN.GetCountFingerprintAsNumPy(m)
    return out


def tanimoto(molecules):
    """Return Σ min / Σ max of the counts of all pairs. Counts become bits: the n-th time that something is seen."""
    at, rows, columns = {}, [], []
    for i, m in enumerate(molecules):
        for bit, n in MORGAN.GetSparseCountFingerprint(m).GetNonzeroElements().items():
            for k in range(n):
                rows.append(i)
                columns.append(at.setdefault((bit, k), len(at)))
    x = sparse.csr_matrix((np.ones(len(rows), np.float32), (rows, columns)), (len(molecules), len(at)))
    common, total = (x @ x.T).toarray().astype(float), np.asarray(x.sum(1), float).ravel()
    return common / np.maximum(total[:, None] + total[None, :] - common, 1)


def machine(gram, train, test, y):
    """Return the decision values of a support vector machine."""

    def decide(a, b, c):
        return SVC(C=c, kernel="precomputed").fit(gram[np.ix_(a, a)], y[a]).decision_function(gram[np.ix_(b, a)])

    def inner(c):
        folds = StratifiedKFold(5, shuffle=True, random_state=0).split(train, y[train])
        return np.mean([roc_auc_score(y[train[b]], decide(train[a], train[b], c)) for a, b in folds])

    return decide(train, test, max((0.1, 1, 10, 100), key=inner))


def network(smiles, train, test, y, classes):
    """Return what chemprop says of the rows of test."""
    with tempfile.TemporaryDirectory() as folder:
        at = pathlib.Path(folder)
        for name, rows in ("train", train), ("test", test):
            with open(at / f"{name}.csv", "w", newline="") as f:
                csv.writer(f).writerows([("smiles", "y"), *((smiles[i], y[i]) for i in rows)])
        command, quiet = os.environ["CHEMPROP"], {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        task = ["--task-type", "classification" if classes else "regression"]
        split = ["--split-sizes", "0.9", "0.1", "0.0", "--accelerator", "cpu"]
        subprocess.run([command, "train", "-i", at / "train.csv", "-o", at / "m", *task, *split], **quiet)
        model = at / "m" / "model_0" / "best.pt"
        subprocess.run([command, "predict", "-i", at / "test.csv", "-o", at / "p.csv", "--model-paths", model, "--accelerator", "cpu"], **quiet)
        with open(at / "p.csv") as f:
            return np.array([float(list(r.values())[-1]) for r in csv.DictReader(f)])


def predict(method, smiles, molecules, train, test, y, classes):
    """Return what a method says of the rows of test."""
    if method == "chemprop":
        return network(smiles, train, test, y, classes)
    if method == "xgboost":
        x = described(molecules)
        kind = xgboost.XGBClassifier if classes else xgboost.XGBRegressor
        trees = kind(n_estimators=300, n_jobs=1, tree_method="hist").fit(x[train], y[train])
        return trees.predict_proba(x[test])[:, 1] if classes else trees.predict(x[test])
    gram = tanimoto(molecules)
    if classes:
        return machine(gram, train, test, y)
    return process(gram[np.ix_(train, train)], gram[np.ix_(test, train)], y[train])[0]


def main():
    RDLogger.DisableLog("rdApp.*")
    tables, *jobs = sys.argv[1:]
    for job in jobs:
        table, target, seeds = job.split(":")
        for seed in map(int, seeds.split(",")):
            with open(pathlib.Path(tables) / f"{table}.csv") as f:
                rows = [r for r in csv.DictReader(f)]
            random.Random(seed).shuffle(rows)  # as holdout.py does
            left = len(rows) // 5
            known = [(i < left, Chem.MolFromSmiles(r["smiles"]), float(r[target]), r["smiles"]) for i, r in enumerate(rows) if r[target] != ""]
            known = [k for k in known if k[1] is not None]
            out, molecules, y = np.array([k[0] for k in known]), [k[1] for k in known], np.array([k[2] for k in known])
            train, test = np.flatnonzero(~out), np.flatnonzero(out)
            classes = set(y) <= {0, 1}
            for method in ["chemprop"] if "CHEMPROP" in os.environ else ["xgboost", "tanimoto"]:
                start = time.time()
                p = predict(method, [k[3] for k in known], molecules, train, test, y, classes)
                error = p - y[test]
                score = f"AUC {roc_auc_score(y[test], p):.4f}" if classes else (
                    f"RMSE {math.sqrt(np.mean(error**2)):.4f} MAE {np.mean(np.abs(error)):.4f}")
                print(method, table, seed, score, "n", len(test), f"{time.time() - start:.0f}s", flush=True)


if __name__ == "__main__":
    main()
