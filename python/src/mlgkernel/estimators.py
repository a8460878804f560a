"""Classifier, regressor and explicit vectors of graphs with the multiscale Laplacian kernel."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._kernel import Kernel, OnGraphs, jobs, number, seed, whole
from .multiscale import MultiscaleLaplacian, multiscale

__all__ = ["MLGClassifier", "MLGEmbedding", "MLGRegressor", "Nearest"]


class Nearest(NamedTuple):
    """The training graphs that are nearest to new graphs, by falling similarity."""

    indices: np.ndarray  # (graphs, k): positions in training
    similarity: np.ndarray  # (graphs, k)
    ids: list[list[str]]


class _Multiscale(OnGraphs):
    """Parameters of the kernel, and what classifier and regressor share."""

    _held: _engine.Held
    radii: Any

    def _request(self) -> dict[str, Any]:
        e: Any = self
        return {"kernel": multiscale(e, e.radii, eta=e.eta, rank=e.rank), "workers": jobs(e.n_jobs)}

    def _train(self, X: Any, svm: dict[str, Any], **targets: Any) -> None:
        e: Any = self
        graphs = as_graphs(X)
        if len(graphs) != len(targets["targets"]):
            raise ValueError(f"{len(graphs)} graphs and {len(targets['targets'])} targets")
        args = {
            **self._request(),
            "svm": {
                "C": number("C", e.C),
                "Tolerance": number("tol", e.tol),
                "MaxIterations": whole("max_iter", e.max_iter),
                **svm,
            },
            "created": {"by": "mlgkernel", "estimator": type(self).__name__},
            **targets,
        }
        held = _engine.Held("train", args, pack(graphs))
        result, _ = _engine.hold(held)
        if result["limited"]:
            warnings.warn(
                f"the solver stopped after max_iter={e.max_iter} steps", ConvergenceWarning, stacklevel=3
            )
        self._held = held
        self._take(result)

    def _take(self, info: dict[str, Any]) -> None:
        self.kernel_ = info["kernel"]
        self.compared_ = info["compared"]
        self.n_graphs_in_ = len(info["ids"])
        self.ids_ = info["ids"]
        self.support_ = np.array(info["support"], dtype=np.int64)
        self._with_probability = info["probability"]

    def _ask(self, op: str, X: Any, **args: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self, "kernel_")
        return _engine.call(op, args, pack(as_graphs(X, self)), held=self._held)[1]

    def nearest(self, X: Any, k: int = 5) -> Nearest:
        """Return the training graphs that are most similar to graphs.

        Parameters
        ----------
        X : collection of graphs
        k : int
            How many, at most as many as there are.

        Returns
        -------
        Nearest
        """
        if whole("k", k) < 1:
            raise ValueError(f"k={k}, want at least 1")
        a = self._ask("nearest", X, k=int(k))
        ids = [[self.ids_[j] for j in row] for row in a["index"].tolist()]
        return Nearest(a["index"], a["similarity"], ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, which the command and other programs read too."""
        check_is_fitted(self, "kernel_")
        data = _engine.call("save", {}, held=self._held)[1]["bytes"]
        target = os.path.abspath(os.fspath(path))
        handle, temporary = tempfile.mkstemp(prefix=".mlg-", dir=os.path.dirname(target))
        try:
            with os.fdopen(handle, "wb") as f:
                f.write(data.tobytes())
            os.replace(temporary, target)
        except BaseException:
            os.unlink(temporary)
            raise

    @classmethod
    def _load(cls, path: str | os.PathLike[str], task: str, n_jobs: int | None) -> tuple[Any, Any]:
        with open(path, "rb") as f:
            data = f.read()
        held = _engine.Held("load", {"workers": jobs(n_jobs)}, data)
        info, _ = _engine.hold(held)
        if info["task"] != task:
            raise ValueError(f"{os.fspath(path)}: a model for {info['task']}, want one for {task}")
        e: Any = cls(n_jobs=n_jobs)  # type: ignore[call-arg]
        e._held = held
        e._take(info)
        return e, info


class MLGClassifier(ClassifierMixin, _Multiscale):
    """A support vector machine on graphs, with the low-rank multiscale Laplacian kernel.

    Parameters
    ----------
    radii : sequence of int
        Hop radii of the levels.
    eta, gamma : float
        Regularisation of the Laplacians and of the covariances.
    n_samples, rank : int
        Vertices that are sampled, and features that are kept, at every level.
    base, bonds, landmarks, combine, power, discount
        As in `mlgkernel.MultiscaleLaplacian`.
    C : float
        Price of an error.
    class_weight : dict, "balanced" or None
        Factors of `C` by class.
    probability : bool
        Whether `predict_proba` is available; training then takes about six times as long.
    tol : float
        Tolerance of the solver.
    max_iter : int
        Most steps of the solver for a pair of classes.
    random_state : int, RandomState or None
        Seed of the sample of vertices and of the folds of `probability`. None is 0.
    n_jobs : int or None
        Number of threads; None and -1 mean all processors.
    verbose : bool
        Has no effect.

    Attributes
    ----------
    classes_ : ndarray
    n_graphs_in_ : int
    support_ : ndarray
        Training graphs that enter decisions.
    kernel_ : str
        The kernel and its parameters.
    compared_ : str
        What the kernel compares of graphs, in words.
    """

    def __init__(
        self,
        radii: Sequence[int] = (1, 2),
        eta: float = 0.1,
        gamma: float = 0.1,
        n_samples: int = 100,
        rank: int = 10,
        base: str | None = None,
        bonds: bool | None = None,
        landmarks: str = "uniform",
        combine: str = "top",
        power: int = 1,
        discount: bool = False,
        C: float = 1.0,
        class_weight: Any = None,
        probability: bool = False,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.radii = radii
        self.eta = eta
        self.gamma = gamma
        self.n_samples = n_samples
        self.rank = rank
        self.base = base
        self.bonds = bonds
        self.landmarks = landmarks
        self.combine = combine
        self.power = power
        self.discount = discount
        self.C = C
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> MLGClassifier:
        """Train on graphs `X` and their classes `y`."""
        if y is None:
            raise ValueError("y is None, want the class of every graph")
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y has {len(classes)} class, want at least 2")
        names = [str(c) for c in classes.tolist()]
        if len(set(names)) < len(names):
            raise ValueError("y has classes with the same text")
        svm: dict[str, Any] = {"Probability": bool(self.probability), "Seed": seed(self.random_state)}
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=classes, y=y)
            svm["ClassWeights"] = {i: float(w) for i, w in enumerate(by_class)}
        self._train(X, svm, classes=names, labels=labels.tolist(), targets=[names[i] for i in labels])
        self.classes_ = classes
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each graph."""
        found = self._ask("predict", X)["class"]
        return self.classes_[found]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            For two classes, positive values speak for ``classes_[1]``. For more, a column for each
            class: the mean value of its machines against each of the others. `predict` takes the
            class that wins against all others, or where none does that with the largest mean.
        """
        values = self._ask("predict", X)["decision"]
        return values[:, 1] if len(self.classes_) == 2 else values

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the classes; needs ``probability=True`` in training.

        The most probable class is that of `predict`.
        """
        check_is_fitted(self, "kernel_")
        if not self._with_probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return self._ask("predict", X)["probability"]

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_jobs: int | None = None) -> MLGClassifier:
        """Read a model file. Classes that are all whole numbers become integers."""
        e, info = cls._load(path, "classification", n_jobs)
        e.classes_ = _classes(info["classes"])
        return e


def _classes(names: list[str]) -> np.ndarray:
    try:
        numbers = [int(n) for n in names]
    except ValueError:
        return np.array(names)
    return np.array(numbers) if [str(n) for n in numbers] == names else np.array(names)


class MLGRegressor(RegressorMixin, _Multiscale):
    """A Gaussian process on graphs, with the low-rank multiscale Laplacian kernel.

    Parameters
    ----------
    radii, eta, gamma, n_samples, rank, base, bonds, landmarks, combine, power, \
discount, random_state, n_jobs, verbose
        As in `MLGClassifier`.
    learner : "ridge" or "svm"
        A Gaussian process, which is kernel ridge regression with deviations, or support vector
        regression, which has none.
    ridge : float or None
        Variance of the noise as a share of that of the signal. None takes the one for which
        leave-one-out predictions are most probable; that needs three graphs.
    C, tol, max_iter
        As in `MLGClassifier`, for ``learner="svm"``, as is
    epsilon : float
        Half width of the tube in which there is no error.

    Attributes
    ----------
    noise_ : float or None
        Standard deviation of the noise; None with ``learner="svm"``.
    """

    def __init__(
        self,
        radii: Sequence[int] = (1, 2),
        eta: float = 0.1,
        gamma: float = 0.1,
        n_samples: int = 100,
        rank: int = 10,
        base: str | None = None,
        bonds: bool | None = None,
        landmarks: str = "uniform",
        combine: str = "top",
        power: int = 1,
        discount: bool = False,
        learner: str = "ridge",
        ridge: float | None = None,
        C: float = 1.0,
        epsilon: float = 0.1,
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.radii = radii
        self.eta = eta
        self.gamma = gamma
        self.n_samples = n_samples
        self.rank = rank
        self.base = base
        self.bonds = bonds
        self.landmarks = landmarks
        self.combine = combine
        self.power = power
        self.discount = discount
        self.learner = learner
        self.ridge = ridge
        self.C = C
        self.epsilon = epsilon
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any) -> MLGRegressor:
        """Train on graphs `X` and their values `y`."""
        if y is None:
            raise ValueError("y is None, want the value of every graph")
        y = column_or_1d(y, warn=True).astype(np.float64)
        if not np.isfinite(y).all():
            raise ValueError(f"y[{int(np.argmin(np.isfinite(y)))}] is not finite")
        if self.learner not in ("ridge", "svm"):
            raise ValueError(f"learner={self.learner!r}, want 'ridge' or 'svm'")
        values = y.tolist()
        process = self.learner == "ridge"
        args: dict[str, Any] = {"process": process}
        if process and self.ridge is not None:
            args["ridge"] = [number("ridge", self.ridge)]
            if not args["ridge"][0] > 0:
                raise ValueError(f"ridge={self.ridge}, want more than 0")
        elif process and len(values) < 3:
            raise ValueError(f"{len(values)} graphs are too few to choose a ridge: want three, or ridge=…")
        svm = {"Epsilon": number("epsilon", self.epsilon)}
        self._train(X, svm, values=values, targets=[repr(v) for v in values], **args)
        return self

    def _take(self, info: dict[str, Any]) -> None:
        super()._take(info)
        self.noise_ = info["noise"]

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the value of each graph.

        Parameters
        ----------
        X : collection of graphs
        return_std : bool
            Also return the standard deviation of a measured value, the noise included.

        Returns
        -------
        values : ndarray
        deviations : ndarray
            With ``return_std``. About 68 % of measured values are within one, 90 % within 1.64 and
            95 % within 1.96 of them.
        """
        check_is_fitted(self, "kernel_")
        if return_std and self.noise_ is None:
            raise ValueError("return_std: this model has no deviations, learner='ridge' does")
        found = self._ask("predict", X, deviation=return_std)
        return (found["value"], found["deviation"]) if return_std else found["value"]

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_jobs: int | None = None) -> MLGRegressor:
        """Read a model file."""
        return cls._load(path, "regression", n_jobs)[0]


class MLGEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, OnGraphs):
    """Explicit vectors of graphs, whose dot products approximate a kernel.

    Landmark graphs are chosen among the training graphs by pivoted Cholesky factorisation; a graph
    becomes the vector of its kernel values with them, in an orthonormal basis (Nyström's method).

    Parameters
    ----------
    n_components : int
        Most landmarks, which is the length of the vectors.
    kernel : Kernel or None
        Any kernel of this package; None is ``MultiscaleLaplacian(radii=(1, 2), gamma=0.1, heta=0.1,
        n_samples=100)``.
    tol : float
        Fewer landmarks are taken when they represent every training graph to this relative error.
    n_jobs : int or None
        Number of threads; None and -1 mean all processors.

    Attributes
    ----------
    landmarks_ : ndarray
        Positions of the landmarks among the training graphs, in the order of the components.
    error_ : float
        Largest ``k(G, G) - |x(G)|**2`` of a training graph.
    """

    def __init__(
        self,
        n_components: int = 100,
        kernel: Kernel | None = None,
        tol: float = 1e-10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.tol = tol
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> MLGEmbedding:
        """Choose landmarks among graphs."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Choose landmarks among graphs and return the vectors of all of them."""
        kernel = self.kernel
        if kernel is None:
            kernel = MultiscaleLaplacian(radii=(1, 2), gamma=0.1, heta=0.1, n_samples=100)
        graphs = as_graphs(X)
        args = {
            **kernel._request(),
            "workers": jobs(self.n_jobs),
            "components": whole("n_components", self.n_components),
            "tolerance": number("tol", self.tol),
        }
        held = _engine.Held("embed-fit", args, pack(graphs))
        result, arrays = _engine.hold(held)
        self._held = held
        self.kernel_ = result["kernel"]
        self.compared_ = result["compared"]
        self.error_ = result["error"]
        self.landmarks_ = arrays["landmarks"]
        self._n_features_out = len(self.landmarks_)
        self.n_graphs_in_ = len(graphs)
        return arrays["vectors"]

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors of graphs, a row each."""
        check_is_fitted(self, "kernel_")
        return _engine.call("embed", {}, pack(as_graphs(X)), held=self._held)[1]["vectors"]
