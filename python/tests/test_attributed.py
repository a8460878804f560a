"""The kernels on attributes: conventions, values of the command, and what is told where there are none."""

from __future__ import annotations

import copy
import pickle
import subprocess

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import mlgkernel
from mlgkernel import GraphHopper, GraphKernel, PropagationAttr, ShortestPathAttr, _engine

KERNELS = [GraphHopper, PropagationAttr, ShortestPathAttr]


@pytest.fixture(scope="module")
def graphs():
    """Random graphs with two attributes, some of them not connected."""
    rng = np.random.default_rng(0)
    out = []
    for n in rng.integers(2, 9, 20):
        edges = [(u, v) for u in range(n) for v in range(u) if rng.random() < 0.4]
        out.append((np.array(edges, dtype=int).reshape(-1, 2), rng.normal(size=(n, 2)).round(3)))
    return out


@pytest.mark.parametrize("cls", KERNELS)
def test_copies_and_new_graphs(cls, graphs):
    kernel = cls(n_jobs=1)
    with pytest.raises(NotFittedError):
        kernel.transform(graphs)
    gram = kernel.fit_transform(graphs)
    assert kernel.transform(graphs).tobytes() == gram.tobytes()
    np.testing.assert_array_equal(kernel.diagonal()[0], np.diag(gram))
    for other in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert other.transform(graphs).tobytes() == gram.tobytes()
    assert not hasattr(clone(kernel), "kernel_")
    assert "attributes" in kernel.compared_


@pytest.mark.parametrize("cls", KERNELS)
def test_no_attributes(cls, graphs, drugs):
    want = "graph 1 has no attributes, which the kernel compares; give every vertex a list"
    with pytest.raises(mlgkernel.GraphError, match=want):
        cls().fit([graphs[0], drugs.graphs[0]])
    kernel = cls().fit(graphs)
    with pytest.raises(mlgkernel.GraphError, match=want):
        kernel.transform([graphs[0], drugs.graphs[0]])


def test_by_name(graphs):
    for given, kernel in (
        ({"name": "propagation", "with_attributes": True, "w": 0.5}, PropagationAttr(w=0.5)),
        ({"name": "SP", "as_attributes": True}, ShortestPathAttr()),
        ({"name": "GH", "kernel_type": "gaussian"}, GraphHopper(kernel_type="gaussian")),
    ):
        assert GraphKernel(given).fit_transform(graphs).tobytes() == kernel.fit_transform(graphs).tobytes()
    plain = mlgkernel.ShortestPath(with_labels=False).fit_transform(graphs)
    named = GraphKernel({"name": "SP", "as_attributes": False, "with_labels": False}).fit_transform(graphs)
    assert named.tobytes() == plain.tobytes()


def test_same_bits_as_the_command(tudatasets, tmp_path):
    out = tmp_path / "gram.npy"
    data = str(tudatasets / "ENZYMES")
    read = mlgkernel.datasets.load(data)
    for kernel, text in (
        (GraphHopper(normalize=True), "graph-hopper weighted"),
        (PropagationAttr(w=4, random_state=2, normalize=True), "propagation steps=4 width=4 seed=2"),
        (ShortestPathAttr(normalize=True), "sp ordered weighted"),
    ):
        command = [str(_engine.binary()), "gram", data, "-o", str(out), "--quiet"]
        subprocess.run([*command, "--kernel", f"{text} labels=attributes"], check=True, timeout=120)
        assert kernel.fit_transform(read.graphs).tobytes() == np.load(out).tobytes()
