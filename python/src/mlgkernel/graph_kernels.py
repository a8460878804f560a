"""`GraphKernel`: kernels by name, as GraKeL's generic wrapper has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from . import kernels as _kernels
from ._inputs import as_graphs
from ._kernel import OnGraphs
from ._left_out import LovaszTheta, SvmTheta

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["GraphKernel"]

_NAMES: dict[str, tuple[str, ...]] = {
    "VertexHistogram": ("vertex_histogram", "VH", "subtree_wl", "ST-WL"),
    "EdgeHistogram": ("edge_histogram", "EH"),
    "ShortestPath": ("shortest_path", "SP"),
    "GraphletSampling": ("graphlet_sampling", "GR"),
    "GraphHopper": ("graph_hopper", "GH"),
    "NeighborhoodHash": ("neighborhood_hash", "NH"),
    "NeighborhoodSubgraphPairwiseDistance": ("neighborhood_subgraph_pairwise_distance", "NSPD"),
    "OddSth": ("odd_sth", "ODD"),
    "Propagation": ("propagation", "PR"),
    "PyramidMatch": ("pyramid_match", "PM"),
    "RandomWalk": ("random_walk", "RW"),
    "SubgraphMatching": ("subgraph_matching", "SM"),
    "MultiscaleLaplacian": ("multiscale_laplacian", "ML"),
    "CoreFramework": ("core_framework", "CORE"),
    "HadamardCode": ("hadamard_code", "HC"),
    "WeisfeilerLehman": ("weisfeiler_lehman", "WL"),
    "WeisfeilerLehmanOptimalAssignment": ("weisfeiler_lehman_optimal_assignment", "WL-OA"),
}
_CLASSES = {alias: getattr(_kernels, name) for name, aliases in _NAMES.items() for alias in aliases}
_LEFT_OUT = {"lovasz_theta": LovaszTheta, "LOVT": LovaszTheta, "svm_theta": SvmTheta, "SVMT": SvmTheta}
# Kernels that are others with a parameter that is true.
_VARIANTS = {
    _kernels.Propagation: ("with_attributes", _kernels.PropagationAttr),
    _kernels.RandomWalk: ("with_labels", _kernels.RandomWalkLabeled),
    _kernels.ShortestPath: ("as_attributes", _kernels.ShortestPathAttr),
}


class GraphKernel(TransformerMixin, OnGraphs):
    """A kernel that is named by a text or a dictionary.

    Parameters
    ----------
    kernel : str, dict, or list of them, default "shortest_path"
        The name of a kernel (``"shortest_path"``, ``"SP"``, …), or a dictionary with its ``"name"``
        and parameters. A list is a framework (``"weisfeiler_lehman"``, ``"core_framework"`` or
        ``"hadamard_code"``) with its base kernel. The base kernel may be a framework with its own.
    normalize, verbose, n_jobs, random_state
        As in the kernels, which take them unless the dictionary has its own.
    Nystroem : int, at least 1, or False, default False
        So many graphs are drawn from the training graphs. `transform` then returns vectors x(G) of that
        length, and ``x(G)·x(G')`` approximates ``k(G, G')``.

    Examples
    --------
    >>> from mlgkernel import GraphKernel
    >>> wl = GraphKernel([{"name": "weisfeiler_lehman", "n_iter": 2}, "subtree_wl"], normalize=True)
    >>> wl.fit_transform(["CCO", "CCN"]).round(3)
    array([[1.   , 0.455],
           [0.455, 1.   ]])
    """

    def __init__(
        self,
        kernel: Any = "shortest_path",
        normalize: bool = False,
        verbose: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        Nystroem: Any = False,
    ) -> None:
        self.kernel = kernel
        self.normalize = normalize
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.Nystroem = Nystroem

    def _build(self) -> Any:
        given = list(self.kernel) if isinstance(self.kernel, (list, tuple)) else [self.kernel]
        if not given:
            raise ValueError("kernel is an empty list, want at least one kernel")
        made = [self._one(k) for k in given]
        cls, params = made.pop()
        for framework, own in reversed(made):
            if not issubclass(framework, _kernels.Framework):
                raise ValueError(f"kernel: {framework.__name__} has no base kernel, want it last in the list")
            cls, params = framework, {**own, "base_graph_kernel": (cls, params)}
        own = cls()
        for name in ("normalize", "verbose", "n_jobs", "random_state"):
            if name in own.get_params() and name not in params:
                params[name] = getattr(self, name)
        return own.set_params(**params)

    @staticmethod
    def _one(k: Any) -> tuple[Any, dict[str, Any]]:
        params = dict(k) if isinstance(k, Mapping) else {"name": k}
        name = params.pop("name", None)
        if name in _LEFT_OUT:
            _LEFT_OUT[name]()
        if name not in _CLASSES:
            raise ValueError(f"kernel {name!r} is not known, want one of {sorted(_CLASSES)}")
        cls = _CLASSES[name]
        flag, variant = _VARIANTS.get(cls, ("", cls))
        return (variant if params.pop(flag, False) else cls), params

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the kernel to graphs."""
        self._forget()
        graphs = as_graphs(X)
        kernel = self._build()
        if self.Nystroem is False or self.Nystroem is None:
            self.kernel_ = kernel.fit(graphs)
            return self
        if not isinstance(self.Nystroem, (int, np.integer)) or self.Nystroem < 1:
            raise ValueError(f"Nystroem={self.Nystroem!r}, want False or a positive whole number")
        rng = check_random_state(self.random_state)
        count = min(int(self.Nystroem), len(graphs))
        self.components_ = rng.permutation(len(graphs))[:count]
        basis = kernel.fit_transform([graphs[i] for i in self.components_])
        u, s, v = np.linalg.svd(basis)
        self.nystroem_ = (u / np.sqrt(np.maximum(s, 1e-12))) @ v
        self.kernel_ = kernel
        return self

    def fit_transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Fit the kernel and return the matrix of the training graphs."""
        self._forget()
        graphs = as_graphs(X)
        if self.Nystroem is False or self.Nystroem is None:
            kernel = self._build()
            gram = kernel.fit_transform(graphs)
            self.kernel_ = kernel
            return gram
        return self.fit(graphs).transform(graphs)

    def transform(self, X: Any) -> np.ndarray:
        """Return the matrix between graphs and the training graphs."""
        check_is_fitted(self, "kernel_")
        k = self.kernel_.transform(X)
        return k @ self.nystroem_.T if hasattr(self, "nystroem_") else k

    def diagonal(self) -> Any:
        """Return the raw kernel values of graphs with themselves."""
        check_is_fitted(self, "kernel_")
        return self.kernel_.diagonal()
