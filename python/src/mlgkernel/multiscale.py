"""The multiscale Laplacian kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from ._kernel import Compiled, number, seed, string, whole, within
from ._language import Text, kernel_text

_GRAKEL = {"L": "radii", "P": "rank", "heta": "eta"}  # GraKeL's names of parameters


class MultiscaleLaplacian(Compiled):
    """The multiscale Laplacian graph kernel of Kondor and Pan.

    Two graphs with Laplacians L, L' and feature vectors of vertices as the columns of U, U' have

    ``k = |inv(inv(S)/2 + inv(S')/2)|**(1/2) / (|S|**(1/4) |S'|**(1/4))`` with
    ``S = U inv(L + eta I) U^T + gamma I``.

    The features of the first level are the labels or attributes of vertices. Those of each further level
    come from the kernel of the level below, between the neighbourhoods of vertices.

    Parameters
    ----------
    n_jobs, verbose
        As in `VertexHistogram`.
    normalize : bool, default False
        Has no effect: k(G, G) = 1.
    random_state : int, RandomState or None, default None
        Seed of the sample of vertices. None is 0.
    L : int from 0 to 30 or None, default None
        GraKeL's way to give `radii`: the number of levels. Radii are then 1, 2, 4, … Of `L` and `radii` only
        one may be given; likewise of `P` and `rank`, and of `heta` and `eta`.
    P : int, at least 1, or None, default None
        GraKeL's name of `rank`.
    gamma : float, positive, default 0.1
        Regularisation of the covariances.
    heta : float, positive, or None, default None
        GraKeL's name of `eta`.
    n_samples : int, at least 1, default 100
        Number of vertices that are sampled at every level.
    radii : sequence of int, at least 0, or None, default None
        The radii of the neighbourhoods, level by level. None of them is smaller than the one before it.
        Without a value (None) they are 1 and 2.
    eta : float, positive, or None, default None
        Regularisation of the Laplacians. None is 0.1.
    rank : int, at least 1, or None, default None
        Number of eigenvectors that are kept at every level. None is 10.
    base : str or None, default None
        Kernel on vertices: labels, attributes, gaussian, degree, heat, wl or configuration, with its
        parameters, or a product or sum such as ``"labels * gaussian sigma=0.5"``. None takes the labels if
        the graphs have labels, else the dot product of the attributes, else the degree. Where all vertices
        have labels and attributes, half of the kernel compares both, the attributes standardised.
    bonds : bool or "auto", default "auto"
        Whether the labels of edges count. The kernel is then the mean of two: that of the graphs, and that
        of graphs in which each edge is a vertex too. "auto" is True where edges have labels and graphs
        are not directed. Arcs are compared with their labels anyway.
    stereo : bool or "auto", default "auto"
        Whether the stereochemistry of molecules counts: R, S, E and Z. Half of what sees bonds then sees it.
        "auto" is True where bonds count and some molecule has marks.
    exact : bool, default False
        Compute the kernel by its definition, without sampling. Then `n_samples`, `rank` and `landmarks` keep
        their defaults.
    pair_rank : int, at least 0, default 0
        With `exact`: number of eigenvectors that are kept of every pair of vertices; 0 keeps all.
    max_memory : float, positive, default 16
        With `exact`: bound of the tables in GB.
    landmarks : {"uniform", "classes", "pivoted"}, default "uniform"
        How the vertices are sampled.
    combine : {"top", "sum", "product", "mixed", "gmean"}, default "top"
        How the levels make one kernel: the last level alone, their sum, product or geometric mean, or the
        mean of the first three of these ("mixed").
    power : int, at least 1, default 1
        Exponent of the kernel.
    discount : bool, default False
        Divide features by 1 + distance to the centre.
    device : {"cpu", "cuda", "auto"}, default "cpu"
        What computes large matrices: the processor, an NVIDIA GPU, or a GPU where there is one and enough
        work. The values are the same.

    Notes
    -----
    This class follows the definition. GraKeL leaves out the factor 1/2 in ``1/2 inv(S1) + 1/2 inv(S2)``. So
    its values are smaller by the factor 2**(-P/2) at every level. Above the first level, `gamma` then acts
    as if it were 2**(P/2) times as large. Normalising does not repair that.

    The defaults are those of the paper and of the command. GraKeL's are L=3, P=10, gamma=0.01, heta=0.01,
    n_samples=50. With them a graph is hardly similar to any other: on MUTAG the median of k between two
    graphs is 0.02. With the defaults here it is 0.15, and with ``eta=0.3, gamma=0.3`` it is 0.5.

    Examples
    --------
    >>> from mlgkernel import MultiscaleLaplacian
    >>> K = MultiscaleLaplacian().fit_transform(["CCO", "CCN", "c1ccccc1O"])
    >>> K.round(2)
    array([[1.  , 0.11, 0.05],
           [0.11, 1.  , 0.04],
           [0.05, 0.04, 1.  ]])
    """

    _names: ClassVar[dict[str, str]] = {"samples": "n_samples", "seed": "random_state"}

    def __init__(
        self,
        n_jobs: int | None = None,
        normalize: bool = False,
        verbose: bool = False,
        random_state: Any = None,
        L: int | None = None,
        P: int | None = None,
        gamma: float = 0.1,
        heta: float | None = None,
        n_samples: int = 100,
        *,
        radii: Sequence[int] | None = None,
        eta: float | None = None,
        rank: int | None = None,
        base: str | None = None,
        bonds: bool | str = "auto",
        stereo: bool | str = "auto",
        exact: bool = False,
        pair_rank: int = 0,
        max_memory: float = 16.0,
        landmarks: str = "uniform",
        combine: str = "top",
        power: int = 1,
        discount: bool = False,
        device: str = "cpu",
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
        self.eta = eta
        self.rank = rank
        self.base = base
        self.bonds = bonds
        self.stereo = stereo
        self.exact = exact
        self.pair_rank = pair_rank
        self.max_memory = max_memory
        self.landmarks = landmarks
        self.combine = combine
        self.power = power
        self.discount = discount
        self.device = device

    def _text(self) -> Text:
        for theirs, ours in _GRAKEL.items():
            a, b = getattr(self, theirs), getattr(self, ours)
            if a is not None and b is not None:
                raise ValueError(f"{theirs}={a!r} and {ours}={b!r} say the same, want one of them")
        radii = self._radii()
        auto = {"bonds": self.bonds, "stereo": self.stereo}
        for name, value in auto.items():
            if value not in ("auto", True, False):
                raise ValueError(f"{name}={value!r}, want 'auto', True or False")
        return kernel_text(
            "flg" if radii == [] else "mlg",
            **({"radii": radii} if radii else {}),
            **self._given("eta", "heta", number),
            gamma=number("gamma", self.gamma),
            base="" if self.base is None else string("base", self.base),
            **{name: value if value == "auto" else bool(value) for name, value in auto.items()},
            combine=string("combine", self.combine),
            power=whole("power", self.power),
            discount=bool(self.discount),
            samples=whole("n_samples", self.n_samples),
            **self._given("rank", "P", whole),
            landmarks=string("landmarks", self.landmarks),
            seed=0 if self.exact else seed(self.random_state),
            exact=bool(self.exact),
            pair_rank=whole("pair_rank", self.pair_rank),
        )

    def _radii(self) -> list[int] | None:
        if self.L is not None:
            return [1 << level for level in range(within("L", self.L, 0, 30))]
        if self.radii is None:
            return None
        try:
            return [whole("radii", r) for r in self.radii]
        except TypeError:
            raise ValueError(f"radii={self.radii!r}, want a sequence of whole numbers") from None

    def _given(self, ours: str, theirs: str, read: Callable[[str, Any], Any]) -> dict[str, Any]:
        """Return a parameter by our name if it is given by one of two, and nothing for the default of mlg."""
        name = theirs if getattr(self, theirs) is not None else ours
        value = getattr(self, name)
        return {} if value is None else {ours: read(name, value)}

    def _name(self, parameter: str) -> str:
        for theirs, ours in _GRAKEL.items():
            if parameter == ours and getattr(self, theirs) is not None:
                return theirs
        return super()._name(parameter)

    def _request(self) -> dict[str, Any]:
        return dict(super()._request(), max_memory=number("max_memory", self.max_memory))
