"""Kernels that count labels."""

from __future__ import annotations

from ._kernel import Compiled
from ._language import Text, kernel_text


class VertexHistogram(Compiled):
    """The kernel of vertex label histograms, ``k = sum over labels of count * count'``.

    Parameters
    ----------
    n_jobs : int or None, default None
        Number of threads. None, 0 and -1 mean all processors. Results do not depend on it.
    verbose : bool, default False
        Show progress on standard error, by tqdm if it is installed, and say what was done.
    normalize : bool, default False
        Divide by ``sqrt(k(G, G) * k(G', G'))``.
    sparse : bool or "auto", default "auto"
        Has no effect: storage is always sparse.

    Attributes
    ----------
    kernel_ : str
        The kernel and its parameters.
    compared_ : str
        What the kernel compares of graphs, in words.
    n_graphs_in_ : int
        Number of training graphs.

    Examples
    --------
    >>> from mlgkernel import VertexHistogram
    >>> VertexHistogram().fit_transform(["CCO", "CCN", "CCCO"])
    array([[ 5.,  4.,  7.],
           [ 4.,  5.,  6.],
           [ 7.,  6., 10.]])
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

    def _text(self) -> Text:
        return kernel_text("labels", labels="labels", normalize=bool(self.normalize))


class EdgeHistogram(Compiled):
    """The kernel of edge label histograms, ``k = sum over labels of count * count'``.

    An edge counts in both directions, as in GraKeL. So raw values are four times those of counts in which
    an edge counts once.

    Parameters
    ----------
    n_jobs, normalize, verbose, sparse
        As in `VertexHistogram`.

    Examples
    --------
    >>> from mlgkernel import EdgeHistogram
    >>> EdgeHistogram(normalize=True).fit_transform(["CC=O", "CCO"]).round(3)
    array([[1.   , 0.707],
           [0.707, 1.   ]])
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

    def _text(self) -> Text:
        return kernel_text("edge-labels", scale=4, normalize=bool(self.normalize))
