"""Scores that scikit-learn does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["enrichment_factor"]


def enrichment_factor(y_true: Any, y_score: Any, fraction: float = 0.01, pos_label: Any = 1) -> float:
    """Return how many times as many positive examples are among the best as among all.

    The best are `fraction` of the examples, rounded up, by falling `y_score`. Equal scores at the end
    count with equal weights. ``mlg evaluate`` prints this figure for 1 and 5 %.

    Examples
    --------
    >>> from mlgkernel.metrics import enrichment_factor
    >>> enrichment_factor([1, 0, 0, 0], [0.9, 0.2, 0.1, 0.3], fraction=0.25)
    4.0
    """
    positive = np.asarray(y_true) == pos_label
    score = np.asarray(y_score, np.float64)
    if score.ndim != 1 or positive.shape != score.shape:
        raise ValueError(f"scores of shape {score.shape} for {positive.shape} classes")
    if not 0 < fraction <= 1 or not positive.any():
        raise ValueError(f"fraction = {fraction}, {positive.sum()} positive: want over 0 to 1, and some")
    top = int(np.ceil(fraction * len(score) - 1e-9))
    last = np.sort(score)[-top]
    inside, ties = score > last, score == last
    found = positive[inside].sum() + (top - inside.sum()) * positive[ties].mean()
    return float(found / top / positive.mean())
