"""Datasets: read files, download collections, and the built-in ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from . import _engine
from ._inputs import read_graphs
from .graph import Graph

__all__ = ["BUILTIN", "Dataset", "fetch", "fetch_dataset", "load"]

BUILTIN = ("builtin:drugs", "builtin:scales")


@dataclass
class Dataset:
    """Graphs with what belongs to them.

    Attributes
    ----------
    name : str
    graphs : list of Graph
    target : ndarray
        Class or value of every graph: integers or floats where all are numbers, else texts.
        NaN among numbers and an empty text among others where there is none. A column for each
        target where there are several.
    ids : list of str
    warnings : list of str
        What was put right or left out while reading.
    info : dict
        What ``mlg info --json`` prints, without the counts of labels.
    columns : dict of str to list of str
        The texts that stand beside the graphs: the cells of a table, data fields of an SDF.
    """

    name: str
    graphs: list[Graph]
    target: np.ndarray
    ids: list[str]
    warnings: list[str] = field(default_factory=list)
    info: dict[str, Any] = field(default_factory=dict)
    columns: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.graphs)

    def __iter__(self) -> Iterator[Graph]:
        return iter(self.graphs)


def load(
    path: str | os.PathLike[str],
    *,
    format: str = "auto",
    smiles_column: str = "",
    target: str | Sequence[str] = "",
    id: str = "",
    hydrogens: str = "written",
    atom_charge: bool = False,
    atom_aromatic: bool = False,
    atom_hydrogens: bool = False,
    strict: bool = False,
    largest_fragment: bool = False,
    edge_weight: str = "weight",
) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : str or path
        File, folder, zip file, a built-in name such as ``"builtin:drugs"``, or the name of a
        collection that was downloaded.
    format : str
        ``"auto"``, or tudataset, smiles, csv, tsv, parquet, sdf, jsonl, graphml, dot, edgelist.
    smiles_column, target, id : str
        Columns or data fields; by default names and values tell. ``target`` may be several: a
        list, names with commas between them, or ``"all"``.
    hydrogens : {"written", "explicit", "implicit"}
        Hydrogens of molecules that become vertices: as in the data, all, or none.
    atom_charge, atom_aromatic, atom_hydrogens : bool
        What labels of atoms say besides the element.
    strict : bool
        Refuse molecules that cannot be read. By default they are left out, and ``warnings`` and
        ``info["skipped"]`` tell them.
    largest_fragment : bool
        Of molecules of several fragments, such as salts, keep the largest.
    edge_weight : {"weight", "unit", "order", "distance"}
        Where edge weights come from.

    Returns
    -------
    Dataset
    """
    graphs, info = read_graphs(
        path,
        format=format,
        smiles_column=smiles_column,
        target=target if isinstance(target, str) else ",".join(target),
        id=id,
        hydrogens=hydrogens,
        atom_charge=atom_charge,
        atom_aromatic=atom_aromatic,
        atom_hydrogens=atom_hydrogens,
        strict=strict,
        largest_fragment=largest_fragment,
        edge_weight=edge_weight,
    )
    ids = [g.id or str(i + 1) for i, g in enumerate(graphs)]
    columns = info.pop("values", None) or {}
    targets = [c["name"] for c in info.get("columns", []) if c["role"] == "target"]
    if len(targets) > 1:
        found = [_targets(["" if v.lower() in _MISSING else v for v in columns[t]]) for t in targets]
        target = np.stack(found, axis=1)
    else:
        target = _targets([g.target for g in graphs])
    return Dataset(info["name"], graphs, target, ids, info["warnings"], info, columns)


_MISSING = ("", "na", "n/a", "#n/a", "nan", "none", "null", "-", "?")


def _targets(texts: list[str]) -> np.ndarray:
    for kind in (np.int64, np.float64):
        missing = "nan" if kind is np.float64 and any(texts) else ""
        try:
            return np.array([kind(t or missing) for t in texts])
        except (ValueError, OverflowError):
            continue
    return np.array(texts, dtype=str)


def fetch(name: str, *, data_home: str | None = None, force: bool = False, url: str = "") -> str:
    """Download a TUDataset collection into the cache, unless it is there; return its path.

    Parameters
    ----------
    name : str
        As ``"MUTAG"``.
    data_home : str, optional
        The cache folder; by default ``$MLG_CACHE`` or the folder mlg in the user's cache folder.
    force : bool
        Download what is in the cache again.
    url : str
        Another folder of the zip files.
    """
    args = {"name": name, "cache": data_home or "", "force": force, "url": url}
    return _engine.call("fetch", args)[0]["path"]


def fetch_dataset(
    name: str,
    verbose: bool = True,
    data_home: str | None = None,
    download_if_missing: bool = True,
    with_classes: bool = True,
    produce_labels_nodes: bool = False,
    prefer_attr_nodes: bool = False,
    prefer_attr_edges: bool = False,
    as_graphs: bool = False,
) -> Bunch:
    """Read a TUDataset collection in GraKeL's form, downloading it where it is not in the cache.

    Parameters
    ----------
    name : str
        Name of a collection, or its path.
    verbose : bool
        Print where the collection is.
    data_home : str, optional
        The cache folder.
    download_if_missing : bool
        If False, a collection that is not there raises `FileNotFoundError`.
    with_classes : bool
        Has no effect: the classes are always there.
    produce_labels_nodes : bool
        Label vertices by degree where they have no labels.
    prefer_attr_nodes : bool
        Give the attributes of vertices as labels where there are both.
    prefer_attr_edges : bool
        Has no effect.
    as_graphs : bool
        Return `Graph` objects, not tuples (edges, vertex labels, edge labels).

    Returns
    -------
    Bunch with data and target
    """
    path = name
    if not os.path.exists(name):
        if download_if_missing:
            path = fetch(name, data_home=data_home)
        elif data_home:
            path = os.path.join(data_home, "tudataset", f"{name}.zip")
    data = load(path)
    if verbose:
        print(f"{data.name}: {len(data)} graphs from {path}")
    graphs: list[Any] = []
    for g in data.graphs:
        if g.labels is None and g.attributes is None and produce_labels_nodes:
            degree = np.bincount(g.edges.reshape(-1), minlength=g.n)
            g = Graph.from_arrays(g.edges, g.n, labels=degree, edge_labels=g.edge_labels)
        if prefer_attr_nodes and g.attributes is not None:
            g.labels = None
        graphs.append(g if as_graphs else g.as_tuple())
    return Bunch(data=graphs, target=data.target)
