"""Graph kernels with the interface of GraKeL and scikit-learn, computed by the Go program mlg.

Kernels are in `mlgkernel.kernels` and here; `MLGClassifier`, `MLGRegressor` and `MLGEmbedding` work
on graphs directly; `mlgkernel.datasets` reads data, `mlgkernel.splits` splits them,
`mlgkernel.explain` explains and draws; `suggest` says what to measure next. What
counts as a graph: see `as_graphs`.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError as _NotFound
from importlib.metadata import version as _version

from . import datasets, explain, kernels, metrics, splits
from ._engine import stop_worker
from ._inputs import as_graphs
from ._learner import Nearest
from ._left_out import LovaszTheta, SvmTheta  # noqa: F401
from .classifier import MLGClassifier
from .decide import Suggestion, suggest
from .embedding import MLGEmbedding
from .exceptions import DirectedWarning, GraphError, WorkerError
from .graph import Graph
from .graph_kernels import GraphKernel
from .kernels import (
    CoreFramework,
    EdgeHistogram,
    GraphHopper,
    GraphletSampling,
    HadamardCode,
    Kernel,
    MultiscaleLaplacian,
    NeighborhoodHash,
    NeighborhoodSubgraphPairwiseDistance,
    OddSth,
    Propagation,
    PropagationAttr,
    PyramidMatch,
    RandomWalk,
    RandomWalkLabeled,
    ShortestPath,
    ShortestPathAttr,
    SubgraphMatching,
    TextKernel,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanOptimalAssignment,
)
from .regressor import MLGRegressor
from .utils import (
    KMTransformer,
    cross_validate_Kfold_SVM,
    graph_from_csv,
    graph_from_networkx,
    graph_from_pandas,
    graph_from_torch_geometric,
)

try:
    __version__ = _version("mlgkernel")
except _NotFound:  # run from a checkout
    __version__ = "0"

__all__ = [
    "CoreFramework",
    "DirectedWarning",
    "EdgeHistogram",
    "Graph",
    "GraphError",
    "GraphHopper",
    "GraphKernel",
    "GraphletSampling",
    "HadamardCode",
    "KMTransformer",
    "Kernel",
    "MLGClassifier",
    "MLGEmbedding",
    "MLGRegressor",
    "MultiscaleLaplacian",
    "Nearest",
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
    "Suggestion",
    "TextKernel",
    "VertexHistogram",
    "WeisfeilerLehman",
    "WeisfeilerLehmanOptimalAssignment",
    "WorkerError",
    "as_graphs",
    "cross_validate_Kfold_SVM",
    "datasets",
    "explain",
    "graph_from_csv",
    "graph_from_networkx",
    "graph_from_pandas",
    "graph_from_torch_geometric",
    "kernels",
    "metrics",
    "splits",
    "stop_worker",
    "suggest",
]
