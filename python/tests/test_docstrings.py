"""The examples in the docstrings of kernels."""

from __future__ import annotations

import doctest

import pytest

from mlgkernel import frameworks, kernels, subgraphs


@pytest.mark.parametrize("module", [frameworks, kernels, subgraphs])
def test_examples(module):
    result = doctest.testmod(module)
    assert result.attempted and not result.failed
