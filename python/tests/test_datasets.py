"""Datasets: folders, tables, downloads."""

from __future__ import annotations

import functools
import http.server
import shutil
import subprocess
import threading

import pytest

import mlgkernel
from mlgkernel import WeisfeilerLehman, _engine


def test_datasets(tudatasets, tmp_path):
    d = mlgkernel.datasets.load(tudatasets / "MUTAG")
    assert len(d) == 188 and set(d.target.tolist()) == {-1, 1} and d.info["classes"] == 2
    bunch = mlgkernel.datasets.fetch_dataset(str(tudatasets / "MUTAG"), verbose=False)
    edges, labels, edge_labels = bunch.data[0]
    assert len(labels) == d.graphs[0].n and len(edges) == 2 * len(d.graphs[0].edges) == len(edge_labels)
    a = WeisfeilerLehman().fit_transform(bunch.data)
    assert a.tobytes() == WeisfeilerLehman().fit_transform(d.graphs).tobytes()
    e = mlgkernel.datasets.fetch_dataset(
        str(tudatasets / "ENZYMES"), verbose=False, prefer_attr_nodes=True, as_graphs=True
    )
    assert e.data[0].labels is None and e.data[0].attributes.shape[1] > 1
    with pytest.raises(FileNotFoundError):
        mlgkernel.datasets.fetch_dataset("NOTHING", download_if_missing=False, verbose=False)
    table = tmp_path / "t.csv"
    table.write_text("smiles,value\nCCO,1.5\nCCN,2.5\n")
    t = mlgkernel.datasets.load(table, target="value")
    assert t.target.tolist() == [1.5, 2.5] and t.graphs[0].labels == ["C", "C", "O"]
    assert mlgkernel.datasets.load("builtin:scales").info["classes"] == 2


def test_fetch(tmp_path):
    """A download from a server on this machine, then from the cache, and one that fails."""
    served = tmp_path / "served"
    source = served / "TINY"
    command = [str(_engine.binary()), "convert", "builtin:scales", str(source), "--quiet"]
    served.mkdir()
    subprocess.run(command, check=True, timeout=60)
    shutil.make_archive(str(served / "TINY"), "zip", served, "TINY")
    handler = functools.partial(QuietHandler, directory=str(served))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    home = str(tmp_path / "cache")
    try:
        path = mlgkernel.datasets.fetch("TINY", data_home=home, url=url)
        with pytest.raises(OSError, match="NOTHING"):
            mlgkernel.datasets.fetch("NOTHING", data_home=home, url=url)
    finally:
        server.shutdown()
        server.server_close()
    graphs = mlgkernel.datasets.load(path)
    assert mlgkernel.datasets.fetch("TINY", data_home=home) == path
    bunch = mlgkernel.datasets.fetch_dataset("TINY", data_home=home, download_if_missing=False, verbose=False)
    assert len(bunch.data) == len(graphs) == len(mlgkernel.datasets.load("builtin:scales"))
    with pytest.raises(FileNotFoundError):
        mlgkernel.datasets.fetch_dataset("OTHER", data_home=home, download_if_missing=False)


def test_data_home_of_grakel(tmp_path, monkeypatch):
    """A folder with unpacked collections, as GraKeL leaves them, or with zip files."""
    home = tmp_path / "data"
    source = home / "TINY"
    home.mkdir()
    subprocess.run([str(_engine.binary()), "convert", "builtin:scales", str(source), "--quiet"], check=True)
    shutil.make_archive(str(home / "PACKED"), "zip", home, "TINY")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for given in (home, str(home), "data", "~/data"):
        assert mlgkernel.datasets.fetch("TINY", data_home=given).endswith("data/TINY")
        for more in ({}, {"download_if_missing": False}):
            bunch = mlgkernel.datasets.fetch_dataset("TINY", data_home=given, verbose=False, **more)
            assert len(bunch.data) == len(mlgkernel.datasets.load("builtin:scales"))
    assert mlgkernel.datasets.fetch("PACKED", data_home=home) == str(home / "PACKED.zip")
    (home / "OTHER").mkdir()  # a folder that is no collection
    with pytest.raises(FileNotFoundError):
        mlgkernel.datasets.fetch_dataset("OTHER", data_home=home, download_if_missing=False)


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


def test_keys(tmp_path):
    """Keys of data are labels, attributes and weights; a folder of files has classes."""
    text = "graph {{ a [kind=x, size=1, w=5]; b [kind=y, size=2, w=6]; a -- b [rel=r, flow={}] }}"
    for name, flow in (("p", 2), ("q", 3)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "g.dot").write_text(text.format(flow))
    data = mlgkernel.datasets.load(
        tmp_path, node_label="kind", attributes=["w", "size"], edge_label="rel", edge_weight="flow"
    )
    assert data.target.tolist() == ["p", "q"]
    g = data.graphs[1]
    assert (g.labels, g.attributes.tolist(), g.edge_labels) == (["x", "y"], [[5, 1], [6, 2]], ["r"])
    assert g.weights.tolist() == [3] and list(g.vertices) == ["a", "b"]
    with pytest.raises(ValueError, match='no node has data "knid"'):
        mlgkernel.datasets.load(tmp_path, node_label="knid")
