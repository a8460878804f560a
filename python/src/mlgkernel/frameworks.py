"""Kernels that are made of another kernel: of colourings, sums of labels and cores of graphs."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import clone

from ._kernel import Compiled, iterations, within
from ._language import Text, kernel_text
from .histograms import VertexHistogram

_OWN = ("n_jobs", "normalize", "verbose")


class Framework(Compiled):
    """A kernel with a base kernel."""

    base_graph_kernel: Any
    _names: ClassVar[dict[str, str]] = {"base": "base_graph_kernel", "h": "n_iter"}

    def _base(self, default: type[Compiled]) -> Text:
        """Return the base kernel as the worker reads it."""
        base, params = self.base_graph_kernel, {}
        if isinstance(base, (tuple, list)):
            base, params = base if len(base) == 2 and isinstance(base[1], dict) else (base, {})
        base = default if base is None else base
        if isinstance(base, type) and issubclass(base, Compiled):
            base = base(**{k: v for k, v in params.items() if k not in _OWN})
        if not isinstance(base, Compiled):
            raise TypeError(
                f"base_graph_kernel={base!r}, want a class of this package, a pair (class, parameters), or a "
                "kernel"
            )
        base = clone(base)
        if "normalize" in base.get_params():
            base.set_params(normalize=False)
        return base._text()


class WeisfeilerLehman(Framework):
    """The Weisfeiler-Lehman kernel: a kernel summed over colourings,
    ``k(G, G') = sum over i from 0 to n_iter of b(G_i, G'_i)``.

    The labels of G_0 are those of G. Two vertices have the same label in G_(i+1) when they have the same in
    G_i, and their neighbours have the same labels equally often.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`. Those of the base kernel have no effect: its values are not normalised.
    n_iter : int from 1 to 65536, default 5
        Number of refinements.
    base_graph_kernel : class, pair of a class and its parameters, or kernel; default `VertexHistogram`
        The kernel b of a colouring: any but `MultiscaleLaplacian`. If b does not look at the labels of
        vertices, as `EdgeHistogram`, the sum is ``n_iter + 1`` times its value.

    Examples
    --------
    >>> from mlgkernel import OddSth, WeisfeilerLehman
    >>> WeisfeilerLehman(n_iter=2).fit_transform(["CCO", "CCC"])
    array([[11.,  8.],
           [ 8., 19.]])
    >>> WeisfeilerLehman(n_iter=1, base_graph_kernel=(OddSth, {"h": 1})).fit_transform(["CCO", "CCC"])
    array([[22., 16.],
           [16., 34.]])
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

    def _text(self) -> Text:
        base = self._base(VertexHistogram)
        own = {} if base.startswith("labels ") else {"base": base}
        h, normalize = iterations(self.n_iter), bool(self.normalize)
        return kernel_text("wl", h=h, **own, labels="labels", normalize=normalize)


class HadamardCode(Framework):
    """The Hadamard code kernel: a kernel summed over sums of labels,
    ``k(G, G') = sum over i from 0 to n_iter - 1 of b(G_i, G'_i)``.

    The label of a vertex in G_0 is a row of a Hadamard matrix, one row for each label of G. The label of a
    vertex in G_(i+1) is the sum of its own label and those of its neighbours in G_i.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`. Those of the base kernel have no effect: its values are not normalised.
    n_iter : int from 1 to 65537, default 5
        Number of graphs G_i that are compared. Sums of labels must stay below 2**64. So `n_iter` is at most
        64 for graphs with edges, and less for graphs with many edges.
    base_graph_kernel : class, pair of a class and its parameters, or kernel; default `VertexHistogram`
        The kernel b: any but `MultiscaleLaplacian`.

    Examples
    --------
    >>> from mlgkernel import HadamardCode
    >>> HadamardCode(n_iter=2).fit_transform(["CCO", "CCC"])
    array([[ 8.,  8.],
           [ 8., 14.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        n_iter: int = 5,
        base_graph_kernel: Any = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.n_iter = n_iter
        self.base_graph_kernel = base_graph_kernel

    def _text(self) -> Text:
        return kernel_text(
            "hadamard",
            h=iterations(self.n_iter, 65537) - 1,
            base=(self._base(VertexHistogram)),
            labels="labels",
            normalize=bool(self.normalize),
        )


class CoreFramework(Framework):
    """The kernel of cores, ``k(G, G') = sum over i of b(C_i(G), C_i(G'))``.

    The i-core C_i(G) is the largest subgraph in which every vertex has at least i neighbours. The sum ends
    where one of the cores has no vertices.

    Parameters
    ----------
    n_jobs, verbose, normalize
        As in `VertexHistogram`. Those of the base kernel have no effect: its values are not normalised.
    min_core : int from -1 to 65535, default -1
        The sum starts at ``i = min_core + 1``. (In GraKeL 0.1.11 it has no effect.)
    base_graph_kernel : class, pair of a class and its parameters, or kernel; default `ShortestPath`
        The kernel b of the cores: any but `MultiscaleLaplacian`.

    Examples
    --------
    >>> from mlgkernel import CoreFramework, VertexHistogram
    >>> CoreFramework(base_graph_kernel=VertexHistogram).fit_transform(["C1CC1O", "CCO"])
    array([[29., 14.],
           [14., 10.]])
    """

    def __init__(
        self,
        n_jobs: int | None = None,
        verbose: bool = False,
        normalize: bool = False,
        min_core: int = -1,
        base_graph_kernel: Any = None,
    ) -> None:
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.normalize = normalize
        self.min_core = min_core
        self.base_graph_kernel = base_graph_kernel

    def _text(self) -> Text:
        from .kernels import ShortestPath

        return kernel_text(
            "core",
            least=within("min_core", self.min_core, -1, 65535) + 1,
            base=(self._base(ShortestPath)),
            normalize=bool(self.normalize),
        )
