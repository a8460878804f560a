"""Classifier, regressor and explicit vectors of graphs, with any kernel."""

from __future__ import annotations

import ast
import os
import tempfile
import warnings
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, overload

import numpy as np
from sklearn.base import (
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
    clone,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from . import _engine
from ._batch import pack
from ._inputs import as_graphs, missing
from ._kernel import Compiled, OnGraphs, about_text, given_text, jobs, number, seed, string, whole
from ._language import DEFAULT_KERNEL
from .graph_kernels import GraphKernel

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["MLGClassifier", "MLGEmbedding", "MLGRegressor", "Nearest"]


class Nearest(NamedTuple):
    """The training graphs that are nearest to new graphs, by falling similarity.

    Attributes
    ----------
    indices : ndarray of shape (graphs, k)
        Their positions in training.
    similarity : ndarray of shape (graphs, k)
        The kernel values.
    ids : list of lists of str
        Their names.

    Examples
    --------
    >>> from mlgkernel import MLGClassifier
    >>> model = MLGClassifier().fit(["CC", "CCC", "CCO", "CCCO"], [0, 0, 1, 1])
    >>> model.nearest(["CCCC"], k=1).ids
    [['CCC']]
    """

    indices: np.ndarray
    similarity: np.ndarray
    ids: list[list[str]]


class _WithKernel(OnGraphs):
    """An estimator with a kernel: a text, or an object."""

    kernel: Any

    def _described(self) -> dict[str, Any]:
        """Return what the worker needs to know of the kernel."""
        if isinstance(self.kernel, str):
            return {"kernel": given_text("kernel", self.kernel)}
        kernel = self._object()
        try:
            request = kernel._request()
        except (ValueError, TypeError) as e:
            raise type(e)(f"kernel: {e}") from None
        return {k: v for k, v in request.items() if k in ("kernel", "max_memory")}

    def _object(self) -> Compiled:
        """Return the kernel as an object that is not fitted."""
        kernel = self.kernel._build() if isinstance(self.kernel, GraphKernel) else self.kernel
        if not isinstance(kernel, Compiled):
            raise ValueError(
                f"kernel={kernel!r}, want a text such as 'wl h=3', or a kernel of this package such as "
                "WeisfeilerLehman()"
            )
        return clone(kernel)

    def _says(self, error: _engine.Rejected) -> str:
        wrong = error.wrong
        if wrong.get("of", "") in ("", "choose", "learn", "nystrom") and "character" not in wrong:
            return super()._says(error)
        if isinstance(self.kernel, str):
            return wrong.get("graph_reason") or about_text("kernel", self.kernel, error)
        said = self._object()._says(error)
        return said if said == wrong.get("graph_reason") else f"kernel: {said or error}"


class _Learner(_WithKernel):
    """What classifier and regressor share."""

    _names: ClassVar[dict[str, str]] = {
        "Tolerance": "tol",
        "MaxIterations": "max_iter",
        "Epsilon": "epsilon",
    }
    _held: _engine.Held
    _with_probability: bool

    def _train(self, X: Any, options: dict[str, Any], known: Any = None, **targets: Any) -> None:
        """Train a model. `known` are the classes as they were given, of which its file has texts."""
        e: Any = self
        self._forget()
        with self._working("trained on {graphs}, comparing {0.compared_},") as bar:
            kernel, drawn = self._described(), seed(e.random_state)
            graphs = as_graphs(X)
            args = {
                **kernel,
                "workers": jobs(e.n_jobs),
                "device": string("device", e.device),
                "svm": self._svm(),
                "parameter": self._parameter(len(graphs)),
                "options": {
                    "Tolerance": number("tol", e.tol),
                    "MaxIterations": whole("max_iter", e.max_iter),
                    "Seed": drawn,
                    **options,
                },
                "created": {
                    "by": "mlgkernel",
                    "estimator": type(self).__name__,
                    "parameters": _written(
                        dict(
                            e.get_params(deep=False),
                            classes_=known,
                            targets_=[x["name"] for x in targets.get("endpoints", [])] or None,
                        ),
                        drawn,
                    ),
                },
                **targets,
            }
            held = _engine.Held("train", args, pack(graphs))
            result, _ = _engine.hold(held, bar)
            self._held = held
            self._take(result)
            _engine.warn_of_walks(result)
        if result["limited"]:
            warnings.warn(
                f"the solver stopped after max_iter={e.max_iter} steps", ConvergenceWarning, stacklevel=3
            )

    def _train_several(
        self, X: Any, y: Any, options: dict[str, Any], endpoint: Any, weights: np.ndarray | None = None
    ) -> None:
        """Train a model of the columns of a table. Entries that are missing are left out of their column.
        `endpoint(column, known)` makes the arguments of the known entries of a column, and says what its
        classes are as they were given, None for values."""
        names = _columns(y)
        table = np.asarray(y)
        X = _fitting(X, table)
        endpoints, known = [], []
        for name, column in zip(names, table.T, strict=True):
            at = np.flatnonzero([not missing(v) for v in column])
            if weights is not None:
                at = at[weights[at] > 0]
            if len(at) < 2:
                raise ValueError(f"y, column {name}: {len(at)} entries are known, want at least 2")
            try:
                args, classes = endpoint(column[at].tolist(), at)
            except ValueError as e:
                raise ValueError(f"y, column {name}: {e}") from None
            endpoints.append({"name": name, "at": at.tolist(), **args})
            known.append(classes)
        self._train(X, options, known=known, endpoints=endpoints)

    def _svm(self) -> bool:
        """Report whether the learner is a support vector machine."""
        e: Any = self
        return e.learner == "svm" or (e.learner is None and e.C is not None)

    def _parameter(self, n: int) -> float | None:
        """Return the parameter of the learner for so many graphs, None to choose it."""
        e: Any = self
        if e.learner not in (None, "ridge", "svm"):
            raise ValueError(f"learner={e.learner!r}, want 'ridge', 'svm' or None")
        svm = self._svm()
        name, others = ("C", ("ridge",)) if svm else ("ridge", ("C", "epsilon"))
        for other in others:
            if getattr(e, other, None) is not None:
                kind = "a support vector machine" if svm else "a ridge regression"
                raise ValueError(f"{other}={getattr(e, other)}, but the learner is {kind}; want None")
        given = getattr(e, name)
        if given is None and n < 3:
            raise ValueError(
                f"{_engine.counted(n, 'graph')}, want at least 3 to choose {name}, or a number as {name}"
            )
        if given is not None and not number(name, given) > 0:
            raise ValueError(f"{name}={given}, want a positive number, or None")
        return None if given is None else number(name, given)

    def _take(self, info: dict[str, Any]) -> None:
        self.kernel_ = info["kernel"]
        self.compared_ = info["compared"]
        self.n_graphs_in_ = len(info["ids"])
        self.ids_ = info["ids"]
        self.support_ = np.array(info["support"], dtype=np.int64)
        self.n_iter_ = info["steps"]
        self._with_probability = info["probability"]
        several = info.get("endpoints")
        self.targets_ = [e["target"] for e in several] if several else None

    def _ask(self, op: str, X: Any, **args: Any) -> dict[str, np.ndarray]:
        check_is_fitted(self, "kernel_")
        with self._working() as bar:
            return _engine.call(op, args, pack(as_graphs(X, self)), held=self._held, progress=bar)[1]

    def _ask_several(self, X: Any, what: str, **args: Any) -> list[np.ndarray]:
        """Return an array of the predictions for each target."""
        found = self._ask("predict", X, **args)
        return [found[f"{i} {what}"] for i in range(len(self.targets_ or ()))]

    def _wants_one(self, what: str) -> None:
        """Raise an error if the model has several targets."""
        if getattr(self, "targets_", None) is not None:
            raise ValueError(f"{what} is for models of one target, which load(path, target=...) reads")

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
    def _load(
        cls, path: str | os.PathLike[str], task: str, n_jobs: int | None, target: str | None
    ) -> tuple[Any, list[Any]]:
        """Return an estimator with the model of a file, and what is known of its endpoints."""
        with open(path, "rb") as f:
            data = f.read()
        named = "" if target is None else string("target", target)
        held = _engine.Held("load", {"workers": jobs(n_jobs), "target": named}, data)
        try:
            info, _ = _engine.hold(held)
        except ValueError as e:
            raise ValueError(f"{os.fspath(path)}: {e}") from None
        several = info.get("endpoints") or [info]
        if any(x["task"] != task for x in several):
            names = ", ".join(f"{x['target']} ({x['task']})" for x in several)
            hint = f"; want one of its targets as target: {names}" if len(several) > 1 else ""
            raise ValueError(f"{os.fspath(path)}: a model for {info['task']}, want one for {task}{hint}")
        e: Any = cls()
        known = e.get_params()
        given = _read((info["created"] or {}).get("parameters", ""))
        params = dict(given, kernel=info["kernel"], n_jobs=n_jobs)
        e.set_params(**{k: v for k, v in params.items() if k in known})
        e._held = held
        e._take(info)
        trained = given.get("targets_")
        classes = given.get("classes_")
        known = [classes] if trained is None else list(classes or ())
        at = [(trained or []).index(x["target"]) if x["target"] in (trained or []) else 0 for x in several]
        known = [known[i] if i < len(known) else None for i in at]
        return e, [dict(x, known=k) for x, k in zip(several, known, strict=True)]


def _fitting(X: Any, y: np.ndarray) -> Any:
    """Return the graphs of `X`, as many as `y` has entries."""
    graphs = as_graphs(X)
    if len(graphs) != len(y):
        raise ValueError(
            f"X has {_engine.counted(len(graphs), 'graph')} and y has "
            f"{_engine.counted(len(y), 'entry', 'entries')}, want equal numbers"
        )
    return graphs


def _several(y: Any) -> bool:
    """Report whether targets are a table with more than one column."""
    return (getattr(y, "ndim", None) == 2 and y.shape[1] > 1) or (
        isinstance(y, (list, tuple)) and np.ndim(np.asarray(y, dtype=object)) == 2 and len(y[0]) > 1
    )


def _columns(y: Any) -> list[str]:
    """Return the names of the columns of a table of targets: those of a data frame, or 0, 1, ..."""
    named = [str(c) for c in y.columns] if hasattr(y, "columns") else None
    names = named or [str(i) for i in range(np.asarray(y).shape[1])]
    if len({n.casefold() for n in names}) < len(names) or "" in names:
        raise ValueError(f"y has the columns {', '.join(names)}, want a different name for each")
    return names


def _no_y(estimator: Any, what: str) -> str:
    name = type(estimator).__name__
    return f"{name} requires y to be passed, but the target y is None; want the {what} of every graph"


def _written(params: dict[str, Any], seed: int) -> str:
    """Return parameters as a text for a model file."""
    plain = {
        k: v.item() if isinstance(v, np.generic) else v
        for k, v in params.items()
        if k not in ("kernel", "n_jobs", "device")
    }
    if isinstance(plain["random_state"], np.random.RandomState):
        plain["random_state"] = seed
    return repr({k: tuple(v) if isinstance(v, np.ndarray) else v for k, v in plain.items()})


def _read(text: str) -> dict[str, Any]:
    """Return the parameters in a text of `_written`, none where it has others."""
    try:
        return dict(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {}


class MLGClassifier(ClassifierMixin, _Learner):
    """A classifier of graphs.

    The decision value of a graph G is ``sum over training graphs H of beta(H) k(G, H) + b``. There is one
    kernel ridge regression for each class, with calibrated probabilities, or one support vector machine for
    each pair of classes. The command trains the same model with ``mlg train --kernel``.

    Parameters
    ----------
    kernel : str or kernel, default "mlg"
        The kernel k: a text in the language of the command, such as ``"0.5 mlg + 0.5 wl h=3"`` (see
        `TextKernel`), or an object, such as ``MultiscaleLaplacian(radii=(1, 2, 4))``. Of an object `n_jobs`,
        `verbose` and `device` have no effect here.
    learner : {"ridge", "svm"} or None, default None
        Kernel ridge regression on each class, which is the mean of a Gaussian process, and always has
        probabilities; or a support vector machine. None is "svm" where `C` is given, else "ridge".
    ridge : float, positive, or None, default None
        For ``learner="ridge"``: the variance of the noise as a share of that of the signal. None takes
        the one with the least error when each graph is left out in turn.
    C : float, positive, or None, default None
        For ``learner="svm"``: the price of an error. None takes that of 0.1, 0.3, ..., 100 with the best
        accuracy in a cross-validation on 9 folds.
    class_weight : dict, "balanced" or None, default None
        Weights of the graphs of a class: factors of `C`, or divisors of `ridge`. They have no part in the
        choice of `C` and `ridge`.
    probability : bool, default False
        Whether `predict_proba` is available with ``learner="svm"``. Training then takes about six times
        as long.
    tol : float, positive, default 0.001
        Tolerance of the solver.
    max_iter : int, at least 1, default 10000000
        Largest number of steps of the solver for a pair of classes.
    random_state : int, RandomState or None, default None
        Seed of the folds of `probability`. None is 0. The seed of a kernel is a parameter of the kernel.
    n_jobs : int or None, default None
        Number of threads. None and -1 mean all processors.
    verbose : bool, default False
        Show progress on standard error, by tqdm if it is installed, and say what was done.
    device : {"cpu", "cuda", "auto"}, default "cpu"
        What computes large matrices: the processor, an NVIDIA GPU, or a GPU where there is one and enough
        work. The values are the same.

    Attributes
    ----------
    classes_ : ndarray
        Of several targets, a list with one for each.
    targets_ : list of str or None
        Names of the targets of a model of several.
    n_graphs_in_ : int
    support_ : ndarray
        Training graphs that enter decisions.
    n_iter_ : int
        The most steps of the solver for a pair of classes; 1 for ``learner="ridge"``.
    kernel_ : str
        The kernel and its parameters.
    compared_ : str
        What the kernel compares of graphs, in words.

    Examples
    --------
    >>> from mlgkernel import MLGClassifier, datasets
    >>> drugs = datasets.load("builtin:drugs")
    >>> model = MLGClassifier().fit(drugs.graphs[::2], drugs.target[::2])
    >>> model.predict(["CN1CCC23C4Oc5c(O)ccc(CC1C2C=CC4O)c35"])
    array(['opioid'], dtype='<U15')
    >>> model.score(drugs.graphs[1::2], drugs.target[1::2]) > 0.8
    True
    """

    def __init__(
        self,
        kernel: Any = DEFAULT_KERNEL,
        learner: str | None = None,
        ridge: float | None = None,
        C: float | None = None,
        class_weight: Any = None,
        probability: bool = False,
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
        self.class_weight = class_weight
        self.probability = probability
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on graphs `X` and their classes `y`.

        Parameters
        ----------
        X : collection of graphs
        y : array of classes, or a table with a column for each target
            In a table, None, NaN and empty texts are classes that are missing.
        sample_weight : array, optional
            Weights of the graphs, at least 0: factors of `C`, or divisors of `ridge`. Graphs of weight 0 are
            left out.
        """
        self._forget()  # also when y is wrong
        if y is None:
            raise ValueError(_no_y(self, "class"))
        if _several(y):
            return self._fit_several(X, y, sample_weight)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        X = _fitting(X, y)
        w = None
        if sample_weight is not None:
            w = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            keep = np.flatnonzero(w)
            X, y, w = [X[i] for i in keep], y[keep], w[keep]
        name = "y" if sample_weight is None else "y, where sample_weight is above 0,"
        args, classes = self._endpoint(y, w, name)
        options = {"Probability": bool(self.probability) or not self._svm()}
        self._train(X, options, known=classes.tolist(), **args)
        self.classes_ = classes
        return self

    def _fit_several(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Train on a table of classes."""
        found: list[np.ndarray] = []
        w = None
        if sample_weight is not None:
            w = _check_sample_weight(sample_weight, y, dtype=np.float64, ensure_non_negative=True)

        def endpoint(column: list[Any], at: np.ndarray) -> tuple[dict[str, Any], Any]:
            if all(isinstance(v, float) and v.is_integer() for v in column):  # a gap has made them so
                column = [int(v) for v in column]
            some = np.array(column)
            check_classification_targets(some)
            args, classes = self._endpoint(some, None if w is None else w[at], "the column")
            found.append(classes)
            return args, classes.tolist()

        options = {"Probability": bool(self.probability) or not self._svm()}
        self._train_several(X, y, options, endpoint, w)
        self.classes_ = found
        return self

    def _endpoint(self, y: np.ndarray, w: np.ndarray | None, where: str) -> tuple[dict[str, Any], np.ndarray]:
        """Return the arguments that train on classes with weights, and the classes."""
        classes, labels = np.unique(y, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(
                f"{where} has {_engine.counted(len(classes), 'class', 'classes')}, want at least 2"
            )
        names = [str(c) for c in classes.tolist()]
        if len(set(names)) < len(names):
            raise ValueError(
                "y has different classes with the same text, such as 1 and '1'; want different texts"
            )
        args: dict[str, Any] = {} if w is None else {"weights": w.tolist()}
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=classes, y=y)
            args["weights"] = (by_class[labels] * args.get("weights", 1.0)).tolist()
        texts = [names[i] for i in labels]
        return args | {"classes": names, "labels": labels.tolist(), "targets": texts}, classes

    def predict(self, X: Any) -> np.ndarray:
        """Return the class of each graph: an array, or a table with a column for each target."""
        check_is_fitted(self, "kernel_")
        if self.targets_ is not None:
            found = self._ask_several(X, "class")
            columns = [c[k] for c, k in zip(self.classes_, found, strict=True)]
            kinds = {c.dtype.kind for c in columns}
            return np.stack([c if len(kinds) == 1 else c.astype(object) for c in columns], axis=1)
        found = self._ask("predict", X)["class"]
        return self.classes_[found]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return decision values.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            For two classes, positive values speak for ``classes_[1]``. For more classes there is a column
            for each class: the mean value for it against each of the others. `predict` takes the most
            probable class. Without probabilities it takes the class that wins against all others, and if
            none does, the one with the largest mean.
        """
        check_is_fitted(self, "kernel_")
        self._wants_one("decision_function")
        values = self._ask("predict", X)["decision"]
        return values[:, 1] if len(self.classes_) == 2 else values

    def _has_probability(self) -> bool:
        """Report whether there are probabilities: those of a fitted model, or those that were asked for."""
        if not getattr(self, "_with_probability", self.probability or not self._svm()):
            raise AttributeError("no probabilities: train with probability=True, or without C")
        return True

    @available_if(_has_probability)
    def predict_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the probabilities of the classes. A support vector machine needs ``probability=True``.

        The most probable class is that of `predict`. Of a model of several targets there is a list with an
        array for each.
        """
        check_is_fitted(self, "kernel_")
        if self.targets_ is not None:
            return self._ask_several(X, "probability")
        return self._ask("predict", X)["probability"]

    @available_if(_has_probability)
    def predict_log_proba(self, X: Any) -> np.ndarray | list[np.ndarray]:
        """Return the logarithms of the probabilities."""
        found = self.predict_proba(X)
        return [np.log(p) for p in found] if isinstance(found, list) else np.log(found)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy. Of several targets it is the mean of theirs, each of known entries."""
        if getattr(self, "targets_", None) is None:
            return super().score(X, y, sample_weight)
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        accuracies = []
        for said, truth in zip(self.predict(X).T, np.asarray(y).T, strict=True):
            known = np.array([not missing(v) for v in truth])
            accuracies.append(np.average(said[known] == truth[known], weights=w[known]))
        return float(np.mean(accuracies))

    @classmethod
    def load(cls, path: str | os.PathLike[str], n_jobs: int | None = None, target: str | None = None) -> Self:
        """Read a model file.

        If the command trained the model and all its classes are whole numbers, they become integers. Of a
        model of several targets, `target` names the one to read. None reads all.
        """
        e, endpoints = cls._load(path, "classification", n_jobs, target)
        found = []
        for info in endpoints:
            known, names = info["known"], info["classes"]
            found.append(np.array(known) if known and [str(c) for c in known] == names else _classes(names))
        e.classes_ = found if e.targets_ is not None else found[0]
        return e


def _classes(names: list[str]) -> np.ndarray:
    try:
        numbers = [int(n) for n in names]
    except ValueError:
        return np.array(names)
    return np.array(numbers) if [str(n) for n in numbers] == names else np.array(names)


_LARGEST = 1e60  # squares of values, and their sums, stay finite


def _finite(y: np.ndarray, name: str) -> np.ndarray:
    """Return values that can be learned."""
    if not np.isfinite(y).all():
        at = int(np.argmin(np.isfinite(y)))
        raise ValueError(f"{name}[{at}] is {y[at]}, want a finite number")
    if (np.abs(y) > _LARGEST).any():
        at = int(np.argmax(np.abs(y) > _LARGEST))
        raise ValueError(f"{name}[{at}] is {y[at]}, want a number from {-_LARGEST:g} to {_LARGEST:g}")
    return y


class MLGRegressor(RegressorMixin, _Learner):
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
        Standard deviation of the noise, of each target of several; None with ``learner="svm"``.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Train on graphs `X` and their values `y`.

        Parameters
        ----------
        X : collection of graphs
        y : array of values, or a table with a column for each target
            In a table, None and NaN are values that are missing.
        """
        self._forget()  # also when y is wrong
        if y is None:
            raise ValueError(_no_y(self, "value"))
        options = {} if self.epsilon is None else {"Epsilon": number("epsilon", self.epsilon)}
        if _several(y):

            def endpoint(column: list[Any], _: np.ndarray) -> tuple[dict[str, Any], Any]:
                values = _finite(np.array(column, dtype=np.float64), "known entries").tolist()
                return {"values": values, "targets": [repr(v) for v in values]}, None

            self._train_several(X, y, options, endpoint)
            return self
        y = _finite(column_or_1d(y, warn=True).astype(np.float64), "y")
        X = _fitting(X, y)
        values = y.tolist()
        self._train(X, options, values=values, targets=[repr(v) for v in values])
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


class MLGEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, _WithKernel):
    """Explicit vectors of graphs, whose dot products approximate a kernel.

    Pivoted Cholesky factorisation chooses landmarks among the training graphs. The vector of a graph G is
    ``x(G) = inv(R)^T k(G)``, where k(G) has the kernel values of G with the landmarks, and ``R^T R`` is the
    kernel matrix of the landmarks (Nyström's method).

    Parameters
    ----------
    n_components : int, at least 1, default 100
        Largest number of landmarks. The vectors have as many entries as there are landmarks.
    kernel : str or kernel, default "mlg"
        As in `MLGClassifier`.
    tol : float, at least 0, default 1e-10
        No more landmarks are taken when every training graph is represented to this relative error.
    n_jobs, verbose, device
        As in `MLGClassifier`.

    Attributes
    ----------
    landmarks_ : ndarray
        Positions of the landmarks among the training graphs, in the order of the components.
    error_ : float
        Largest ``k(G, G) - |x(G)|**2`` of a training graph.

    Examples
    --------
    >>> from mlgkernel import MLGEmbedding, WeisfeilerLehman
    >>> vectors = MLGEmbedding(2, WeisfeilerLehman(normalize=True)).fit_transform(["CCO", "CCN", "CCC"])
    >>> vectors.shape
    (3, 2)
    """

    def __init__(
        self,
        n_components: int = 100,
        kernel: Any = DEFAULT_KERNEL,
        tol: float = 1e-10,
        n_jobs: int | None = None,
        verbose: bool = False,
        device: str = "cpu",
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.device = device

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose landmarks among graphs."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Choose landmarks among graphs and return the vectors of all of them."""
        self._forget()
        with self._working("fitted {0.kernel_} to {graphs}") as bar:
            if whole("n_components", self.n_components) < 1:
                raise ValueError(f"n_components={self.n_components}, want at least 1")
            if not 0 <= number("tol", self.tol) < 1:
                raise ValueError(f"tol={self.tol}, want 0 or more and less than 1")
            args = {
                **self._described(),
                "workers": jobs(self.n_jobs),
                "device": string("device", self.device),
                "components": int(self.n_components),
                "tolerance": float(self.tol),
            }
            graphs = as_graphs(X)
            held = _engine.Held("embed-fit", args, pack(graphs))
            result, arrays = _engine.hold(held, bar)
            self._held = held
            self.kernel_ = result["kernel"]
            self.compared_ = result["compared"]
            self.error_ = result["error"]
            _engine.warn_of_walks(result)
            self.landmarks_ = arrays["landmarks"]
            self._n_features_out = len(self.landmarks_)
            self.n_graphs_in_ = len(graphs)
        return arrays["vectors"]

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors of graphs, a row each."""
        check_is_fitted(self, "kernel_")
        with self._working() as bar:
            return _engine.call("embed", {}, pack(as_graphs(X, self)), held=self._held, progress=bar)[1][
                "vectors"
            ]
