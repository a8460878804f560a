"""Explicit vectors of graphs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._kernel import jobs, number, string, whole
from ._language import DEFAULT_KERNEL
from ._learner import WithKernel

if TYPE_CHECKING:
    from typing_extensions import Self


class MLGEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, WithKernel):
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
