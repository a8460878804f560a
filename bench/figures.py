"""Measure how the kernels behave, and draw it: the curves in bench/runs.

    python -m venv .venv/bench && .venv/bench/bin/pip install matplotlib ./python
    .venv/bench/bin/python bench/figures.py [-o FOLDER] perturb error seeds graphs size landmarks

Every figure is a table, NAME.csv, and a picture, NAME.png; seeds prints. Datasets are looked for in the
folder that MLG_DATASETS names. Times are those of a call, the way to the worker included, the best of
three; graphs runs bench/million.sh.
"""

from __future__ import annotations

import argparse
import csv
import os
import pathlib
import subprocess
import time

import matplotlib.pyplot as plt
import numpy as np
from mlgkernel import Graph, MultiscaleLaplacian, WeisfeilerLehman, datasets
from mlgkernel import WeisfeilerLehmanOptimalAssignment as OptimalAssignment

ROOT = pathlib.Path(__file__).resolve().parents[1]
DATA = pathlib.Path(os.environ.get("MLG_DATASETS", ROOT.parent / "shared" / "datasets"))


def multiscale(**changes):
    return MultiscaleLaplacian(**{"radii": (1, 2), "base": "labels", "bonds": False, "gamma": 0.1, "heta": 0.1, "n_samples": 100, **changes})


def gram(graphs, **changes):
    return multiscale(**changes).fit_transform(graphs)


def read(name):
    return datasets.load(DATA / name).graphs


def write(name, title, x, y, curves, log=""):
    """Write curves {name: [(x, y), ...]}; `log` names the logarithmic axes."""
    with open(OUT / f"{name}.csv", "w", newline="") as f:
        rows = csv.writer(f, lineterminator="\n")
        rows.writerow(["curve", x, y])
        rows.writerows([c, f"{a:.6g}", f"{b:.6g}"] for c, points in curves.items() for a, b in points)
    fig, ax = plt.subplots(figsize=(6.3, 4.3), layout="constrained")
    for c, points in curves.items():
        ax.plot(*zip(*points), marker="o", label=c)
    ax.set(title=title, xlabel=x, ylabel=y)
    if "x" in log:
        ax.set_xscale("log")
    if "y" in log:
        ax.set_yscale("log")
    ax.grid(alpha=0.4)
    ax.legend()
    fig.savefig(OUT / f"{name}.png", dpi=120)
    plt.close(fig)


def rewire(rng, g, count):
    """Return a graph with `count` edges replaced by random others."""
    edges = [tuple(sorted(e)) for e in g.edges.tolist()]
    for _ in range(min(count, len(edges), g.n * (g.n - 1) // 2 - len(edges))):
        at = rng.integers(len(edges))
        while True:
            new = tuple(sorted(rng.integers(g.n, size=2).tolist()))
            if new[0] != new[1] and new not in edges:
                edges[at] = new
                break
    return Graph.from_arrays(np.array(edges).reshape(-1, 2), g.n, labels=g.labels)


def perturb():
    """How far rewired edges move a graph, in units of the median distance of two graphs."""
    kernels = {
        "MLG η = γ = 0.1": multiscale(radii=(1, 2, 4)),
        "MLG η = γ = 1": multiscale(radii=(1, 2, 4), gamma=1, heta=1),
        "WL h = 2": WeisfeilerLehman(n_iter=2, normalize=True),
        "WL h = 5": WeisfeilerLehman(n_iter=5, normalize=True),
        "WL-OA h = 5": OptimalAssignment(n_iter=5, normalize=True),
    }
    for name in ("ENZYMES", "MUTAG"):
        graphs, curves = read(name)[:188], {}
        rng = np.random.default_rng(1)
        changed = [[rewire(rng, g, count) for g in graphs] for count in range(9)]
        for label, kernel in kernels.items():
            distance = np.sqrt(np.maximum(0, 2 - 2 * kernel.fit_transform(graphs)))
            unit = np.median(distance[np.triu_indices(len(graphs), 1)])
            moved = [np.sqrt(np.maximum(0, 2 - 2 * kernel.transform(c).diagonal())).mean() for c in changed]
            curves[label] = [(count, d / unit) for count, d in enumerate(moved)]
        y = "distance / median distance of two graphs"
        write(f"perturb-{name}", f"{name}: rewired edges", "rewired edges", y, curves)


def difference(a, b):
    return np.linalg.norm(a - b) / np.linalg.norm(b)


def error():
    """The error of the low-rank kernel against the exact one, by landmarks and rank: mean of three seeds."""
    sizes = {
        "MUTAG": (64, 400, (10, 20, 50, 100, 200, 400, 800), (2, 5, 10, 20, 40, 64)),
        "ENZYMES": (32, 200, (10, 20, 50, 100, 200, 400), (2, 5, 10, 20, 32)),
    }
    for name, (rank, samples, more_samples, more_ranks) in sizes.items():
        graphs = read(name)
        exact = gram(graphs, exact=True)
        for figure, title, x, settings in (
            ("full", "full rank", "landmarks", {v: {"n_samples": v, "P": v} for v in (4, 8, 16, 32, 64)}),
            ("samples", f"rank {rank}", "landmarks", {v: {"n_samples": v, "P": rank} for v in more_samples}),
            ("rank", f"{samples} landmarks", "rank", {v: {"n_samples": samples, "P": v} for v in more_ranks}),
        ):
            curves = {}
            for how in ("uniform", "classes", "pivoted"):
                curves[how] = []
                for v, setting in settings.items():
                    rounds = range(1 if how == "pivoted" else 3)  # pivots do not depend on the seed
                    low = [gram(graphs, landmarks=how, random_state=r, **setting) for r in rounds]
                    curves[how].append((v, np.mean([difference(k, exact) for k in low])))
            y = "relative error of the Gram matrix"
            write(f"error-{figure}-{name}", f"{name}: {title}", x, y, curves, "xy")


def seeds():
    """How much Gram matrices of different seeds differ."""
    for name in ("MUTAG", "ENZYMES", "NCI1"):
        graphs = read(name)[:1000]
        for samples, rank in ((100, 10), (600, 32)):
            first, *others = (gram(graphs, n_samples=samples, P=rank, random_state=r) for r in range(5))
            relative = np.mean([difference(k, first) for k in others])
            worst = max(np.abs(k - first).max() for k in others)
            print(
                f"{name}, {len(graphs)} graphs, {samples} samples, rank {rank}: relative difference of Gram "
                f"matrices of two seeds {relative:.3f}, largest difference of an entry {worst:.3f}"
            )


def graphs():
    """Time and memory of transforming more and more graphs."""
    times, memory = [], []
    for n in (1000, 3000, 10_000, 30_000, 100_000):
        out = subprocess.check_output([ROOT / "bench" / "million.sh", str(n)], text=True)
        (row,) = (line.split() for line in out.splitlines() if line.startswith("transform "))
        times.append((n, float(row[1])))
        memory.append((n, float(row[3])))
    write("scaling-graphs", "mlg transform", "graphs", "seconds", {"transform": times}, "xy")
    write("scaling-graphs-memory", "mlg transform", "graphs", "peak memory, MB", {"transform": memory}, "x")


def fastest(call):
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def chain(n, labels, reach):
    """Return a path; with reach, every vertex has an edge to one of those up to that far before it."""
    rng = np.random.default_rng(1)
    edges = [(v - 1, v) for v in range(1, n)]
    if reach:
        edges += [(v - rng.integers(2, reach + 1), v) for v in range(reach + 1, n)]
    return Graph.from_arrays(np.array(edges), n, labels=rng.integers(labels, size=n))


def size():
    """The time of fitting to one graph of growing size."""
    curves = {}
    for name, labels, reach, most in (
        ("path, 3 labels", 3, 0, 100_000),
        ("path, no labels", 1, 0, 100_000),
        ("chain with contacts, 3 labels", 3, 20, 30_000),
    ):
        curves[name] = []
        for n in (100, 300, 1000, 3000, 10_000, 30_000, 100_000):
            if n <= most:
                g = chain(n, labels, reach)
                curves[name].append((n, fastest(lambda g=g: multiscale(radii=(1, 2, 4)).fit([g]))))
    write("scaling-size", "Fit on one graph, radii 1,2,4", "vertices", "seconds", curves, "xy")


def landmarks():
    """The time of the Gram matrix of NCI1 against landmarks and rank."""
    nci1 = read("NCI1")
    samples = {v: {"n_samples": v} for v in (50, 100, 200, 400, 800, 1600)}
    ranks = {v: {"n_samples": 600, "P": v} for v in (5, 10, 20, 32, 48, 64)}
    for figure, title, x, settings in (
        ("scaling-samples", "NCI1, rank 10", "landmarks", samples),
        ("scaling-rank", "NCI1, 600 landmarks", "rank", ranks),
    ):
        points = [(v, fastest(lambda s=s: gram(nci1, **s))) for v, s in settings.items()]
        write(figure, title, x, "seconds", {"fit_transform, radii 1,2": points}, "xy")


if __name__ == "__main__":
    figures = {f.__name__: f for f in (perturb, error, seeds, graphs, size, landmarks)}
    parser = argparse.ArgumentParser(description="Measure how the kernels behave, and draw it.")
    parser.add_argument("-o", dest="out", type=pathlib.Path, default=".", help="folder of what is written")
    parser.add_argument("figures", nargs="+", choices=figures)
    args = parser.parse_args()
    OUT = args.out
    OUT.mkdir(parents=True, exist_ok=True)
    for name in args.figures:
        figures[name]()
