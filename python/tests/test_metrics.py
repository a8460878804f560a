"""Enrichment by hand, and as the command has it."""

from __future__ import annotations

import numpy as np
import pytest

from mlgkernel.metrics import enrichment_factor


def test_enrichment():
    score = -np.arange(20.0)  # the best of three positives is second
    y = np.isin(np.arange(20), [1, 7, 19])
    assert enrichment_factor(y, score, 0.05) == 0
    assert enrichment_factor(y, score, 0.1) == pytest.approx(0.5 / 0.15)
    assert enrichment_factor(y, score, 0.07) == pytest.approx(0.5 / 0.15)
    assert enrichment_factor(y, score, 1) == pytest.approx(1)
    # Two of four equal scores, half of them positive, are among the best three.
    assert enrichment_factor([1, 1, 1, 0, 0, 0], [5, 2, 2, 2, 2, 1], 0.5) == pytest.approx(
        (1 + 2 * 0.5) / 3 / 0.5
    )
    assert enrichment_factor(["a", "b"], [1, 0], 0.5, pos_label="a") == 2
    for bad in ([0, 0], [1, 0], 0.5), ([1, 0], [1], 0.5), ([1, 0], [1, 0], 0):
        with pytest.raises(ValueError, match=r"scores of|want"):
            enrichment_factor(*bad)
