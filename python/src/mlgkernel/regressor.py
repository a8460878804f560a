"""A Gaussian process on graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ._kernel import number, seed, whole
from ._language import DEFAULT_KERNEL
from ._learner import Learner, fitting, is_table, no_y

if TYPE_CHECKING:
    from typing_extensions import Self

_LARGEST = 1e60  # squares of values, and their sums, stay finite


def _values(y: np.ndarray, name: str) -> np.ndarray:
    """Return values that can be learned."""
    try:
        y = y.astype(np.float64)
    except (TypeError, ValueError):
        at, given = next((i, v) for i, v in enumerate(y.tolist()) if not _number(v))
        raise ValueError(f"{name}[{at}] is {given!r}, want a number") from None
    if not np.isfinite(y).all():
        at = int(np.argmin(np.isfinite(y)))
        raise ValueError(f"{name}[{at}] is {y[at]}, want a finite number")
    if (np.abs(y) > _LARGEST).any():
        at = int(np.argmax(np.abs(y) > _LARGEST))
        raise ValueError(f"{name}[{at}] is {y[at]}, want a number from {-_LARGEST:g} to {_LARGEST:g}")
    return y


def _number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True


def _endpoint(y: np.ndarray, w: np.ndarray | None) -> dict[str, Any]:
    """Return the arguments that train on values with weights."""
    values = y.tolist()
    args: dict[str, Any] = {} if w is None else {"weights": w.tolist()}
    return args | {"values": values, "targets": [repr(v) for v in values]}


class MLGRegressor(RegressorMixin, Learner):
    """A Gaussian process on graphs.

    Values are ``z = b + f(G) + e`` with ``f ~ N(0, s**2 k)`` and noise ``e ~ N(0, s**2 ridge)``. The
    prediction is the mean of b + f, given the training graphs.

    Parameters
    ----------
    kernel, random_state, n_jobs, verbose, device
        As in `MLGClassifier`.
    learner : {"ridge", "svm"} or None, default None
        A Gaussian process, which is kernel ridge regression with deviations; or support vector
        regression, which has no deviations. None is "svm" where `C` is given, else "ridge".
    ridge : float, positive, or None, default None
        For ``learner="ridge"``: the variance of the noise as a share of that of the signal. None takes the
        one for which leave-one-out predictions are most probable. That needs at least three graphs.
    C, tol, max_iter
        As in `MLGClassifier`, for ``learner="svm"``.
    epsilon : float, at least 0, or None, default None
        For ``learner="svm"``: errors up to this size, in standard deviations of the values, cost nothing.
        None is 0.1.

    Attributes
    ----------
    noise_ : float, ndarray or None
        Standard deviation of the noise of one measurement, of each target of several; None with
        ``learner="svm"``.
    targets_ : list of str or None
        As in `MLGClassifier`.
    n_iter_ : int
        Steps of the solver; 1 for ``learner="ridge"``.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor
    >>> alkanes = ["C" * n for n in range(2, 12)]
    >>> model = MLGRegressor().fit(alkanes, range(2, 12))
    >>> values, deviations = model.predict(["CCCCCC"], return_std=True)
    >>> abs(values[0] - 6) < 0.5
    np.True_
    """

    def __init__(
        self,
        kernel: Any = DEFAULT_KERNEL,
        learner: str | None = None,
        ridge: float | None = None,
        C: float | None = None,
        epsilon: float | None = None,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
        device: str = "cpu",
    ) -> None:
        self.kernel = kernel
        self.learner = learner
        self.ridge = ridge
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on graphs `X` and their values `y`.

        Parameters
        ----------
        X : collection of graphs
        y : array of values, or a table with a column for each target
            In a table, None and NaN are values that are missing.
        sample_weight : array, optional
            Weights of the graphs, at least 0. A value of weight w counts as the mean of w measurements: its
            weight divides the variance of its noise, and multiplies `C`. Weights have a part in the choice of
            `ridge` and `C`. Graphs of weight 0 are left out. Deviations of predictions are those of one
            measurement, a value of weight 1. The ridges that are tried suit weights around 1: divide others,
            such as 1/variance, by their mean.
        """
        self._forget()  # also when y is wrong
        if y is None:
            raise ValueError(no_y(self, "value"))
        options = {} if self.epsilon is None else {"Epsilon": number("epsilon", self.epsilon)}
        if is_table(y):

            def endpoint(column: list[Any], w: np.ndarray | None) -> tuple[dict[str, Any], Any]:
                return _endpoint(_values(np.array(column, dtype=object), "known entries"), w), None

            self._train_several(X, y, sample_weight, options, endpoint)
            return self
        X, y, w = fitting(X, _values(column_or_1d(y, warn=True), "y"), sample_weight)
        self._train(X, options, **_endpoint(y, w))
        return self

    def _take(self, info: dict[str, Any]) -> None:
        super()._take(info)
        several = info.get("endpoints")
        noise = [np.nan if e["noise"] is None else e["noise"] for e in several or ()]
        self.noise_ = np.array(noise) if several else info["noise"]

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False, return_cov: Literal[False] = False
    ) -> np.ndarray: ...

    @overload
    def predict(
        self, X: Any, return_std: Literal[True], return_cov: Literal[False] = False
    ) -> tuple[np.ndarray, np.ndarray]: ...

    @overload
    def predict(
        self, X: Any, return_std: Literal[False] = False, *, return_cov: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...

    @overload
    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]: ...

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the value of each graph.

        Parameters
        ----------
        X : collection of graphs
        return_std : bool
            Also return the standard deviation of a measured value, the noise included.
        return_cov : bool
            Also return the covariance of measured values. Its diagonal has the squares of the standard
            deviations. Without ``noise_**2`` on the diagonal it is the covariance of the true values, on
            which a measurement puts its noise.

        Returns
        -------
        values : ndarray
            A table with a column for each target, if there are several.
        deviations : ndarray
            With ``return_std``, of the same shape. About 68 % of measured values are within one, 90 %
            within 1.64 and 95 % within 1.96 of them.
        covariance : ndarray of shape (n, n)
            With ``return_cov``.
        """
        if return_std and return_cov:
            raise ValueError("return_std=True and return_cov=True, want one of them")
        check_is_fitted(self, "kernel_")
        if self.targets_ is not None:
            if return_cov:
                self._wants_one("return_cov=True")
            if return_std:
                self._wants_process("return_std=True")
            found = self._ask("predict", X, deviation=return_std)
            tables = [
                np.stack([found[f"{i} {what}"] for i in range(len(self.targets_))], axis=1)
                for what in ["value"] + ["deviation"] * return_std
            ]
            return (tables[0], tables[1]) if return_std else tables[0]
        if return_std or return_cov:
            self._wants_process("return_std=True" if return_std else "return_cov=True")
        found = self._ask("predict", X, deviation=return_std, covariance=return_cov)
        if return_cov:
            return found["value"], found["covariance"]
        return (found["value"], found["deviation"]) if return_std else found["value"]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the coefficient of determination.

        Of several targets it is the mean of theirs, each of known entries.
        """
        if getattr(self, "targets_", None) is None:
            return super().score(X, y, sample_weight)
        return self._score_several(X, y, sample_weight, r2_score)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0, noise: bool = True) -> np.ndarray:
        """Draw the values of graphs from what the model says of all of them together.

        Parameters
        ----------
        X : collection of graphs
        n_samples : int, at least 1
        random_state : int, RandomState or None
            None is 0. The same seed gives the same draws, and more of them begin with these.
        noise : bool
            Draw measured values, or without the noise the true ones.

        Returns
        -------
        ndarray of shape (n, n_samples)
        """
        if whole("n_samples", n_samples) < 1:
            raise ValueError(f"n_samples={n_samples}, want at least 1")
        check_is_fitted(self, "kernel_")
        self._wants_one("sample_y")
        self._wants_process("sample_y")
        found = self._ask("predict", X, draws=int(n_samples), seed=seed(random_state), noise=bool(noise))
        return found["draws"].T

    def _wants_process(self, what: str) -> None:
        if self.noise_ is None or np.isnan(self.noise_).any():
            raise ValueError(f"{what}: a model with learner='svm' has no deviations, want learner='ridge'")

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_jobs: int | None = None, target: str | None = None) -> Self:
        """Read a model file. `target` names one of several targets. None reads all."""
        return cls._load(path, "regression", n_jobs, target)[0]
