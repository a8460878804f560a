"""Compares the kernels of package classic with GraKeL's, values and times in one run.

    python -m venv .venv && .venv/bin/pip install grakel==0.1.11
    .venv/bin/python bench/grakel/compare.py MUTAG ENZYMES

Run it in the root of the repository. It runs the test that writes our normalised Gram
matrices (TestDump), computes GraKeL's on the same files, both with one thread, and prints for
every kernel the largest difference, both times (ours: best of three, Fit and Gram; GraKeL:
fit_transform, once) and their ratio. Kernels whose definitions differ are marked, with the
reason; it exits with 1 when the others differ by more than 1e-9. Datasets are looked for
in the folder that MLG_DATASETS names, as in the Go tests.
"""

import argparse
import json
import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings

import grakel
import numpy as np
from grakel import Graph, kernels

TOLERANCE = 1e-9
ROOT = pathlib.Path(__file__).resolve().parents[2]


def read(folder, name, attributes=False):
    """Returns the graphs of a TUDataset folder as GraKeL graphs, labelled by attributes where asked for."""

    def rows(part):
        text = (folder / name / f"{name}_{part}.txt").read_text()
        return [[x.strip() for x in line.split(",")] for line in text.split("\n") if line.strip()]

    owner = [int(r[0]) - 1 for r in rows("graph_indicator")]
    if attributes:
        labels = [np.array(r, float) for r in rows("node_attributes")]
    else:
        labels = [r[0] for r in rows("node_labels")]
    first, nodes = {}, [{} for _ in range(owner[-1] + 1)]
    for v, g in enumerate(owner):
        first.setdefault(g, v)
        nodes[g][v - first[g]] = labels[v]
    edges = [{u: {} for u in n} for n in nodes]
    for a, b in rows("A"):
        u, v = int(a) - 1, int(b) - 1
        base = first[owner[u]]
        edges[owner[u]][u - base][v - base] = 1.0
    # Some kernels of GraKeL want labels of edges: all have the same.
    labels = [{(u, v): 1 for u in e for v in e[u]} for e in edges]
    return list(zip(edges, nodes, labels))


def first(key, graphs):
    """Returns the graphs that a key is for: those of "-firstN" are the first N, as in TestDump."""
    _, _, number = key.partition("-first")
    return graphs[: int(number)] if number else graphs


def comparisons():
    """Yields our key, GraKeL's kernel, and why they differ, None where they must not."""
    yield "labels", kernels.VertexHistogram(normalize=True), None
    yield "wl", kernels.WeisfeilerLehman(n_iter=5, normalize=True), None
    yield "wl-oa", kernels.WeisfeilerLehmanOptimalAssignment(n_iter=5, normalize=True), None
    yield "sp-ordered", kernels.ShortestPath(normalize=True), None
    yield "sp", kernels.ShortestPath(normalize=True), "GraKeL's end labels are ordered"
    yield "rw-geometric", kernels.RandomWalk(lamda=0.01, normalize=True), None
    for k in (3, 4, 5):
        # A path of 6 vertices has 4 connected graphlets of size 3. GraKeL finds 2, 3 or 4.
        yield f"graphlet{k}-connected", kernels.GraphletSampling(k=k, normalize=True), "GraKeL's counts depend on the order of vertices"
    yield from subgraphs()


def subgraphs():
    """Yields kernels of subgraphs and those with base kernels."""
    walk = {"lamda": 0.01, "method_type": "baseline"}
    yield "hadamard", kernels.HadamardCode(n_iter=5, normalize=True), None
    yield "core", kernels.CoreFramework(base_graph_kernel=kernels.ShortestPath, normalize=True), None
    wl = (kernels.WeisfeilerLehman, {"n_iter": 5})
    yield "core-wl", kernels.CoreFramework(base_graph_kernel=wl, normalize=True), None
    sp = kernels.ShortestPath
    yield "wl-of-sp", kernels.WeisfeilerLehman(n_iter=2, base_graph_kernel=sp, normalize=True), None
    rw = (kernels.RandomWalkLabeled, dict(walk))
    yield "wl-of-rw-first8", kernels.WeisfeilerLehman(n_iter=2, base_graph_kernel=rw, normalize=True), None
    yield "rw-labelled-first8", kernels.RandomWalkLabeled(normalize=True, **walk), None
    yield "rw-labelled-4-first8", kernels.RandomWalkLabeled(p=4, normalize=True, **walk), None
    yield "subgraph-matching-first40", kernels.SubgraphMatching(k=3, normalize=True), None
    differs = "GraKeL's values depend on the order of vertices"
    yield "nspd", kernels.NeighborhoodSubgraphPairwiseDistance(r=3, d=4, normalize=True), differs
    yield "odd-sth", kernels.OddSth(h=3, normalize=True), "GraKeL's weights of trees depend on the other graphs"


    yield "propagation", kernels.Propagation(w=1e-9, random_state=1, normalize=True), None
    yield "propagation-attributes", kernels.PropagationAttr(w=1e-8, random_state=1, normalize=True), None
    yield "hopper-linear-attributes", kernels.GraphHopper(normalize=True), None
    yield "hopper-gaussian-attributes", kernels.GraphHopper(kernel_type="gaussian", normalize=True), None
    yield "sp-attributes", kernels.ShortestPathAttr(normalize=True), None
    yield "pyramid-match", kernels.PyramidMatch(normalize=True), "GraKeL's levels have other factors"
    yield "neighborhood-hash", kernels.NeighborhoodHash(bits=20, random_state=1, normalize=True), "hashes collide"


def chosen(key, graphs):
    """Returns the graphs on which a kernel is compared, as TestDump does."""
    if key == "sp-attributes":
        return graphs[:8]
    if key.startswith("hopper-"):
        return [g for g in graphs if connected(g)][:100]
    return graphs


def connected(g):
    edges = g.get_edge_dictionary()
    seen, left = {0}, [0]
    while left:
        for u in edges[left.pop()]:
            if u not in seen:
                seen.add(u)
                left.append(u)
    return len(seen) == len(edges) > 1


def main():
    warnings.simplefilter("ignore")  # GraKeL says for every graph that it changes its format
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("datasets", nargs="+")
    parser.add_argument("--kernels", help="only these keys, comma-separated")
    parser.add_argument("--graphs", type=int, help="only so many graphs, the first")
    args = parser.parse_args()
    only = args.kernels.split(",") if args.kernels else None
    data = pathlib.Path(os.environ.get("MLG_DATASETS", ROOT.parent / "shared" / "datasets")).resolve()
    print(f"GraKeL {grakel.__version__}, numpy {np.__version__}, {os.cpu_count()} processors")
    failed = False
    with tempfile.TemporaryDirectory() as tmp:
        env = dict(os.environ, MLG_DUMP=tmp, MLG_DUMP_DATASETS=",".join(args.datasets), MLG_DATASETS=str(data), GOMAXPROCS="1")
        env |= {"MLG_DUMP_GRAPHS": str(args.graphs or 0), "MLG_DUMP_KERNELS": args.kernels or ""}
        subprocess.run(["go", "test", "-count=1", "-run", "^TestDump$", "./baseline"], cwd=ROOT, env=env, check=True)
        print(f"{'dataset':9} {'kernel':26} {'difference':>10} {'ours s':>9} {'GraKeL s':>9} {'ratio':>7}")
        for name in args.datasets:
            seconds = json.loads(pathlib.Path(tmp, f"{name}.seconds.json").read_text())
            for key, kernel, differs in comparisons():
                if only and key not in only:
                    continue
                attributes = key.endswith("-attributes")
                if attributes and key not in seconds:
                    continue
                graphs = first(key, read(data, name, attributes)[: args.graphs])
                if key != "hadamard":  # which takes no Graph of this format
                    graphs = chosen(key, [Graph(*g) for g in graphs])  # anew: GraKeL keeps distances in them
                ours = np.fromfile(pathlib.Path(tmp, f"{name}.{key}.f64"), dtype="<f8").reshape(len(graphs), -1)
                start = time.perf_counter()
                theirs = kernel.fit_transform(graphs)
                took = time.perf_counter() - start
                both = np.isfinite(theirs)
                worst = np.abs(ours - theirs)[both].max()
                note = f"  ({differs})" if differs else ""
                if not both.all():
                    note += f"  ({(~both).sum()} of GraKeL's entries are not numbers)"
                if not differs and worst > TOLERANCE:
                    failed = True
                    note += "  DIFFERS"
                print(f"{name:9} {key:26} {worst:10.1e} {seconds[key]:9.4f} {took:9.3f} {took / seconds[key]:7.0f}{note}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
