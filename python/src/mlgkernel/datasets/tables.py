"""Graphs of the rows of a table in memory."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _engine
from .._batch import unpack
from .._inputs import missing
from ..exceptions import GraphError
from .base import Dataset, dataset_of, listed

__all__ = ["from_table"]


def from_table(
    table: Any,
    *,
    structure: str | Sequence[str] = "",
    with_columns: str | Sequence[str] = "",
    target: str | Sequence[str] = "",
    id: str = "",
    like: Any = None,
    strict: bool = True,
    **options: Any,
) -> Dataset:
    """Make graphs of the rows of a table, as `load` does of a file.

    Parameters
    ----------
    table : DataFrame or mapping of str to sequences
        Columns of one length. None, NaN, NA and empty texts are missing.
    structure, with_columns, target, id
        Columns, as in `load`.
    like : estimator, optional
        A fitted classifier or regressor, whose training graphs were rows. The columns of these are read,
        and a number is again a number.
    strict : bool
        Raise an error for a row that cannot be read. If False, such rows are left out, and
        ``info["skipped"]`` has their lines. The names of the columns are line 1.
    **options
        What `load` takes for molecules: `hydrogens`, `atom_charge`, `atom_aromatic`, `atom_hydrogens`,
        `largest_fragment` and `edge_weight`.

    Returns
    -------
    Dataset
        With ``strict=True`` it has a graph for each row, in their order.

    Raises
    ------
    GraphError
        Names the row by its place, from 0, and the column.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor, datasets
    >>> table = {
    ...     "solute": ["CCO", "CCO", "CCCO", "CCCO"],
    ...     "solvent": ["O", "CC#N", "O", "CC#N"],
    ...     "T": [298, 310, 298, None],
    ... }
    >>> data = datasets.from_table(table, structure=["solute", "solvent"], with_columns="T")
    >>> data.graphs[1].parts
    {'solute': <Graph: 3 vertices, 2 edges>, 'solvent': <Graph: 3 vertices, 2 edges>, 'T': 310.0}
    >>> model = MLGRegressor("wl(solute) * wl(solvent) * gaussian(T)").fit(data.graphs, [1, 2, 3, 4])
    >>> new = datasets.from_table({"solute": ["CCN"], "solvent": ["O"], "T": [300]}, like=model)
    >>> model.predict(new.graphs).shape
    (1,)
    """
    if not (isinstance(table, Mapping) or hasattr(table, "columns")):
        raise TypeError(f"table is of type {type(table).__name__}, want a DataFrame or a dict of columns")
    args = {
        "structure": listed(structure),
        "with": listed(with_columns),
        "target": listed(target),
        "id": id,
        "strict": strict,
        **options,
        "path": "table",
        "format": "csv",
    }
    try:
        info, arrays = _engine.call("read", args, _csv(table), held=getattr(like, "_held", None))
    except _engine.Rejected as e:
        if "line" not in e.wrong:
            raise
        row = e.wrong["line"] - 2  # after the header
        raise GraphError(f"{'table' if row < 0 else f'row {row}'}: {e.wrong['line_reason']}") from None
    return dataset_of(unpack(arrays["graphs"]), info)


def _csv(table: Any) -> bytes:
    """Return a table as CSV, a line for each row."""
    names = list(table.columns) if hasattr(table, "columns") else list(table)
    columns = [np.asarray(table[name], dtype=object) for name in names]
    lengths = {len(c) for c in columns}
    if len(lengths) != 1 or lengths == {0}:
        raise ValueError(f"table has columns of the lengths {sorted(lengths)}, want one length, at least 1")
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(map(_cell, names))
    writer.writerows(zip(*(map(_cell, c.tolist()) for c in columns)))
    return text.getvalue().encode("utf-8", "surrogatepass")


def _cell(x: Any) -> str:
    """Return an entry as a text in one line. A whole number is the same text as an integer and as a float."""
    if missing(x):
        return ""
    if isinstance(x, (float, np.floating)):
        return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else repr(float(x))
    return " ".join(str(x).splitlines())
