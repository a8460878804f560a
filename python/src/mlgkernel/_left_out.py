"""Kernels of GraKeL that this package does not have. Their names can be imported, and say why."""

from __future__ import annotations

from typing import Any

WHY = {
    "LovaszTheta": "it needs a solver of semidefinite programs",
    "SvmTheta": "it approximates LovaszTheta, which needs a solver of semidefinite programs",
}


class LeftOut:
    """A kernel that is not there."""

    def __init__(self, *args: Any, **params: Any) -> None:
        name = type(self).__name__
        raise NotImplementedError(f"mlgkernel has no {name}: {WHY[name]}. Use another kernel, or GraKeL")


class LovaszTheta(LeftOut):
    """GraKeL's kernel of Lovász numbers, which is left out."""


class SvmTheta(LeftOut):
    """GraKeL's kernel of an approximation of Lovász numbers, which is left out."""
