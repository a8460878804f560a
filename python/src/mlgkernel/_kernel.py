"""The base class of all kernels, and the checks of their parameters."""

from __future__ import annotations

import contextlib
import os
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
from ._language import DEFAULT_KERNEL, Text
from ._progress import Bar
from .exceptions import GraphError

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
_FITTED = ("_held", "_new", "_with_probability", "_n_features_out", "X", "_X_diag", "_Y", "_method_calling")


# What to do about graphs that lack labels or attributes.
_GIVE = {
    "labels": "; give every vertex a number or a text: [edges, labels], graph.labels = labels, data.x of "
    "whole numbers. graph.construct_labels() takes the numbers of neighbours",
    "attributes": "; give every vertex a list of numbers as its label, or take a kernel on labels, such as "
    "WeisfeilerLehman",
}


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
        except _engine.Rejected as e:
            raise self._told(e) from None
        finally:
            if bar is not None:
                bar.close()
        if verbose and done:
            took = time.perf_counter() - start
            text = done.format(self, graphs=_engine.counted(vars(self).get("n_graphs_in_", 0), "graph"))
            print(f"[{type(self).__name__}] {text} in {took:.3g} s", file=sys.stderr)

    def _told(self, error: _engine.Rejected) -> ValueError:
        """Return an error of the worker with the name of the parameter, or the graph, that is wrong."""
        kind = GraphError if "graph" in error.wrong else ValueError
        return kind((self._says(error) or str(error)) + _GIVE.get(error.wrong.get("missing", ""), ""))

    def _says(self, error: _engine.Rejected) -> str:
        """Return what is wrong, "" where it is no parameter of this estimator and no graph."""
        wrong, text = error.wrong, error.kernel
        parameter = wrong.get("parameter", "")
        if "character" in wrong:  # in the text of a kernel that this package wrote
            place = text.parameter(wrong["character"]) if isinstance(text, Text) else None
            own = place == parameter and text.startswith(f"{wrong.get('of')} ")
            if place is not None and not own:
                parameter, wrong = place, {"why": wrong["reason"]}
        name = self._name(parameter)
        if name in self.get_params(deep=False):
            return _engine.says(f"{name}={getattr(self, name)!r}", wrong)
        return wrong.get("graph_reason", "")

    def _name(self, parameter: str) -> str:
        """Return what a parameter of the worker is called here."""
        return self._names.get(parameter, parameter)


class Kernel(TransformerMixin, OnGraphs):
    """The base class of all kernels, and of kernels that you write in Python, as with GraKeL.

    A kernel of your own defines ``pairwise_operation(x, y)``, and mostly ``parse_input(X)``. Python calls
    them graph by graph and pair by pair. That is slow: the kernels of this package are computed by its
    program.

    Parameters
    ----------
    n_jobs : int or None, default None
        Has no effect on kernels in Python.
    normalize : bool, default False
        Divide by ``sqrt(k(G, G) * k(G', G'))``.
    verbose : bool, default False
        Show progress on standard error, by tqdm if it is installed, and say what was done.

    Attributes
    ----------
    X : list
        What `parse_input` has returned for the training graphs.
    n_graphs_in_ : int
        Number of training graphs.

    Examples
    --------
    >>> from mlgkernel import Kernel
    >>> class Sizes(Kernel):
    ...     def pairwise_operation(self, x, y):
    ...         return min(x.n, y.n)
    >>> Sizes().fit_transform(["CCO", "CC"])
    array([[3., 2.],
           [2., 2.]])
    """

    def __init__(self, n_jobs: int | None = None, normalize: bool = False, verbose: bool = False) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose

    def initialize(self) -> None:
        """Prepare for training graphs; `fit` calls it first."""

    def parse_input(self, X: Any) -> Any:
        """Return a list with what `pairwise_operation` takes, for each graph of a collection.

        X is what was given to `fit` or `transform`. Without a definition of your own, graphs become
        `Graph` objects.
        """
        return as_graphs(X)

    def pairwise_operation(self, x: Any, y: Any) -> float:
        """Return the kernel of two graphs, of which `parse_input` made x and y."""
        raise NotImplementedError(f"{type(self).__name__} has no pairwise_operation")

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
            return self._cross(X, bar)

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
        old, new = self._diagonals()
        return old if new is None else (old, new)

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the matrix: one for each training graph."""
        check_is_fitted(self, "kernel_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.n_graphs_in_)], dtype=object)

    # What differs where the program computes, in `Compiled`.

    def _fit(self, X: Any, gram: bool) -> np.ndarray | None:
        self._forget()
        with self._working("fitted {0.kernel_} to {graphs}") as bar:
            self._method_calling = 1  # GraKeL's number for fit
            self.initialize()
            self.X = self._parsed(X)
            self.n_graphs_in_ = len(self.X)
            k = self._pairs(self.X, self.X, bar) if gram else None
            self.kernel_ = type(self).__name__
            if k is None or not self.normalize:
                return k
            self._X_diag = k.diagonal().copy()
            return _normalized(k, self._X_diag, self._X_diag)

    def _cross(self, X: Any, bar: Bar | None) -> np.ndarray:
        self._method_calling = 3  # GraKeL's number for transform
        self._Y = self._parsed(X)
        k = self._pairs(self._Y, self.X, bar)
        if not self.normalize:
            return k
        old, new = self._diagonals()
        return _normalized(k, new, old)

    def _diagonals(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the raw values of the training graphs, and of those of the last `transform`."""
        if not hasattr(self, "_X_diag"):
            self._X_diag = self._self(self.X)
        return self._X_diag, self._self(self._Y) if hasattr(self, "_Y") else None

    def _self(self, parsed: Any) -> np.ndarray:
        return np.array([self.pairwise_operation(x, x) for x in parsed], dtype=np.float64)

    def _parsed(self, X: Any) -> Any:
        parsed = self.parse_input(X)
        if parsed is None:
            raise ValueError(f"{type(self).__name__}.parse_input returns None, want a list")
        return parsed if hasattr(parsed, "__len__") else list(parsed)

    def _pairs(self, rows: Any, columns: Any, bar: Bar | None) -> np.ndarray:
        """Return the matrix of two lists, which is symmetric where they are one."""
        if bar is not None and type(self) not in _TOLD:
            _TOLD.add(type(self))
            print(f"[{type(self).__name__}] compares graphs in Python, which is slow", file=sys.stderr)
        k = np.empty((len(rows), len(columns)))
        for i, x in enumerate(rows):
            for j, y in enumerate(columns):
                if rows is columns and j < i:
                    k[i, j] = k[j, i]
                else:
                    k[i, j] = self.pairwise_operation(x, y)
            if bar is not None:
                bar("pairs", (i + 1) * len(columns), k.size)
        return k


_TOLD: set[type] = set()  # classes of which was said that they are slow


def _normalized(k: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return a matrix divided by the roots of the kernels of graphs with themselves.

    The value of two graphs without features is 1, that of one of them and another graph 0.
    """
    if (rows < 0).any() or (columns < 0).any():
        raise ValueError("the kernel of a graph with itself is negative, want normalize=False")
    scale = np.sqrt(np.outer(rows, columns))
    none = (rows[:, None] == 0) & (columns == 0)
    return np.where(none, 1.0, np.divide(k, scale, out=np.zeros_like(k), where=scale > 0))


class Compiled(Kernel):
    """A kernel that the program computes."""

    _held: _engine.Held
    _new: bytes

    def _text(self) -> Text:
        """Return the kernel as the worker reads it."""
        raise NotImplementedError

    def _request(self) -> dict[str, Any]:
        return {
            "kernel": self._text(),
            "workers": jobs(self.n_jobs),
            "device": string("device", getattr(self, "device", "cpu")),
        }

    def _in_python(self) -> bool:
        """Report whether a function is a parameter, so that graphs are compared in Python."""
        return False

    def _fit(self, X: Any, gram: bool) -> np.ndarray | None:
        if self._in_python():
            return super()._fit(X, gram)
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
        _engine.warn_of_walks(result)

    def _cross(self, X: Any, bar: Bar | None) -> np.ndarray:
        if not hasattr(self, "_held"):
            return super()._cross(X, bar)
        new = pack(as_graphs(X, self))
        result, arrays = _engine.call("cross", {}, new, held=self._held, progress=bar)
        if result["damped"]:
            _engine.warn(
                f"the weight of a step is too large for {_engine.counted(result['damped'], 'new graph')}: "
                "the series of walks does not converge. Steps get a smaller weight there"
            )
        self._new = new
        return arrays["cross"]

    def _diagonals(self) -> tuple[np.ndarray, np.ndarray | None]:
        if not hasattr(self, "_held"):
            return super()._diagonals()
        ask = [_engine.call("diagonal", {}, x, held=self._held)[1]["diagonal"] for x in (b"", self._new)]
        return ask[0], ask[1] if self._new else None


class TextKernel(Compiled):
    """A kernel that is given as a text, in the language of the command ``mlg``.

    A text is the name of a kernel with its parameters. Kernels can be multiplied and added, with weights
    or without: then the sum is their mean. ``mlg help kernels`` lists them. They are normalised, unless
    the text says ``normalize=false``.

    Parameters
    ----------
    text : str, default "mlg"
        The kernel, such as ``"wl h=3"``, ``"mlg radii=1,2,4 base=(labels * gaussian sigma=0.5)"`` or
        ``"0.5 mlg + 0.5 wl * sp subdivide"``.
    n_jobs, verbose
        As in `VertexHistogram`.
    max_memory, device
        As in `MultiscaleLaplacian`.

    Examples
    --------
    >>> from mlgkernel import TextKernel
    >>> TextKernel("0.5 wl h=2 + 0.5 sp").fit_transform(["CCO", "CCCO"]).round(3)
    array([[1.   , 0.799],
           [0.799, 1.   ]])
    """

    def __init__(
        self,
        text: str = DEFAULT_KERNEL,
        n_jobs: int | None = None,
        verbose: bool = False,
        max_memory: float = 16.0,
        device: str = "cpu",
    ) -> None:
        self.text = text
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.max_memory = max_memory
        self.device = device

    def _text(self) -> Text:
        return given_text("text", self.text)

    def _request(self) -> dict[str, Any]:
        return dict(super()._request(), max_memory=number("max_memory", self.max_memory))

    def _says(self, error: _engine.Rejected) -> str:
        return about_text("text", self.text, error) or super()._says(error)


def given_text(name: str, value: Any) -> Text:
    """Return the text of a kernel that is the parameter of a name."""
    out = Text(string(name, value))
    out.places = {}
    return out


def about_text(name: str, value: str, error: _engine.Rejected) -> str:
    """Return what is wrong with the text of a kernel, "" where it is not the text."""
    wrong = error.wrong
    if "character" in wrong:
        return f"{name}={value!r}, character {wrong['character']}: {wrong['reason']}"
    return f"{name}={value!r}: {error}" if wrong.get("of") else ""


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
