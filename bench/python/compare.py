"""Times of mlgkernel and GraKeL on the same graphs with the same parameters, in one run.

    python -m venv .venv/bench && .venv/bench/bin/pip install grakel==0.1.11 ./python
    .venv/bench/bin/python bench/python/compare.py MUTAG ENZYMES > result.txt

Both get the same lists of (edges, labels) from memory, in GraKeL's form; a time is that of
fit_transform, conversion of the graphs included, by the wall clock and with n_jobs=1 and with all
processors for mlgkernel (GraKeL: n_jobs=None, once; its multiscale kernel takes minutes). Ours is
the best of --repeat runs after a first one that starts the worker. Datasets are looked for in the
folder that MLG_DATASETS names. The largest difference of the normalised matrices stands beside the
times; that of the multiscale kernel is no error (docs/reference/python.md).
"""

from __future__ import annotations

import argparse
import os
import pathlib
import platform
import sys
import time

import grakel
import grakel.kernels
import mlgkernel
import numpy as np
import sklearn

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNELS = {
    "VertexHistogram": {},
    "WeisfeilerLehman": {"n_iter": 5},
    "WeisfeilerLehmanOptimalAssignment": {"n_iter": 5},
    "ShortestPath": {},
    "MultiscaleLaplacian": {"L": 3, "P": 10, "n_samples": 100, "random_state": 0},
}


def vectors(data):
    """Return the graphs with one-hot vectors in place of labels, as GraKeL's multiscale kernel wants."""
    names = sorted({x for _, labels, *_ in data for x in labels.values()})
    rows = dict(zip(names, np.eye(len(names))))
    return [(edges, {v: rows[x] for v, x in labels.items()}) for edges, labels, *_ in data]


def timed(kernel, graphs):
    start = time.perf_counter()
    k = kernel.fit_transform(graphs)
    return time.perf_counter() - start, k


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="comma-separated")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--graphs", type=int, help="this many graphs of each dataset, in turn, again where it has fewer")
    args = parser.parse_args()
    folder = pathlib.Path(os.environ.get("MLG_DATASETS", ROOT.parent / "shared" / "datasets"))
    print(
        f"mlgkernel {mlgkernel.__version__}, GraKeL {grakel.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}, {os.cpu_count()} processors"
    )
    print(f"command: {' '.join(sys.argv)}")
    print(f"{'dataset':9} {'kernel':34} {'ours s':>9} {'1 thread':>9} {'GraKeL s':>10} {'ratio':>8} {'difference':>10}")
    for name in args.datasets:
        data = mlgkernel.datasets.fetch_dataset(str(folder / name), verbose=False, download_if_missing=False).data
        if args.graphs:
            data = (data * -(-args.graphs // len(data)))[: args.graphs]
        for kernel in args.kernels.split(","):
            graphs = vectors(data) if kernel == "MultiscaleLaplacian" else data
            par = dict(KERNELS[kernel], normalize=True)
            ours = getattr(mlgkernel, kernel)
            ours(**par).fit(graphs[:2])
            best = {
                jobs: min((timed(ours(n_jobs=jobs, **par), graphs) for _ in range(args.repeat)), key=lambda x: x[0])
                for jobs in (None, 1)
            }
            took, theirs = timed(getattr(grakel.kernels, kernel)(**par), graphs)
            worst = np.abs(best[None][1] - theirs).max()
            print(
                f"{name:9} {kernel:34} {best[None][0]:9.4f} {best[1][0]:9.4f} {took:10.3f} "
                f"{took / best[None][0]:8.1f} {worst:10.1e}",
                flush=True,
            )


if __name__ == "__main__":
    main()
