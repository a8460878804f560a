#!/usr/bin/env python3
"""Properties of molecules: mlg beside fingerprints and descriptors, on the same folds.

    python3 bench/chemistry/compare.py MLG REPEATS TABLE... > scores.csv

MLG is the command. A TABLE is CSV with the columns smiles and value. Needs rdkit and scikit-learn. Rows that RDKit or
mlg cannot read are left out for all. Folds are random, ten of them, drawn by mlg. Methods:

    mlg                what `mlg train` does
    ecfp gp            Gaussian process, Tanimoto kernel of counts of ECFP4
    fragments gp       the same of ECFP4 and RDKit's fragment counts together
    ecfp forest        random forest of 500 trees on counts of ECFP4, folded to 2048
    descriptors forest random forest of 500 trees on RDKit's 2D descriptors

A Gaussian process here has mlg's bias, ridges and choice: the largest leave-one-out predictive density. The deviation
of a forest is that of its trees.
"""

import csv
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import Descriptors, Fragments, rdFingerprintGenerator
from sklearn.ensemble import RandomForestRegressor

RIDGES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]
HALF_WIDTHS = {0.5: 0.6745, 0.9: 1.6449, 0.95: 1.96}


def tanimoto(a, b):
    """Return Σ min / Σ max of the counts in the rows of a and b."""
    out = np.empty((len(a), len(b)))
    totals = b.sum(1)
    for i, row in enumerate(a):
        common = np.minimum(row, b).sum(1)
        out[i] = common / np.maximum(row.sum() + totals - common, 1)
    return out


def process(gram, cross, y):
    """Return means and deviations of a Gaussian process for the rows of cross."""
    mean, scale = y.mean(), y.std() or 1
    z, n = (y - mean) / scale, len(y)
    best = None
    for ridge in RIDGES:
        inverse = np.linalg.inv(gram + ridge * np.eye(n))
        u = inverse.sum(1)
        bias = u @ z / u.sum()
        beta = inverse @ z - bias * u
        g = np.diag(inverse) - u * u / u.sum()
        variance = np.mean(beta**2 / g)
        density = np.mean(-0.5 * np.log(2 * np.pi * variance / g) - beta**2 / g / (2 * variance))
        if best is None or density > best[0]:
            best = density, ridge, inverse, u, bias, beta, variance
    _, ridge, inverse, u, bias, beta, variance = best
    known = np.einsum("ij,jk,ik->i", cross, inverse, cross)
    spread = np.maximum(1 - known + (1 - cross @ u) ** 2 / u.sum(), 0) + ridge
    return mean + scale * (cross @ beta + bias), scale * np.sqrt(variance * spread)


def gaussian(features):
    """Return a learner on the Tanimoto kernel of all molecules."""
    gram = tanimoto(features, features)
    return lambda train, test, y: process(gram[np.ix_(train, train)], gram[np.ix_(test, train)], y)


def forest(features):
    """Return a learner of random forests."""

    def learn(train, test, y):
        trees = RandomForestRegressor(500, random_state=0, n_jobs=-1).fit(features[train], y)
        values = np.array([t.predict(features[test]) for t in trees.estimators_])
        return values.mean(0), values.std(0)

    return learn


def features(molecules):
    """Return the features of the molecules for each method."""
    ecfp = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    sparse = [ecfp.GetSparseCountFingerprint(m).GetNonzeroElements() for m in molecules]
    bits = {b: i for i, b in enumerate(sorted({b for row in sparse for b in row}))}
    counts = np.zeros((len(molecules), len(bits)), dtype=np.float32)
    for i, row in enumerate(sparse):
        for b, n in row.items():
            counts[i, bits[b]] = n
    fragment = [f for name, f in vars(Fragments).items() if name.startswith("fr_")]
    groups = np.array([[f(m) for f in fragment] for m in molecules], dtype=np.float32)
    folded = np.array([ecfp.GetCountFingerprintAsNumPy(m) for m in molecules], dtype=np.float32)
    described = np.array([[f(m) for _, f in Descriptors.descList] for m in molecules])
    described = np.nan_to_num(np.clip(described, -1e6, 1e6)).astype(np.float32)
    return {
        "ecfp gp": gaussian(counts),
        "fragments gp": gaussian(np.hstack([counts, groups])),
        "ecfp forest": forest(folded),
        "descriptors forest": forest(described),
    }


def figures(y, mean, deviation):
    """Return RMSE, negative log predictive density and coverages."""
    error = y - mean
    deviation = np.maximum(deviation, 1e-6 * y.std())
    out = {"rmse": math.sqrt(np.mean(error**2))}
    out["nlpd"] = float(np.mean(0.5 * np.log(2 * np.pi * deviation**2) + error**2 / (2 * deviation**2)))
    for level, width in HALF_WIDTHS.items():
        out[str(level)] = float(np.mean(np.abs(error) <= width * deviation))
    return out


def run(mlg, repeats, table, folder, write):
    """Compare the methods on one table."""
    clean = folder / (table.stem + ".csv")
    with table.open(newline="") as f:
        rows = [(r["smiles"].strip(), float(r["value"])) for r in csv.DictReader(f)]
    rows = [r for r in rows if (m := Chem.MolFromSmiles(r[0])) is not None and m.GetNumAtoms()]
    with clean.open("w", newline="") as f:
        csv.writer(f).writerows([("id", "smiles", "value"), *((f"m{i}", *r) for i, r in enumerate(rows))])
    splits = folder / (table.stem + ".json")
    command = [mlg, "--json", "evaluate", clean, "--default", "--target", "value", "--split", "random"]
    command += ["--repeats", str(repeats), "--save-splits", splits]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    best = next(r for r in report["results"] if r["name"] == "weighted")
    covered = {c["level"]: c["share"] for c in best["coverage"]}
    write([table.stem, "mlg", best["rmse_mean"], best["rmse_std"], best["nlpd_mean"], *(covered[c] for c in HALF_WIDTHS)])
    folds = json.loads(splits.read_text())
    kept = [int(name[1:]) for name in folds["ids"]]
    y = np.array([rows[i][1] for i in kept])
    methods = features([Chem.MolFromSmiles(rows[i][0]) for i in kept])
    for name, learn in methods.items():
        scores = []
        for fold in np.array(folds["fold"]):
            mean, deviation = np.empty(len(y)), np.empty(len(y))
            for k in range(folds["folds"]):
                train, test = np.where(fold != k)[0], np.where(fold == k)[0]
                mean[test], deviation[test] = learn(train, test, y[train])
            scores.append(figures(y, mean, deviation))
        spread = statistics.stdev([s["rmse"] for s in scores]) if len(scores) > 1 else 0
        means = {key: statistics.mean(s[key] for s in scores) for key in scores[0]}
        write([table.stem, name, means["rmse"], spread, means["nlpd"], *(means[str(c)] for c in HALF_WIDTHS)])


def main():
    """Run all tables and print a line for each method."""
    RDLogger.DisableLog("rdApp.*")
    mlg, repeats, tables = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    out = csv.writer(sys.stdout)
    out.writerow(["data", "method", "rmse", "rmse_std", "nlpd", "covered50", "covered90", "covered95"])

    def write(row):
        out.writerow([f"{x:.4g}" if isinstance(x, float) else x for x in row])
        sys.stdout.flush()

    with tempfile.TemporaryDirectory() as folder:
        for table in tables:
            run(mlg, repeats, pathlib.Path(table), pathlib.Path(folder), write)


if __name__ == "__main__":
    main()
