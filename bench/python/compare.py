"""Times of mlgkernel and GraKeL on the same graphs with the same parameters, in one run.

    python -m venv .venv/bench && .venv/bench/bin/pip install grakel==0.1.11 ./python
    .venv/bench/bin/python bench/python/compare.py MUTAG ENZYMES > result.txt

Both get the same lists of (edges, labels) from memory, in GraKeL's form. A time is that of
fit_transform, conversion of the graphs included, by the wall clock and in processor time: that of
Python, and for mlgkernel that of the worker too. The two run in turns, --repeat times, after a first
fit of ours that starts the worker; medians are printed, and the ratio of processor times, which other
programs on the machine change little. Datasets are looked for in the folder that MLG_DATASETS names.
The largest difference of the normalised matrices stands beside the times, where both follow the
definition (docs/reference/python.md). It needs Linux.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import statistics
import sys
import time
import warnings

import grakel
import grakel.kernels
import mlgkernel
import numpy as np
import sklearn
from mlgkernel import _engine

ROOT = pathlib.Path(__file__).resolve().parents[2]
WALK = {"lamda": 0.01, "method_type": "baseline"}
# Name: class, parameters, what vertices have, number of graphs at most, why values differ.
KERNELS = {
    "VertexHistogram": ("VertexHistogram", {}, "labels", None, ""),
    "EdgeHistogram": ("EdgeHistogram", {}, "edges", None, ""),
    "WeisfeilerLehman": ("WeisfeilerLehman", {"n_iter": 5}, "labels", None, ""),
    "WL-OA": ("WeisfeilerLehmanOptimalAssignment", {"n_iter": 5}, "labels", None, "isolated vertices"),
    "ShortestPath": ("ShortestPath", {}, "labels", None, ""),
    "MultiscaleLaplacian": ("MultiscaleLaplacian", {"L": 3, "P": 10, "n_samples": 100, "random_state": 0}, "one-hot", None, "factor 1/2"),
    "Propagation": ("Propagation", {"w": 1e-9, "random_state": 0}, "labels", None, ""),
    "PropagationAttr": ("PropagationAttr", {"w": 1e-8, "random_state": 0}, "one-hot", None, ""),
    "GraphHopper": ("GraphHopper", {}, "one-hot", 40, ""),
    "ShortestPathAttr": ("ShortestPathAttr", {}, "one-hot", 6, ""),
    "PyramidMatch": ("PyramidMatch", {}, "labels", None, "factors of levels"),
    "NeighborhoodHash": ("NeighborhoodHash", {"bits": 20, "random_state": 0}, "labels", None, "collisions"),
    "NSPD": ("NeighborhoodSubgraphPairwiseDistance", {"r": 3, "d": 4}, "edges", None, "GraKeL's depend on the order of vertices"),
    "GraphletSampling": ("GraphletSampling", {"k": 4}, "labels", 40, "GraKeL's depend on the order of vertices"),
    "RandomWalk": ("RandomWalk", {"lamda": 0.01}, "labels", 20, ""),
    "RandomWalkLabeled": ("RandomWalkLabeled", WALK, "labels", 6, ""),
    "CoreFramework": ("CoreFramework", {}, "labels", None, ""),
    "SubgraphMatching": ("SubgraphMatching", {"k": 3}, "edges", 20, ""),
    "SubgraphMatching by a function": ("SubgraphMatching", {"k": 3, "kv": lambda a, b: 1 if a == b else 0.25}, "edges", 8, ""),
    "OddSth": ("OddSth", {"h": 3}, "labels", None, "GraKeL's depend on the other graphs"),
    "HadamardCode": ("HadamardCode", {"n_iter": 5}, "labels", None, ""),
}


def connected(edges, labels):
    """Report whether a graph is connected, as GraKeL's GraphHopper wants."""
    near = {v: [] for v in labels}
    for u, v in edges:
        near[u].append(v)
    left = [next(iter(near))]
    seen = set(left)
    while left:
        for u in near[left.pop()]:
            if u not in seen:
                seen.add(u)
                left.append(u)
    return len(seen) == len(near) > 1


def prepared(data, kind, most):
    """Return graphs with labels, with labels of edges, too, all alike, or with vectors in place of labels."""
    if kind == "one-hot":
        data = [g for g in data if connected(*g[:2])]
        names = sorted({x for _, labels, *_ in data for x in labels.values()})
        rows = dict(zip(names, np.eye(len(names))))
        return [(edges, {v: rows[x] for v, x in labels.items()}) for edges, labels, *_ in data[:most]]
    if kind == "edges":
        return [(edges, labels, dict.fromkeys(edges, 1)) for edges, labels, *_ in data[:most]]
    return [(edges, labels) for edges, labels, *_ in data[:most]]


def processor():
    """Return the processor time of this process and of the worker."""
    pid = _engine.worker_pid()
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat") if pid else ()
    return time.process_time() + sum(int(t.read_text().split()[0]) for t in tasks) / 1e9


def timed(kernel, graphs):
    start, busy = time.perf_counter(), processor()
    k = kernel.fit_transform(graphs)
    return time.perf_counter() - start, processor() - busy, k


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="comma-separated")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--graphs", type=int, help="this many graphs of each dataset, in turn, again where it has fewer")
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("MLG_DATASETS", ROOT.parent / "shared" / "datasets"))
    print(
        f"mlgkernel {mlgkernel.__version__}, GraKeL {grakel.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}, {os.cpu_count()} processors"
    )
    print(f"command: {' '.join(sys.argv)}")
    print(f"{'dataset':9} {'kernel':31} {'graphs':>6} {'ours s':>9} {'GraKeL s':>9}   processor {'ours s':>9} {'GraKeL s':>9} {'ratio':>8} difference")
    warnings.simplefilter("ignore")  # GraKeL says for every graph that it changes its format
    for name in args.datasets:
        data = mlgkernel.datasets.fetch_dataset(str(folder / name), verbose=False, download_if_missing=False).data
        # Of edges as pairs, GraKeL does not see vertices that have none.
        data = [g for g in data if {v for pair in g[0] for v in pair} == set(g[1])]
        if args.graphs:
            data = (data * -(-args.graphs // len(data)))[: args.graphs]
        for key in args.kernels.split(","):
            kernel, par, kind, most, differs = KERNELS[key]
            graphs = prepared(data, kind, most)
            make = [getattr(module, kernel) for module in (mlgkernel, grakel.kernels)]
            make[0](**par).fit(graphs[:2])
            runs = [[timed(m(normalize=True, **par), graphs) for m in make] for _ in range(args.repeat)]
            wall, busy = ([statistics.median(r[i][j] for r in runs) for i in (0, 1)] for j in (0, 1))
            worst = differs or f"{np.abs(runs[0][0][2] - runs[0][1][2]).max():.1e}"
            print(
                f"{name:9} {key:31} {len(graphs):6} {wall[0]:9.4f} {wall[1]:9.3f}             {busy[0]:9.4f} {busy[1]:9.3f} "
                f"{busy[1] / busy[0]:8.1f} {worst}",
                flush=True,
            )


if __name__ == "__main__":
    main()
