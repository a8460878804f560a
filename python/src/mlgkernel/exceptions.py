"""Exceptions of this package.

Wrong options and data raise `ValueError`, of which `GraphError` is a kind; files that cannot be
read raise `OSError`.
"""

from __future__ import annotations


class GraphError(ValueError):
    """A graph that cannot be read. The message names its place in the input, and the field that is wrong."""


class NoDatasetError(GraphError, FileNotFoundError):
    """A text in place of a collection that is neither the name of a dataset nor that of a file."""


class WorkerError(RuntimeError):
    """The worker is missing, it ended twice during a call, or it has a bug."""


class DirectedWarning(UserWarning):
    """A graph was changed: it became directed or undirected, or lost self-loops or parallel edges."""
