"""Exceptions of this package.

Wrong options and data raise `ValueError`, of which `GraphError` is a kind; files that cannot be
read raise `OSError`.
"""

from __future__ import annotations


class GraphError(ValueError):
    """A graph that makes no sense. The message names its place in the input and the field."""


class WorkerError(RuntimeError):
    """The worker is missing, ended again and again, or found a mistake in itself."""


class DirectedWarning(UserWarning):
    """Directed edges were taken as undirected, or self-loops were left out."""
