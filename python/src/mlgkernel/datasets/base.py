"""Datasets: read files, download collections, and the built-in ones."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from .. import _engine
from .._inputs import read_graphs
from ..graph import Graph

__all__ = ["BUILTIN", "Dataset", "fetch", "fetch_dataset", "get_dataset_info", "load", "read_data"]

BUILTIN = ("builtin:drugs", "builtin:scales")


@dataclass
class Dataset:
    """Graphs with what belongs to them.

    Attributes
    ----------
    name : str
    graphs : list of Graph
    target : ndarray
        Class or value of every graph: integers or floats if all are numbers, else texts. A missing
        value is NaN among numbers, and an empty text among texts. A text among many numbers, such as
        ">10", counts as missing. If there are several targets, each has a column.
    ids : list of str
    warnings : list of str
        What was put right or left out while reading.
    info : dict
        What ``mlg info --json`` prints, without the counts of labels.
    columns : dict of str to list of str
        The texts that stand beside the graphs: the cells of a table, data fields of an SDF.

    Examples
    --------
    >>> from mlgkernel import datasets
    >>> data = datasets.load("builtin:drugs")
    >>> len(data), data.ids[0], str(data.target[0])
    (234, 'diazepam', 'benzodiazepine')
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
    structure: str | Sequence[str] = "",
    with_columns: str | Sequence[str] = "",
    target: str | Sequence[str] = "",
    id: str = "",
    hydrogens: str = "written",
    atom_charge: bool = True,
    atom_aromatic: bool = False,
    atom_hydrogens: bool = False,
    strict: bool = False,
    largest_fragment: bool = False,
    edge_weight: str = "weight",
    node_label: str = "",
    attributes: str | Sequence[str] = "",
    edge_label: str = "",
    edge_attributes: str | Sequence[str] = "",
    clusters: bool = False,
    directed: bool = False,
) -> Dataset:
    """Read a dataset.

    Parameters
    ----------
    path : str or path
        File, folder, zip file, a built-in name such as ``"builtin:drugs"``, or the name of a
        collection that was downloaded.
    format : str
        ``"auto"``, or tudataset, smiles, csv, tsv, parquet, sdf, jsonl, graphml, gml, gexf,
        pajek, nodelink, dot, edgelist.
    structure, target, id : str or sequence of str
        Columns or data fields. By default they are found by their names and values. ``structure`` and
        ``target`` may name several, as a list or with commas between the names. With several structures
        graphs are rows, whose `Graph.parts` kernels name: ``"wl(solute) * wl(solvent)"``. ``target`` may
        be ``"all"``.
    with_columns : str or sequence of str
        Columns of numbers and categories, which become parts of rows too. ``"batch:category"`` and
        ``"pH:number"`` say what a column is; else its values do.
    hydrogens : {"written", "explicit", "implicit"}
        Which hydrogens of molecules become vertices: those in the data, all, or none.
    atom_charge, atom_aromatic, atom_hydrogens : bool
        What labels of atoms say besides the element. Charges of neighbours that add up to 0, as in a
        nitro group, do not count.
    strict : bool
        Raise an error for a molecule that cannot be read. By default such molecules are left out, and
        ``warnings`` and ``info["skipped"]`` name them.
    largest_fragment : bool
        Keep only the largest fragment of a molecule with several, such as a salt.
    edge_weight : {"weight", "unit", "order", "distance"} or str
        Where edge weights come from, or the key of edge data that has them.
    node_label, edge_label : str
        Keys of the data of nodes and edges that are their labels, or ``"none"``. By default usual names.
    attributes : str or sequence of str
        Keys of the data of nodes that are their attributes, or ``"none"``. By default all with numbers.
    edge_attributes : str or sequence of str
        Keys of the data of edges with numbers. Every edge becomes a vertex between its ends, which has
        them as attributes, behind zeros for those of the nodes.
    clusters : bool
        Every cluster of a DOT file is a graph.
    directed : bool
        Edges of data that does not say it lead from the first node to the second.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from mlgkernel import datasets
    >>> drugs = datasets.load("builtin:drugs")
    >>> len(drugs), drugs.graphs[0], drugs.target[0]
    (234, <Graph 'diazepam': 20 vertices, 22 edges>, np.str_('benzodiazepine'))
    """
    graphs, info = read_graphs(
        path,
        format=format,
        structure=listed(structure),
        target=listed(target),
        id=id,
        hydrogens=hydrogens,
        atom_charge=atom_charge,
        atom_aromatic=atom_aromatic,
        atom_hydrogens=atom_hydrogens,
        strict=strict,
        largest_fragment=largest_fragment,
        edge_weight=edge_weight,
        node_label=node_label,
        attributes=listed(attributes),
        edge_label=edge_label,
        edge_attributes=listed(edge_attributes),
        clusters=clusters,
        directed=directed,
        **{"with": listed(with_columns)},
    )
    return dataset_of(graphs, info)


def listed(names: str | Sequence[str]) -> str:
    """Return names with commas between them."""
    return names if isinstance(names, str) else ",".join(names)


def dataset_of(graphs: list[Graph], info: dict[str, Any]) -> Dataset:
    """Return what the worker has read."""
    ids = [g.id or str(i + 1) for i, g in enumerate(graphs)]
    columns = info.pop("values", None) or {}
    found = [_values(**column) for column in info.pop("learned")]
    values = found[0] if len(found) == 1 else np.stack(found, axis=1)
    return Dataset(info["name"], graphs, values, ids, info["warnings"], info, columns)


def _values(values: list[str], numeric: bool) -> np.ndarray:
    """Return targets as numbers where the worker says that they are: whole ones where all are."""
    if not numeric:
        return np.array(values, dtype=str)
    numbers = [float(v) if v else np.nan for v in values]
    try:
        return np.array([int(v) for v in values], dtype=np.int64)
    except (ValueError, OverflowError):
        return np.array(numbers)


def fetch(
    name: str, *, data_home: str | os.PathLike[str] | None = None, force: bool = False, url: str = ""
) -> str:
    """Download a TUDataset collection into the cache, unless it is there; return its path.

    Parameters
    ----------
    name : str
        Name of a collection, such as ``"MUTAG"``.
    data_home : str or path, optional
        The cache folder; by default ``$MLG_CACHE`` or the folder mlg in the user's cache folder. A folder
        or zip file of that name in it counts as well.
    force : bool
        Download what is in the cache again.
    url : str
        Another folder of the zip files.
    """
    home = "" if data_home is None else os.path.expanduser(data_home)
    there = None if force else _found(name, home)
    args = {"name": name, "cache": home, "force": force, "url": url}
    return there or _engine.call("fetch", args)[0]["path"]


def _found(name: str, home: str) -> str | None:
    """Return the path of a collection in a folder: unpacked, as GraKeL leaves it, or packed."""
    for path in (os.path.join(home, name), os.path.join(home, f"{name}.zip")):
        if home and os.path.exists(os.path.join(path, f"{name}_A.txt") if os.path.isdir(path) else path):
            return path
    return None


def fetch_dataset(
    name: str,
    verbose: bool = True,
    data_home: str | os.PathLike[str] | None = None,
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
    data_home : str or path, optional
        The cache folder, as for `fetch`.
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
    home = "" if data_home is None else os.path.expanduser(data_home)
    path = _found(name, home) or name
    if not os.path.exists(path):
        if download_if_missing:
            path = fetch(name, data_home=data_home)
        elif home:
            path = os.path.join(home, "tudataset", f"{name}.zip")
    out = read_data(path, with_classes, prefer_attr_nodes, prefer_attr_edges, produce_labels_nodes, as_graphs)
    if verbose:
        print(f"{len(out.data)} graphs from {path}")
    return out


def read_data(
    name: str,
    with_classes: bool = True,
    prefer_attr_nodes: bool = False,
    prefer_attr_edges: bool = False,
    produce_labels_nodes: bool = False,
    as_graphs: bool = False,
    is_symmetric: bool = False,
) -> Bunch:
    """Read the folder of a TUDataset collection in GraKeL's form.

    Parameters
    ----------
    name : str
        Path of the folder.
    with_classes : bool
        Whether the result has `target`.
    prefer_attr_nodes, prefer_attr_edges, produce_labels_nodes, as_graphs
        As in `fetch_dataset`.
    is_symmetric : bool
        Has no effect: edges that stand in one direction only make graphs directed.

    Returns
    -------
    Bunch with data, and target where it is asked for
    """
    data = load(name)
    whole = all(_whole(g._labels) and _whole(g._edge_labels) for g in data.graphs)
    graphs: list[Any] = []
    for g in data.graphs:
        if whole:  # as in the files
            g._labels = g._labels and [int(x) for x in g._labels]
            g._edge_labels = g._edge_labels and [int(x) for x in g._edge_labels]
        if g.labels is None and g.attributes is None and produce_labels_nodes:
            g._set_labels(g._degrees())
        if prefer_attr_nodes and g.attributes is not None:
            g.labels = None
        graphs.append(g if as_graphs else g.as_tuple())
    return Bunch(data=graphs, target=data.target) if with_classes else Bunch(data=graphs)


def _whole(labels: list[str] | None) -> bool:
    return all(x.lstrip("-").isdecimal() for x in labels or ())


# What some collections have: labels (nl, el) and attributes (na, ea) of vertices and edges.
_CONTENTS = {
    "": "COLLAB IMDB-BINARY IMDB-MULTI REDDIT-BINARY REDDIT-MULTI-5K REDDIT-MULTI-12K",
    "nl": "DD MSRC_9 MSRC_21 MSRC_21C NCI1 NCI109",
    "nl el": "MUTAG Mutagenicity PTC_FM PTC_FR PTC_MM PTC_MR",
    "nl na": "BZR COX2 DHFR ENZYMES PROTEINS PROTEINS_full",
    "nl el na": "AIDS",
    "nl el ea": "BZR_MD COX2_MD DHFR_MD ER_MD",
    "nl el na ea": "Cuneiform",
    "na": "FRANKENSTEIN Letter-high Letter-low Letter-med SYNTHETIC SYNTHETICnew Synthie",
}


def get_dataset_info(dataset_name: str, default: Any = None) -> Any:
    """Return what a TUDataset collection has, without downloading it.

    Parameters
    ----------
    dataset_name : str
    default : object
        What is returned for a collection that is neither well known nor on this machine.

    Returns
    -------
    dict of bool
        ``nl``, ``el``: whether vertices and edges have labels; ``na``, ``ea``: attributes.

    Examples
    --------
    >>> from mlgkernel import datasets
    >>> datasets.get_dataset_info("MUTAG")
    {'nl': True, 'el': True, 'na': False, 'ea': False}
    """
    for contents, names in _CONTENTS.items():
        if dataset_name in names.split():
            return {key: key in contents.split() for key in ("nl", "el", "na", "ea")}
    try:
        info = load(dataset_name).info
    except OSError:
        return default
    return {
        "nl": info["node_labels"] > 0,
        "el": info["edge_labels"] > 0,
        "na": info["attributes"] > 0,
        "ea": False,
    }
