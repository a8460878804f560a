"""The multiscale Laplacian kernel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._kernel import Kernel, number, seed, whole


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
        Kernel on vertices: labels, attributes, gaussian(sigma), degree, heat(beta, ...), wl(h), or
        a product or sum such as ``"labels*gaussian(0.5)"``. By default the labels where the graphs
        have any, else the dot product of the attributes, else the degree.
    bonds : bool, optional
        Whether the labels of edges count: the kernel is then the mean of itself and of that of graphs
        whose edges are vertices. By default for molecules, whose edges have bond symbols as labels.
    exact : bool
        Compute the kernel by its definition, without sampling.
    pair_rank, max_memory
        With `exact`: eigenvectors kept of every pair (0 for all); bound of the tables in GB.
    landmarks : {"uniform", "classes", "pivoted"}
        How the vertices are sampled.
    combine : {"top", "sum", "product", "mixed", "gmean"}
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
        bonds: bool | None = None,
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
        self.bonds = bonds
        self.exact = exact
        self.pair_rank = pair_rank
        self.max_memory = max_memory
        self.landmarks = landmarks
        self.combine = combine
        self.power = power
        self.discount = discount

    def _record(self) -> dict[str, Any]:
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
        )

    def _request(self) -> dict[str, Any]:
        return dict(super()._request(), max_memory=float(self.max_memory))


def multiscale(e: Any, radii: Any, eta: float, rank: int, **more: Any) -> dict[str, Any]:
    """Return the record of the multiscale kernel from the parameters of an estimator."""
    record = {
        "radii": [whole("radii", r) for r in radii],
        "eta": number("heta" if hasattr(e, "heta") else "eta", eta),
        "gamma": number("gamma", e.gamma),
        "rank": whole("P" if hasattr(e, "P") else "rank", rank),
        "samples": whole("n_samples", e.n_samples),
        "seed": seed(e.random_state),
        "base": e.base or "",
        "landmarks": e.landmarks,
        "combine": e.combine,
        "power": whole("power", e.power),
        "discount": bool(e.discount),
    }
    if e.bonds is not None:
        record["bonds"] = bool(e.bonds)
    return dict(record, kernel="mlg" if record["radii"] else "flg", **more)
