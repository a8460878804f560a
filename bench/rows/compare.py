#!/usr/bin/env python3
"""Rows of several structures and numbers: mlg beside one-hot vectors and fingerprints, on the same splits.

    python3 bench/rows/compare.py MLG TABLES TABLE:SPLIT:SEED,SEED… …  >> rows.txt 2>> trained.txt

MLG is the command. TABLES is a folder with buchwald_hartwig.csv and ionic_liquids.csv. A fifth is left out.
Where SPLIT is random, these are rows. Else SPLIT names columns, with a + between them, and groups of rows
with the same values in these columns are left out. Methods:

    mlg              what `mlg train` does
    onehot-gp        Gaussian process, RBF on one-hot vectors of the structures times RBF on the numbers
    onehot-xgboost   XGBoost, 300 trees with its defaults, on the same
    morgan-gp        Gaussian process, Tanimoto kernel of concatenated counts times RBF on the numbers. The
                     counts are those of Morgan fingerprints of radius 2, folded to 2048 for each structure
    morgan-xgboost   XGBoost as above, on these counts and the numbers

Numbers are standardised. The widths and the noise of a Gaussian process are those of a grid with the largest
marginal likelihood, on at most 1000 rows for training. It then learns from all of them. All methods have the
same rows for training: at most 3000, drawn at random where there are more.

A line has the method, table, split, seed, RMSE, R², the share of values in intervals of 90 %, the numbers of
rows and the seconds. What `mlg train` prints goes to standard error. Needs rdkit and xgboost.
"""

import csv
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import numpy as np
import xgboost
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator

TABLES = {
    "buchwald_hartwig": (["ligand", "additive", "base", "aryl halide"], [], "yield"),
    "ionic_liquids": (["cation", "anion"], ["T_K", "P_bar"], "x_CO2"),
}
MOST, SAMPLE = 3000, 1000
WIDTHS = [0.25, 0.5, 1, 2, 4, 8]
RIDGES = [1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1]
HALF_WIDTH = 1.6449  # of an interval of 90 %, in deviations
MORGAN = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)


def split(rows, how, seed):
    """Return the indices of rows for training and of those that are left out."""
    draw = random.Random(seed)
    columns = [] if how == "random" else how.split("+")
    group = [tuple(r[c] for c in columns) or i for i, r in enumerate(rows)]
    groups = sorted(set(group))
    draw.shuffle(groups)
    left = set(groups[: round(len(groups) / 5)])
    train = [i for i, g in enumerate(group) if g not in left]
    if len(train) > MOST:
        train = sorted(draw.sample(train, MOST))
    return np.array(train), np.array([i for i, g in enumerate(group) if g in left])


def counts(rows, column):
    """Return counts of Morgan fingerprints."""
    known = {s: MORGAN.GetCountFingerprintAsNumPy(Chem.MolFromSmiles(s)) for s in {r[column] for r in rows}}
    return np.array([known[r[column]] for r in rows], np.float32)


def onehot(rows, column):
    """Return vectors with a one for the structure of each row."""
    known = sorted({r[column] for r in rows})
    return np.array([[r[column] == k for k in known] for r in rows], np.float32)


def squares(x):
    """Return the squared distances of all rows of x."""
    norms = (x * x).sum(1)
    return np.maximum(norms[:, None] + norms - 2 * x @ x.T, 0)


def tanimoto(structures):
    """Return Σ min / Σ max of the counts of all rows, over all structures of a row."""
    common = 0
    for x in structures:
        kinds, at = np.unique(x, axis=0, return_inverse=True)
        small = np.array([np.minimum(k, kinds).sum(1) for k in kinds], float)
        common = common + small[np.ix_(at.ravel(), at.ravel())]
    total = np.diag(common)
    return common / np.maximum(total[:, None] + total - common, 1)


def likelihood(gram, z):
    """Return the largest log marginal likelihood of z per row over all ridges, and its ridge.

    The variance of the process is the best one, zᵀ(K + rI)⁻¹z / n.
    """
    values, vectors = np.linalg.eigh(gram)
    along, best = (vectors.T @ z) ** 2, []
    for ridge in RIDGES:
        noisy = np.maximum(values, 0) + ridge
        best.append((-0.5 * (np.log(np.mean(along / noisy)) + np.mean(np.log(noisy))), ridge))
    return max(best)


def process(kernels, train, test, y, seed):
    """Return means, deviations and the parameters of a Gaussian process.

    kernels is a list of names and functions that return a block of a Gram matrix.
    """
    mean, scale = y[train].mean(), y[train].std()
    z = (y[train] - mean) / scale
    some = np.array(random.Random(seed).sample(range(len(train)), min(SAMPLE, len(train))))
    tried = [(*likelihood(gram(train[some], train[some]), z[some]), name, gram) for name, gram in kernels]
    _, ridge, name, gram = max(tried, key=lambda t: t[0])
    noisy = gram(train, train) + ridge * np.eye(len(train))
    cross = gram(test, train)
    solved = np.linalg.solve(noisy, np.column_stack([z, cross.T]))
    variance = z @ solved[:, 0] / len(z)
    spread = np.maximum(1 - np.einsum("ij,ji->i", cross, solved[:, 1:]), 0) + ridge
    deviation = scale * np.sqrt(variance * spread)
    return mean + scale * cross @ solved[:, 0], deviation, f"{name} noise {ridge}"


def kernels(structures, numbers):
    """Return names and functions of blocks of products of a kernel of structures and an RBF of numbers.

    structures is a list of names and Gram matrices.
    """
    if numbers is None:
        return [(n, lambda a, b, k=k: k[np.ix_(a, b)]) for n, k in structures]
    apart = squares(numbers)

    def product(k, w):
        return lambda a, b: k[np.ix_(a, b)] * np.exp(-apart[np.ix_(a, b)] / (2 * w * w))

    return [(f"{n} width {w}", product(k, w)) for n, k in structures for w in WIDTHS]


def trees(x, train, test, y):
    """Return what XGBoost predicts."""
    model = xgboost.XGBRegressor(n_estimators=300, n_jobs=1, tree_method="hist")
    return model.fit(x[train], y[train]).predict(x[test])


def mlg(command, table, rows, train, test):
    """Return means, deviations and nothing that was chosen, which goes to standard error."""
    structures, numbers, target = TABLES[table]
    with tempfile.TemporaryDirectory() as at:
        folder = pathlib.Path(at)
        for name, some in ("train", train), ("test", test):
            with open(folder / f"{name}.csv", "w", newline="") as f:
                columns = [*structures, *numbers, *([target] if name == "train" else [])]
                csv.writer(f).writerows([columns, *([rows[i][c] for c in columns] for i in some)])
        flags = ["--structure", ",".join(structures), "--target", target]
        flags += ["--with", ",".join(numbers)] if numbers else []
        model = folder / "model.mlg"
        run = {"check": True, "capture_output": True, "text": True, "timeout": 900}
        said = subprocess.run([command, "train", folder / "train.csv", *flags, "-o", model], **run).stdout
        print(said, file=sys.stderr, flush=True)
        out = subprocess.run([command, "predict", model, folder / "test.csv", "--csv"], **run).stdout
    found = list(csv.DictReader(out.splitlines()))
    if len(found) != len(test) or any(r["error"] for r in found):
        raise ValueError(f"{table}: {len(found)} predictions, {len(test)} wanted without errors")
    mean, low, high = (np.array([float(r[c]) for r in found]) for c in ("predicted", "low", "high"))
    return mean, (high - low) / 2 / HALF_WIDTH, ""


def methods(command, table, rows, y, train, test, seed):
    """Return names and functions, which return means, deviations or None, and what was chosen."""
    structures, numbers, _ = TABLES[table]
    ones, prints = ([f(rows, c) for c in structures] for f in (onehot, counts))
    values, beside = None, []
    if numbers:
        values = np.array([[float(r[c]) for c in numbers] for r in rows])
        values = (values - values[train].mean(0)) / values[train].std(0)
        beside = [values]
    apart = squares(np.hstack(ones))
    rbf = [(f"structures {w}", np.exp(-apart / (2 * w * w))) for w in WIDTHS]
    common = [("tanimoto", tanimoto(prints))]
    return {
        "onehot-xgboost": lambda: (trees(np.hstack([*ones, *beside]), train, test, y), None, ""),
        "morgan-xgboost": lambda: (trees(np.hstack([*prints, *beside]), train, test, y), None, ""),
        "onehot-gp": lambda: process(kernels(rbf, values), train, test, y, seed),
        "morgan-gp": lambda: process(kernels(common, values), train, test, y, seed),
        "mlg": lambda: mlg(command, table, rows, train, test),
    }


def main():
    RDLogger.DisableLog("rdApp.*")
    command, tables, *jobs = sys.argv[1:]
    for job in jobs:
        table, how, seeds = job.split(":")
        with open(pathlib.Path(tables) / f"{table}.csv", newline="") as f:
            rows = list(csv.DictReader(f))
        y = np.array([float(r[TABLES[table][2]]) for r in rows])
        for seed in map(int, seeds.split(",")):
            train, test = split(rows, how, seed)
            print("==", table, how, seed, file=sys.stderr, flush=True)
            for name, learn in methods(command, table, rows, y, train, test, seed).items():
                start = time.time()
                mean, deviation, chosen = learn()
                error = mean - y[test]
                score = (
                    f"RMSE {math.sqrt(np.mean(error**2)):.4f} R2 {1 - np.mean(error**2) / y[test].var():.4f}"
                )
                if deviation is not None:
                    score += f" in90 {np.mean(np.abs(error) <= HALF_WIDTH * deviation):.3f}"
                size = f"train {len(train)} test {len(test)} {time.time() - start:.0f}s"
                print(name, table, how, seed, score, size, chosen, flush=True)


if __name__ == "__main__":
    main()
