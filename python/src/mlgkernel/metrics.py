"""Scores that scikit-learn does not have."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["enrichment_factor"]


def enrichment_factor(y_true: Any, y_score: Any, fraction: float = 0.01, pos_label: Any = 1) -> float:
    """Return the share of positive examples among the best, divided by their share among all.

    The best are the `fraction` of examples with the largest `y_score`, rounded up. Examples with equal
    scores at the border count with equal weights. ``mlg evaluate`` prints this figure for 1 and 5 %.

    Examples
    --------
    >>> from mlgkernel.metrics import enrichment_factor
    >>> enrichment_factor([1, 0, 0, 0], [0.9, 0.2, 0.1, 0.3], fraction=0.25)
    4.0
    """
    positive = np.asarray(y_true) == pos_label
    score = np.asarray(y_score, np.float64)
    if score.ndim != 1 or positive.shape != score.shape:
        raise ValueError(f"y_score has the shape {score.shape}, y_true {positive.shape}, want equal lengths")
    if not 0 < fraction <= 1:
        raise ValueError(f"fraction={fraction}, want more than 0 and at most 1")
    if not positive.any():
        raise ValueError(f"y_true has no example of the class {pos_label!r}, want at least one")
    top = int(np.ceil(fraction * len(score) - 1e-9))
    last = np.sort(score)[-top]
    inside, ties = score > last, score == last
    found = positive[inside].sum() + (top - inside.sum()) * positive[ties].mean()
    return float(found / top / positive.mean())
