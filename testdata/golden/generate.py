"""Checks every value of the golden files against the definitions, or writes the values anew.

    python testdata/golden/generate.py           compares each value with the files
    python testdata/golden/generate.py --write   replaces the values; graphs and parameters stay

This is a second implementation of the kernels. It shares no code with the Go packages and takes the
longest way: equations as docs/explanation/math.md defines them, with inverses, eigenvectors and
loops over all pairs, and none of the identities that make mlg fast. It needs NumPy only.
"""

import itertools
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
BASELINES = HERE.parent.parent / "classic" / "testdata" / "baselines.json"

# The largest relative difference by rounding. The files were written by another program in float64, and
# differ by at most 2e-13; the rest is for other libraries of linear algebra.
TOLERANCE = 1e-11


def adjacency(graph):
    a = np.zeros((graph["n"], graph["n"]))
    for i, j, w in graph["edges"]:
        a[i, j] = a[j, i] = w
    return a


def laplacian(a, eta):
    """Returns the regularised Laplacian D - A + eta I."""
    return np.diag(a.sum(axis=1)) - a + eta * np.eye(len(a))


def bhattacharyya(s1, s2):
    """Equation (1): |(S1^-1/2 + S2^-1/2)^-1|^(1/2) / (|S1|^(1/4) |S2|^(1/4))."""
    middle = np.linalg.inv((np.linalg.inv(s1) + np.linalg.inv(s2)) / 2)
    return np.linalg.det(middle) ** 0.5 / (np.linalg.det(s1) ** 0.25 * np.linalg.det(s2) ** 0.25)


def covariance(a, features, eta, gamma):
    """S = U L^-1 U' + gamma I, where the columns of U are the features of the vertices."""
    s = features.T @ np.linalg.inv(laplacian(a, eta)) @ features
    return s + gamma * np.eye(len(s))


def lg(a, b, eta, gamma):
    """The LG kernel of two graphs with as many vertices: vertices are their own features."""
    eye = np.eye(len(a))
    return bhattacharyya(covariance(a, eye, eta, gamma), covariance(b, eye, eta, gamma))


def flg(a, b, joint, eta, gamma):
    """The FLG kernel from the Gram matrix of a base kernel on the vertices of both graphs."""
    values, vectors = np.linalg.eigh(joint)
    keep = values > 1e-13 * values.max()  # the others are zeros with rounding errors
    q = vectors[:, keep] * np.sqrt(values[keep])
    return bhattacharyya(covariance(a, q[: len(a)], eta, gamma), covariance(b, q[len(a) :], eta, gamma))


def ball(a, v, radius):
    """Returns the vertices within so many hops of v."""
    inside = {v}
    for _ in range(radius):
        inside |= {int(u) for w in inside for u in np.flatnonzero(a[w])}
    return sorted(inside)


def multiscale(graphs, base, radii, eta, gamma):
    """Returns the Gram matrices of all vertices of all graphs, at level 0, 1, ..., and that of the graphs.

    Level 0 is the base kernel. Two vertices at a level are compared by the FLG kernel of the subgraphs
    that their balls induce, with the level below as base kernel.
    """
    matrices = [adjacency(g) for g in graphs]
    vertices = [(g, v) for g, a in enumerate(matrices) for v in range(len(a))]
    first = np.cumsum([0] + [len(a) for a in matrices])

    def compare(below, g, inner, h, outer):
        rows = [first[g] + v for v in inner] + [first[h] + v for v in outer]
        sub = matrices[g][np.ix_(inner, inner)], matrices[h][np.ix_(outer, outer)]
        return flg(*sub, below[np.ix_(rows, rows)], eta, gamma)

    levels = [base]
    for radius in radii:
        balls = [ball(matrices[g], v, radius) for g, v in vertices]
        level = np.empty_like(base)
        for i, (g, _) in enumerate(vertices):
            for j, (h, _) in enumerate(vertices):
                if j >= i:
                    level[i, j] = level[j, i] = compare(levels[-1], g, balls[i], h, balls[j])
        levels.append(level)
    everything = [list(range(len(a))) for a in matrices]
    gram = [
        [compare(levels[-1], g, everything[g], h, everything[h]) for h in range(len(graphs))]
        for g in range(len(graphs))
    ]
    return levels, gram


def pairs(graphs, kernel):
    """Returns the matrix of a kernel."""
    return [[kernel(i, j) for j in range(len(graphs))] for i in range(len(graphs))]


def lg_case(case):
    a = [adjacency(g) for g in case["graphs"]]
    return {"gram": pairs(a, lambda i, j: lg(a[i], a[j], case["eta"], case["gamma"]))}


def flg_features_case(case):
    s = [
        covariance(adjacency(g), np.array(f), case["eta"], case["gamma"])
        for g, f in zip(case["graphs"], case["features"], strict=True)
    ]
    return {"gram": pairs(s, lambda i, j: bhattacharyya(s[i], s[j]))}


def flg_kernel_case(case):
    a = [adjacency(g) for g in case["graphs"]]
    x = [np.array(f) for f in case["features"]]

    def kernel(i, j):
        both = np.concatenate([x[i], x[j]])
        joint = np.exp(-((both[:, None] - both[None]) ** 2).sum(axis=2) / 2)
        return flg(a[i], a[j], joint, case["eta"], case["gamma"])

    return {"gram": pairs(a, kernel)}


def mlg_case(case):
    graphs = case["graphs"]
    labels = np.concatenate([g["labels"] for g in graphs])
    base = (labels[:, None] == labels[None]).astype(float)
    levels, gram = multiscale(graphs, base, case["radii"], case["eta"], case["gamma"])
    n, m = graphs[0]["n"], graphs[1]["n"]
    between = {str(k): levels[k][:n, n : n + m].tolist() for k in range(1, len(levels))}
    return {"gram": gram, "mls_graph0_graph1": between}


def colours(graphs, rounds):
    """Returns the colours of Weisfeiler and Leman: nested tuples of a colour and those of the neighbours."""
    matrices = [adjacency(g) for g in graphs]
    now = [list(g["labels"]) for g in graphs]
    names = {}
    out = [now]
    for _ in range(rounds):
        now = [
            [(c[v], tuple(sorted(c[u] for u in np.flatnonzero(a[v])))) for v in range(len(a))]
            for a, c in zip(matrices, now, strict=True)
        ]
        now = [[names.setdefault(x, 1000 + len(names)) for x in c] for c in now]
        out.append(now)
    return out


def hops(a):
    """Returns the lengths of shortest paths, infinite between components."""
    d = np.where(a > 0, 1.0, np.inf)
    np.fill_diagonal(d, 0)
    for k in range(len(a)):
        d = np.minimum(d, d[:, [k]] + d[[k]])
    return d


def graphlets(a, k, connected):
    """Returns the shares of the isomorphism types of induced subgraphs with k vertices."""
    counts = Counter()
    for chosen in itertools.combinations(range(len(a)), k):
        sub = a[np.ix_(chosen, chosen)] > 0
        if not connected or np.isfinite(hops(sub)).all():
            counts[min(sub[np.ix_(p, p)].tobytes() for p in itertools.permutations(range(k)))] += 1
    return {shape: n / counts.total() for shape, n in counts.items()}


def dot(x, y):
    return sum(n * y.get(key, 0) for key, n in x.items())


def smaller(x, y):
    """Sums the smaller of two counts."""
    return (x & y).total()


def ends(graph, colour):
    """Counts the edges by the colours of their ends."""
    return Counter(tuple(sorted((colour[i], colour[j]))) for i, j, _ in graph["edges"])


def random_walk(g, h, steps, decay):
    """Sums decay^i times the number of walks of i steps on the product of two graphs."""
    same = np.equal.outer(g["labels"], h["labels"]).ravel().astype(float)
    product = np.kron(adjacency(g), adjacency(h)) * np.outer(same, same)
    return sum(decay**i * (same @ np.linalg.matrix_power(product, i) @ same) for i in range(steps + 1))


def baselines_case(case):
    graphs = case["graphs"]
    matrices = [adjacency(g) for g in graphs]
    rounds = colours(graphs, 3)
    out = {}

    def add(name, kernel):
        out[name] = pairs(graphs, kernel)

    for h in range(4):
        vertices = [[Counter(c[g]) for c in rounds[: h + 1]] for g in range(len(graphs))]
        edges = [[ends(graphs[g], c[g]) for c in rounds[: h + 1]] for g in range(len(graphs))]
        add(f"wl_h{h}", lambda i, j, x=vertices: sum(map(dot, x[i], x[j])))
        add(f"wl_edge_h{h}", lambda i, j, x=edges: sum(map(dot, x[i], x[j])))
        add(f"wl_oa_h{h}", lambda i, j, x=vertices: sum(map(smaller, x[i], x[j])))
    paths = []
    for g, a in zip(graphs, matrices, strict=True):
        d = hops(a)
        joined = ((u, v) for u, v in itertools.combinations(range(len(a)), 2) if np.isfinite(d[u, v]))
        paths.append(Counter((*sorted((g["labels"][u], g["labels"][v])), d[u, v]) for u, v in joined))
    add("shortest_path", lambda i, j: dot(paths[i], paths[j]))
    for k in (3, 4, 5):
        for name, connected in (("all", False), ("connected", True)):
            shares = [graphlets(a, k, connected) for a in matrices]
            add(f"graphlet_k{k}_{name}", lambda i, j, x=shares: dot(x[i], x[j]))
    for p in (1, 2, 3, 5):
        add(f"p_random_walk_p{p}_lambda0.1", lambda i, j, p=p: random_walk(graphs[i], graphs[j], p, 0.1))
    return out


FILES = {
    HERE / "lg.json": lg_case,
    HERE / "flg_features.json": flg_features_case,
    HERE / "flg_kernel.json": flg_kernel_case,
    HERE / "mlg_exact.json": mlg_case,
    BASELINES: baselines_case,
}

INPUTS = {"graphs", "features", "radii", "eta", "gamma", "base"}


def difference(path, got, want):
    """Returns the number of values and the largest relative difference; other shapes are errors."""
    if isinstance(want, dict):
        assert got.keys() == want.keys(), f"{path}: {sorted(got)}, want {sorted(want)}"
        parts = [difference(f"{path}[{key}]", got[key], want[key]) for key in want]
    elif isinstance(want, list):
        assert len(got) == len(want), f"{path}: {len(got)} values, want {len(want)}"
        parts = [difference(f"{path}[{i}]", g, w) for i, (g, w) in enumerate(zip(got, want, strict=True))]
    else:
        off = abs(got - want) / max(abs(want), 1e-300)
        assert off <= TOLERANCE, f"{path} = {got!r}, the file has {want!r}"
        return 1, off
    return sum(n for n, _ in parts), max((off for _, off in parts), default=0)


def main(write):
    for path, values in FILES.items():
        cases = json.loads(path.read_text())
        new = [values(case) for case in cases]
        if write:
            for case, value in zip(cases, new, strict=True):
                case.update(value)
            path.write_text(json.dumps(cases, separators=(",", ":"), default=float))
            continue
        old = [{key: value for key, value in case.items() if key not in INPUTS} for case in cases]
        count, off = difference(path.name, new, old)
        print(f"{path.name}: {len(cases)} cases, {count} values, largest relative difference {off:.1e}")


if __name__ == "__main__":
    main("--write" in sys.argv[1:])
