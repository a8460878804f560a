"""Kernels of neighbourhoods, trees and common subgraphs."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._kernel import Kernel, whole


def within(name: str, value: Any, least: int, most: int) -> int:
    """Return a whole number, which must be in a range."""
    if not least <= whole(name, value) <= most:
        raise ValueError(f"{name}={value!r}, want {least} to {most}")
    return int(value)


class NeighborhoodSubgraphPairwiseDistance(Kernel):
    """The neighbourhood subgraph pairwise distance kernel (NSPD),
    ``k(G, G') = sum over r' from 0 to r, d' from 0 to d of k_r'd'(G, G')``.

    ``k_r'd'`` is the dot product of the numbers of pairs of vertices at distance d', by the invariants of the
    subgraphs within r' steps of them, divided by ``sqrt(k_r'd'(G, G) * k_r'd'(G', G'))``. It is 0 where a
    graph has no such pair.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    r : int from 0 to 64, default 3
        Largest radius of a neighbourhood.
    d : int from 0 to 65536, default 4
        Largest distance of a pair.

    Notes
    -----
    Labels of edges count where the graphs have them. Values do not depend on other graphs, nor on the order
    of vertices. In GraKeL 0.1.11 they do: ``k_r'd'(G, G)`` is 1 without any pair where another graph has one,
    and equal neighbourhoods are not always found equal.

    Examples
    --------
    >>> from mlgkernel import NeighborhoodSubgraphPairwiseDistance
    >>> NeighborhoodSubgraphPairwiseDistance(r=1, d=1).fit_transform(["CCO", "CCC"]).round(3)
    array([[4.   , 2.227],
           [2.227, 4.   ]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        r: int = 3,
        d: int = 4,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.r = r
        self.d = d

    def _record(self) -> dict[str, Any]:
        return {
            "kernel": "nspd",
            "r": within("r", self.r, 0, 64),
            "d": within("d", self.d, 0, 65536),
            "labels": "labels",
            "normalize": bool(self.normalize),
        }


class OddSth(Kernel):
    """The kernel of ordered decompositional DAGs (ODD-STh),
    ``k(G, G') = sum over trees T of n_T(G) * n_T(G')``.

    From every vertex v of a graph, the shortest paths of up to h steps make a DAG. ``n_T(G)`` is the number
    of vertices u in all these DAGs from which the visit of the DAG is the tree T, with labels.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    h : int from 1 to 65536 or None, default None
        Number of steps; None for any.

    Notes
    -----
    In GraKeL 0.1.11 trees have weights that depend on the other graphs of the collection.

    Examples
    --------
    >>> from mlgkernel import OddSth
    >>> OddSth(h=2).fit_transform(["CCO", "CCC"])
    array([[13., 10.],
           [10., 25.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        h: int | None = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.h = h

    def _record(self) -> dict[str, Any]:
        return {
            "kernel": "odd-sth",
            "h": 0 if self.h is None else within("h", self.h, 1, 65536),
            "labels": "labels",
            "normalize": bool(self.normalize),
        }


_SIZES = {
    "uniform": lambda n: 1,
    "increasing": lambda n: n,
    "decreasing": lambda n: 1 / n,
    "strong_decreasing": lambda n: 1 / n**2,
}


class SubgraphMatching(Kernel):
    """The subgraph matching kernel,
    ``k(G, G') = sum over isomorphisms between connected induced subgraphs of lw(number of vertices)``.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`.
    k : int from 1 to 7, default 5
        Largest number of vertices.
    kv : "equal" or None, default "equal"
        Whether labels of vertices must be equal; with None they play no part.
    ke : "equal" or None, default "equal"
        Whether labels of edges must be equal, where graphs have them; with None they play no part.
    lw : str, sequence or callable, default "uniform"
        Weights: "uniform" (1), "increasing" (n), "decreasing" (1/n) or "strong_decreasing" (1/n**2) for n
        vertices, ``k + 1`` numbers for 0 to k vertices, of which the first plays no part, or a function of n.

    Notes
    -----
    Kernels of labels other than equality are not there: `kv` and `ke` take no functions. GraKeL 0.1.11 calls
    a function `lw` with ``n - 1``, and accepts no sequence.

    Examples
    --------
    >>> from mlgkernel import SubgraphMatching
    >>> SubgraphMatching(k=3).fit_transform(["CCO", "CCC"])
    array([[ 9., 10.],
           [10., 19.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        k: int = 5,
        kv: str | None = "equal",
        ke: str | None = "equal",
        lw: Any = "uniform",
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.k = k
        self.kv = kv
        self.ke = ke
        self.lw = lw

    def _record(self) -> dict[str, Any]:
        for name, value in (("kv", self.kv), ("ke", self.ke)):
            if value not in ("equal", None):
                raise ValueError(f'{name}={value!r}, want "equal" or None')
        return {
            "kernel": "subgraph-matching",
            "weights": self._weights(within("k", self.k, 1, 7)),
            "edge_labels": self.ke is not None,
            "labels": "unlabeled" if self.kv is None else "labels",
            "normalize": bool(self.normalize),
        }

    def _weights(self, k: int) -> list[float]:
        lw = _SIZES.get(self.lw) if isinstance(self.lw, str) else self.lw
        if lw is None:
            raise ValueError(f"lw={self.lw!r}, want {', '.join(_SIZES)}, {k + 1} numbers, or a function")
        weights = [lw(n) for n in range(1, k + 1)] if callable(lw) else list(lw)[1:]
        if len(weights) != k:
            raise ValueError(f"lw has {len(weights) + 1} numbers, want {k + 1}: for 0 to {k} vertices")
        if not all(np.isfinite(w) and w >= 0 for w in weights):
            raise ValueError(f"lw gives {weights}, want finite numbers that are not negative")
        return [float(w) for w in weights]
