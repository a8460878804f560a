"""Splits into training and test graphs, in the files that ``mlg evaluate`` reads and writes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from . import _engine
from ._batch import pack
from ._inputs import as_graphs

__all__ = ["Splits", "scaffolds"]


def scaffolds(X: Any) -> np.ndarray:
    """Return a number for the Bemis-Murcko scaffold of each molecule.

    Molecules with equal scaffolds have equal numbers. All molecules without rings have the same number. Use
    the numbers as `groups` of scikit-learn's ``GroupKFold``.

    Examples
    --------
    >>> from mlgkernel import splits
    >>> group = splits.scaffolds(["Cc1ccccc1", "Oc1ccccc1", "C1CCCC1", "CCO"])
    >>> bool(group[0] == group[1]), len(set(group.tolist()))
    (True, 3)
    """
    return _engine.call("scaffolds", {}, pack(as_graphs(X)))[1]["group"]


@dataclass
class Splits:
    """Folds of some graphs. It is a cross-validator of scikit-learn: use it as ``cv=``.

    Attributes
    ----------
    fold : ndarray of shape (repeats, graphs)
        The fold in which each graph is tested, from 0; -1 for a graph that is never tested.
    scheme : str
        How the splits were made.
    forward : bool
        Whether a fold is predicted from the graphs of lower folds alone, as in splits by time.
    grouped : bool
        Whether graphs that belong together are in one fold.
    seed : int
        Seed of the random numbers that made the folds.

    Examples
    --------
    >>> from mlgkernel.splits import Splits
    >>> for train, test in Splits([0, 1, 0, 1]).split(["C", "CC", "CCC", "CCCC"]):
    ...     print(train, test)
    [1 3] [0 2]
    [0 2] [1 3]
    """

    fold: np.ndarray
    scheme: str = "given"
    forward: bool = False
    grouped: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        self.fold = np.atleast_2d(np.asarray(self.fold, np.int64))
        if self.fold.ndim != 2 or not self.fold.size or self.fold.min() < -1 or self.fold.max() < 0:
            raise ValueError("fold: want a whole number for each graph: its fold from 0, or -1")

    @property
    def folds(self) -> int:
        """The number of folds of a repeat."""
        return int(self.fold.max()) + 1

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of pairs of training and test graphs."""
        return self.folds * len(self.fold)

    def split(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the positions of training and of test graphs, fold by fold, repeat by repeat."""
        if X is not None and len(X) != self.fold.shape[1]:
            raise ValueError(f"X has {len(X)} graphs, but the splits are of {self.fold.shape[1]}")
        for row in self.fold:
            for f in range(self.folds):
                train = row < f if self.forward else row != f
                yield np.flatnonzero(train), np.flatnonzero(row == f)

    @classmethod
    def of(cls, pairs: Iterable[tuple[Any, Any]], n: int, scheme: str = "given") -> Splits:
        """Return the splits of pairs of training and test positions among `n` graphs.

        ``Splits.of(GroupKFold(5).split(X, y, scaffolds(X)), len(X))`` keeps those of scikit-learn.
        A new repeat begins when a graph is tested again. Every fold must be predicted from all other graphs
        of its repeat; or every fold from those before it and a first part, as by ``TimeSeriesSplit``.
        """
        pairs = [(np.sort(np.asarray(a)), np.asarray(b)) for a, b in pairs]
        rows: list[np.ndarray] = []
        for _, test in pairs:
            if not rows or (rows[-1][test] >= 0).any():
                rows.append(np.full(n, -1))
            rows[-1][test] = rows[-1].max() + 1
        for forward in (False, True):
            out = cls(np.array(rows), scheme, forward)
            if out.get_n_splits() != len(pairs):
                continue
            if all(np.array_equal(got[0], want[0]) for got, want in zip(out.split(), pairs)):
                return out
        raise ValueError(
            "pairs: want each fold trained on all other graphs of its repeat, or on all before it"
        )

    @classmethod
    def read(cls, path: str | os.PathLike[str], ids: Sequence[str] | None = None) -> Splits:
        """Read a file that ``mlg evaluate --save-splits`` or `write` has written.

        `ids` are the identifiers of the graphs. If the file has other identifiers, that is an error.
        """
        try:
            x = json.loads(Path(path).read_text())
            known = {k: x[k] for k in ("scheme", "forward", "grouped", "seed") if k in x}
            out = cls(x["fold"], **known)
        except (ValueError, KeyError, TypeError, AttributeError) as e:
            raise ValueError(f"{path} is no file of splits: {e}") from None
        if ids is not None and "ids" in x and list(ids) != x["ids"]:
            raise ValueError(f"{path}: the splits are for other graphs")
        return out

    def write(self, path: str | os.PathLike[str], ids: Sequence[str] | None = None) -> None:
        """Write a file for ``mlg evaluate --split FILE``, with the identifiers of the graphs."""
        x: dict[str, Any] = {"scheme": self.scheme, "seed": self.seed, "folds": self.folds}
        x |= {"forward": self.forward, "grouped": self.grouped, "fold": self.fold.tolist()}
        if ids is not None:
            x["ids"] = list(ids)
        Path(path).write_text(json.dumps(x))
