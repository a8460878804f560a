"""The tutorial notebook runs from the first cell to the last, without Jupyter."""

from __future__ import annotations

import ast
import json
from pathlib import Path

NOTEBOOK = Path(__file__).resolve().parents[1] / "examples" / "tutorial.ipynb"


def test_tutorial():
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    space: dict[str, object] = {"__name__": "__main__"}
    shown = []
    for i, cell in enumerate(cells):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]), f"cell {i}")
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"cell {i}", "exec"), space)
        if last is not None:
            shown.append(eval(compile(ast.Expression(last.value), f"cell {i}", "eval"), space))
        assert cell["outputs"] == [], "outputs are not kept in the repository"
    pictures = [x for x in shown if hasattr(x, "_repr_svg_")]
    assert len(pictures) == 3
    assert all(p._repr_svg_().startswith("<svg") for p in pictures)
