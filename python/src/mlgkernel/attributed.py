"""Kernels on the attributes of vertices, and propagation, which takes labels or attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse.csgraph import shortest_path

from . import _engine
from ._inputs import as_graphs
from ._kernel import Compiled, number, seed, within
from ._language import Text, kernel_text
from .exceptions import GraphError
from .subgraphs import value_of

__all__ = ["GraphHopper", "Propagation", "PropagationAttr", "ShortestPathAttr"]


class Propagation(Compiled):
    """The propagation kernel: labels spread along the edges, and after every step vertices are
    counted by bins of what has reached them.

    ``k = sum over t < t_max and bins of count * count'``. A vertex has a distribution over labels. At
    first this is its own label. A step replaces it by the mean of its neighbours' distributions, weighted by
    edges. The bin of a distribution x is ``floor((x·a + b) / w)``, with random a and b for every t. So near
    distributions share a bin with a high probability (Neumann et al., Machine Learning 102, 2016).

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`.
    random_state : int, RandomState or None, default None
        Seed of a and b. None is 0.
    metric : None, default None
        Histograms are compared by their dot product.
    M : {"TV", "H"}, default "TV"
        Distance that bins keep: total variation or Hellinger's.
    t_max : int, from 1 to 1001, default 5
        Number of terms: the labels, and ``t_max - 1`` steps.
    w : float, positive, default 0.01
        Width of a bin.

    Notes
    -----
    The random numbers of a label depend on the seed and its text alone. So a graph has the same bins in
    every collection. They are not GraKeL's numbers. Values differ as they do from seed to seed there.

    Examples
    --------
    >>> from mlgkernel import Propagation
    >>> water = [[(0, 1), (0, 2)], {0: "O", 1: "H", 2: "H"}]
    >>> ion = [[(0, 1), (0, 2), (0, 3)], {0: "O", 1: "H", 2: "H", 3: "H"}]
    >>> Propagation(t_max=2).fit_transform([water, ion])
    array([[10., 14.],
           [14., 20.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        random_state: Any = None,
        metric: Any = None,
        M: str = "TV",
        t_max: int = 5,
        w: float = 0.01,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.random_state = random_state
        self.metric = metric
        self.M = M
        self.t_max = t_max
        self.w = w

    def _text(self) -> Text:
        return self._propagated("labels", {"TV": "l1", "H": "hellinger"})

    def _propagated(self, what: str, distances: dict[str, str]) -> Text:
        """Return the text; `distances` are those that M may name."""
        terms, width = within("t_max", self.t_max, 1, 1001), number("w", self.w)
        if width <= 0:
            raise ValueError(f"w={self.w!r}, want a positive, finite number")
        if not isinstance(self.M, str) or self.M not in distances:
            raise ValueError(f"M={self.M!r}, want {' or '.join(map(repr, distances))}")
        if self.metric is not None:
            raise ValueError(
                f"metric={self.metric!r}, want None: histograms are compared by their dot product"
            )
        return kernel_text(
            "propagation",
            steps=terms - 1,
            distance=distances[self.M],
            width=width,
            seed=seed(self.random_state),
            labels=what,
            normalize=bool(self.normalize),
        )


class PropagationAttr(Propagation):
    """The propagation kernel on attributes, ``k = sum over t < t_max and bins of count * count'``.

    It is like `Propagation`, with the attributes x of a vertex in place of a distribution over labels. The
    bin of a vertex is the list of ``floor((x[i] * a[i] + b[i]) / w)`` for all attributes i, with random a
    and b for every t.

    Parameters
    ----------
    n_jobs, verbose, normalize, random_state, metric, t_max
        As in `Propagation`.
    M : {"L1", "L2"}, default "L1"
        Distance that bins keep.
    w : float, positive, default 4
        Width of a bin, on the scale of the attributes.

    Examples
    --------
    >>> from mlgkernel import PropagationAttr
    >>> path = [[(0, 1), (1, 2)], {0: [0.1, 2.0], 1: [1.5, 0.3], 2: [0.2, 1.9]}]
    >>> PropagationAttr(w=1, random_state=0).fit_transform([path, path]).shape
    (2, 2)
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        random_state: Any = None,
        metric: Any = None,
        M: str = "L1",
        t_max: int = 5,
        w: float = 4,
    ) -> None:
        super().__init__(n_jobs, verbose, normalize, random_state, metric, M, t_max, w)

    def _text(self) -> Text:
        return self._propagated("attributes", {"L1": "l1", "L2": "l2"})


class GraphHopper(Compiled):
    """The GraphHopper kernel: shortest paths with equally many vertices, compared vertex by vertex.

    ``k = sum over shortest paths p of G and q of G' with len(p) == len(q), and places i, of
    s(p[i], q[i])``, where s compares attributes (Feragen et al., NIPS 2013). Paths lead from every vertex
    to every vertex, itself included. Lengths are sums of edge weights, rounded to multiples of 1e-6.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    kernel_type : {"linear", "gaussian", "bridge"} or ("gaussian", mu), default "linear"
        What s(x, y) is. "linear": the dot product. "gaussian": ``exp(-mu |x-y|**2)`` with a positive mu,
        by default 1. "bridge": ``max(0, 1 - |x-y|/4)``, which is not positive semi-definite for several
        attributes.

    Notes
    -----
    With "linear" a graph has explicit features. The other kinds take ``O(n n' d**2)`` time for a pair
    of graphs whose longest shortest paths have d vertices.

    Examples
    --------
    >>> from mlgkernel import GraphHopper
    >>> path = [[(0, 1), (1, 2)], {0: [0, 1], 1: [2, 1], 2: [3, 0]}]
    >>> edge = [[(0, 1)], {0: [0, 1], 1: [2, 1]}]
    >>> GraphHopper().fit_transform([path, edge])
    array([[185.,  54.],
           [ 54.,  24.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        kernel_type: Any = "linear",
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.kernel_type = kernel_type

    def _text(self) -> Text:
        kind, mu = self.kernel_type, 1.0
        if isinstance(kind, (tuple, list)) and len(kind) == 2 and kind[0] == "gaussian":
            kind, mu = kind[0], number("kernel_type: mu", kind[1])
        if kind not in ("linear", "gaussian", "bridge") or mu <= 0:
            want = "'linear', 'gaussian', 'bridge' or ('gaussian', mu) with a positive mu"
            raise ValueError(f"kernel_type={self.kernel_type!r}, want {want}")
        return kernel_text(
            "graph-hopper",
            similarity=kind,
            mu=mu,
            weighted=True,
            labels="attributes",
            normalize=bool(self.normalize),
        )


class ShortestPathAttr(Compiled):
    """The shortest path kernel on attributes.

    ``k = sum over ordered pairs (u, v) of G and (u', v') of G' at equal distances of
    <x_u, x_u'> <x_v, x_v'>`` for the attributes x (Borgwardt and Kriegel, ICDM 2005). With `metric` another
    function stands for the dot product. Distances are sums
    of edge weights, rounded to multiples of 1e-6.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    algorithm_type : {"auto", "dijkstra", "floyd_warshall"}, default "auto"
        Has no effect.
    metric : function of two labels, default numpy.dot
        What compares the labels of two vertices: attributes, numbers or texts. Only ``numpy.dot`` is
        computed by the program. Any other function is called in Python for every two vertices, which is slow.

    Notes
    -----
    The sums of ``x_u x_v^T`` over the pairs at each distance are explicit features. So the time for two
    graphs is in proportion to the number of distances, and not to ``(n n')**2``.

    Examples
    --------
    >>> from mlgkernel import ShortestPathAttr
    >>> path = [[(0, 1), (1, 2)], {0: [0, 1], 1: [2, 1], 2: [3, 0]}]
    >>> edge = [[(0, 1)], {0: [0, 1], 1: [2, 1]}]
    >>> ShortestPathAttr().fit_transform([path, edge])
    array([[216.,  24.],
           [ 24.,  12.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        algorithm_type: str = "auto",
        metric: Any = np.dot,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.algorithm_type = algorithm_type
        self.metric = metric

    def _text(self) -> Text:
        if self._in_python():
            raise ValueError(f"metric={self.metric!r}, want numpy.dot: other functions work in Python alone")
        return kernel_text(
            "sp", ordered=True, weighted=True, labels="attributes", normalize=bool(self.normalize)
        )

    def _in_python(self) -> bool:
        if self.algorithm_type not in ("auto", "dijkstra", "floyd_warshall"):
            raise ValueError(f"algorithm_type={self.algorithm_type!r}, want auto, dijkstra or floyd_warshall")
        if not callable(self.metric):
            raise ValueError(f"metric={self.metric!r}, want a function of the labels of two vertices")
        return not any(self.metric is f for f in (np.dot, np.inner, np.vdot))

    def parse_input(self, X: Any) -> list[tuple[list[Any], dict[float, np.ndarray]]]:
        """Return for each graph the labels of its vertices, and the pairs at each distance as a matrix."""
        out, graphs = [], as_graphs(X)
        _engine.warn_of({"undirected": sum(g.arcs for g in graphs)})
        for i, g in enumerate(graphs):
            labels = g.attributes if g.attributes is not None else g.labels
            if g.n > 0 and labels is None:
                raise GraphError(f"graph {i} has no labels, which metric compares")
            a = g.get_adjacency_matrix()
            a = np.where((a > 0) & (a.T > 0), (a + a.T) / 2, np.maximum(a, a.T))
            d = shortest_path(a).round(6) if g.n else a
            np.fill_diagonal(d, np.inf)
            at = {x: (d == x).astype(float) for x in np.unique(d[np.isfinite(d)]).tolist()}
            out.append((list(map(value_of, labels)) if g.n else [], at))
        return out

    def pairwise_operation(self, x: Any, y: Any) -> float:
        """Return the sum over pairs of vertices at equal distances, of graphs as `parse_input` has them."""
        (labels, at), (others, other_at) = x, y
        m = np.array([[self.metric(a, b) for b in others] for a in labels], dtype=np.float64)
        return float(sum((m * (at[d] @ m @ other_at[d].T)).sum() for d in at.keys() & other_at.keys()))
