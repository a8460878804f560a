"""Heat traces (NetLSD) and distance portraits of graphs, compared by Gaussians of their differences.

signatures.py DATASETS NAME|FILE.jsonl...   prints accuracies of support vector machines, 5 folds each
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC


def tu(path, name):
    ind = np.loadtxt(f"{path}/{name}/{name}_graph_indicator.txt", dtype=int) - 1
    y = np.loadtxt(f"{path}/{name}/{name}_graph_labels.txt", dtype=int)
    e = np.loadtxt(f"{path}/{name}/{name}_A.txt", delimiter=",", dtype=int) - 1
    n = np.bincount(ind)
    start = np.concatenate([[0], np.cumsum(n)])
    adj = [np.zeros((k, k)) for k in n]
    for u, v in e:
        g = ind[u]
        if u != v:
            adj[g][u - start[g], v - start[g]] = adj[g][v - start[g], u - start[g]] = 1
    return adj, y


def jsonl(path):
    adj, y = [], []
    for line in Path(path).read_text().splitlines():
        r = json.loads(line)
        n = r.get("nodes") or 1 + max(max(e[:2]) for e in r["edges"])
        a = np.zeros((n, n))
        for e in r["edges"]:
            a[e[0], e[1]] = a[e[1], e[0]] = 1
        adj.append(a)
        y.append(r["target"])
    return adj, np.array(y)


TIMES = np.logspace(-2, 2, 50)


def heat_trace(a):
    d = a.sum(1)
    s = np.where(d > 0, 1 / np.sqrt(np.maximum(d, 1)), 0)
    laplacian = np.diag((d > 0).astype(float)) - s[:, None] * a * s[None]
    w = np.linalg.eigvalsh(laplacian)
    h = np.exp(-np.outer(TIMES, w)).sum(1)
    return h, h / len(a)


def portrait(a, most=16, bins=24):
    n = len(a)
    reach = np.eye(n, dtype=bool)
    out = np.zeros((most + 1, bins + 1))
    dist = np.full((n, n), -1)
    dist[reach] = 0
    front = reach
    edges = np.unique(np.round(np.logspace(0, 4, bins)))
    adj = (a > 0).astype(np.float32)
    for step in range(1, most + 1):
        front = ((front.astype(np.float32) @ adj) > 0) & ~reach
        if not front.any():
            break
        reach = reach | front
        counts = front.sum(1)
        h = np.bincount(np.searchsorted(edges, counts[counts > 0], side="right"), minlength=bins + 1)[
            : bins + 1
        ]
        out[step] = h / n
        out[step, 0] = (counts == 0).mean()
    return out.ravel()


def score(x, y, name):
    """Gaussian kernel with the median distance; C by 4 folds of the training part."""
    x = (x - x.mean(0)) / np.where(x.std(0) > 1e-12, x.std(0), 1)
    sq = (x * x).sum(1)
    d = np.maximum(0, sq[:, None] + sq[None] - 2 * x @ x.T)
    acc = []
    for tr, te in StratifiedKFold(5, shuffle=True, random_state=0).split(x, y):
        best = (-1, None)
        for width in (0.1, 1, 10):
            k = np.exp(-d / (width * np.median(d)))
            for c in (1, 10, 100):
                inner = [
                    SVC(C=c, kernel="precomputed")
                    .fit(k[np.ix_(tr[a], tr[a])], y[tr[a]])
                    .score(k[np.ix_(tr[b], tr[a])], y[tr[b]])
                    for a, b in StratifiedKFold(4, shuffle=True, random_state=0).split(tr, y[tr])
                ]
                if np.mean(inner) > best[0]:
                    best = (np.mean(inner), (k, c))
        k, c = best[1]
        acc.append(
            SVC(C=c, kernel="precomputed").fit(k[np.ix_(tr, tr)], y[tr]).score(k[np.ix_(te, tr)], y[te])
        )
    print(f"  {name:28s} {100 * np.mean(acc):5.1f} +- {100 * np.std(acc) / np.sqrt(5):.1f}", flush=True)


for name in sys.argv[2:]:
    adj, y = jsonl(name) if name.endswith(".jsonl") else tu(sys.argv[1], name)
    print(name.split("/")[-1], len(adj), "graphs")
    t = time.process_time()
    f = [heat_trace(a) for a in adj]
    t1 = time.process_time()
    p = np.array([portrait(a) for a in adj])
    t2 = time.process_time()
    h = np.log(np.array([x for x, _ in f]))
    m = np.log(np.array([x for _, x in f]))
    print(f"  seconds: heat traces {t1 - t:.1f}, portraits {t2 - t1:.1f}")
    score(h, y, "heat trace")
    score(m, y, "heat trace per vertex")
    score(p, y, "distance portrait")
