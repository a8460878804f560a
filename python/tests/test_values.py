"""Values: golden ones, those of the command to the bit, and those by hand."""

from __future__ import annotations

import re
import subprocess
import warnings

import numpy as np
import pytest

import mlgkernel
from mlgkernel import (
    EdgeHistogram,
    Graph,
    GraphletSampling,
    MultiscaleLaplacian,
    NeighborhoodHash,
    Propagation,
    PyramidMatch,
    RandomWalk,
    RandomWalkLabeled,
    ShortestPath,
    TextKernel,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanOptimalAssignment,
    _engine,
)


def graph_of(case):
    edges = [e[:2] for e in case["edges"]]
    return Graph.from_arrays(
        np.array(edges, dtype=int).reshape(-1, 2),
        case["n"],
        labels=case.get("labels"),
        weights=[e[2] for e in case["edges"]],
    )


def text_gram(graphs, text):
    return TextKernel(text).fit_transform(graphs)


def test_golden_multiscale(golden):
    cases = golden("testdata/golden/mlg_exact.json")
    assert cases
    for case in cases:
        kernel = MultiscaleLaplacian(
            radii=case["radii"], heta=case["eta"], gamma=case["gamma"], exact=True, base="labels"
        )
        got = kernel.fit_transform([graph_of(g) for g in case["graphs"]])
        np.testing.assert_allclose(got, case["gram"], rtol=1e-9)


def test_golden_low_rank_is_exact_with_all_vertices(golden):
    for case in golden("testdata/golden/mlg_exact.json"):
        kernel = MultiscaleLaplacian(
            radii=case["radii"],
            heta=case["eta"],
            gamma=case["gamma"],
            n_samples=10000,
            P=10000,
            base="labels",
        )
        got = kernel.fit_transform([graph_of(g) for g in case["graphs"]])
        np.testing.assert_allclose(got, case["gram"], rtol=1e-8)


def test_golden_laplacian(golden):
    """LG, and FLG with features and with a Gaussian kernel of them."""
    for case in golden("testdata/golden/lg.json"):
        graphs = [graph_of(g) for g in case["graphs"]]
        got = text_gram(graphs, f"lg eta={case['eta']} gamma={case['gamma']}")
        np.testing.assert_allclose(got, case["gram"], rtol=1e-9)
    for name, base in (("flg_features", "attributes"), ("flg_kernel", "gaussian")):
        for case in golden(f"testdata/golden/{name}.json"):
            graphs = []
            for g, rows in zip(case["graphs"], case["features"]):
                g = graph_of(g)
                g.labels, g.attributes = None, np.array(rows, dtype=float)
                graphs.append(g)
            kernel = MultiscaleLaplacian(
                radii=(), heta=case["eta"], gamma=case["gamma"], exact=True, base=base
            )
            np.testing.assert_allclose(kernel.fit_transform(graphs), case["gram"], rtol=1e-8, err_msg=name)


def golden_kernel(name):
    """Return the kernel of a golden matrix: a class where one has its meaning, else a text."""
    if match := re.fullmatch(r"(wl|wl_edge|wl_oa)_h(\d)", name):
        kind, h = match[1].replace("_", "-"), int(match[2])
        if kind == "wl" and h:
            return WeisfeilerLehman(n_iter=h)
        if kind == "wl-oa" and h:
            return WeisfeilerLehmanOptimalAssignment(n_iter=h)
        if kind == "wl":
            return VertexHistogram()
        return TextKernel(f"{kind} h={h} normalize=false")
    if name == "shortest_path":  # unordered end labels
        return TextKernel("sp normalize=false")
    if match := re.fullmatch(r"graphlet_k(\d)_(all|connected)", name):
        connected = "true" if match[2] == "connected" else "false"
        return TextKernel(f"graphlet k={match[1]} connected={connected} normalize=false")
    if match := re.fullmatch(r"p_random_walk_p(\d)_lambda(.*)", name):
        return TextKernel(f"rw p={match[1]} lambda={match[2]} normalize=false")
    raise AssertionError(f"golden matrix {name} has no kernel")


def test_golden_baselines(golden):
    for case in golden("classic/testdata/baselines.json"):
        graphs = [graph_of(g) for g in case.pop("graphs")]
        for name, want in case.items():
            got = golden_kernel(name).fit_transform(graphs)
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12, err_msg=name)


COMMAND = [
    (MultiscaleLaplacian(), "mlg"),
    (
        MultiscaleLaplacian(
            radii=(1, 2, 4),
            heta=0.2,
            gamma=0.05,
            n_samples=60,
            P=7,
            random_state=5,
            landmarks="pivoted",
            combine="sum",
            power=2,
        ),
        "mlg radii=1,2,4 eta=0.2 gamma=0.05 samples=60 rank=7 seed=5 landmarks=pivoted combine=sum power=2",
    ),
    (MultiscaleLaplacian(radii=(1,), exact=True), "mlg radii=1 exact"),
    (MultiscaleLaplacian(L=2, base="labels*degree", discount=True), "mlg base=(labels * degree) discount"),
    (MultiscaleLaplacian(radii=(), bonds=True), "flg bonds"),
    (WeisfeilerLehman(n_iter=4, normalize=True), "wl h=4"),
    (WeisfeilerLehman(n_iter=2), "wl h=2 normalize=false"),
    (WeisfeilerLehman(n_iter=2, base_graph_kernel=VertexHistogram(normalize=True)), "wl h=2 normalize=false"),
    (WeisfeilerLehmanOptimalAssignment(n_iter=3, normalize=True), "wl-oa h=3"),
    (VertexHistogram(normalize=True), "labels"),
    (
        Propagation(t_max=4, w=0.1, M="H", random_state=3, normalize=True),
        "propagation steps=3 width=0.1 distance=hellinger seed=3",
    ),
    (PyramidMatch(L=3, d=4, normalize=True), "pyramid-match depth=3 dim=4"),
    (
        NeighborhoodHash(R=2, nh_type="count_sensitive", bits=16, random_state=3),
        "neighborhood-hash r=2 counts bits=16 seed=3",
    ),
    (GraphletSampling(k=4, normalize=True), "graphlet k=4 connected counts"),
    *(
        (TextKernel(text), text)
        for text in (
            "sp",
            "wl-edge",
            "graph-hopper",
            "rw p=4 lambda=0.05",
            "0.5 mlg radii=1 base=(labels * degree) + 0.5 wl h=2 * sp subdivide",
            "wl h=1 + (wl h=2 + labels) incident",
        )
    ),
]


@pytest.mark.parametrize("kernel,text", COMMAND, ids=[text for _, text in COMMAND])
def test_same_bits_as_the_command(kernel, text, drugs, tmp_path):
    out = tmp_path / "gram.npy"
    command = [str(_engine.binary()), "gram", "builtin:drugs", "-o", str(out), "--quiet", "--kernel", text]
    subprocess.run(command, check=True, timeout=120)
    got, want = kernel.fit_transform(drugs.graphs), np.load(out)
    assert got.dtype == want.dtype and got.tobytes() == want.tobytes()


def test_same_bits_for_new_graphs(drugs, tmp_path):
    out = tmp_path / "cross.npy"
    command = [
        str(_engine.binary()),
        "gram",
        "builtin:drugs",
        "--against",
        "builtin:scales",
        "-o",
        str(out),
        "--quiet",
    ]
    subprocess.run(command, check=True, timeout=120)
    kernel = MultiscaleLaplacian().fit(drugs.graphs)
    assert kernel.transform("builtin:scales").tobytes() == np.load(out).tobytes()


def test_transform_of_training_is_fit_transform(drugs):
    for kernel in (
        MultiscaleLaplacian(),
        WeisfeilerLehman(normalize=True),
        ShortestPath(normalize=True),
        RandomWalk(lamda=0.01),
        GraphletSampling(k=3),
        EdgeHistogram(),
    ):
        gram = kernel.fit_transform(drugs.graphs[:40])
        assert kernel.transform(drugs.graphs[:40]).tobytes() == gram.tobytes()
        assert kernel.fit(drugs.graphs[:40]).transform(drugs.graphs[:40]).tobytes() == gram.tobytes()


def test_threads_do_not_change_bits(drugs):
    for make in (lambda n: MultiscaleLaplacian(n_jobs=n), lambda n: ShortestPath(n_jobs=n)):
        one = make(1).fit_transform(drugs.graphs)
        assert make(2).fit_transform(drugs.graphs).tobytes() == one.tobytes()
        assert make(-1).fit_transform(drugs.graphs).tobytes() == one.tobytes()


def test_water_by_hand(molecules):
    """H2O and H3O+: ordered pairs (O, H) at 1: 2 and 3, (H, H) at 2: 2 and 6."""
    k = ShortestPath()
    np.testing.assert_array_equal(k.fit_transform(molecules), [[12, 24], [24, 54]])
    np.testing.assert_array_equal(k.diagonal(), [12, 54])
    np.testing.assert_array_equal(k.transform(molecules[1:]), [[24, 54]])
    x, y = k.diagonal()
    np.testing.assert_array_equal(x, [12, 54])
    np.testing.assert_array_equal(y, [54])
    n = ShortestPath(normalize=True)
    np.testing.assert_allclose(n.fit(molecules[:1]).transform(molecules[1:]), [[24 / np.sqrt(12 * 54)]])
    np.testing.assert_array_equal(n.diagonal()[0], [12])
    # 1'A^i 1 is 3, 4, 6, 8 for water: 9 + 1.6 + 0.36 + 0.064
    w = RandomWalk(lamda=0.1, p=3).fit_transform(molecules[:1])
    np.testing.assert_allclose(w, [[11.024]], rtol=1e-14)
    e = RandomWalk(lamda=0.1, p=3, kernel_type="exponential").fit_transform(molecules[:1])
    np.testing.assert_allclose(e, [[9 + 1.6 + 0.36 / 2 + 0.064 / 6]], rtol=1e-14)
    np.testing.assert_array_equal(GraphletSampling(k=3).fit_transform(molecules), [[1, 3], [3, 9]])


def test_edge_histogram_counts_both_directions():
    g = [
        {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0},
        {},
        {(0, 1): "x", (1, 0): "x", (1, 2): "y", (2, 1): "y"},
    ]
    np.testing.assert_array_equal(EdgeHistogram().fit_transform([g]), [[8]])


def test_random_walk_takes_weights_and_shrinks_lamda(molecules):
    weighted = [{(0, 1): 2.0}, None]
    np.testing.assert_allclose(RandomWalk(lamda=0.1, p=1).fit_transform([weighted]), [[4 + 0.1 * 16]])
    k = RandomWalk(lamda=0.5)
    with pytest.warns(UserWarning, match="too large"):
        got = k.fit_transform(molecules)
    assert k.lamda_ == pytest.approx(0.3, abs=1e-12)  # 0.9 / 3: the largest eigenvalue is sqrt(3)
    np.testing.assert_allclose(got, RandomWalk(lamda=0.3).fit_transform(molecules), rtol=1e-9)


@pytest.mark.parametrize("cls", [RandomWalk, RandomWalkLabeled])
def test_walks_that_diverge_on_new_graphs(cls):
    """Complete graphs of n and m vertices have n m / (1 - lamda (n - 1) (m - 1))."""

    def complete(n):
        return [{(i, j) for i in range(n) for j in range(i)}, dict.fromkeys(range(n), "a")]

    k = cls(lamda=0.1).fit([complete(2), complete(3)])
    with pytest.warns(UserWarning, match="a step is too large for 1 new graph") as told:
        got = k.transform([complete(4), complete(5)])
    assert [w.filename for w in told] == [__file__]
    step = np.sqrt(0.1 * 0.9 / 16)
    want = [[8 / (1 - 0.3), 12 / (1 - 0.6)], [10 / (1 - step * 4), 15 / (1 - step * 8)]]
    np.testing.assert_allclose(got, want, rtol=1e-11)
    np.testing.assert_allclose(k.diagonal()[1], [16 / (1 - 0.9), 25 / (1 - 0.9)], rtol=1e-10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        k.transform([complete(4)])


def test_graphlet_samples_come_near_to_counts(drugs):
    graphs = drugs.graphs[:10]
    sampled = GraphletSampling(k=3, normalize=True, sampling={"n_samples": 20000}, random_state=1)
    exact = TextKernel("graphlet k=3").fit_transform(graphs)
    np.testing.assert_allclose(sampled.fit_transform(graphs), exact, atol=0.05)
    again = GraphletSampling(k=3, normalize=True, sampling={"n_samples": 20000}, random_state=1)
    assert again.fit_transform(graphs).tobytes() == sampled.fit_transform(graphs).tobytes()
    bound = GraphletSampling(k=3, sampling={"delta": 0.05, "epsilon": 0.1, "a": -1})
    assert f" samples={int(np.ceil(2 * (4 * np.log(2) + np.log(20)) / 0.01))} " in bound._text()


def test_attributes_are_vectors(molecules):
    """One-hot vectors as labels give the kernel of the labels."""
    hot = {"O": [1.0, 0.0], "H": [0.0, 1.0]}
    vectors = [[g, {v: np.array(hot[x]) for v, x in labels.items()}] for g, labels in molecules]
    a, b = (MultiscaleLaplacian().fit_transform(x) for x in (vectors, molecules))
    np.testing.assert_allclose(a, b, rtol=1e-9)


def test_version():
    assert mlgkernel.__version__


def test_device():
    graphs = ["CCO", "CCN", "c1ccccc1O"]
    want = MultiscaleLaplacian().fit_transform(graphs)
    assert (MultiscaleLaplacian(device="auto").fit_transform(graphs) == want).all()
    with pytest.raises(ValueError, match=r"device=.*tpu"):
        MultiscaleLaplacian(device="tpu").fit(graphs)
    try:
        got = MultiscaleLaplacian(device="cuda").fit_transform(graphs)
    except ValueError as e:  # no GPU here
        assert str(e).startswith("device='cuda': ")
    else:
        assert (got == want).all()
