"""Graph kernels as scikit-learn transformers, with the names and parameters of GraKeL.

Every kernel turns graphs into a kernel matrix: ``fit_transform`` gives the matrix of the training
graphs, ``transform`` that between new graphs (rows) and the training graphs (columns). What counts
as graphs is described in `mlgkernel.as_graphs`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from . import _engine
from ._kernel import Compiled, Kernel, TextKernel, iterations, seed
from ._language import Text, kernel_text
from ._left_out import LovaszTheta, SvmTheta  # noqa: F401
from .attributed import GraphHopper, Propagation, PropagationAttr, ShortestPathAttr
from .frameworks import CoreFramework, Framework, HadamardCode, WeisfeilerLehman
from .histograms import EdgeHistogram, VertexHistogram
from .matching import NeighborhoodHash, PyramidMatch
from .multiscale import MultiscaleLaplacian
from .subgraphs import NeighborhoodSubgraphPairwiseDistance, OddSth, SubgraphMatching

__all__ = [
    "CoreFramework",
    "EdgeHistogram",
    "Framework",
    "GraphHopper",
    "GraphletSampling",
    "HadamardCode",
    "Kernel",
    "MultiscaleLaplacian",
    "NeighborhoodHash",
    "NeighborhoodSubgraphPairwiseDistance",
    "OddSth",
    "Propagation",
    "PropagationAttr",
    "PyramidMatch",
    "RandomWalk",
    "RandomWalkLabeled",
    "ShortestPath",
    "ShortestPathAttr",
    "SubgraphMatching",
    "TextKernel",
    "VertexHistogram",
    "WeisfeilerLehman",
    "WeisfeilerLehmanOptimalAssignment",
]


class WeisfeilerLehmanOptimalAssignment(Compiled):
    """The Weisfeiler-Lehman optimal assignment kernel,
    ``k = sum over colours of min(count, count')`` for the colourings 0 to `n_iter` of `WeisfeilerLehman`.

    Parameters
    ----------
    n_jobs, verbose, normalize, sparse
        As in `VertexHistogram`.
    n_iter : int from 1 to 65536, default 5
        Number of refinements.

    Examples
    --------
    >>> from mlgkernel import WeisfeilerLehmanOptimalAssignment
    >>> WeisfeilerLehmanOptimalAssignment(n_iter=2).fit_transform(["CCO", "CCN"])
    array([[9., 3.],
           [3., 9.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        n_iter: int = 5,
        sparse: bool = False,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.n_iter = n_iter
        self.sparse = sparse

    def _text(self) -> Text:
        return kernel_text(
            "wl-oa", h=iterations(self.n_iter), labels="labels", normalize=bool(self.normalize)
        )


class ShortestPath(Compiled):
    """The shortest path kernel, ``k = sum over (a, b, d) of count * count'``.

    A count is a number of ordered pairs of vertices with the labels a and b at the distance d. A distance is
    a sum of edge weights. Weights are rounded to multiples of 1e-6.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    with_labels : bool, default True
        Whether vertex labels count.
    algorithm_type : {"auto", "dijkstra", "floyd_warshall"}, default "auto"
        Has no effect.

    Examples
    --------
    >>> from mlgkernel import ShortestPath
    >>> ShortestPath().fit_transform(["CCO", "CCCO"])
    array([[ 8., 12.],
           [12., 26.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        with_labels: bool = True,
        algorithm_type: str = "auto",
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.with_labels = with_labels
        self.algorithm_type = algorithm_type

    def _text(self) -> Text:
        if self.algorithm_type not in ("auto", "dijkstra", "floyd_warshall"):
            raise ValueError(f"algorithm_type={self.algorithm_type!r}, want auto, dijkstra or floyd_warshall")
        return kernel_text(
            "sp",
            ordered=True,
            weighted=True,
            labels="labels" if self.with_labels else "unlabeled",
            normalize=bool(self.normalize),
        )


class GraphletSampling(Compiled):
    """The graphlet kernel, ``k = sum over graphlets of count * count'``.

    Graphlets are graphs with few vertices. A count is a number of induced subgraphs that are isomorphic to a
    graphlet.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    random_state : int, RandomState or None, default None
        Seed of the sample. None is 0. Every graph is sampled with the same seed.
    k : {3, 4, 5}, default 5
        Number of vertices.
    sampling : dict or None, default None
        None counts all connected subgraphs with `k` vertices, exactly. A dictionary asks for a sample of
        subgraphs, connected or not, in equal parts of each size from 3 to `k`. ``{"n_samples": 100}`` gives
        its size. ``{"delta": 0.05, "epsilon": 0.05, "a": -1}`` stands for the size
        ``2 (a log 2 + log(1/delta)) / epsilon**2``: shares are then precise to `epsilon` with probability
        1 - `delta`. Here `a` is the number of types of graphlets, -1 for all of size `k`. A seed may stand
        in the dictionary as ``"random_state"``.

    Notes
    -----
    Counts are exact and do not depend on the order of vertices. Those of GraKeL 0.1.11 do: it counts too few
    or too many.

    Examples
    --------
    >>> from mlgkernel import GraphletSampling
    >>> GraphletSampling(k=3).fit_transform(["C1CC1", "CCCC", "C1CC1C"])
    array([[1., 0., 1.],
           [0., 4., 4.],
           [1., 4., 5.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        random_state: Any = None,
        k: int = 5,
        sampling: dict[str, Any] | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.random_state = random_state
        self.k = k
        self.sampling = sampling

    def _text(self) -> Text:
        if self.k not in (3, 4, 5):
            raise ValueError(f"k={self.k!r}, want 3, 4 or 5")
        k, normalize = int(self.k), bool(self.normalize)
        if self.sampling is None:
            return kernel_text("graphlet", k=k, connected=True, counts=True, normalize=normalize)
        if not isinstance(self.sampling, dict):
            raise TypeError(f"sampling={self.sampling!r}, want None or a dictionary")
        given = dict(self.sampling)
        drawn = seed(given.pop("random_state", self.random_state))
        samples = self._samples(given)
        return kernel_text("graphlet-mix", k=k, samples=samples, seed=drawn, normalize=normalize)

    def _samples(self, given: dict[str, Any]) -> int:
        if not given or not (set(given) == {"n_samples"} or set(given) <= {"delta", "epsilon", "a"}):
            raise ValueError(f"sampling={self.sampling!r}, want n_samples, or delta, epsilon and a")
        if "n_samples" in given:
            n = given["n_samples"]
            if not isinstance(n, (int, np.integer)) or n < 1:
                raise ValueError(f"sampling: n_samples={n!r}, want a positive whole number")
            return int(n)
        delta, epsilon = given.get("delta", 0.05), given.get("epsilon", 0.05)
        if not 0 < delta < 1 or not epsilon > 0:
            raise ValueError(
                f"sampling: delta={delta!r}, epsilon={epsilon!r}, want 0 < delta < 1 and epsilon > 0"
            )
        a = given.get("a", -1)
        if a == -1:
            a = {3: 4, 4: 11, 5: 34}[self.k]
        return int(np.ceil(2 * (a * np.log(2) + np.log(1 / delta)) / epsilon**2))


class RandomWalk(Compiled):
    """The random walk kernel without labels,
    ``k = sum over i of mu_i * 1'A^i 1 * 1'A'^i 1`` for the weighted adjacency matrices A, A'.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    lamda : float, positive, default 0.1
        Weight of a step. The geometric series over walks of any length needs ``lamda < 1 / (r * r)`` for the
        largest eigenvalue r of any training graph. If `lamda` is too large, ``0.9 / (r * r)`` is used, with a
        warning. `lamda_` has the value. If that is too large for a new graph, its steps get the weight
        ``0.9 / (r * r)`` for its own r, with a warning. Two graphs with the weights l and l' then have
        ``sqrt(l * l')`` in place of `lamda`.
    method_type : {"fast", "baseline"}, default "fast"
        Has no effect.
    kernel_type : {"geometric", "exponential"}, default "geometric"
        ``mu_i = lamda**i`` or ``lamda**i / i!``.
    p : int from 1 to 1000 or None, default None
        Number of steps of the longest walks. None means walks of any length.

    Attributes
    ----------
    lamda_ : float
        The weight of a step that is used.

    Examples
    --------
    >>> from mlgkernel import RandomWalk
    >>> RandomWalk(p=2).fit_transform(["CC", "CCC"]).round(2)
    array([[ 4.44,  6.92],
           [ 6.92, 10.96]])
    """

    _names: ClassVar[dict[str, str]] = {"lambda": "lamda", "series": "kernel_type"}
    _walks: ClassVar[tuple[str, dict[str, Any]]] = ("rw-plain", {"damped": True})

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        lamda: float = 0.1,
        method_type: str = "fast",
        kernel_type: str = "geometric",
        p: int | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.lamda = lamda
        self.method_type = method_type
        self.kernel_type = kernel_type
        self.p = p

    def _text(self) -> Text:
        if self.method_type not in ("fast", "baseline"):
            raise ValueError(f"method_type={self.method_type!r}, want fast or baseline")
        if self.kernel_type not in ("geometric", "exponential"):
            raise ValueError(f"kernel_type={self.kernel_type!r}, want geometric or exponential")
        if not (isinstance(self.lamda, (int, float, np.number)) and 0 < self.lamda < np.inf):
            raise ValueError(f"lamda={self.lamda!r}, want a positive, finite number")
        if self.p is not None and not (isinstance(self.p, (int, np.integer)) and self.p > 0):
            raise ValueError(f"p={self.p!r}, want None or a positive whole number")
        return kernel_text(
            self._walks[0],
            **self._walks[1],
            lambda_=float(self.lamda),
            series=self.kernel_type,
            p=int(self.p or 0),
            normalize=bool(self.normalize),
        )

    def _adjust(self, result: dict[str, Any]) -> None:
        self.lamda_ = result.get("lambda", self.lamda)
        _engine.warn_of_walks(result, f"lamda={self.lamda}")


class RandomWalkLabeled(RandomWalk):
    """The random walk kernel with labels, ``k = sum over i of mu_i * 1'A^i 1``, where A is the adjacency
    matrix of the direct product of two graphs.

    The vertices of the product are all pairs of vertices. Two pairs are adjacent if their vertices are
    adjacent in both graphs, and if each pair has two equal labels. Weights of edges do not count.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    lamda : float, positive, default 0.1
        Weight of a step. The geometric series over walks of any length needs ``lamda < 1 / r`` for the
        largest eigenvalue r of the product of any training graph with itself. If `lamda` may be too large,
        ``0.9 / r`` is used, with a warning. `lamda_` has the value. New graphs for which that may be too
        large are treated as in `RandomWalk`.
    method_type : {"fast", "baseline"}, default "fast"
        Has no effect.
    kernel_type : {"geometric", "exponential"}, default "geometric"
        ``mu_i = lamda**i`` or ``lamda**i / i!``.
    p : int from 1 to 1000 or None, default None
        Number of steps of the longest walks. None means walks of any length.

    Notes
    -----
    Values are exact to rounding, as GraKeL's are with ``method_type="baseline"``. With ``"fast"`` GraKeL
    0.1.11 ends its series early. If the series does not converge for new graphs, GraKeL returns negative
    numbers, or NaN if they are normalised.

    Examples
    --------
    >>> from mlgkernel import RandomWalkLabeled
    >>> RandomWalkLabeled(p=1, lamda=0.5).fit_transform(["CC", "CCO"])
    array([[ 6.,  8.],
           [ 8., 12.]])
    """

    _walks = ("rw", {"labels": "labels", "all_pairs": True, "damped": True})
