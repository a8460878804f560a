"""Gaussian processes on kernel matrices: which ridge, and which scale? Prints CSV.

    python criteria.py GRAM.npy … > criteria.csv

Beside X.npy is X.ids.csv with the targets, as mlg gram writes it. Of ten random splits 80 % train.
The ridge is chosen by the squared error of leave-one-out (mse), restricted marginal likelihood
(reml) or leave-one-out predictive density (density), from the grid of the command or a fine one.
The scale is that of reml or density.
"""

import csv
import sys

import numpy as np
from scipy.stats import norm

GRIDS = {"grid": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10], "fine": np.geomspace(1e-5, 30, 60)}
SPLITS = 10


def fit(w, q, z, ridge):
    """Return coefficients (in eigenvectors), u, Σu, bias, the three scores and the two scales."""
    n, e = len(z), np.maximum(w, 0) + ridge
    one, qz = q.T @ np.ones(n), q.T @ z
    u = one / e
    total = one @ u
    bias = u @ qz / total
    beta = (qz - bias * one) / e
    b, g = q @ beta, (q**2) @ (1 / e) - (q @ u) ** 2 / total
    reml = z @ b / (n - 1)
    likelihood = -((n - 1) * np.log(reml) + np.log(e).sum() + np.log(total)) / 2
    scale = np.mean(b**2 / g)
    density = -np.mean(np.log(scale / g)) / 2
    scores = {"mse": -np.mean((b / g) ** 2), "reml": likelihood, "density": density}
    return (beta, u, total, bias), scores, {"reml": reml, "density": scale}


def split(k, y, seed, out):
    order = np.random.default_rng(seed).permutation(len(y))
    test, train = np.split(order, [len(y) // 5])
    mean, unit = y[train].mean(), y[train].std()
    z = (y[train] - mean) / unit
    w, q = np.linalg.eigh(k[np.ix_(train, train)])
    c = k[np.ix_(test, train)] @ q
    for name, grid in GRIDS.items():
        found = [fit(w, q, z, ridge) for ridge in grid]
        for criterion in ("mse", "reml", "density"):
            best = int(np.argmax([scores[criterion] for _, scores, _ in found]))
            (beta, u, total, bias), _, scales = found[best]
            error = (y[test] - mean) / unit - c @ beta - bias
            v = k[test, test] - (c**2 / (np.maximum(w, 0) + grid[best])).sum(1) + (1 - c @ u) ** 2 / total
            for scale in ("reml", "density"):
                s = np.sqrt(scales[scale] * (np.maximum(v, 0) + grid[best]))
                nlpd = np.mean(np.log(2 * np.pi * (s * unit) ** 2) + (error / s) ** 2) / 2
                cover = [np.mean(abs(error) <= norm.ppf((1 + p) / 2) * s) for p in (0.5, 0.9, 0.95)]
                row = (np.sqrt(np.mean(error**2)) * unit, nlpd, *cover, np.log10(grid[best]))
                out.setdefault((name, criterion, scale), []).append(row)


def main():
    print("data,ridges,ridge by,scale by,rmse,nlpd,covered 50,covered 90,covered 95,log10 ridge")
    for path in sys.argv[1:]:
        k = np.load(path)
        with open(path.removesuffix(".npy") + ".ids.csv") as f:
            y = np.array([float(r["target"]) for r in csv.DictReader(f)])
        out = {}
        for seed in range(SPLITS):
            split(k, y, seed, out)
        name = path.rsplit("/", 1)[-1].removesuffix(".npy")
        for key, rows in out.items():
            print(",".join([name, *key, *(f"{x:.4f}" for x in np.mean(rows, 0))]), flush=True)


main()
