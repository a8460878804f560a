"""Writes the reference of the package, docs/reference/python-reference.md, from its docstrings.

python python/reference.py          # in an environment in which the package is installed
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path

import mlgkernel

TARGET = Path(__file__).resolve().parents[1] / "docs" / "reference" / "python-reference.md"
HEAD = """# Reference of the Python package

Made by `python/reference.py` from the docstrings of `mlgkernel`; [python.md](python.md) is the manual.
"""


LISTS = ("Parameters", "Attributes", "Returns", "Raises")


def markdown(doc: str) -> str:
    """Return a docstring in NumPy's form as Markdown."""
    out: list[str] = []
    section, code = "", False
    lines = inspect.cleandoc(doc).splitlines()
    for line, after in zip(lines, [*lines[1:], ""]):
        if after and set(after) == {"-"} and line:
            section = line
            if code:
                out[-1:] = ["```\n"]  # in place of the empty line before the heading
                code = False
            out.append(f"**{line}**\n")
        elif line and set(line) == {"-"}:
            continue
        elif section == "Examples":
            if line and not code:
                out.append("```python")
                code = True
            out.append(line)
        elif section in LISTS and line and not line.startswith(" "):
            name, colon, kind = line.partition(" : ")
            broken = "\\" if after.startswith("    ") else ""  # the description stands in a line of its own
            out.append(f"- `{name}`" + (f": {kind.rstrip()}" if colon else "") + broken)
        else:
            out.append(line[2:] if section in LISTS and line.startswith("    ") else line)
    while out and not out[-1]:
        out.pop()
    if code:
        out.append("```")
    return re.sub(r"\n{3,}", "\n\n", "\n".join(out))


class Named:
    """A function or class that is shown by its name."""

    def __init__(self, value: object) -> None:
        self.value = value

    def __repr__(self) -> str:
        return self.value.__name__  # type: ignore[attr-defined]


def signature(f: object) -> str:
    """Return parameters with their defaults, without types."""
    if inspect.isclass(f) and issubclass(f, BaseException):
        return ""
    given = inspect.signature(f)  # type: ignore[arg-type]
    empty = inspect.Parameter.empty
    bare = []
    for p in given.parameters.values():
        if p.name not in ("self", "cls"):
            named = p.default is not empty and hasattr(p.default, "__name__")
            bare.append(p.replace(annotation=empty, default=Named(p.default) if named else p.default))
    return str(given.replace(parameters=bare, return_annotation=inspect.Signature.empty))


# What kernels in Python define, and the others only inherit.
OWN = ("initialize", "pairwise_operation", "parse_input")


def methods(cls: type) -> list[str]:
    """Return an entry for each public method of a class that this package documents."""
    out = []
    for name, f in inspect.getmembers(cls, callable):
        if name in OWN and cls is not mlgkernel.Kernel:
            continue
        where = getattr(f, "__module__", "") or ""
        text = inspect.getdoc(f)  # of the class above, where a method has none of its own
        if name.startswith("_") or not where.startswith("mlgkernel") or not text:
            continue
        out.append(f"- `{name}{signature(f)}`: {text.partition(chr(10) * 2)[0]}")
    return out


def entry(prefix: str, name: str, value: object) -> str:
    """Return the section of a class or function."""
    text = f"### `{prefix}{name}{signature(value)}`\n\n{markdown(value.__doc__ or '')}\n"
    found = methods(value) if inspect.isclass(value) else []
    return text + ("\n**Methods**\n\n" + "\n".join(found) + "\n" if found else "")


def public(module: object) -> list[tuple[str, object]]:
    """Return the classes and functions that a module exports and that have parameters of their own."""
    names = sorted(module.__all__, key=str.lower)  # type: ignore[attr-defined]
    values = [(n, getattr(module, n)) for n in names]
    return [(n, v) for n, v in values if inspect.isfunction(v) or inspect.isclass(v)]


def reference() -> str:
    """Return the whole reference."""
    parts = [HEAD, "## mlgkernel\n"]
    parts += [entry("", n, v) for n, v in public(mlgkernel)]
    for module in (mlgkernel.datasets, mlgkernel.explain, mlgkernel.metrics, mlgkernel.splits):
        short = module.__name__.rpartition(".")[2]
        parts.append(f"## mlgkernel.{short}\n\n{(module.__doc__ or '').strip()}\n")
        parts += [entry(f"{short}.", n, v) for n, v in public(module)]
    return "\n".join(parts)


if __name__ == "__main__":
    TARGET.write_text(reference(), encoding="utf-8")
    sys.stdout.write(f"{TARGET}\n")
