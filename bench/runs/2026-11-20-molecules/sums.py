"""Sums of kernels, and targets that help each other, on Gram matrices that `mlg gram` wrote.

    python3 sums.py labels TABLE.csv TARGET SEEDS name=a.npy+b.npy …     # mean of some matrices
    python3 sums.py endpoints TABLE.csv SEEDS a.npy+b.npy                # all columns but the first are targets

A fifth of the rows is left out at random by each seed, and predicted by kernel ridge regression on the others.
"""

import csv
import sys

import numpy as np
from scipy.linalg import eigh
from sklearn.metrics import roc_auc_score

RIDGES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)


def mean_of(files):
    return sum(np.load(f).astype(np.float32) for f in files.split("+")) / len(files.split("+"))


def split(n, seed):
    random = np.random.RandomState(seed)
    order = random.permutation(n)
    return np.sort(order[: n // 5]), np.sort(order[n // 5 :]), random


def regression(K, y, values):
    """Return coefficients, mean and leave-one-out predictions, by the best ridge: density for values, else squared error."""
    mean = y.mean()
    w, Q = eigh(K.astype(float), driver="evd")
    a, best = Q.T @ (y - mean), None
    for ridge in RIDGES:
        d = 1 / (np.maximum(w, 0) + ridge)
        beta, g = Q @ (d * a), (Q * Q) @ d
        error = beta / g
        loss = np.mean(error**2)
        if values:
            s2 = np.mean(beta**2 / g)
            loss = np.mean(np.log(s2 / g) + error**2 / (s2 / g))
        if best is None or loss < best[0]:
            best = loss, beta, y - error
    return best[1], mean, best[2]


def labels(table, target, seeds, *sums):
    y = np.array([float(r[target]) for r in csv.DictReader(open(table))])
    values = len(set(y)) > 2
    for name, files in (s.split("=") for s in sums):
        K, scores = mean_of(files), []
        for seed in map(int, seeds.split(",")):
            test, train, _ = split(len(y), seed)
            beta, mean, _ = regression(K[np.ix_(train, train)], y[train], values)
            p = K[np.ix_(test, train)].astype(float) @ beta + mean
            scores.append(np.sqrt(np.mean((p - y[test]) ** 2)) if values else roc_auc_score(y[test], p))
        print(table, name, f"{np.mean(scores):.4f}", *(f"{s:.4f}" for s in scores), flush=True)


def endpoints(table, seeds, files):
    rows = list(csv.reader(open(table)))[1:]
    Y = np.array([[float(v) if v else np.nan for v in r[1:]] for r in rows]) * 2 - 1
    K, T = mean_of(files), Y.shape[1]
    for seed in map(int, seeds.split(",")):
        test, train, random = split(len(Y), seed)
        F, G = np.zeros((len(train), T)), np.zeros((len(test), T))  # what each target's function says, left out or new
        for j in range(T):
            known = train[~np.isnan(Y[train, j])]
            beta, mean, left = regression(K[np.ix_(known, known)], Y[known, j], False)
            F[:, j] = K[np.ix_(train, known)].astype(float) @ beta + mean
            F[np.searchsorted(train, known), j] = left
            G[:, j] = K[np.ix_(test, known)].astype(float) @ beta + mean
        gains = [stack(F, G, Y[train, j], Y[test, j], j, random) for j in range(T)]
        tell(seed, "others as inputs", [g for g in gains if g is not None])
        if not np.isnan(Y).any():
            tell(seed, "covariance", rotated(K, F, G, Y, train, test))


def stack(F, G, y, truth, j, random):
    """Return what the AUC gains by a regression on the predictions of all targets, where those of others cost something."""
    mean, deviation = F.mean(0), F.std(0) + 1e-9
    F, G = (F - mean) / deviation, (G - mean) / deviation
    some, tested = ~np.isnan(y), ~np.isnan(truth)
    if len(set(truth[tested])) < 2:
        return None
    X, z = F[some], y[some]
    cost = np.where(np.arange(F.shape[1]) == j, 1e-6, 1.0)
    fold, best = random.randint(0, 5, len(z)), None
    fit = lambda X, z, strength: np.linalg.solve(X.T @ X + strength * np.diag(cost), X.T @ (z - z.mean()))  # noqa: E731
    for strength in (10, 30, 100, 300, 1000, 3000, 1e4, 1e6):
        error = 0
        for f in range(5):
            a = fold != f
            error += np.sum((z[~a] - z[a].mean() - X[~a] @ fit(X[a], z[a], strength)) ** 2)
        if best is None or error < best[0]:
            best = error, strength
    return roc_auc_score(truth[tested], G[tested] @ fit(X, z, best[1])) - roc_auc_score(truth[tested], G[tested, j])


def rotated(K, F, G, Y, train, test):
    """Return what the AUC gains where targets are rotated so that their signals are uncorrelated, each with its ridge."""
    Z = Y[train] - Y[train].mean(0)
    whiten = np.linalg.inv(np.linalg.cholesky(np.cov(Z.T) + 1e-6 * np.eye(Z.shape[1])))
    _, U = np.linalg.eigh(whiten @ np.cov(F.T) @ whiten.T)
    P = U.T @ whiten
    out = []
    for z in P @ Z.T:
        beta, mean, _ = regression(K[np.ix_(train, train)], z, False)
        out.append(K[np.ix_(test, train)].astype(float) @ beta + mean)
    back = (np.linalg.inv(P) @ np.array(out)).T
    some = [j for j in range(Y.shape[1]) if len(set(Y[test, j])) > 1]
    return [roc_auc_score(Y[test, j], back[:, j]) - roc_auc_score(Y[test, j], G[:, j]) for j in some]


def tell(seed, how, gains):
    better = sum(g > 0 for g in gains)
    print("seed", seed, how, f"median {np.median(gains):+.4f} mean {np.mean(gains):+.4f} better {better} of {len(gains)}", flush=True)


{"labels": labels, "endpoints": endpoints}[sys.argv[1]](*sys.argv[2:])
