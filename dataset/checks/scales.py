"""Measures what builtin:scales asks of a kernel: label histogram, Weisfeiler-Lehman, and a
literal low-rank MLG kernel in NumPy (docs/explanation/math.md), by nested cross-validation of an SVM.

Run: mlg convert builtin:scales scales.jsonl && python dataset/checks/scales.py scales.jsonl
(needs NumPy and scikit-learn)
"""

import json
import sys
from collections import Counter

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

GRAPHS = [json.loads(line) for line in open(sys.argv[1])][:120]
Y = np.array([g["target"] == "like" for g in GRAPHS])


def adjacency(g):
    a = np.zeros((g["nodes"], g["nodes"]))
    for u, v in g["edges"]:
        a[u, v] = a[v, u] = 1
    return a


A = [adjacency(g) for g in GRAPHS]


def logdet(s):
    return np.linalg.slogdet(s)[1]


def matrix_s(a, features, eta, gamma):
    """S = U (D - A + eta I)^-1 U^T + gamma I, features in rows."""
    laplacian = np.diag(a.sum(1)) - a + eta * np.eye(len(a))
    return features.T @ np.linalg.solve(laplacian, features) + gamma * np.eye(features.shape[1])


def kernel(s, t):
    """The Bhattacharyya kernel between two lists of matrices."""
    return np.exp(0.25 * logdet(s)[:, None] + 0.25 * logdet(t)[None] - 0.5 * logdet((s[:, None] + t[None]) / 2))


def mlg(radii, eta=0.1, gamma=0.1, samples=60, rank=10):
    rng = np.random.default_rng(0)
    labels = sorted({x for g in GRAPHS for x in g["node_labels"]})
    features = [np.array([[float(x == y) for y in labels] for x in g["node_labels"]]) for g in GRAPHS]
    for r in radii:
        s = []
        for a, f in zip(A, features):
            ball = np.linalg.matrix_power(a + np.eye(len(a)), r) > 0
            for v in range(len(a)):
                b = np.flatnonzero(ball[v])
                s.append(matrix_s(a[np.ix_(b, b)], f[b], eta, gamma))
        s = np.array(s)
        flat, place = np.unique(np.round(s.reshape(len(s), -1), 9), axis=0, return_inverse=True)
        distinct = flat.reshape(-1, *s.shape[1:])
        landmarks = s[rng.choice(len(s), samples, replace=False)]
        value, vector = np.linalg.eigh(kernel(landmarks, landmarks))
        keep = [i for i in np.argsort(-value)[:rank] if value[i] > 1e-8]
        q = (kernel(distinct, landmarks) @ (vector[:, keep] / np.sqrt(value[keep])))[place.ravel()]
        features = np.split(q, np.cumsum([len(a) for a in A])[:-1])
    top = np.array([matrix_s(a, f, eta, gamma) for a, f in zip(A, features)])
    return kernel(top, top)


def wl(h):
    colours = [list(g["node_labels"]) for g in GRAPHS]
    counts = [Counter((0, c) for c in cs) for cs in colours]
    names = {}
    for i in range(1, h + 1):
        colours = [[names.setdefault((i, cs[v], tuple(sorted(str(cs[u]) for u in np.flatnonzero(a[v])))), len(names)) for v in range(len(a))]
                   for a, cs in zip(A, colours)]
        for c, cs in zip(counts, colours):
            c.update((i, x) for x in cs)
    keys = {k: i for i, k in enumerate({k for c in counts for k in c})}
    x = np.zeros((len(GRAPHS), len(keys)))
    for i, c in enumerate(counts):
        for k, n in c.items():
            x[i, keys[k]] = n
    k = x @ x.T
    d = np.sqrt(np.diag(k))
    return k / d[:, None] / d[None]


def accuracy(k):
    """10-fold cross-validation, three times, C chosen inside the training folds."""
    scores = []

    def score(train, test, c):
        return SVC(C=c, kernel="precomputed").fit(k[np.ix_(train, train)], Y[train]).score(k[np.ix_(test, train)], Y[test])

    for repeat in range(3):
        for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(k, Y):
            inner = list(StratifiedKFold(4, shuffle=True, random_state=0).split(train, Y[train]))
            best = max((1, 10, 100, 1e3, 1e4, 1e5), key=lambda c: np.mean([score(train[a], train[b], c) for a, b in inner]))
            scores.append(score(train, test, best))
    return 100 * np.mean(scores)


print(f"{len(GRAPHS)} graphs, accuracy in %")
print(f"labels         {accuracy(wl(0)):5.1f}")
for h in (1, 2, 3, 4):
    print(f"wl h={h}         {accuracy(wl(h)):5.1f}", flush=True)
for radii in ([1], [1, 2], [2, 4], [1, 2, 4]):
    print(f"mlg {str(radii):10} {accuracy(mlg(radii)):5.1f}", flush=True)
