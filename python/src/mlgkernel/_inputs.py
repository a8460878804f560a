"""What counts as graphs: everything that users have becomes a list of `Graph`."""

from __future__ import annotations

import copy
import os
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import _engine
from ._batch import unpack
from .exceptions import DirectedWarning, GraphError
from .graph import Graph

# Names of networkx data that are labels, attributes and weights, the first that is there.
NODE_LABEL_KEYS = ("label", "element", "symbol")
NODE_ATTRIBUTE_KEYS = ("attributes", "attribute", "attr", "x")
EDGE_LABEL_KEYS = ("label", "bond", "bond_type")


def as_graphs(X: Any, like: Any = None) -> list[Graph]:
    """Return the graphs of a collection.

    Parameters
    ----------
    X : iterable, str or path
        An iterable, generators included, whose elements may be mixed:

        - `Graph`, and GraKeL's own ``Graph``;
        - GraKeL's iterables ``[edges]``, ``[edges, node_labels]`` and
          ``[edges, node_labels, edge_labels]``, and what `Graph` takes for edges alone;
        - a pair (edge array of shape (m, 2), array of vertex labels or attributes);
        - networkx graphs, torch-geometric ``Data``, RDKit molecules;
        - SMILES, as a string;
        - a ``Path``: all graphs of that dataset.

        Or a dataset: its path or name, as ``"builtin:drugs"`` or the folder of a TUDataset.
    like : estimator, optional
        SMILES and files are read as its model file says that the training graphs were: hydrogens,
        labels of atoms and edge weights.

    Returns
    -------
    list of Graph
        Nothing in `X` is changed.

    Raises
    ------
    GraphError
        Names the graph by its place, and the field.
    """
    held = getattr(like, "_held", None)
    if isinstance(X, (str, os.PathLike)):
        return read_graphs(X, held, strict=True)[0]  # every row has its y
    if isinstance(X, Graph) or hasattr(X, "edge_index") or _is_networkx(X):
        raise TypeError("one graph, want a collection of graphs: put it into a list")
    if isinstance(X, (Mapping, set)):
        raise TypeError(f"{type(X).__name__}, want an iterable of graphs")
    try:
        items = iter(X)
    except TypeError:
        raise TypeError(f"{type(X).__name__}, want an iterable of graphs") from None
    out: list[Any] = []
    smiles: list[int] = []
    for i, item in enumerate(items):
        if isinstance(item, str):
            smiles.append(len(out))
            out.append((i, item))
        elif isinstance(item, os.PathLike):
            out.extend(read_graphs(item, held, strict=True)[0])
        else:
            try:
                out.append(as_graph(item))
            except GraphError as e:
                raise GraphError(f"graph {i}: {e}") from None
            except RecursionError:
                raise
            except (TypeError, ValueError, KeyError, AttributeError) as e:
                raise GraphError(f"graph {i}: {type(item).__name__}: {e}") from e
    if smiles:
        for at, g in zip(smiles, _molecules([out[j] for j in smiles], held)):
            out[at] = g
    if not out:
        raise ValueError("no graphs: the input is empty")
    return out


def notice(notes: dict[str, Any]) -> None:
    """Warn of what the worker has changed in graphs."""
    directed, loops = notes.get("directed", 0), notes.get("loops", 0)
    if directed:
        warnings.warn(
            f"{directed} graphs have edges in one direction only beside edges in both: "
            "all are taken as undirected",
            DirectedWarning,
            stacklevel=4,
        )
    if loops:
        warnings.warn(f"{loops} self-loops left out", DirectedWarning, stacklevel=4)


def read_graphs(
    path: str | os.PathLike[str], held: _engine.Held | None = None, **options: Any
) -> tuple[list[Graph], dict[str, Any]]:
    """Read a dataset; return its graphs and what was found about it."""
    text = os.fspath(path)
    if isinstance(path, os.PathLike) or os.path.exists(text):
        text = os.path.abspath(text)  # the worker may be in another folder
    result, arrays = _engine.call("read", dict(options, path=text), held=held)
    return unpack(arrays["graphs"]), result


def _molecules(items: list[tuple[int, str]], held: _engine.Held | None) -> list[Graph]:
    result, arrays = _engine.call("smiles", {"smiles": [text for _, text in items]}, held=held)
    if result is not None:
        raise GraphError(f"graph {items[result['index']][0]}: SMILES: {result['error']}")
    return unpack(arrays["graphs"])


def as_graph(item: Any) -> Graph:
    """Return one element of a collection as a `Graph`. The error does not name its place."""
    if isinstance(item, Graph):
        return item
    kind = type(item).__module__.partition(".")[0]
    if kind == "grakel" and hasattr(item, "get_edge_dictionary"):
        return _from_grakel(item)
    if _is_networkx(item):
        return from_networkx(item)
    if hasattr(item, "edge_index"):
        return from_torch_geometric(item)
    if hasattr(item, "GetAtoms") and hasattr(item, "GetBonds"):
        return from_rdkit(item)
    if isinstance(item, Mapping) or hasattr(item, "tocoo"):
        return Graph(item)
    if isinstance(item, np.ndarray) and item.dtype != object:
        if item.ndim == 2 and (item.shape[0] == item.shape[1]):
            return Graph(item)
        return Graph.from_arrays(item)
    if not isinstance(item, Iterable):
        raise GraphError(f"{type(item).__name__} is no graph")
    parts = list(item)
    if not parts:
        raise GraphError("edges: an empty iterable, want at least the edges")
    if len(parts) > 3 or _is_edge(parts[0]):
        return Graph(parts)
    edges, labels, edge_labels = parts + [None] * (3 - len(parts))
    if isinstance(edges, Graph):
        return edges
    if _is_edge_array(edges, labels):
        return _from_pair(edges, labels, edge_labels)
    return Graph(edges, labels if labels is not None and len(labels) else None, edge_labels)


def _is_edge(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) in (2, 3) and not isinstance(x[0], (list, tuple, dict))


def _is_edge_array(edges: Any, labels: Any) -> bool:
    """Tell an array of edges, with an array of labels, from an adjacency matrix."""
    if not isinstance(edges, np.ndarray) or edges.ndim != 2 or isinstance(labels, Mapping):
        return edges.size == 0 if isinstance(edges, np.ndarray) else False
    if edges.shape[0] != edges.shape[1]:
        return edges.shape[1] in (2, 3) or edges.size == 0
    if edges.shape != (2, 2) or labels is None:
        return False
    return bool(edges[0, 0] or edges[1, 1] or edges[0, 1] != edges[1, 0])


def _from_pair(edges: np.ndarray, labels: Any, edge_labels: Any) -> Graph:
    weights = None
    if edges.ndim == 2 and edges.shape[1] == 3:
        edges, weights = edges[:, :2], edges[:, 2]
    if labels is None or (isinstance(labels, Mapping) and not labels):
        return Graph.from_arrays(edges, weights=weights, edge_labels=edge_labels)
    if isinstance(labels, Mapping):
        n = max((int(v) for v in labels), default=-1) + 1
        labels = [labels.get(v) for v in range(n)]
    return Graph.from_arrays(edges, len(labels), labels, weights=weights, edge_labels=edge_labels)


def _from_grakel(g: Any) -> Graph:
    g = copy.deepcopy(g)  # reading it changes its format
    edges = g.get_edge_dictionary()
    labels = g.get_labels(purpose="dictionary", return_none=True)
    return Graph(edges, labels or None, g.edge_labels or None)


def _is_networkx(x: Any) -> bool:
    return all(hasattr(x, a) for a in ("nodes", "edges", "adjacency", "is_directed"))


def from_networkx(
    g: Any,
    node_labels_tag: str | None = None,
    edge_labels_tag: str | None = None,
    edge_weight_tag: str | None = None,
) -> Graph:
    """Return a networkx graph. Without tags, the usual names of labels and weights are tried."""
    nodes = list(g.nodes(data=True))
    number = {v: i for i, (v, _) in enumerate(nodes)}
    edges = list(g.edges(data=True))
    pairs = [(number[u], number[v]) for u, v, _ in edges]
    out = Graph.from_arrays(np.array(pairs, np.int64).reshape(-1, 2), len(nodes))
    out.vertices = [v for v, _ in nodes]

    def column(rows: list[Any], keys: Iterable[str], what: str) -> list[Any] | None:
        for key in keys:
            have = [key in d for d in rows]
            if any(have):
                if not all(have):
                    raise GraphError(f"{what}: some have the datum {key!r}, others do not")
                return [d[key] for d in rows]
        return None

    data = [d for _, d in nodes]
    tags = (node_labels_tag,) if node_labels_tag else NODE_LABEL_KEYS
    labels = column(data, tags, "nodes")
    if node_labels_tag and labels is None and nodes:
        raise GraphError(f"nodes: no datum {node_labels_tag!r}")
    out._set_labels(labels)
    if not node_labels_tag and out.attributes is None:
        rows = column(data, NODE_ATTRIBUTE_KEYS, "nodes")
        if rows is not None:
            rows = [np.atleast_1d(np.asarray(r, dtype=np.float64)) for r in rows]
            keep, out.labels = out.labels, None
            out._set_labels(rows)
            out.labels = keep
    data = [d for _, _, d in edges]
    tags = (edge_labels_tag,) if edge_labels_tag else EDGE_LABEL_KEYS
    out._set_edge_labels(column(data, tags, "edges"))
    weights = column(data, (edge_weight_tag or "weight",), "edges")
    if weights is not None:
        made = Graph.from_arrays(out.edges, out.n, weights=weights)
        out.weights = made.weights
    return out


def _numpy(x: Any) -> np.ndarray:
    for name in ("detach", "cpu"):
        if hasattr(x, name):
            x = getattr(x, name)()
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def _one_hot(a: np.ndarray) -> bool:
    return a.ndim == 2 and a.shape[1] > 1 and bool((((a == 0) | (a == 1)).all(1) & (a.sum(1) == 1)).all())


def from_torch_geometric(data: Any) -> Graph:
    """Return a torch-geometric ``Data``.

    ``x`` with one column of whole numbers is labels, else attributes, and labels too where every
    row has a single 1. ``edge_weight`` is weights; ``edge_attr`` with a single 1 in every row, or
    one column of whole numbers, is edge labels.
    """
    edges = _numpy(data.edge_index)
    if edges.ndim != 2 or edges.shape[0] != 2:
        raise GraphError(f"edge_index: shape {edges.shape}, want (2, m)")
    x = getattr(data, "x", None)
    n = getattr(data, "num_nodes", None)
    labels = attributes = edge_labels = weights = None
    if x is not None:
        x = _numpy(x)
        n = len(x)
        if x.ndim == 1:
            x = x[:, None]
        if x.ndim != 2:
            raise GraphError(f"x: shape {x.shape}, want (n, d)")
        if x.dtype.kind in "iu" and x.shape[1] == 1:
            labels = x[:, 0].tolist()
        else:
            attributes = x
            if _one_hot(x):
                labels = x.argmax(1).tolist()
    if getattr(data, "edge_weight", None) is not None:
        weights = _numpy(data.edge_weight)
    if getattr(data, "edge_attr", None) is not None:
        e = _numpy(data.edge_attr)
        e = e[:, None] if e.ndim == 1 else e
        if len(e) and _one_hot(e):
            edge_labels = e.argmax(1).tolist()
        elif e.dtype.kind in "iu" and e.ndim == 2 and e.shape[1] == 1:
            edge_labels = e[:, 0].tolist()
    return Graph.from_arrays(
        edges.T, n, labels=labels, attributes=attributes, weights=weights, edge_labels=edge_labels
    )


def from_rdkit(mol: Any) -> Graph:
    """Return an RDKit molecule: atoms labelled by element, bonds by their symbol."""
    symbols = {1.0: "-", 2.0: "=", 3.0: "#", 4.0: "$", 1.5: ":"}
    bonds = list(mol.GetBonds())
    pairs = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in bonds]
    atoms = [a.GetSymbol() for a in mol.GetAtoms()]
    kinds = [symbols.get(b.GetBondTypeAsDouble(), str(b.GetBondType())) for b in bonds]
    smiles = _rdkit_smiles(mol, kinds) if set(kinds) <= set(symbols.values()) else ""
    return Graph.from_arrays(
        np.array(pairs, np.int64).reshape(-1, 2), len(atoms), labels=atoms, edge_labels=kinds, smiles=smiles
    )


def _rdkit_smiles(mol: Any, kinds: list[str]) -> str:
    """Return a SMILES string with the atoms in their order: each alone, its bonds as ring closures."""
    text = []
    for a in mol.GetAtoms():
        hydrogens, charge = a.GetTotalNumHs(), a.GetFormalCharge()
        symbol = a.GetSymbol().lower() if a.GetIsAromatic() else a.GetSymbol()
        tag = {"CHI_TETRAHEDRAL_CCW": "@", "CHI_TETRAHEDRAL_CW": "@@"}.get(a.GetChiralTag().name, "")
        if tag and a.GetDegree() == 3:  # a hydrogen or lone pair is first here and last there
            tag = "@@" if tag == "@" else "@"
        count = f"H{hydrogens}" if hydrogens else ""
        bonds = "".join(f"{kinds[b.GetIdx()]}%({b.GetIdx() + 1})" for b in a.GetBonds())
        text.append(f"[{a.GetIsotope() or ''}{symbol}{tag}{count}{f'{charge:+}' if charge else ''}]{bonds}")
    return ".".join(text)
