"""Graph kernels for Python, computed by the Go program mlg."""

from __future__ import annotations

from ._engine import stop_worker
from ._inputs import as_graphs
from .exceptions import DirectedWarning, GraphError, WorkerError
from .graph import Graph
from .kernels import (
    EdgeHistogram,
    GraphletSampling,
    Kernel,
    MultiscaleLaplacian,
    RandomWalk,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WeisfeilerLehmanOptimalAssignment,
)
