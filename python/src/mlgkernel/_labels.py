"""Labels and attributes as they are given: labels become texts, attributes a matrix."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from .exceptions import GraphError


def label_of_edge(labels: Mapping[Any, Any], u: Any, v: Any) -> Any:
    """Return the label of an edge, which may stand under its other direction."""
    for pair in ((u, v), (v, u)):
        if pair in labels:
            return labels[pair]
    raise GraphError(f"edge_labels: edge ({u!r}, {v!r}) has no label")


class Row(str):
    """A label that stands for a row of numbers, which it has as `numbers`.

    Its text is the place of the 1 in a one-hot row, and the row itself otherwise. So a row has the same
    text in collections in which all rows are one-hot, and whose labels are those places, and in others.
    """

    numbers: np.ndarray

    def __new__(cls, row: list[Any]) -> Row:
        whole = [int(x) if x == int(x) else x for x in row]
        one_hot = len(row) > 1 and sorted(whole) == [0] * (len(row) - 1) + [1]
        out = super().__new__(cls, whole.index(1) if one_hot else whole)
        out.numbers = np.array(row)
        return out

    def __reduce__(self) -> tuple[Any, ...]:
        return Row, (self.numbers.tolist(),)


def as_labels(field: str, values: list[Any]) -> list[Any]:
    """Return labels as texts and whole numbers, whose texts are what is compared."""
    if set(map(type, values)) <= {str, int, Row}:
        return values
    return [_label(field, v) for v in values]


def _label(field: str, value: Any) -> str:
    """Return a label as text: equal numbers have the same."""
    if isinstance(value, str):
        return str.__str__(value)  # of an Enum, too, what it is equal to
    if isinstance(value, (Decimal, Fraction)) and value == value and float(value) == value:
        value = float(value)
    if isinstance(value, (bool, np.bool_, int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise GraphError(f"{field}: {value} is no label")
        return str(int(value)) if value == int(value) else repr(float(value))
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):  # arrays and tensors of one number
        return _label(field, value.item())
    if value is None:
        raise GraphError(f"{field}: None is no label")
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if field == "node_labels" and isinstance(value, (list, set, frozenset, dict, np.ndarray)):
        raise GraphError(
            f"{field}: {value!r:.60}, want a number or a text, or vectors of numbers for all vertices"
        )
    return _written(field, value)


def _written(field: str, value: Any) -> str:
    """Return a value as a text, the same for equal ones."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    elif isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (list, tuple, set, frozenset)):
        inner = [_written(field, x) for x in value]
        if isinstance(value, (set, frozenset)):  # their order changes from run to run
            return f"{{{', '.join(sorted(inner))}}}"
        if isinstance(value, list):
            return f"[{', '.join(inner)}]"
        return f"({', '.join(inner)}{',' * (len(inner) == 1)})"
    if isinstance(value, dict):
        inner = [f"{_written(field, k)}: {_written(field, x)}" for k, x in value.items()]
        return f"{{{', '.join(sorted(inner))}}}"
    cls = type(value)
    if not (value is None or isinstance(value, Enum)) and (
        cls.__eq__ is object.__eq__ or cls.__repr__ is object.__repr__
    ):
        raise GraphError(
            f"{field}: {value!r:.60} cannot be compared with other labels: {cls.__name__} defines no "
            "equality or no text; want a number or a text"
        )
    try:
        same = bool(value == value)
    except (TypeError, ValueError):
        same = False
    if not same:
        raise GraphError(f"{field}: {value!r:.60} is no label")
    return repr(value)


def is_vector(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "biuf"
    return (
        isinstance(value, (list, tuple))
        and len(value) > 0
        and all(isinstance(x, (int, float, np.integer, np.floating)) for x in value)
    )


def rows_of(field: str, given: Any, rows: int) -> np.ndarray:
    try:
        a = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as e:
        raise GraphError(f"{field}: {e}") from None
    if rows == 0 and a.size == 0:
        return a.reshape(0, a.shape[1] if a.ndim == 2 else 0)
    if a.ndim != 2 or len(a) != rows:
        raise GraphError(f"{field}: shape {a.shape}, want ({rows}, d)")
    bad = ~np.isfinite(a)
    if bad.any():
        v, j = np.argwhere(bad)[0]
        raise GraphError(f"{field}: vertex {v}: number {j} is {a[v, j]}, want a finite number")
    return a
