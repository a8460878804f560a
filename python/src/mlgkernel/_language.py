"""Kernels as texts, in the language of the command: "wl h=3", "0.5 mlg + 0.5 wl * sp"."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

_WORD = re.compile(r"[^\s,()\"=*+]+")


class Text(str):
    """The text of a kernel. `places` are where the values of its parameters begin and end."""

    places: dict[str, tuple[int, int]]

    def parameter(self, character: int) -> str | None:
        """Return the parameter whose value has a character, which is counted from 1."""
        for name, (start, end) in self.places.items():
            if start < character <= max(end, start + 1):
                return name
        return None


# The kernel of those who choose none, which is that of the command.
DEFAULT_KERNEL = "mlg"


def kernel_text(name: str, /, **parameters: Any) -> Text:
    """Return a kernel as a text. An underscore at the end of a parameter's name is left out (`lambda_`)."""
    text, places = name, {}
    for key, value in parameters.items():
        text += f" {key.rstrip('_')}="
        start = len(text)
        text += _value(value)
        places[key.rstrip("_")] = (start, len(text))
    out = Text(text)
    out.places = places
    return out


def _value(value: Any) -> str:
    if isinstance(value, Text):
        return f"({value})"
    if isinstance(value, str):
        plain = _WORD.fullmatch(value) and value.isprintable()
        return value if plain else json.dumps(value, ensure_ascii=False)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, Iterable):
        return ",".join(map(_value, value))
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(int(value))
