"""What GPyTorch and BoTorch do with graph kernels. Run by `make test-torch` in an environment of its own."""

from __future__ import annotations

import runpy
from pathlib import Path

import gpytorch
import numpy as np
import pytest
import torch
from gpytorch.kernels import ScaleKernel
from sklearn.base import clone

from mlgkernel import MLGRegressor, TextKernel, WeisfeilerLehman, datasets
from mlgkernel.gpytorch import LibraryKernel

EXAMPLE = Path(__file__).parents[1] / "examples" / "botorch_loop.py"


@pytest.fixture(scope="module")
def library():
    graphs = datasets.load("builtin:drugs").graphs[:60]
    y = np.array([g.smiles.upper().count("O") / g.n for g in graphs])
    return graphs, torch.arange(60, dtype=torch.double)[:, None], torch.as_tensor(y)


def test_values(library):
    """Values are those of the kernel, whatever the shapes."""
    graphs, x, _ = library
    wl = WeisfeilerLehman(n_iter=2, normalize=True)
    for kernel, same in ("wl h=2", TextKernel("wl h=2")), (wl, wl), (clone(wl).fit(graphs[:9]), wl):
        k = LibraryKernel(kernel, graphs)
        np.testing.assert_array_equal(k(x).to_dense(), clone(same).fit_transform(graphs))
    np.testing.assert_array_equal(k(x[3:5], x[[7, 3, 3]]).to_dense(), k.matrix[3:5][:, [7, 3, 3]])
    np.testing.assert_array_equal(k(x, diag=True), k.matrix.diagonal())
    batch = torch.stack([x[:4], x[10:14]])
    np.testing.assert_array_equal(k(batch, x[:3]).to_dense()[1], k.matrix[10:14, :3])
    np.testing.assert_array_equal(k(batch, batch, diag=True)[1], k.matrix.diagonal()[10:14])
    assert k(x.float()).to_dense().dtype == torch.float32
    assert list(k.parameters()) == [] and k.state_dict() == {}


class Process(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood, kernel):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = ScaleKernel(kernel)

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def process(library, known):
    graphs, x, y = library
    noise = gpytorch.likelihoods.GaussianLikelihood()
    return Process(x[known], y[known], noise, LibraryKernel("wl h=2", graphs)), noise


def test_posterior(library):
    """The posterior is that of the textbook, and with the bias of `MLGRegressor` its prediction."""
    graphs, x, y = library
    known, new = list(range(40)), list(range(40, 60))
    ours = MLGRegressor("wl h=2", ridge=0.05).fit([graphs[i] for i in known], y[known].numpy())
    model, noise = process(library, known)
    model.double(), noise.double()
    k = model.covar_module.base_kernel.matrix
    inverse = torch.linalg.inv(k[:40, :40] + 0.05 * torch.eye(40))
    bias = (inverse.sum(0) @ y[known] / inverse.sum()).item()
    model.initialize(**{"covar_module.outputscale": 0.04, "mean_module.constant": bias})
    noise.initialize(noise=0.04 * 0.05)
    model.eval(), noise.eval()
    with torch.no_grad():
        said = model(x[new])
    np.testing.assert_allclose(said.mean, bias + k[40:, :40] @ inverse @ (y[known] - bias), atol=1e-6)
    want = 0.04 * (k[40:, 40:] - k[40:, :40] @ inverse @ k[:40, 40:])
    np.testing.assert_allclose(said.covariance_matrix, want, atol=1e-6)
    np.testing.assert_allclose(said.mean, ours.predict([graphs[i] for i in new]), atol=1e-6)


def test_weights_are_learned(library):
    """A kernel that explains the values gets the weight, and one that is noise does not."""
    graphs, x, y = library
    noise = gpytorch.likelihoods.GaussianLikelihood().double()
    model = Process(x, (y - y.mean()) / y.std(), noise, LibraryKernel("wl h=1", graphs)).double()
    other = LibraryKernel("wl h=1", [graphs[i] for i in np.random.default_rng(0).permutation(60)])
    model.covar_module = ScaleKernel(model.covar_module.base_kernel) + ScaleKernel(other.double()).double()
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(noise, model)
    steps = torch.optim.Adam(model.parameters(), lr=0.1)
    model.train(), noise.train()
    for _ in range(60):
        steps.zero_grad()
        loss = -likelihood(model(x), model.train_targets)
        loss.backward()
        steps.step()
    right, wrong = (k.outputscale.item() for k in model.covar_module.kernels)
    assert right > 5 * wrong


@pytest.mark.parametrize("value", [-1.0, 60.0, 0.5, float("nan"), float("inf")])
def test_wrong_positions(library, value):
    graphs, x, _ = library
    k = LibraryKernel("wl h=1", graphs)
    with pytest.raises(ValueError, match="is no position in a library of 60 graphs, want 0 to 59"):
        k(torch.tensor([[3.0], [value]]), x).to_dense()


def test_wrong_kernel(library):
    graphs, x, _ = library
    with pytest.raises(TypeError, match="want a text such as 'wl h=3', or a kernel"):
        LibraryKernel(3, graphs)
    with pytest.raises(ValueError, match=r"want \(..., 1\): the position"):
        LibraryKernel("wl h=1", graphs)(x.repeat(1, 2)).to_dense()


def test_botorch_example():
    """The loop of the example finds the best of 234 molecules."""
    known, y = runpy.run_path(str(EXAMPLE))["loop"]()
    assert len(set(known)) == len(known) == 30
    assert y[known].max() == y.max()
