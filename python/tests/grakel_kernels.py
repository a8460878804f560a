"""Kernels by name for the comparison with GraKeL, and the program that writes its matrices.

    python tests/grakel_kernels.py > tests/grakel.json

needs GraKeL and the versions that it writes into the file.
"""

from __future__ import annotations

import json
import sys
import warnings

import numpy as np

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
}
# Levels of the multiscale kernel, with all vertices as samples and rank 4, the number of labels.
LEVELS = (1, 2, 3)
MULTISCALE = {"P": 4, "gamma": 0.1, "heta": 0.1, "random_state": 0}


def make(module, name, normalize):
    cls, params, base = KERNELS[name]
    if base:
        base, own = base if isinstance(base, tuple) else (base, {})
        params = dict(params, base_graph_kernel=(getattr(module, base), own))
    return getattr(module, cls)(normalize=normalize, **params)


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
