"""Finds the best molecule of a library by BoTorch, with graph kernels of mlgkernel.

    pip install './python[gpytorch]'
    python python/examples/botorch_loop.py

The Gaussian process adds two kernels, whose weights it learns. The library is small and its values are
known, so the loop shows how many measurements it takes. `mlgkernel.suggest` does the same without BoTorch.
"""

from __future__ import annotations

import warnings

import torch
from botorch import fit_gpytorch_mll
from botorch.acquisition import qLogExpectedImprovement
from botorch.exceptions import InputDataWarning
from botorch.models import SingleTaskGP
from botorch.models.transforms import Standardize
from botorch.optim import optimize_acqf_discrete
from gpytorch.kernels import ScaleKernel
from gpytorch.mlls import ExactMarginalLogLikelihood

from mlgkernel import datasets
from mlgkernel.gpytorch import LibraryKernel

# Inputs are positions in the library, and not numbers that should be scaled.
warnings.filterwarnings("ignore", category=InputDataWarning)


def loop(rounds: int = 5, batch: int = 4) -> tuple[list[int], torch.Tensor]:
    """Return the positions of the molecules that were measured, in this order, and all values."""
    graphs = datasets.load("builtin:drugs").graphs
    oxygen = [g.smiles.upper().count("O") / g.n for g in graphs]  # what a measurement would say
    y = torch.tensor(oxygen, dtype=torch.double)[:, None]
    library = torch.arange(len(graphs), dtype=torch.double)[:, None]
    # Both are fitted once: a kernel does not see values.
    small, large = LibraryKernel("wl h=1", graphs), LibraryKernel("mlg", graphs)
    known = list(range(0, 230, 23))
    torch.manual_seed(0)
    for _ in range(rounds):
        model = SingleTaskGP(
            library[known],
            y[known],
            covar_module=ScaleKernel(small) + ScaleKernel(large),
            outcome_transform=Standardize(1),
        )
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        gain = qLogExpectedImprovement(model, best_f=y[known].max())
        rest = [i for i in range(len(graphs)) if i not in known]
        found, _ = optimize_acqf_discrete(gain, q=batch, choices=library[rest])
        known += [int(i) for i in found[:, 0]]
        print(f"{len(known)} measured, best {y[known].max().item():.3f} of {y.max().item():.3f}")
    return known, y


if __name__ == "__main__":
    loop()
