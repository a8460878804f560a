"""What classifier and regressor share: training, model files, and the kernel that is a parameter."""

from __future__ import annotations

import ast
import os
import tempfile
import warnings
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._batch import pack
from ._inputs import as_graphs, missing
from ._kernel import Compiled, Kernel, OnGraphs, about_text, given_text, jobs, number, seed, string, whole
from .graph_kernels import GraphKernel


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


class WithKernel(OnGraphs):
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
        if isinstance(kernel, Kernel) and not isinstance(kernel, Compiled):
            raise ValueError(
                f"kernel={kernel!r} compares graphs in Python, which the program cannot do; take its matrix, "
                "as in make_pipeline(kernel, SVC(kernel='precomputed'))"
            )
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


class Learner(WithKernel):
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
        self, X: Any, y: Any, sample_weight: Any, options: dict[str, Any], endpoint: Any
    ) -> None:
        """Train a model of the columns of a table. Entries that are missing are left out of their column.
        `endpoint(entries, weights)` makes the arguments of the known entries of a column, and says what its
        classes are as they were given, None for values."""
        names = columns_of(y)
        X, table, w = fitting(X, np.asarray(y), sample_weight)
        endpoints, known = [], []
        for name, column in zip(names, table.T, strict=True):
            at = np.flatnonzero([not missing(v) for v in column])
            if len(at) < 2:
                raise ValueError(f"y, column {name}: {len(at)} entries are known, want at least 2")
            try:
                args, classes = endpoint(column[at].tolist(), None if w is None else w[at])
            except ValueError as e:
                raise ValueError(f"y, column {name}: {e}") from None
            endpoints.append({"name": name, "at": at.tolist(), **args})
            known.append(classes)
        self._train(X, options, known=known, endpoints=endpoints)

    def _score_several(self, X: Any, y: Any, sample_weight: Any, score: Any) -> float:
        """Return the mean over targets of `score(truth, said, sample_weight)`, each of known entries."""
        e: Any = self
        w = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, np.float64)
        scores = []
        for said, truth in zip(e.predict(X).T, np.asarray(y).T, strict=True):
            known = np.array([not missing(v) for v in truth])
            if known.any():
                scores.append(score(truth[known].tolist(), said[known].tolist(), sample_weight=w[known]))
        if not scores:
            raise ValueError("y has no known entries to score")
        return float(np.mean(scores))

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
        target = os.path.abspath(os.fspath(path))
        if os.path.isdir(target) or not os.path.isdir(os.path.dirname(target)):
            raise FileNotFoundError(f"path={os.fspath(path)!r}, want a file in a folder that is there")
        data = _engine.call("save", {}, held=self._held)[1]["bytes"]
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


def fitting(X: Any, y: np.ndarray, sample_weight: Any) -> tuple[Any, np.ndarray, np.ndarray | None]:
    """Return graphs with their targets and weights, without those of weight 0."""
    graphs = as_graphs(X)
    if len(graphs) != len(y):
        raise ValueError(
            f"X has {_engine.counted(len(graphs), 'graph')} and y has "
            f"{_engine.counted(len(y), 'entry', 'entries')}, want equal numbers"
        )
    if sample_weight is None:
        return graphs, y, None
    w = np.asarray(sample_weight, np.float64)
    w = np.full(len(y), w) if w.ndim == 0 else w
    if w.shape != (len(y),):
        raise ValueError(f"sample_weight has the shape {w.shape} for {len(y)} graphs, want ({len(y)},)")
    wrong = np.flatnonzero(~((w >= 0) & (w < np.inf)))
    if len(wrong):
        raise ValueError(f"sample_weight[{wrong[0]}] is {w[wrong[0]]}, want a finite number of at least 0")
    if not w.any():
        raise ValueError("sample_weight is zero for all graphs, want a weight above 0")
    keep = np.flatnonzero(w)
    return [graphs[i] for i in keep], y[keep], w[keep]


def is_table(y: Any) -> bool:
    """Report whether targets are a table with more than one column."""
    return (getattr(y, "ndim", None) == 2 and y.shape[1] > 1) or (
        isinstance(y, (list, tuple)) and np.ndim(np.asarray(y, dtype=object)) == 2 and len(y[0]) > 1
    )


def columns_of(y: Any) -> list[str]:
    """Return the names of the columns of a table of targets: those of a data frame, or 0, 1, ..."""
    named = [str(c) for c in y.columns] if hasattr(y, "columns") else None
    names = named or [str(i) for i in range(np.asarray(y).shape[1])]
    if len({n.casefold() for n in names}) < len(names) or "" in names:
        raise ValueError(f"y has the columns {', '.join(names)}, want a different name for each")
    return names


def no_y(estimator: Any, what: str) -> str:
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
