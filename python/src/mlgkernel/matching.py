"""Kernels that match the vertices of two graphs."""

from __future__ import annotations

from typing import Any

from ._kernel import Compiled, seed, within
from ._language import Text, kernel_text

__all__ = ["NeighborhoodHash", "PyramidMatch"]


class PyramidMatch(Compiled):
    """The pyramid match kernel: vertices as points of a cube, matched in cells of falling size.

    The coordinates of a vertex are the absolute values of its entries in the `d` eigenvectors of the
    weighted adjacency matrix whose eigenvalues are largest in absolute value. At level l every
    coordinate is divided into ``2**l`` cells. I_l is the number of vertices that can be matched
    within cells and labels, summed over coordinates. Then
    ``k = I_L + sum over l < L of (I_l - I_(l+1)) / 2**(L-l)`` (Nikolentzos et al., AAAI 2017).

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`.
    with_labels : bool, default True
        Whether vertex labels count.
    L : int, 0 to 20, default 4
        Level of the finest cells.
    d : int, 1 to 100, default 6
        Number of eigenvectors. A graph with fewer vertices has as many as it has vertices.

    Notes
    -----
    Eigenvectors that are not unique are replaced by the root mean square over all choices. So values do not
    depend on the order of vertices. GraKeL 0.1.11 has the levels 0 to L-1. Against the formula, it weighs
    coarse matches more than fine ones. It takes the eigenvectors that its solver happens to find.

    Examples
    --------
    >>> from mlgkernel import PyramidMatch
    >>> edge = [[(0, 1)], {0: "C", 1: "C"}]
    >>> path = [[(0, 1), (1, 2)], {0: "C", 1: "C", 2: "C"}]
    >>> PyramidMatch(L=3, d=2).fit_transform([edge, path])
    array([[4., 3.],
           [3., 6.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        with_labels: bool = True,
        L: int = 4,
        d: int = 6,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.with_labels = with_labels
        self.L = L
        self.d = d

    def _text(self) -> Text:
        return kernel_text(
            "pyramid-match",
            depth=within("L", self.L, 0, 20),
            dim=within("d", self.d, 1, 100),
            labels="labels" if self.with_labels else "unlabeled",
            normalize=bool(self.normalize),
        )


class NeighborhoodHash(Compiled):
    """The neighbourhood hash kernel: the share of vertices whose hashed neighbourhoods match.

    A label is a number of `bits` bits. In each of `R` rounds a vertex gets the label
    ``ROT1(own) XOR labels of the neighbours``, and ``k = mean over rounds of c / (n + n' - c)``, where c is
    the number of vertices that can be matched with equal labels (Hido and Kashima, ICDM 2009).
    k(G, G) is 1.

    Parameters
    ----------
    n_jobs, normalize, verbose
        As in `VertexHistogram`. Values are normalised by their definition.
    random_state : int, RandomState or None, default None
        Seed of the hashes of labels. None is 0.
    R : int, 1 to 1000, default 3
        Number of rounds.
    nh_type : {"simple", "count_sensitive"}, default "simple"
        With "simple", two neighbours with the same label cancel out. With "count_sensitive", o neighbours
        with the same label l stand for ``ROTo(l XOR o)``.
    bits : int, 1 to 64, default 32
        Number of bits of a label. With few, different labels and neighbourhoods collide.

    Notes
    -----
    GraKeL has 8 bits by default, and numbers labels by a table of all ``2**bits``. Here the first number of
    a label is a hash of its text. So a graph has the same numbers in every collection. Values are equal to
    GraKeL's but for collisions.

    Examples
    --------
    >>> from mlgkernel import NeighborhoodHash
    >>> path = [[(0, 1), (1, 2)], {0: "a", 1: "b", 2: "c"}]
    >>> edge = [[(0, 1)], {0: "a", 1: "b"}]
    >>> NeighborhoodHash(R=1).fit_transform([path, edge])
    array([[1.  , 0.25],
           [0.25, 1.  ]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        random_state: Any = None,
        R: int = 3,
        nh_type: str = "simple",
        bits: int = 32,
    ) -> None:
        self.n_jobs = n_jobs
        self.normalize = normalize
        self.verbose = verbose
        self.random_state = random_state
        self.R = R
        self.nh_type = nh_type
        self.bits = bits

    def _text(self) -> Text:
        if self.nh_type not in ("simple", "count_sensitive"):
            raise ValueError(f"nh_type={self.nh_type!r}, want 'simple' or 'count_sensitive'")
        return kernel_text(
            "neighborhood-hash",
            r=within("R", self.R, 1, 1000),
            bits=within("bits", self.bits, 1, 64),
            counts=self.nh_type == "count_sensitive",
            seed=seed(self.random_state),
            labels="labels",
        )
