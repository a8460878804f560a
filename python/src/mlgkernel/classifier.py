"""A classifier of graphs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from . import _engine
from ._language import DEFAULT_KERNEL
from ._learner import Learner, fitting, is_table, no_y

if TYPE_CHECKING:
    from typing_extensions import Self


class MLGClassifier(ClassifierMixin, Learner):
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
            raise ValueError(no_y(self, "class"))
        if is_table(y):
            return self._fit_several(X, y, sample_weight)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        X, y, w = fitting(X, y, sample_weight)
        name = "y" if sample_weight is None else "y, where sample_weight is above 0,"
        args, classes = self._endpoint(y, w, name)
        options = {"Probability": bool(self.probability) or not self._svm()}
        self._train(X, options, known=classes.tolist(), **args)
        self.classes_ = classes
        return self

    def _fit_several(self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Train on a table of classes."""
        found: list[np.ndarray] = []

        def endpoint(column: list[Any], w: np.ndarray | None) -> tuple[dict[str, Any], Any]:
            if all(isinstance(v, float) and v.is_integer() for v in column):  # a gap has made them so
                column = [int(v) for v in column]
            some = np.array(column)
            check_classification_targets(some)
            args, classes = self._endpoint(some, w, "the column")
            found.append(classes)
            return args, classes.tolist()

        options = {"Probability": bool(self.probability) or not self._svm()}
        self._train_several(X, y, sample_weight, options, endpoint)
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
            for c, weight in zip(classes.tolist(), by_class):
                if not 0 < weight < np.inf:
                    raise ValueError(f"class_weight: {weight} for the class {c!r}, want a positive number")
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
        return self._score_several(X, y, sample_weight, accuracy_score)

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
