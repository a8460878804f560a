"""Graph kernels in GPyTorch and BoTorch.

It needs the extra ``gpytorch``, and the package does not import it by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gpytorch.kernels import Kernel as _GPyTorchKernel
from sklearn.base import clone

from ._inputs import as_graphs
from ._kernel import Kernel, TextKernel
from .graph_kernels import GraphKernel

__all__ = ["LibraryKernel"]


class LibraryKernel(_GPyTorchKernel):
    """A kernel of GPyTorch on the graphs of a library, by their positions in it.

    Inputs are tensors of shape (..., n, 1) with positions, as whole numbers from 0. So what GPyTorch and
    BoTorch do with points works with graphs: ``torch.arange(len(graphs))[:, None]`` is the whole library. Put
    it into a ``ScaleKernel``, and add several to learn their weights. It has no parameters of its own.

    Parameters
    ----------
    kernel : str or kernel
        A text such as ``"wl h=3"``, or a kernel of this package. A clone of it is fitted to the library; it
        sees no values. Take normalised values, as texts do.
    graphs : collection of graphs
        The library: the measured graphs and those that may be measured. Its matrix takes 8 n**2 bytes. For a
        larger library, ``MLGEmbedding`` makes vectors for GPyTorch's ``LinearKernel``.
    **kwargs
        As of every kernel of GPyTorch.

    Attributes
    ----------
    matrix : Tensor of shape (n, n)
        The kernel values.
    """

    has_lengthscale = False
    is_stationary = False

    def __init__(self, kernel: Any, graphs: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        if isinstance(kernel, str):
            kernel = TextKernel(kernel)
        if not isinstance(kernel, (Kernel, GraphKernel)):
            raise TypeError(
                f"kernel={kernel!r}, want a text such as 'wl h=3', or a kernel of this package such as "
                "WeisfeilerLehman(normalize=True)"
            )
        values = clone(kernel).fit_transform(as_graphs(graphs))
        # All of it can be had again, and is not part of what is learned.
        self.register_buffer("matrix", torch.as_tensor(np.asarray(values, float)), persistent=False)

    def _positions(self, x: torch.Tensor) -> torch.Tensor:
        n = len(self.matrix)
        if x.shape[-1] != 1:
            raise ValueError(f"inputs of shape {tuple(x.shape)}, want (..., 1): the position of a graph")
        x = x[..., 0].detach()
        at = x.round()
        wrong = ((x != at) | ~(at >= 0) | (at >= n)).flatten()
        if wrong.any():
            value = x.flatten()[wrong.to(torch.uint8).argmax()].item()
            raise ValueError(f"input {value:g} is no position in a library of {n} graphs, want 0 to {n - 1}")
        return at.long()

    def forward(self, x1: torch.Tensor, x2: torch.Tensor, diag: bool = False, **params: Any) -> torch.Tensor:
        """Return the kernel values of the graphs at two tensors of positions."""
        i, j = self._positions(x1), self._positions(x2)
        values = self.matrix[i, j] if diag else self.matrix[i[..., :, None], j[..., None, :]]
        return values.to(x1.dtype) if x1.is_floating_point() else values
