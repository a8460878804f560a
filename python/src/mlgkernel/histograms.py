"""Kernels that count labels."""

from __future__ import annotations

from typing import Any

from ._kernel import Kernel


class VertexHistogram(Kernel):
    """The kernel of vertex label histograms, ``k = sum over labels of count * count'``.

    Parameters
    ----------
    n_jobs : int or None
        Number of threads. None, 0 and -1 mean all processors; results do not depend on it.
    verbose : bool
        Print what was done on standard error.
    normalize : bool
        Divide by ``sqrt(k(G, G) * k(G', G'))``.
    sparse : bool or "auto"
        Has no effect: storage is always sparse.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        sparse: bool | str = "auto",
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.sparse = sparse

    def _record(self) -> dict[str, Any]:
        return {"kernel": "labels", "labels": "labels", "normalize": bool(self.normalize)}


class EdgeHistogram(Kernel):
    """The kernel of edge label histograms, ``k = sum over labels of count * count'``.

    An edge counts in both directions, as in GraKeL when an undirected graph is given there:
    raw values are four times those of undirected counts.

    Parameters
    ----------
    n_jobs, normalize, verbose, sparse
        As in `VertexHistogram`.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        sparse: bool | str = "auto",
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.sparse = sparse

    def _record(self) -> dict[str, Any]:
        return {"kernel": "edge-labels", "scale": 4, "normalize": bool(self.normalize)}
