"""What counts as graphs: everything that users have becomes a list of `Graph`."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from . import _engine
from ._batch import unpack
from ._edge_vertices import edges_as_vertices
from ._edges import not_transposed, plain
from ._labels import Row
from ._networkx import from_networkx
from .exceptions import GraphError, NoDatasetError
from .graph import Graph


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
        - a torch-geometric ``Batch``: its graphs;
        - a ``Path``: all graphs of that dataset.

        So torch-geometric's datasets, batches and loaders are collections. A single text or path is a
        dataset: its name, such as ``"builtin:drugs"``, or its file or folder.
    like : estimator, optional
        SMILES and files are read as the training graphs of this estimator were: hydrogens, labels of
        atoms and edge weights. Its model file says how. A table is read if these were rows of one.

    Returns
    -------
    list of Graph
        Nothing in `X` is changed.

    Raises
    ------
    GraphError
        Names the graph by its place, and the field. For a single text that is no dataset it is a
        `FileNotFoundError`, too.

    Examples
    --------
    >>> from mlgkernel import as_graphs
    >>> as_graphs(["CCO", [{(0, 1): 1, (1, 2): 1}, {0: "a", 1: "b", 2: "a"}]])
    [<Graph 'CCO': 3 vertices, 2 edges>, <Graph: 3 vertices, 2 edges>]
    """
    held = getattr(like, "_held", None)
    if isinstance(X, (str, os.PathLike)):
        try:
            return read_graphs(X, held, strict=True)[0]  # every row has its y
        except FileNotFoundError as e:
            if isinstance(X, str):
                raise NoDatasetError(str(e)) from None
            raise
    if held is not None and _is_table(X) and X.shape[1] > 1:
        from .datasets.tables import from_table

        rows = from_table(X, like=like).graphs
        if rows[0]._parts is not None:  # as those of training; which column is meant is not guessed
            return rows
    out: list[Any] = []
    later: dict[Any, list[tuple[int, int, Any]]] = {_molecules: [], _from_data: [], _from_networkx: []}
    for i, item in enumerate(_elements(X)):
        read = _reader(item)
        if read is not None:  # all together
            later[read].append((len(out), i, item))
            out.append(None)
        elif isinstance(item, os.PathLike):
            out.extend(read_graphs(item, held, strict=True)[0])
        else:
            out.append(_placed(i, as_graph, item))
    for read, found in later.items():
        for (at, _, _), g in zip(found, read([(i, item) for _, i, item in found], held) if found else ()):
            out[at] = g
    if not out:
        raise ValueError("X is empty, want at least one graph")
    return out


def _reader(item: Any) -> Any:
    """Return what reads elements of this kind, all of a collection together, None for others."""
    if isinstance(item, str):
        return _molecules
    if _is_data(item):
        return _from_data
    return _from_networkx if _is_networkx(item) and not isinstance(item, Graph) else None


def _from_networkx(items: list[tuple[int, Any]], held: Any = None) -> list[Graph]:
    return from_networkx(items)


def _elements(X: Any) -> Iterator[Any]:
    """Yield the elements of a collection, those of batches in place of them."""
    if hasattr(X, "to_data_list") and hasattr(X, "edge_index"):
        X = [X]
    elif _is_graph(X):
        raise TypeError("X is one graph, want a collection of graphs: put it into a list, [graph]")
    if getattr(X, "ndim", 0) == 2 and X.shape[1] == 1:  # a table with one column, which meta-estimators want
        X = X.iloc[:, 0] if _is_table(X) else X[:, 0]
    _refuse(X, "")
    wrong = f"X is of type {type(X).__name__}, want a list or another iterable of graphs"
    if isinstance(X, (Mapping, set)):
        raise TypeError(wrong)
    try:
        items = iter(X)
    except TypeError:
        raise TypeError(wrong) from None
    for item in items:
        if hasattr(item, "to_data_list") and hasattr(item, "edge_index"):
            yield from item.to_data_list()
        else:
            yield item


def _is_table(x: Any) -> bool:
    """Report whether this is a table of pandas."""
    return hasattr(x, "iterrows")


def missing(v: Any) -> bool:
    """Report whether an entry of a table is not known: None, NaN, NA or an empty text."""
    nothing = v is None or type(v).__name__ in ("NAType", "NaTType") or v == ""
    return nothing or (isinstance(v, float) and v != v)


def _refuse(x: Any, place: str) -> None:
    """Raise an error for what is known to be neither a graph nor a collection."""
    if hasattr(x, "edge_types") and hasattr(x, "node_types"):
        raise GraphError(
            f"{place}{type(x).__name__} has several kinds of vertices, want graphs with one kind"
        )
    if _is_table(x):
        raise GraphError(
            f"{place}{type(x).__name__} is a table with {_engine.counted(x.shape[1], 'column')}, want one "
            "column of graphs or SMILES, such as table['smiles']; datasets.from_table makes graphs of rows, "
            "and graph_from_pandas reads tables of edges"
        )


def _placed(i: int, read: Any, item: Any) -> Graph:
    """Return what `read` makes of element `i`, or an error that names its place."""
    try:
        return read(item)
    except GraphError as e:
        raise GraphError(f"graph {i}: {e}") from None
    except RecursionError:
        raise
    except (TypeError, ValueError, KeyError, AttributeError) as e:
        raise GraphError(f"graph {i}: {type(item).__name__}: {e}") from e


def read_graphs(
    path: str | os.PathLike[str], held: _engine.Held | None = None, **options: Any
) -> tuple[list[Graph], dict[str, Any]]:
    """Read a dataset; return its graphs and what was found about it."""
    text = os.fspath(path)
    if isinstance(path, os.PathLike) or os.path.exists(text):
        text = os.path.abspath(text)  # the worker may be in another folder
    try:
        result, arrays = _engine.call("read", dict(options, path=text), held=held)
    except FileNotFoundError as e:
        told = str(e).partition(";")[0]
        hint = "datasets.fetch downloads TUDatasets; for one molecule, put its SMILES string into a list"
        raise FileNotFoundError(f"{told}; {hint}") from None
    return unpack(arrays["graphs"]), result


def _molecules(items: list[tuple[int, str]], held: _engine.Held | None) -> list[Graph]:
    result, arrays = _engine.call("smiles", {"smiles": [text for _, text in items]}, held=held)
    if result is not None:
        i, text = items[result["index"]]
        raise GraphError(
            f"graph {i}: {text!r:.60} is no molecule: {result['error']}; "
            "want a SMILES string, or a pathlib.Path for a file"
        )
    return unpack(arrays["graphs"])


def _maybe_edges(square: np.ndarray) -> bool:
    """Report whether an array of two rows and columns looks like two edges, as rows or as columns."""
    odd = square.diagonal().any() or (square[0, 1] != square[1, 0] and square.max() > 1)
    return bool(odd) and (plain(square) or plain(square.T))


def as_graph(item: Any) -> Graph:
    """Return one element of a collection as a `Graph`. The error does not name its place."""
    if isinstance(item, Graph):
        return item
    if type(item) in (tuple, list):
        return _from_parts(item)
    if _is_grakel(item):
        return _from_grakel(item)
    if _is_networkx(item):
        return from_networkx([(None, item)])[0]
    _refuse(item, "")
    if hasattr(item, "GetAtoms") and hasattr(item, "GetBonds"):
        return from_rdkit(item)
    if isinstance(item, Mapping) or hasattr(item, "tocoo"):
        return Graph(item)
    if isinstance(item, np.ndarray) and item.dtype != object:
        if item.ndim == 2 and (item.shape[0] == item.shape[1]):
            if item.shape == (2, 2) and _maybe_edges(item):
                raise GraphError(
                    "edges: an array of shape (2, 2) may be an adjacency matrix or two edges; want "
                    "Graph(matrix), Graph.from_arrays(edges) or Graph.from_arrays(edge_index.T)"
                )
            return Graph(item)
        not_transposed(item, None)
        return Graph.from_arrays(item)
    if item is None:
        raise GraphError("None is no graph; RDKit has it in place of a molecule that it cannot read")
    if not isinstance(item, Iterable) or isinstance(item, (bytes, bytearray)):
        raise GraphError(
            f"{type(item).__name__} is no graph, want [edges, labels], a Graph, a SMILES string, or an "
            "object of networkx, torch-geometric or RDKit"
        )
    return _from_parts(item)


def _from_parts(item: Iterable[Any]) -> Graph:
    """Return a graph of GraKeL's form: edges, labels and edge labels, or edges alone."""
    parts = list(item)
    if not parts:
        raise GraphError("edges: nothing is given, want at least the edges")
    first = parts[0]
    if _is_listed(first):
        raise GraphError(
            f"a {type(item).__name__} of graphs inside the collection, want one graph here: "
            "put all graphs into one list"
        )
    if len(parts) > 3 or _is_edge(parts[0]):
        return Graph(parts)
    edges, labels, edge_labels = parts + [None] * (3 - len(parts))
    if _is_edge_array(edges, labels):
        not_transposed(edges, None if isinstance(labels, Mapping) or labels is None else len(labels))
        return _from_pair(edges, labels, edge_labels)
    return Graph(edges, labels if labels is not None and len(labels) else None, edge_labels)


def _is_graph(x: Any) -> bool:
    if isinstance(x, (Graph, str)) or _is_data(x) or _is_networkx(x):
        return True
    return hasattr(x, "GetAtoms") or _is_grakel(x)


def _is_listed(x: Any) -> bool:
    """Report whether the first part of a graph is a graph itself, and no edges."""
    if isinstance(x, (list, tuple)):  # GraKeL's form has labels in a dictionary
        return len(x) in (2, 3) and not isinstance(x[0], Mapping) and isinstance(x[1], Mapping)
    return not isinstance(x, (dict, set, np.ndarray)) and _is_graph(x)


def _is_edge(x: Any) -> bool:
    return isinstance(x, tuple) and len(x) in (2, 3) and not isinstance(x[0], (list, tuple, dict))


def _is_edge_array(edges: Any, labels: Any) -> bool:
    """Tell an array of edges, with an array of labels, from an adjacency matrix."""
    if not isinstance(edges, np.ndarray) or edges.ndim != 2 or isinstance(labels, Mapping):
        return edges.size == 0 if isinstance(edges, np.ndarray) else False
    if edges.shape[0] != edges.shape[1]:
        return edges.shape[0] == 2 or edges.shape[1] in (2, 3) or edges.size == 0
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


def _is_grakel(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "grakel" and hasattr(x, "get_edge_dictionary")


def _from_grakel(g: Any) -> Graph:
    g = copy.deepcopy(g)  # reading it changes its format
    edges = g.get_edge_dictionary()
    labels = g.get_labels(purpose="dictionary", return_none=True)
    return Graph(edges, labels or None, g.edge_labels or None)


def _is_networkx(x: Any) -> bool:
    return all(hasattr(x, a) for a in ("nodes", "edges", "adjacency", "is_directed"))


def _is_data(x: Any) -> bool:
    """Report whether this is a torch-geometric graph, not a dataset of them."""
    return hasattr(x, "edge_index") and not hasattr(x, "to_data_list") and not hasattr(x, "indices")


def _numpy(x: Any) -> np.ndarray:
    for name in ("detach", "cpu"):
        if hasattr(x, name):
            x = getattr(x, name)()
    return np.asarray(x.numpy() if hasattr(x, "numpy") else x)


def _rows(data: Any, field: str, count: int | None = None) -> np.ndarray | None:
    """Return a matrix of a ``Data``, None where it has none."""
    x = getattr(data, field, None)
    if x is None:
        return None
    x = _numpy(x)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or (count is not None and len(x) != count):
        raise GraphError(f"{field}: shape {x.shape}, want ({'n' if count is None else count}, d)")
    return x


def _kind(matrices: list[np.ndarray | None]) -> str:
    """Return what the rows of all graphs of a collection are.

    They are "whole" for one column of whole numbers, "one-hot", "vectors" of whole numbers, or "numbers".
    """
    have = [x for x in matrices if x is not None and x.size]
    if len({x.shape[1] for x in have}) != 1:
        return "numbers"
    whole = all(x.dtype.kind in "iu" for x in have)
    if have[0].shape[1] == 1:
        return "whole" if whole else "numbers"
    if all(bool((((x == 0) | (x == 1)).all(1) & (x.sum(1) == 1)).all()) for x in have):
        return "one-hot"
    return "vectors" if whole else "numbers"


def _codes(field: str, x: np.ndarray | None, kind: str) -> list[Any] | None:
    """Return labels: numbers, or with "vectors" whole rows."""
    if x is None or kind == "numbers":
        return None
    if not x.size:
        return []
    if kind == "vectors":
        finite = np.isfinite(x).all(1)
        if not finite.all():
            at = int(np.argmin(finite))
            raise GraphError(f"{field}: row {at}: {x[at].tolist()!r:.60}, want finite numbers")
        return list(map(Row, x.tolist()))
    return (x[:, 0] if kind == "whole" else x.argmax(1)).tolist()


def _from_data(
    items: list[tuple[int, Any]], held: Any = None, vectors: bool = False, edge_attributes: bool = False
) -> list[Graph]:
    """Return torch-geometric ``Data`` of one collection, which decides what ``x`` and ``edge_attr`` are.

    One column of whole numbers is labels. So are rows with a single 1, where all of the collection have
    one. Of several columns of whole numbers a row is the label. ``x`` of several columns is attributes,
    too, and ``x`` of other numbers attributes alone. ``edge_weight`` is weights. Other ``edge_attr`` is
    left out. With `vectors`, which is how GraKeL has it, rows of ``x`` are attributes alone, unless
    they have a single 1, and any row of ``edge_attr`` is a label. With `edge_attributes` edges become
    vertices, with the rows of ``edge_attr`` as attributes.
    """
    ends, x, e = [], [], []
    for i, d in items:
        try:
            _refuse(d, "")
            pairs = _numpy(d.edge_index)
            if pairs.ndim != 2 or pairs.shape[0] != 2:
                raise GraphError(f"edge_index: shape {pairs.shape}, want (2, m)")
            ends.append(pairs.T)
            x.append(_rows(d, "x"))
            e.append(_rows(d, "edge_attr", len(pairs.T)))
        except GraphError as error:
            raise GraphError(f"graph {i}: {error}") from None
    of_vertices, of_edges = _kind(x), _kind(e)
    if edge_attributes:
        of_edges = "numbers"
        for (i, _), rows, pairs in zip(items, e, ends):
            if rows is None and len(pairs):
                raise GraphError(f"graph {i}: no edge_attr, which edge_attributes=True needs")
    elif of_edges == "numbers" and vectors:
        of_edges = "vectors"
    if not edge_attributes and of_edges == "numbers" and any(rows is not None and rows.size for rows in e):
        _engine.warn(
            "edge_attr is left out, and edges have no labels: it has no whole numbers, and not all rows of "
            "all graphs are one-hot. To compare the numbers: graph_from_torch_geometric(data, "
            "edge_attributes=True). To use rows as labels: data.edge_attr = data.edge_attr.long(). To use "
            "the first column as weights: data.edge_weight, data.edge_attr = data.edge_attr[:, 0], None"
        )

    def make(k: int) -> Graph:
        d = items[k][1]
        weights = getattr(d, "edge_weight", None)
        g = Graph.from_arrays(
            ends[k],
            getattr(d, "num_nodes", None) if x[k] is None else len(x[k]),
            labels=None if of_vertices == "vectors" and vectors else _codes("x", x[k], of_vertices),
            attributes=None if of_vertices == "whole" else x[k],
            weights=None if weights is None else _numpy(weights),
            edge_labels=_codes("edge_attr", e[k], of_edges),
        )
        if not edge_attributes:
            return g
        return edges_as_vertices(g, np.empty((0, columns)) if e[k] is None else e[k])

    columns = max((rows.shape[1] for rows in e if rows is not None and rows.size), default=0)

    return [_placed(i, lambda _, k=k: make(k), None) for k, (i, _) in enumerate(items)]


def from_rdkit(mol: Any) -> Graph:
    """Return an RDKit molecule: atoms labelled by element and charge, bonds by their symbol."""
    symbols = {1.0: "-", 2.0: "=", 3.0: "#", 4.0: "$", 1.5: ":"}
    bonds = list(mol.GetBonds())
    pairs = [(b.GetBeginAtomIdx(), b.GetEndAtomIdx()) for b in bonds]
    atoms = [
        a.GetSymbol() + _charge_text(q) for a, q in zip(mol.GetAtoms(), _charges(mol, pairs), strict=True)
    ]
    kinds = [symbols.get(b.GetBondTypeAsDouble(), str(b.GetBondType())) for b in bonds]
    smiles = _rdkit_smiles(mol, kinds) if set(kinds) <= set(symbols.values()) else ""
    return Graph.from_arrays(
        np.array(pairs, np.int64).reshape(-1, 2), len(atoms), labels=atoms, edge_labels=kinds, smiles=smiles
    )


def _charges(mol: Any, pairs: list[tuple[int, int]]) -> list[int]:
    """Return the charges of atoms, 0 where those of charged neighbours add up to 0, as in a nitro group."""
    charges = [a.GetFormalCharge() for a in mol.GetAtoms()]
    group = list(range(len(charges)))  # of each atom

    def root(a: int) -> int:
        while group[a] != a:
            a = group[a]
        return a

    for a, b in pairs:
        if charges[a] and charges[b]:
            group[root(a)] = root(b)
    total = [0] * len(charges)
    for a, q in enumerate(charges):
        total[root(a)] += q
    return [q if total[root(a)] else 0 for a, q in enumerate(charges)]


def _charge_text(charge: int) -> str:
    """Return a charge as it stands in a label: "", "+", "-", "+2", …"""
    return {0: "", 1: "+", -1: "-"}.get(charge, f"{charge:+}")


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
