"""Graphs of networkx: which of their data are labels, attributes, weights and positions."""

from __future__ import annotations

import numbers
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from ._engine import counted, warn
from .exceptions import GraphError
from .graph import Graph

# Names of data, the first that is there. They are those of files (docs/reference/formats.md), and some more
# that Python programs use. The second ones count only where all nodes or edges have them.
NODE_LABEL_KEYS = (("label", "element", "symbol"), ("type",))
NODE_ATTRIBUTE_KEYS = ("attributes", "attribute", "attr", "x")
EDGE_LABEL_KEYS = (("label", "bond", "bond_type"), ("order", "type"))
EDGE_WEIGHT_KEYS = (("weight",), ("value",))

_MOST_WARNINGS = 10


def from_networkx(items: list[tuple[int | None, Any]]) -> list[Graph]:
    """Return networkx graphs of one collection, with their places in it.

    Numbers that all nodes of all graphs have are attributes, in the order of their names, unless one of
    `NODE_ATTRIBUTE_KEYS` has a row of numbers for each node. ``x`` and ``y`` together are the position. A
    warning counts what is neither label, attribute, weight nor position.
    """
    parts: list[tuple[Graph, list[Any], set[str]]] = []
    left: Counter[tuple[str, str]] = Counter()
    for i, g in items:
        try:
            parts.append(_graph(g, left))
        except GraphError as e:
            raise e if i is None else GraphError(f"graph {i}: {e}") from None
        except (TypeError, ValueError, KeyError, AttributeError) as e:
            raise GraphError(f"graph {i}: {type(g).__name__}: {e}") from e
    numeric = [
        set(row)
        for out, nodes, used in parts
        if out.attributes is None
        for row in (_numbers(d, used) for d in nodes)
    ]
    shared = set.intersection(*numeric) if numeric else set()
    places = {"x", "y"} <= shared
    keys = sorted(shared - {"x", "y"} if places else shared, key=_natural)
    for out, nodes, used in parts:
        taken = set(used)
        if out.attributes is None and nodes:
            rows = [_numbers(d, used) for d in nodes]
            if keys:
                out._set_labels([[row[k] for k in keys] for row in rows])
            if places:
                out.coordinates = np.array([[row["x"], row["y"]] for row in rows], np.float64)
            taken |= shared | {k.rpartition(".")[0] for k in shared}
        for d in nodes:
            left.update(("node", str(k)) for k in d if k not in taken)
    for (what, key), n in sorted(left.items())[:_MOST_WARNINGS]:
        why = "neither label nor numbers of all nodes"
        if what == "edge":
            why = "neither weight nor label. "
            why += f"graph_from_networkx(edge_attributes_tags=[{key!r}]) takes numbers"
        warn(f"{counted(n, 'value')} of {what} data {key!r} left out: {why}")
    return [out for out, _, _ in parts]


def _graph(g: Any, left: Counter[tuple[str, str]]) -> tuple[Graph, list[Any], set[str]]:
    """Return a graph without the numbers of its nodes, the data of these, and the keys that are used."""
    nodes = list(g.nodes(data=True))
    number = {v: i for i, (v, _) in enumerate(nodes)}
    edges = list(g.edges(data=True))
    pairs = np.array([(number[u], number[v]) for u, v, _ in edges], np.int64).reshape(-1, 2)
    data = [d for _, _, d in edges]
    weight, weights = _column(data, EDGE_WEIGHT_KEYS, "edges")
    if weight != "weight" and weights and not all(_is_number(w) and w > 0 for w in weights):
        weight, weights = None, None
    out = Graph.from_arrays(pairs, len(nodes), weights=weights)
    out.vertices = [v for v, _ in nodes]
    if g.is_directed():
        out.directed = out.arcs = True
    label, labels = _column(data, EDGE_LABEL_KEYS, "edges", "")
    out._set_edge_labels(labels)
    for d in data:
        left.update(("edge", str(k)) for k in d if k not in (weight, label))
    data = [d for _, d in nodes]
    label, labels = _column(data, NODE_LABEL_KEYS, "nodes")
    out._set_labels(labels)
    used = {label} if label else set()
    if out.attributes is None:
        key, rows = _column(data, (NODE_ATTRIBUTE_KEYS,), "nodes")
        if rows is not None and all(np.ndim(r) for r in rows):
            out._set_labels([np.asarray(r, dtype=np.float64) for r in rows])
            used.add(key)
    return out, data, used


def _is_number(x: Any) -> bool:
    return isinstance(x, numbers.Real) and not isinstance(x, (bool, np.bool_))


def _numbers(d: Any, used: set[str]) -> dict[str, float]:
    """Return the numbers of a node by key. A list of numbers has a key for each of them."""
    out: dict[str, float] = {}
    for key, value in d.items():
        if key in used or not isinstance(key, str):
            continue
        if _is_number(value):
            out[key] = float(value)
        elif isinstance(value, (list, tuple, np.ndarray)) and all(map(_is_number, value)):
            out.update((f"{key}.{i}", float(x)) for i, x in enumerate(value, 1))
    return out


def _natural(key: str) -> tuple[str, int]:
    """Order keys as people do, and as files are read: a2 before a10."""
    stem = key.rstrip("0123456789")
    return (stem, int(key[len(stem) :])) if stem != key else (key, -1)


def _column(
    rows: list[Any], keys: Iterable[tuple[str, ...]], what: str, missing: Any = None
) -> tuple[Any, list[Any] | None]:
    """Return the first datum that nodes or edges have, with its key.

    Of the first keys it is an error that some have and others do not, unless these get `missing`.
    """
    for strict, some in zip((True, False), keys):
        for key in some:
            have = [key in d for d in rows]
            if any(have) and not all(have) and strict:
                if missing is not None:
                    return key, [d.get(key, missing) for d in rows]
                raise GraphError(
                    f"{what}: some have the attribute {key!r}, others do not; want it in all or in none"
                )
            if rows and all(have):
                return key, [d[key] for d in rows]
    return None, None
