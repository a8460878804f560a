"""The base class of all kernels, and the checks of their parameters."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._progress import Bar

if TYPE_CHECKING:
    from typing_extensions import Self


def jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` means to the worker, 0 for all processors."""
    if n_jobs is None or n_jobs == -1 or n_jobs == 0:
        return 0
    if not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs={n_jobs!r}, want None or a whole number")
    if n_jobs < 0:
        return max(1, (os.cpu_count() or 1) + 1 + int(n_jobs))
    return int(n_jobs)


def seed(random_state: Any) -> int:
    """Return the seed that `random_state` means: None is 0, a generator gives a number."""
    if random_state is None:
        return 0
    if isinstance(random_state, (int, np.integer)):
        if not 0 <= random_state < 2**64:
            raise ValueError(f"random_state={random_state}, want 0 to 2**64 - 1")
        return int(random_state)
    try:
        generator = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state={random_state!r}, want a whole number, a RandomState or None"
        ) from None
    return int(generator.randint(0, 2**31 - 1))


# Attributes that fitting makes, but for those whose names end in "_".
_FITTED = ("_held", "_new", "_with_probability", "_n_features_out")


class OnGraphs(BaseEstimator):
    """An estimator whose input is graphs, and which is fitted when it has a `kernel_`."""

    # Parameters by the names that the worker has for them, where these are others.
    _names: ClassVar[dict[str, str]] = {}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "kernel_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True  # SMILES
        tags.no_validation = True
        return tags

    def _forget(self) -> None:
        """Remove all that was fitted."""
        for name in list(vars(self)):
            if name.endswith("_") or name in _FITTED:
                delattr(self, name)

    @contextlib.contextmanager
    def _working(self, done: str = "") -> Iterator[Bar | None]:
        """Show progress where `verbose` asks for it, and name parameters in errors as they are named here."""
        verbose = getattr(self, "verbose", False)
        bar = Bar(type(self).__name__) if verbose else None
        start = time.perf_counter()
        try:
            yield bar
        except ValueError as e:
            raise self._told(e) from None
        finally:
            if bar is not None:
                bar.close()
        if verbose and done:
            took = time.perf_counter() - start
            text = done.format(self, graphs=_engine.counted(vars(self).get("n_graphs_in_", 0), "graph"))
            print(f"[{type(self).__name__}] {text} in {took:.3g} s", file=sys.stderr)

    def _told(self, error: ValueError) -> ValueError:
        """Return an error of the worker with the name of the parameter, or the graph, that is wrong."""
        graph = re.fullmatch(r"[^:]+: (?:[\w-]+: )?(graph \d+.*)", str(error), re.DOTALL)
        if graph is not None:
            text = re.sub(
                r"has no labels, want discrete labels as in the other graphs$",
                f"has no labels, which {type(self).__name__} compares; give every vertex a label",
                graph[1],
            )
            return type(error)(text)
        found = re.fullmatch(r"(?:[\w -]+: )?(\w+) = (.*)", str(error), re.DOTALL)
        name = self._names.get(found[1], found[1]) if found else None
        if found is None or name not in self.get_params(deep=False):
            return error
        # Go writes a list as [2 1].
        value = re.sub(r"^\[[-\d ]*\]", lambda _: repr(getattr(self, name)), found[2])
        return type(error)(f"{name}={value}")


class Kernel(TransformerMixin, OnGraphs):
    """The base class of all kernels."""

    n_jobs: int | None
    normalize: bool
    verbose: bool

    def _record(self) -> dict[str, Any]:
        """Return the kernel as the worker reads it: its name and parameters."""
        raise NotImplementedError

    def _request(self) -> dict[str, Any]:
        return {
            "kernel": self._record(),
            "workers": jobs(self.n_jobs),
            "device": string("device", getattr(self, "device", "cpu")),
        }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel to graphs.

        Parameters
        ----------
        X : collection of graphs
        y : ignored

        Returns
        -------
        self
        """
        self._fit(X, gram=False)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit the kernel to graphs and return their kernel matrix.

        Parameters
        ----------
        X : collection of graphs
        y : ignored

        Returns
        -------
        ndarray of shape (n, n)
        """
        gram = self._fit(X, gram=True)
        assert gram is not None
        return gram

    def _fit(self, X: Any, gram: bool) -> np.ndarray | None:
        self._forget()
        with self._working("fitted {0.kernel_} to {graphs}, comparing {0.compared_},") as bar:
            request = self._request()
            graphs = as_graphs(X)
            held = _engine.Held("fit", request, pack(graphs))
            result, arrays = _engine.hold(held, bar, gram=gram)
            self._adjust(result)
            self._held = held
            self._new = b""
            self.n_graphs_in_ = len(graphs)
            self.kernel_ = result["kernel"]
            self.compared_ = result["compared"]
        return arrays.get("gram")

    def _adjust(self, result: dict[str, Any]) -> None:
        """Take over what fitting has decided."""

    def _heed(self, result: dict[str, Any]) -> None:
        """Take note of what the worker says of new graphs."""

    def transform(self, X: Any) -> np.ndarray:
        """Return the kernel matrix between graphs and the training graphs.

        Parameters
        ----------
        X : collection of graphs

        Returns
        -------
        ndarray of shape (len(X), n)
        """
        check_is_fitted(self, "kernel_")
        with self._working("compared new graphs with {graphs}") as bar:
            new = pack(as_graphs(X, self))
            result, arrays = _engine.call("cross", {}, new, held=self._held, progress=bar)
        self._heed(result)
        self._new = new
        return arrays["cross"]

    def diagonal(self) -> Any:
        """Return the raw kernel values of graphs with themselves.

        Returns
        -------
        X_diag : ndarray of shape (n,)
            Those of the training graphs.
        Y_diag : ndarray
            Those of the graphs of the last `transform`. Only after one; then the result is the
            pair ``(X_diag, Y_diag)``.
        """
        check_is_fitted(self, "kernel_")
        x = self._self(b"")
        return (x, self._self(self._new)) if self._new else x

    def _self(self, graphs: bytes) -> np.ndarray:
        return _engine.call("diagonal", {}, graphs, held=self._held)[1]["diagonal"]

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the matrix: one for each training graph."""
        check_is_fitted(self, "kernel_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.n_graphs_in_)], dtype=object)


def whole(name: str, value: Any) -> int:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r}, want a whole number")
    return int(value)


def number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r}, want a finite number")
    return float(value)


def within(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number, which must be in a range."""
    n = whole(name, value)
    if not least <= n <= most:
        raise ValueError(f"{name}={value!r}, want a whole number from {least} to {most}")
    return n


def iterations(n: Any, most: int = 65536) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or not 1 <= n <= most:
        raise ValueError(f"n_iter={n!r}, want a whole number from 1 to {most}")
    return int(n)


def string(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}={value!r}, want a text")
    return value
