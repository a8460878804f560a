"""Deviations for many examples: a part of them, or landmarks? Prints a table.

    python landmarks.py GRAM.npy

Of one random split 90 % train, with the ridge 0.03. `part` has the mean of all examples and the
deviations of m of them; DTC and FITC have both from m landmarks. Landmarks are random, or chosen
by pivoted Cholesky factorisation.
"""

import csv
import sys

import numpy as np
from scipy.linalg import cho_solve, cholesky, solve_triangular
from scipy.stats import norm

RIDGE = 0.03
path = sys.argv[1]
k = np.load(path)
with open(path.removesuffix(".npy") + ".ids.csv") as f:
    y = np.array([float(r["target"]) for r in csv.DictReader(f)])
rng = np.random.default_rng(0)
test, train = np.split(rng.permutation(len(y)), [len(y) // 10])
z = (y - y[train].mean()) / y[train].std()
n = len(train)


def variance(part):
    """Return that of the test examples, without noise, given a part of the training examples."""
    low = cholesky(k[np.ix_(part, part)] + RIDGE * np.eye(len(part)), lower=True)
    u = cho_solve((low, True), np.ones(len(part)))
    c = k[np.ix_(test, part)]
    v = solve_triangular(low, c.T, lower=True)
    return k[test, test] - (v**2).sum(0) + (1 - c @ u) ** 2 / u.sum()


def exact():
    low = cholesky(k[np.ix_(train, train)] + RIDGE * np.eye(n), lower=True)
    u = cho_solve((low, True), np.ones(n))
    b = cho_solve((low, True), z[train])
    bias = b.sum() / u.sum()
    b -= bias * u
    g = (solve_triangular(low, np.eye(n), lower=True) ** 2).sum(0) - u**2 / u.sum()
    return k[np.ix_(test, train)] @ b + bias, np.mean(b**2 / g)


def inducing(marks, fitc):
    """Return mean and variance of DTC or FITC with landmarks."""
    low = cholesky(k[np.ix_(marks, marks)] + 1e-8 * np.eye(len(marks)), lower=True)
    v = solve_triangular(low, k[np.ix_(marks, train)], lower=True)
    t = solve_triangular(low, k[np.ix_(marks, test)], lower=True)
    noise = RIDGE + (np.maximum(k[train, train] - (v**2).sum(0), 0) if fitc else np.zeros(n))
    inner = cholesky(np.eye(len(marks)) + (v / noise) @ v.T, lower=True)

    def solve(x):
        return x / noise - v.T @ cho_solve((inner, True), v @ (x / noise)) / noise

    u = solve(np.ones(n))
    bias = u @ z[train] / u.sum()
    mean = t.T @ (v @ solve(z[train] - bias)) + bias
    left = solve_triangular(inner, t, lower=True)
    return mean, k[test, test] - (t**2).sum(0) + (left**2).sum(0) + (1 - t.T @ v @ u) ** 2 / u.sum()


def pivots(m):
    rest, rows, out = k[train, train].copy(), np.zeros((m, n)), []
    for i in range(m):
        out.append(int(np.argmax(rest)))
        rows[i] = (k[train[out[i]], train] - rows[:i].T @ rows[:i, out[i]]) / np.sqrt(rest[out[i]])
        rest -= rows[i] ** 2
        rest[out] = -1
    return train[out]


def show(name, mean, v):
    s, e = np.sqrt(scale * (np.maximum(v, 0) + RIDGE)), z[test] - mean
    ratio = s / np.sqrt(scale * (whole + RIDGE))
    nlpd = np.mean(np.log(2 * np.pi * s**2) + (e / s) ** 2) / 2
    cover = " ".join(f"{100 * np.mean(abs(e) <= norm.ppf((1 + p) / 2) * s):.1f}" for p in (0.5, 0.9, 0.95))
    said = f"rmse {np.sqrt(np.mean(e**2)):.4f} nlpd {nlpd:.4f} covered {cover}"
    print(f"{name:22} {said} deviation {ratio.mean():.3f} {ratio.max():.3f}")


best, scale = exact()
whole = variance(train)
show("all", best, whole)
for m in (512, 1024, 2048):
    for how, marks in (("random", rng.permutation(train)[:m]), ("pivots", pivots(m))):
        show(f"part {how} {m}", best, variance(marks))
        show(f"DTC {how} {m}", *inducing(marks, False))
        show(f"FITC {how} {m}", *inducing(marks, True))
