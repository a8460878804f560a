"""Kernels by name for the comparison with GraKeL, and the program that writes its matrices.

    python tests/grakel_kernels.py > tests/grakel.json

needs GraKeL and the versions that it writes into the file.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np


def alike(a, b):
    """A kernel of labels."""
    return 1 if a == b else 0.25


# name: (class, parameters, base kernel class, with its parameters where it has some, or None)
KERNELS = {
    "vertex histogram": ("VertexHistogram", {}, None),
    "edge histogram": ("EdgeHistogram", {}, None),
    "wl": ("WeisfeilerLehman", {"n_iter": 4}, "VertexHistogram"),
    "wl of shortest paths": ("WeisfeilerLehman", {"n_iter": 2}, "ShortestPath"),
    "wl of edge histograms": ("WeisfeilerLehman", {"n_iter": 2}, "EdgeHistogram"),
    "wl of random walks": (
        "WeisfeilerLehman",
        {"n_iter": 2},
        ("RandomWalkLabeled", {"lamda": 0.05, "method_type": "baseline"}),
    ),
    "wl of subgraph matching": ("WeisfeilerLehman", {"n_iter": 1}, ("SubgraphMatching", {"k": 3})),
    "hadamard code": ("HadamardCode", {"n_iter": 4}, "VertexHistogram"),
    "hadamard code of shortest paths": ("HadamardCode", {"n_iter": 3}, "ShortestPath"),
    "core": ("CoreFramework", {}, "ShortestPath"),
    "core of wl": ("CoreFramework", {}, ("WeisfeilerLehman", {"n_iter": 2})),
    "wl-oa": ("WeisfeilerLehmanOptimalAssignment", {"n_iter": 3}, None),
    "shortest path": ("ShortestPath", {}, None),
    "shortest path, floyd_warshall": ("ShortestPath", {"algorithm_type": "floyd_warshall"}, None),
    "shortest path without labels": ("ShortestPath", {"with_labels": False}, None),
    "propagation": ("Propagation", {"w": 1e-9, "random_state": 0}, None),
    "propagation, Hellinger": ("Propagation", {"w": 1e-9, "random_state": 0, "M": "H", "t_max": 3}, None),
    "neighborhood hash": ("NeighborhoodHash", {"bits": 20, "random_state": 0}, None),
    "neighborhood hash, counts": (
        "NeighborhoodHash",
        {"bits": 20, "random_state": 0, "R": 2, "nh_type": "count_sensitive"},
        None,
    ),
    "random walk": ("RandomWalk", {"lamda": 0.01}, None),
    "random walk, lamda too large": ("RandomWalk", {"lamda": 0.5}, None),
    "random walk, baseline": ("RandomWalk", {"lamda": 0.05, "method_type": "baseline"}, None),
    "random walk, exponential": (
        "RandomWalk",
        {"lamda": 0.1, "method_type": "baseline", "kernel_type": "exponential"},
        None,
    ),
    "random walk, 4 steps": ("RandomWalk", {"lamda": 0.3, "method_type": "baseline", "p": 4}, None),
    "random walk, exponential, 4 steps": (
        "RandomWalk",
        {"lamda": 0.3, "method_type": "baseline", "kernel_type": "exponential", "p": 4},
        None,
    ),
    "random walk with labels": ("RandomWalkLabeled", {"lamda": 0.05, "method_type": "baseline"}, None),
    "random walk with labels, exponential": (
        "RandomWalkLabeled",
        {"lamda": 0.1, "method_type": "baseline", "kernel_type": "exponential"},
        None,
    ),
    "random walk with labels, 4 steps": (
        "RandomWalkLabeled",
        {"lamda": 0.3, "method_type": "baseline", "p": 4},
        None,
    ),
    "nspd of single vertices": ("NeighborhoodSubgraphPairwiseDistance", {"r": 0, "d": 0}, None),
    "subgraph matching": ("SubgraphMatching", {}, None),
    "subgraph matching, decreasing": ("SubgraphMatching", {"k": 4, "lw": "decreasing"}, None),
    "subgraph matching without labels": ("SubgraphMatching", {"k": 3, "kv": None, "ke": None}, None),
    "subgraph matching by functions": ("SubgraphMatching", {"k": 3, "kv": alike, "ke": alike}, None),
}
# On graphs whose vertices have vectors.
ATTRIBUTED = {
    "propagation of attributes": ("PropagationAttr", {"w": 1e-8, "random_state": 0}, None),
    "graph hopper": ("GraphHopper", {}, None),
    "graph hopper, gaussian": ("GraphHopper", {"kernel_type": ("gaussian", 0.7)}, None),
    "graph hopper, bridge": ("GraphHopper", {"kernel_type": "bridge"}, None),
    "shortest path of attributes": ("ShortestPathAttr", {}, None),
}
# Kernels with wide bins, whose values are random: their means over SEEDS are compared.
WIDE = {
    "wide bins, total variation": ("Propagation", {"w": 0.5, "M": "TV"}),
    "wide bins, Hellinger": ("Propagation", {"w": 0.5, "M": "H"}),
    "wide bins, L1": ("PropagationAttr", {"w": 0.5, "M": "L1"}),
    "wide bins, L2": ("PropagationAttr", {"w": 0.5, "M": "L2"}),
}
SEEDS = 200
# GraKeL's factors of the matches of a level, by the number of levels. With more than three eigenvectors
# their order is that of its solver.
PYRAMID = {2: (1, 1 / 2), 3: (3 / 4, 1 / 2, 1 / 2), 4: (1 / 2, 3 / 8, 1 / 2, 1 / 2)}
# Levels of the multiscale kernel, with all vertices as samples and rank 4, the number of labels.
LEVELS = (1, 2, 3)
MULTISCALE = {"P": 4, "gamma": 0.1, "heta": 0.1, "random_state": 0}


def make(module, name, normalize):
    cls, params, base = {**KERNELS, **ATTRIBUTED}[name]
    if base:
        base, own = base if isinstance(base, tuple) else (base, {})
        params = dict(params, base_graph_kernel=(getattr(module, base), own))
    return getattr(module, cls)(normalize=normalize, **params)


def means(module, name):
    """Return the mean matrix of a random kernel, and the standard errors of its entries."""
    cls, params = WIDE[name]
    graphs = collections()[cls.endswith("Attr")][:4]
    all_ = [getattr(module, cls)(random_state=s, **params).fit_transform(graphs) for s in range(SEEDS)]
    return np.mean(all_, 0), np.std(all_, 0) / np.sqrt(SEEDS)


def collections():
    """Return 16 small drugs, and 4 with vectors of their labels, in GraKeL's form."""
    from mlgkernel import datasets

    small = [g for g in datasets.load("builtin:drugs").graphs if g.n <= 14][:16]
    plain = [g.as_tuple() for g in small]
    few = [g for g in small if g.n in (11, 12)][:4]
    names = sorted({x for g in few for x in g.labels})
    vectors = [
        (g.as_tuple()[0], {v: np.eye(len(names))[names.index(x)] for v, x in enumerate(g.labels)})
        for g in few
    ]
    return plain, vectors


def weighted():
    """Return graphs with labels and random weights, whose eigenvalues are simple, in GraKeL's form."""
    rng = np.random.RandomState(0)
    out = []
    for n in (6, 7, 9, 10, 12, 13):
        a = np.triu(rng.rand(n, n) * (rng.rand(n, n) < 0.8), 1)
        out.append(((a + a.T).tolist(), dict(enumerate(rng.choice(["C", "N"], n).tolist()))))
    return out


def main():
    import grakel
    import grakel.kernels
    import scipy
    import sklearn

    plain, vectors = collections()
    out = {
        "versions": {
            "grakel": grakel.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
        }
    }
    for name in KERNELS:
        out[name] = [make(grakel.kernels, name, n).fit_transform(plain).tolist() for n in (False, True)]
    for name in ATTRIBUTED:
        out[name] = [make(grakel.kernels, name, n).fit_transform(vectors).tolist() for n in (False, True)]
    for name in WIDE:
        out[name] = [x.tolist() for x in means(grakel.kernels, name)]
    for levels in PYRAMID:
        kernel = grakel.kernels.PyramidMatch(L=levels, d=3)
        out[f"pyramid match {levels}"] = kernel.fit_transform([grakel.Graph(*g) for g in weighted()]).tolist()
    samples = sum(len(labels) for _, labels in vectors)
    for level in LEVELS:
        kernel = grakel.kernels.MultiscaleLaplacian(L=level, n_samples=samples, **MULTISCALE)
        out[f"multiscale {level}"] = kernel.fit_transform(vectors).tolist()
    lines = [f"{json.dumps(k)}: {json.dumps(_short(v), separators=(',', ':'))}" for k, v in out.items()]
    sys.stdout.write("{\n" + ",\n".join(lines) + "\n}\n")


def _short(x):
    """Round numbers to 12 digits."""
    if isinstance(x, list):
        return [_short(y) for y in x]
    return float(f"{x:.12g}") if isinstance(x, float) else x


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main()
