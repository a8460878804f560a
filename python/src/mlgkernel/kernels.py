"""Graph kernels as scikit-learn transformers, with the names and parameters of GraKeL.

Every kernel turns graphs into a kernel matrix: ``fit_transform`` gives the matrix of the training
graphs, ``transform`` that between new graphs (rows) and the training graphs (columns). What counts
as graphs is described in `mlgkernel.as_graphs`.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._inputs import as_graphs, notice, pack_graphs

__all__ = [
    "EdgeHistogram",
    "GraphletSampling",
    "Kernel",
    "MultiscaleLaplacian",
    "RandomWalk",
    "ShortestPath",
    "VertexHistogram",
    "WeisfeilerLehman",
    "WeisfeilerLehmanOptimalAssignment",
]


def jobs(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` means to the worker, 0 for all processors."""
    if n_jobs is None or n_jobs == -1 or n_jobs == 0:
        return 0
    if not isinstance(n_jobs, (int, np.integer)):
        raise TypeError(f"n_jobs={n_jobs!r}, want None or a whole number")
    if n_jobs < 0:
        import os

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
    return int(check_random_state(random_state).randint(0, 2**31 - 1))


class Kernel(TransformerMixin, BaseEstimator):
    """What all kernels have in common. `_spec` of a subclass says what is computed."""

    _diagonal_one = False  # k(G, G) = 1 for all graphs
    n_jobs: int | None
    normalize: bool
    verbose: bool

    def _spec(self) -> dict[str, Any]:
        raise NotImplementedError

    def _checked_spec(self) -> dict[str, Any]:
        return dict(self._spec(), workers=jobs(self.n_jobs))

    def fit(self, X: Any, y: Any = None) -> Kernel:
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

    def _fit(self, X: Any, gram: bool) -> np.ndarray | None:
        start = time.perf_counter()
        spec = self._checked_spec()
        graphs = as_graphs(X)
        batch, body = pack_graphs(graphs)
        snapshot = "save" if spec["kernel"] in ("mlg", "flg") and not spec.get("exact") else ""
        args = {"spec": spec, "batch": batch}
        held = _engine.Held("fit", args, [body], snapshot)
        result, arrays = _engine.hold(held, gram=gram)
        notice(result)
        self._fitted_spec = spec
        self._adjust(result)
        self._held = held
        self._new: tuple[dict[str, int], bytes] | None = None
        self.n_graphs_in_ = len(graphs)
        self.kernel_ = result["kernel"]
        self._say(f"fitted {self.kernel_} to {len(graphs)} graphs", start)
        return arrays.get("gram")

    def _adjust(self, result: dict[str, Any]) -> None:
        """Take over what fitting has decided."""

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
        start = time.perf_counter()
        graphs = as_graphs(X)
        batch, body = pack_graphs(graphs)
        _, arrays = _engine.call("cross", {"batch": batch}, [body], held=self._held)
        self._new = (batch, body)
        self._say(f"compared {len(graphs)} with {self.n_graphs_in_} graphs", start)
        return arrays["cross"]

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
        if self._diagonal_one:
            x = np.ones(self.n_graphs_in_)
        else:
            x = self._self(self._held.args["batch"], self._held.body[0])
        if self._new is None:
            return x
        batch, body = self._new
        return x, np.ones(batch["graphs"]) if self._diagonal_one else self._self(batch, body)

    def _self(self, batch: dict[str, int], body: Any) -> np.ndarray:
        spec = dict(self._fitted_spec, normalize=False)
        return _engine.call("diagonal", {"spec": spec, "batch": batch}, [body])[1]["diagonal"]

    def _say(self, text: str, start: float) -> None:
        if self.verbose:
            took = time.perf_counter() - start
            print(f"[{type(self).__name__}] {text} in {took:.3g} s", file=sys.stderr)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "kernel_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.no_validation = True
        return tags

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns of the matrix: one for each training graph."""
        check_is_fitted(self, "kernel_")
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{i}" for i in range(self.n_graphs_in_)], dtype=object)


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

    def _spec(self) -> dict[str, Any]:
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

    def _spec(self) -> dict[str, Any]:
        return {"kernel": "edge-labels", "scale": 4, "normalize": bool(self.normalize)}


class WeisfeilerLehman(Kernel):
    """The Weisfeiler-Lehman kernel: a kernel summed over the colourings 0 to `n_iter`.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`.
    n_iter : int
        Number of refinements, at least 1.
    base_graph_kernel : class, or pair of a class and its parameters
        The kernel of a colouring: `VertexHistogram`, `ShortestPath` or `EdgeHistogram`.
        As in GraKeL, with `EdgeHistogram` the colours play no part.
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        n_iter: int = 5,
        base_graph_kernel: Any = VertexHistogram,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.n_iter = n_iter
        self.base_graph_kernel = base_graph_kernel

    def _spec(self) -> dict[str, Any]:
        base, params = self.base_graph_kernel, {}
        if isinstance(base, (tuple, list)):
            base, params = base
        if base is None:
            base = VertexHistogram
        spec = {
            "kernel": "wl",
            "h": iterations(self.n_iter),
            "labels": "labels",
            "normalize": bool(self.normalize),
        }
        if base is VertexHistogram:
            return spec
        if not (isinstance(base, type) and issubclass(base, (ShortestPath, EdgeHistogram))):
            raise TypeError(
                f"base_graph_kernel={base!r}, want VertexHistogram, ShortestPath or EdgeHistogram"
            )
        known = set(base().get_params()) - {"normalize", "n_jobs", "verbose"}
        own = base(**{k: v for k, v in dict(params).items() if k in known})
        return dict(spec, kernel="wl-sum", over=dict(own._spec(), normalize=False))


def iterations(n: Any) -> int:
    if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n < 1:
        raise ValueError(f"n_iter={n!r}, want a positive whole number")
    return int(n)


class WeisfeilerLehmanOptimalAssignment(Kernel):
    """The Weisfeiler-Lehman optimal assignment kernel,
    ``k = sum over colours of min(count, count')`` for the colourings 0 to `n_iter`.

    Parameters
    ----------
    n_jobs, verbose, normalize, sparse
        As in `VertexHistogram`.
    n_iter : int
        Number of refinements, at least 1.
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

    def _spec(self) -> dict[str, Any]:
        return {
            "kernel": "wl-oa",
            "h": iterations(self.n_iter),
            "labels": "labels",
            "normalize": bool(self.normalize),
        }


class ShortestPath(Kernel):
    """The shortest path kernel: pairs of vertices by their labels, in order, and distance.

    Distances are sums of edge weights, or hops where all weights are 1; weights are rounded to
    multiples of 1e-6.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    with_labels : bool
        Whether vertex labels count.
    algorithm_type : {"auto", "dijkstra", "floyd_warshall"}
        Has no effect on the result, nor on the way to it.
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

    def _spec(self) -> dict[str, Any]:
        if self.algorithm_type not in ("auto", "dijkstra", "floyd_warshall"):
            raise ValueError(f"algorithm_type={self.algorithm_type!r}, want auto, dijkstra or floyd_warshall")
        return {
            "kernel": "sp",
            "ordered": True,
            "weighted": True,
            "labels": "labels" if self.with_labels else "unlabeled",
            "normalize": bool(self.normalize),
        }


class GraphletSampling(Kernel):
    """The graphlet kernel: numbers of small induced subgraphs by isomorphism type.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    random_state : int, RandomState or None
        Seed of the sample. None is 0. Every graph is sampled with the same seed.
    k : {3, 4, 5}
        Number of vertices.
    sampling : dict or None
        None counts all connected subgraphs with `k` vertices, exactly. With a dictionary, that many
        subgraphs, connected or not, are drawn, in equal parts of each size from 3 to `k`:
        ``{"n_samples": 100}``, or ``{"delta": 0.05, "epsilon": 0.05, "a": -1}`` for the number
        ``2 (a log 2 + log(1/delta)) / epsilon**2`` that makes shares precise to `epsilon` with
        probability 1 - `delta`, `a` being the number of types, -1 for all of size `k`.

    Notes
    -----
    Counts are exact and do not depend on the order of vertices. GraKeL 0.1.11 counts less or
    more than there are, depending on that order.
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

    def _spec(self) -> dict[str, Any]:
        if self.k not in (3, 4, 5):
            raise ValueError(f"k={self.k!r}, want 3, 4 or 5")
        spec = {"k": int(self.k), "normalize": bool(self.normalize)}
        if self.sampling is None:
            return dict(spec, kernel="graphlet", connected=True, counts=True)
        return dict(spec, kernel="graphlet-mix", draws=self._samples(), seed=seed(self.random_state))

    def _samples(self) -> int:
        if not isinstance(self.sampling, dict):
            raise TypeError(f"sampling={self.sampling!r}, want None or a dictionary")
        given = dict(self.sampling)
        given.pop("random_state", None)
        unknown = set(given) - {"n_samples", "delta", "epsilon", "a"}
        if unknown or not given:
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


class RandomWalk(Kernel):
    """The random walk kernel without labels,
    ``k = sum over i of mu_i * 1'A^i 1 * 1'A'^i 1`` for the weighted adjacency matrices A, A'.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    lamda : float
        The geometric series over walks of any length needs ``lamda < 1 / (r * r)`` for the largest
        eigenvalue r of any training graph. Where it is larger, ``0.9 / (r * r)`` is used, with a
        warning; `lamda_` has the value.
    method_type : {"fast", "baseline"}
        Has no effect.
    kernel_type : {"geometric", "exponential"}
        ``mu_i = lamda**i`` or ``lamda**i / i!``.
    p : int or None
        Number of steps of the longest walks; None for walks of any length.
    """

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

    def _spec(self) -> dict[str, Any]:
        if self.method_type not in ("fast", "baseline"):
            raise ValueError(f"method_type={self.method_type!r}, want fast or baseline")
        if self.kernel_type not in ("geometric", "exponential"):
            raise ValueError(f"kernel_type={self.kernel_type!r}, want geometric or exponential")
        if not (isinstance(self.lamda, (int, float, np.number)) and 0 < self.lamda < np.inf):
            raise ValueError(f"lamda={self.lamda!r}, want a positive, finite number")
        if self.p is not None and not (isinstance(self.p, (int, np.integer)) and self.p > 0):
            raise ValueError(f"p={self.p!r}, want None or a positive whole number")
        return {
            "kernel": "rw-plain",
            "lambda": float(self.lamda),
            "series": self.kernel_type,
            "p": int(self.p or 0),
            "normalize": bool(self.normalize),
        }

    def _adjust(self, result: dict[str, Any]) -> None:
        self.lamda_ = result["lambda"]
        if self.lamda_ != self.lamda:
            import warnings

            warnings.warn(
                f"lamda={self.lamda} is too large for the geometric series to converge on these "
                f"graphs; {self.lamda_:.6g} is used",
                UserWarning,
                stacklevel=4,
            )
        self._fitted_spec["lambda"] = self.lamda_


class MultiscaleLaplacian(Kernel):
    """The multiscale Laplacian graph kernel of Kondor and Pan.

    Parameters
    ----------
    n_jobs, verbose
        As in `VertexHistogram`.
    normalize : bool
        Has no effect: k(G, G) = 1.
    random_state : int, RandomState or None
        Seed of the sample of vertices. None is 0.
    L : int
        Number of levels; the neighbourhoods have the radii 1, 2, 4, … as in GraKeL.
    P : int
        Number of eigenvectors that are kept at every level.
    gamma, heta : float
        Regularisation of the covariances and of the Laplacians; heta is the paper's eta.
    n_samples : int
        Number of vertices that are sampled at every level.
    radii : sequence of int, optional
        The radii of the levels, instead of `L`.
    base : str, optional
        Kernel on vertices: labels, attributes, gaussian, degree, heat, wl, or a product or sum
        such as ``"labels*gaussian"``. By default the labels where the graphs have any, else the
        dot product of the attributes, else the degree.
    bandwidth, beta, base_h
        Parameters of the base kernels gaussian, heat and wl.
    exact : bool
        Compute the kernel by its definition, without sampling.
    pair_rank, max_memory
        With `exact`: eigenvectors kept of every pair (0 for all); bound of the tables in GB.
    landmarks : {"uniform", "classes", "pivoted"}
        How the vertices are sampled.
    combine : {"top", "sum", "product", "gmean"}
        How the levels make one kernel.
    power : int
        Exponent of the kernel.
    discount : bool
        Divide features by 1 + distance to the centre.

    Notes
    -----
    GraKeL leaves out the factor 1/2 of the definition in ``1/2 inv(S1) + 1/2 inv(S2)``. Its values
    are therefore 2**(-P/2) times smaller at every level, which makes `gamma` act 2**(P/2) times
    stronger above the first; normalising does not take that back. Here the definition is followed.
    """

    _diagonal_one = True

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        random_state: Any = None,
        L: int = 3,
        P: int = 10,
        gamma: float = 0.01,
        heta: float = 0.01,
        n_samples: int = 50,
        *,
        radii: Any = None,
        base: str | None = None,
        bandwidth: float = 1.0,
        beta: Any = (0.5, 1.0, 2.0),
        base_h: int = 3,
        exact: bool = False,
        pair_rank: int = 0,
        max_memory: float = 16.0,
        landmarks: str = "uniform",
        combine: str = "top",
        power: int = 1,
        discount: bool = False,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.random_state = random_state
        self.L = L
        self.P = P
        self.gamma = gamma
        self.heta = heta
        self.n_samples = n_samples
        self.radii = radii
        self.base = base
        self.bandwidth = bandwidth
        self.beta = beta
        self.base_h = base_h
        self.exact = exact
        self.pair_rank = pair_rank
        self.max_memory = max_memory
        self.landmarks = landmarks
        self.combine = combine
        self.power = power
        self.discount = discount

    def _spec(self) -> dict[str, Any]:
        radii = self.radii
        if radii is None:
            if not isinstance(self.L, (int, np.integer)) or not 0 <= self.L <= 30:
                raise ValueError(f"L={self.L!r}, want a number of levels from 0 to 30")
            radii = [1 << level for level in range(int(self.L))]
        return multiscale(
            self,
            radii,
            eta=self.heta,
            rank=self.P,
            exact=bool(self.exact),
            pair_rank=int(self.pair_rank),
            max_memory=float(self.max_memory),
        )


def multiscale(e: Any, radii: Any, eta: float, rank: int, **more: Any) -> dict[str, Any]:
    """Return the options of the multiscale kernel from the parameters of an estimator."""
    spec = {
        "radii": [_whole("radii", r) for r in radii],
        "eta": _number("heta" if hasattr(e, "heta") else "eta", eta),
        "gamma": _number("gamma", e.gamma),
        "rank": _whole("P" if hasattr(e, "P") else "rank", rank),
        "samples": _whole("n_samples", e.n_samples),
        "seed": seed(e.random_state),
        "base": e.base or "",
        "bandwidth": _number("bandwidth", e.bandwidth),
        "beta": [_number("beta", b) for b in np.atleast_1d(e.beta)],
        "base_h": _whole("base_h", e.base_h),
        "landmarks": e.landmarks,
        "combine": e.combine,
        "power": _whole("power", e.power),
        "discount": bool(e.discount),
    }
    return dict(spec, kernel="mlg" if spec["radii"] else "flg", **more)


def _whole(name: str, value: Any) -> int:
    if isinstance(value, (float, np.floating)) and value == int(value):
        value = int(value)
    if not isinstance(value, (int, np.integer)):
        raise ValueError(f"{name}={value!r}, want a whole number")
    return int(value)


def _number(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r}, want a finite number")
    return float(value)
