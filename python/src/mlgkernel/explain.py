"""Why graphs are similar, and why a model decides as it does: numbers, and pictures in notebooks."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from html import escape
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._kernel import number
from ._learner import Learner
from .exceptions import DirectedWarning
from .graph import Graph
from .graph_kernels import GraphKernel
from .kernels import Kernel, MultiscaleLaplacian

__all__ = [
    "Decision",
    "Picture",
    "Similarity",
    "decision",
    "decisions",
    "draw",
    "heatmap",
    "map_of",
    "similarity",
]


@dataclass
class Picture:
    """An SVG picture, which notebooks show.

    Attributes
    ----------
    svg : str
        The text of the picture.

    Examples
    --------
    >>> from mlgkernel import explain
    >>> explain.draw("CCO").svg[:4]
    '<svg'
    """

    svg: str = field(repr=False)
    _request: tuple[Any, ...] = field(repr=False, default=(), compare=False)  # that drew it

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Any, scale: float = 2.0) -> None:
        """Write the picture to a file: PNG if its name ends in ``.png``, with `scale` pixels for one of the
        picture, else SVG, to a name that ends in ``.svg`` or has no ending."""
        ending = os.path.splitext(os.fspath(path))[1].lower()
        if ending not in ("", ".svg", ".png"):
            raise ValueError(f"path={os.fspath(path)!r}, want a name that ends in .svg or .png")
        data = self.svg.encode()
        if ending == ".png":
            if not number("scale", scale) > 0:
                raise ValueError(f"scale={scale}, want a positive number")
            op, args, body, held = self._request
            data = _engine.call(op, dict(args, png=float(scale)), body(), held=held)[1]["png"].tobytes()
        with open(path, "wb") as f:
            f.write(data)


def _drawn(
    op: str, args: dict[str, Any], body: Callable[[], bytes], held: _engine.Held | None = None
) -> tuple[dict[str, Any], Picture]:
    """Return the result of a request that draws, and its picture."""
    result = _engine.call(op, args, body(), held=held)[0]
    return result, Picture(result["svg"], (op, args, body, held))


@dataclass
class Similarity:
    """Why two graphs G and H are similar.

    Attributes
    ----------
    k : float
        The kernel value.
    g, h : ndarray
        What every vertex contributes to k. The contributions of each graph add up to k. With
        ``slopes=True``: how log k changes when a vertex counts more.
    matching : list of (int, int, float) or None
        Pairs of vertices of G and H with their similarity.
    names : pair of lists of str or None
        The names of the vertices of G and of H, None for a graph without names.
    picture : Picture
        Both graphs side by side. Matched vertices have equal numbers.
    raw : dict
        The whole answer of the program.

    Examples
    --------
    >>> from mlgkernel import WeisfeilerLehman, explain
    >>> why = explain.similarity("CCO", "CCCO", WeisfeilerLehman(normalize=True).fit(["CCO", "CCCO"]))
    >>> bool(abs(why.g.sum() - why.k) < 1e-9 and abs(why.h.sum() - why.k) < 1e-9)
    True
    """

    k: float
    g: np.ndarray
    h: np.ndarray
    matching: list[tuple[int, int, float]] | None
    picture: Picture = field(repr=False)
    raw: dict[str, Any] = field(repr=False)
    names: tuple[list[str] | None, list[str] | None] = (None, None)

    def _repr_html_(self) -> str:
        return f"<p>k = {self.k:.4g}</p>{self.picture.svg}"

    def _repr_svg_(self) -> str:
        return self.picture.svg


@dataclass
class Decision:
    """Why a model decides as it does on a graph.

    Attributes
    ----------
    value : float
        The margin for the class, or the predicted value.
    baseline : float
        0 for a class; the mean of the training values for a regressor.
    towards : object
        The class that positive contributions speak for; None for a regressor.
    vertices : ndarray
        What every vertex contributes. Contributions add up to ``value - baseline``. With ``slopes=True``:
        how the value changes when a vertex counts more.
    names : list of str or None
        The names of the vertices, None for a graph without names.
    says : str
        What is explained, in words.
    terms : list of (int, float, float)
        For each training graph that enters: its position, kernel value and term of the sum.
    picture : Picture
    raw : dict
        The whole answer of the program.

    Examples
    --------
    >>> from mlgkernel import MLGClassifier, explain
    >>> model = MLGClassifier().fit(["CC", "CCO", "CCCO", "CCCC"], ["alkane", "alcohol", "alcohol", "alkane"])
    >>> why = explain.decision(model, "CCCCO")
    >>> why.towards, bool(abs(why.vertices.sum() - why.value) < 1e-9)
    ('alcohol', True)
    """

    value: float
    baseline: float
    towards: Any
    vertices: np.ndarray
    says: str
    terms: list[tuple[int, float, float]] = field(repr=False)
    picture: Picture = field(repr=False)
    raw: dict[str, Any] = field(repr=False)
    names: list[str] | None = None

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.says)}</p>{self.picture.svg}"

    def _repr_svg_(self) -> str:
        return self.picture.svg


def _size(width: float, height: float) -> dict[str, float]:
    """Return what is not the usual size."""
    return {k: v for k, v in (("Width", width), ("Height", height)) if v > 0}


def _picture(title: str, width: float, height: float, numbers: bool, style: str) -> dict[str, Any]:
    return {"Title": title, "Size": _size(width, height), "Numbers": numbers, "Style": style}


def _exactly(n: int, graphs: list[Graph], what: str, hint: str = "") -> list[Graph]:
    """Return graphs, which must be so many: an argument may be a batch."""
    if len(graphs) != n:
        raise ValueError(f"{what} {len(graphs)} graphs, want {n}{hint}")
    return graphs


def similarity(
    g: Any,
    h: Any,
    model: Any = None,
    *,
    slopes: bool = False,
    match: int | None = None,
    title: str = "",
    width: float = 0,
    height: float = 0,
    numbers: bool = False,
    style: str = "auto",
) -> Similarity:
    """Explain the similarity of two graphs.

    Parameters
    ----------
    g, h : graphs
        Anything that is an element of a collection of graphs.
    model : fitted kernel, MLGClassifier or MLGRegressor, optional
        Where the kernel comes from. Without it, ``MultiscaleLaplacian()`` is fitted to the two graphs.
        Functions of labels (`SubgraphMatching`) are not explained.
    slopes : bool
        Return slopes instead of contributions: how the value changes when a vertex counts more. Slopes do
        not add up to the value. Not every kernel has them.
    match : int, optional
        Match the vertices of the two by their similarity at this level.
    title, width, height, numbers, style
        Of the picture. The size is that of one graph; 0 is the usual size. Styles are auto, molecule and
        network.

    Returns
    -------
    Similarity

    Examples
    --------
    >>> from mlgkernel import explain
    >>> why = explain.similarity("CCO", "CCN")
    >>> bool(abs(why.g.sum() - why.k) < 1e-9)
    True
    """
    if isinstance(model, GraphKernel):
        check_is_fitted(model, "kernel_")
        model = model.kernel_
    if getattr(model, "_tables", None):
        raise ValueError(
            f"{type(model).__name__} with functions of labels is not explained, want 'equal' or None"
        )
    if isinstance(model, Kernel) and hasattr(model, "X"):
        raise ValueError(f"{type(model).__name__} is computed in Python, and such kernels are not explained")
    graphs = _exactly(2, as_graphs([g, h], model), "g and h have")
    if model is None:
        with warnings.catch_warnings():  # the call below tells it
            warnings.simplefilter("ignore", DirectedWarning)
            model = MultiscaleLaplacian().fit(graphs)
    check_is_fitted(model, "kernel_")
    args = {
        "slopes": bool(slopes),
        "match": -1 if match is None else int(match),
        "picture": _picture(title, width, height, numbers, style),
    }
    result, picture = _drawn("similarity", args, partial(pack, graphs), model._held)
    c = result["comparison"]
    pairs = None
    if match is not None:
        pairs = [(p["g"], p["h"], p["similarity"]) for p in result["matching"]["pairs"]]
    return Similarity(
        c["k"],
        np.array(c["g"]["vertices"]),
        np.array(c["h"]["vertices"]),
        pairs,
        picture,
        result,
        (c["g"].get("names"), c["h"].get("names")),
    )


def decision(
    model: Any,
    g: Any,
    *,
    classes: tuple[Any, Any] | None = None,
    slopes: bool = False,
    title: str = "",
    width: float = 0,
    height: float = 0,
    numbers: bool = False,
    style: str = "auto",
) -> Decision:
    """Explain the decision of a classifier or regressor on a graph.

    Parameters
    ----------
    model : fitted MLGClassifier or MLGRegressor
    g : graph
    classes : pair of classes, optional
        The contributions speak for the first class and against the second. By default, for the predicted
        class and against all others.
    slopes, title, width, height, numbers, style
        As in `similarity`.

    Returns
    -------
    Decision
        The contributions of the vertices add up to ``value - baseline``. A graph without vertices has none.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor, explain
    >>> model = MLGRegressor().fit(["CC", "CCO", "CCCO", "CCCC"], [0.0, 1.0, 1.0, 0.0])
    >>> why = explain.decision(model, "CCCCO")
    >>> bool(abs(why.vertices.sum() - (why.value - why.baseline)) < 1e-9)
    True
    """
    if not isinstance(model, Learner):
        raise TypeError(f"model is {type(model).__name__}, want MLGRegressor or MLGClassifier")
    check_is_fitted(model, "kernel_")
    model._wants_one("explain.decision")
    graphs = _exactly(1, as_graphs([g], model), "g has", "; explain.decisions takes several")
    towards, against = -1, -1
    names = getattr(model, "classes_", None)
    if classes is not None:
        if names is None:
            raise ValueError(f"classes={classes!r}, but the model predicts values")
        known = names.tolist()
        try:
            towards, against = (known.index(c) for c in classes)
        except ValueError:
            raise ValueError(f"classes={classes!r}, want two of {known}") from None
        if towards == against:
            raise ValueError(f"classes={classes!r}, want two different classes")
    args = {
        "slopes": bool(slopes),
        "class": towards,
        "against": against,
        "picture": _picture(title, width, height, numbers, style),
    }
    result, picture = _drawn("decision", args, partial(pack, graphs), model._held)
    p = result["prediction"]
    terms = [(t["graph"], t["k"], t["value"]) for t in p["graphs"]]
    speaks = None if names is None else names.tolist()[result["class"]]
    return Decision(
        p["value"],
        p["baseline"],
        speaks,
        np.array(p["vertices"]),
        p["says"],
        terms,
        picture,
        result,
        p.get("names"),
    )


def decisions(model: Any, X: Any, **options: Any) -> list[Decision]:
    """Explain the decision on each graph of a collection; `options` are those of `decision`.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor, explain
    >>> model = MLGRegressor().fit(["CC", "CCO", "CCCO", "CCCC"], [0.0, 1.0, 1.0, 0.0])
    >>> [len(why.vertices) for why in explain.decisions(model, ["CCCCO", "C"])]
    [5, 1]
    """
    check_is_fitted(model, "kernel_")
    return [decision(model, g, **options) for g in as_graphs(X, model)]


def draw(
    g: Any,
    values: Sequence[float] | np.ndarray | None = None,
    *,
    name: str = "value",
    title: str = "",
    width: float = 0,
    height: float = 0,
    numbers: bool = False,
    style: str = "auto",
) -> Picture:
    """Draw a graph, with colours for `values` of its vertices."""
    graphs = _exactly(1, as_graphs([g]), "g has")
    args: dict[str, Any] = {"name": name, "picture": _picture(title, width, height, numbers, style)}
    if values is not None:
        v = np.asarray(values, dtype=np.float64)
        if v.shape != (graphs[0].n,) or not np.isfinite(v).all():
            raise ValueError(f"values: shape {v.shape}, want {graphs[0].n} finite numbers")
        args["values"] = v.tolist()
    return _drawn("draw", args, partial(pack, graphs))[1]


def _matrix(kind: str, k: Any, classes: Any, title: str, width: float, height: float) -> Picture:
    m = np.ascontiguousarray(k, dtype="<f8")
    if m.ndim != 2 or m.shape[0] != m.shape[1]:
        raise ValueError(f"k: shape {m.shape}, want a square matrix")
    args = {
        "rows": len(m),
        "kind": kind,
        "title": title,
        "classes": None if classes is None else [str(c) for c in classes],
        "size": _size(width, height),
    }
    if classes is not None and len(classes) != len(m):
        given = _engine.counted(len(classes), "entry", "entries")
        raise ValueError(f"classes has {given} for {len(m)} graphs, want one for each")
    return _drawn("draw-matrix", args, m.tobytes)[1]


def heatmap(k: Any, classes: Any = None, *, title: str = "", width: float = 0, height: float = 0) -> Picture:
    """Draw a kernel matrix as colours, similar graphs side by side."""
    return _matrix("heatmap", k, classes, title, width, height)


def map_of(k: Any, classes: Any = None, *, title: str = "", width: float = 0, height: float = 0) -> Picture:
    """Draw graphs as points by the two leading components of their kernel matrix."""
    return _matrix("map", k, classes, title, width, height)
