"""What to measure next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _engine
from ._batch import pack
from ._inputs import as_graphs
from ._kernel import number, seed, string, whole
from .classifier import MLGClassifier
from .graph import Graph
from .regressor import MLGRegressor

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Expected(NamedTuple):
    """What is predicted of one target: the value, and the deviations of a measured and of the true value."""

    value: float
    std: float
    true_std: float


class Suggestion(NamedTuple):
    """A graph that is worth a measurement.

    Attributes
    ----------
    index : int
        Its place in the pool.
    value, std, true_std : float or None
        The predicted value, with the deviations of a measured and of the true value. None for classes, and
        for goals of several targets.
    label : object
        The predicted class; None for values.
    probability : float or None
        Of the wanted class; for goals of several targets that all ranges hold.
    gain : float
        What it adds to the graphs before it, as the acquisition function counts it.
    cost : float
    why : str
        "good", "uncertain", either with ", new" if no training graph is like it.
    nearest, similarity : str, float
        The most similar training graph.
    targets : dict of str to (value, std, true_std), or None
        For goals of several targets what is predicted of each.
    front : bool or None
        For goals of several targets whether no graph of the pool is predicted to be better in one of them and
        as good in the others.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor, suggest
    >>> model = MLGRegressor("wl h=2", ridge=0.01).fit(["CC", "CCC", "CCO"], [2, 3, 4])
    >>> suggest(model, ["CC", "CCCO"], 1)[0].index
    1
    """

    index: int
    value: float | None
    std: float | None
    true_std: float | None
    label: Any
    probability: float | None
    gain: float
    cost: float
    why: str
    nearest: str
    similarity: float
    targets: dict[str, Expected] | None = None
    front: bool | None = None


def _goal(goal: Any) -> str:
    if isinstance(goal, str):
        return goal
    if isinstance(goal, (tuple, list)) and len(goal) == 2:
        return ":".join("" if end is None else repr(number("goal", end)) for end in goal)
    if isinstance(goal, (int, float, np.number)) and not isinstance(goal, bool):
        return repr(float(goal))
    raise ValueError(
        f"goal={goal!r}, want 'max', 'min', 'learn', a number to reach, or a range such as (1, 3) "
        "or (1, None)"
    )


def _goals(goal: Any, model: MLGRegressor | MLGClassifier) -> dict[str, Any]:
    """Return the arguments that say what is wanted of the targets of a model."""
    targets = model.targets_
    if not isinstance(goal, dict):
        if targets is not None:
            raise ValueError(
                f"goal={goal!r}, but the model has the targets {', '.join(targets)}; want a dictionary such "
                f"as {{{targets[0]!r}: 'max'}}"
            )
        return {"goal": _goal(goal)}
    if targets is None:
        raise ValueError(f"goal={goal!r}, but the model has one target; want a goal alone, such as 'max'")
    if not goal:
        raise ValueError("goal={}, want a goal of some target")
    return {"goals": [{"target": str(name), "goal": _goal(g)} for name, g in goal.items()]}


def _costs(cost: Any, graphs: int) -> list[float]:
    values = np.asarray(cost, float)
    if values.shape != (graphs,):
        raise ValueError(f"cost has the shape {values.shape} for {graphs} graphs, want ({graphs},)")
    for i, v in enumerate(values):
        if not 0 < v < np.inf:
            raise ValueError(f"cost[{i}]={v:g}, want a positive number")
    return values.tolist()


def suggest(
    model: MLGRegressor | MLGClassifier,
    pool: Any,
    q: int = 20,
    *,
    goal: str | float | tuple[float | None, float | None] | dict[str, Any] = "max",
    label: Any = None,
    acquisition: str | None = None,
    cost: Sequence[float] | np.ndarray | None = None,
    budget: float | None = None,
    exclude: Iterable[Any] = (),
    beta: float = 2.0,
    random_state: Any = 0,
) -> list[Suggestion]:
    """Return the graphs of a pool that are worth a measurement together.

    Graphs are chosen one after the other, each for what it adds to those before it. Those that the model was
    trained on are left out.

    Parameters
    ----------
    model : MLGRegressor or MLGClassifier
        A fitted one. A regressor needs deviations, that is ``learner="ridge"``.
    pool : collection of graphs
    q : int, at least 1
        How many, at most.
    goal : "max", "min", "learn", float, (float or None, float or None), or dict
        For values: large or small ones, those that tell most about all, near a number, or in a range. For a
        model of several targets a goal for each that matters, by name. Ranges must hold then, and of "max",
        "min" and numbers more is better: up to four of them make a front.
    label : object
        For classes: the wanted class. None wants graphs whose class is uncertain.
    acquisition : str or None
        "ei", "probability", "bound", "thompson", "mean", "variance", "uncertainty" or "random". None is the
        one that suits the goal.
    cost : sequence of float, optional
        Of every graph of the pool. Gain then counts per cost.
    budget : float, optional
        Largest sum of costs.
    exclude : collection of graphs
        Graphs that are not wanted.
    beta : float, at least 0
        For "bound": number of deviations.
    random_state : int, RandomState or None
        Seed of what is drawn.

    Returns
    -------
    list of Suggestion
        The best first.

    Examples
    --------
    >>> from mlgkernel import MLGRegressor, suggest
    >>> alkanes = ["C" * n for n in range(1, 12)]
    >>> model = MLGRegressor("wl h=2", ridge=0.01).fit(alkanes[:6], range(1, 7))
    >>> [alkanes[s.index] for s in suggest(model, alkanes, 1)]
    ['CCCCCCCCCCC']

    Of several targets: many carbon atoms, and one of oxygen.

    >>> alcohols = ["C" * n + "O" * m for n in range(1, 8) for m in range(1, 4)]
    >>> counts = [[s.count("C"), s.count("O")] for s in alcohols]
    >>> several = MLGRegressor("wl h=2", ridge=0.01).fit(alcohols[:16], counts[:16])
    >>> [alcohols[s.index] for s in suggest(several, alcohols, 1, goal={"0": "max", "1": (0.5, 1.5)})]
    ['CCCCCCCO']
    """
    if not isinstance(model, (MLGRegressor, MLGClassifier)):
        raise TypeError(f"model is {type(model).__name__}, want MLGRegressor or MLGClassifier")
    check_is_fitted(model, "kernel_")
    if whole("q", q) < 1:
        raise ValueError(f"q={q}, want at least 1")
    if not number("beta", beta) >= 0:
        raise ValueError(f"beta={beta}, want at least 0")
    if budget is not None and not number("budget", budget) > 0:
        raise ValueError(f"budget={budget}, want more than 0")
    classes = []
    if isinstance(model, MLGClassifier):
        model._wants_one("suggest by classes")
        if goal != "max":
            raise ValueError(f"goal={goal!r} is for values, but the model predicts classes; want a label")
        classes = model.classes_.tolist()
    if label is not None and label not in classes:
        raise ValueError(
            f"label={label!r}, want one of {classes}"
            if classes
            else "label is for classes, but the model predicts values"
        )
    graphs = as_graphs(pool, model)
    if isinstance(exclude, str):
        raise TypeError(f"exclude={exclude!r} is a text, want a collection of graphs: exclude=[{exclude!r}]")
    unwanted = exclude if isinstance(exclude, Graph) else list(exclude)
    excluded = as_graphs(unwanted, model) if unwanted != [] else []
    args = {
        "k": int(q),
        **({"goal": "max"} if classes else _goals(goal, model)),
        "class": -1 if label is None else classes.index(label),
        "acquisition": "" if acquisition is None else string("acquisition", acquisition),
        "cost": None if cost is None else _costs(cost, len(graphs)),
        "budget": 0.0 if budget is None else number("budget", budget),
        "beta": number("beta", beta),
        "seed": seed(random_state),
        "excluded": len(excluded),
    }
    with model._working() as bar:
        found = _engine.call("suggest", args, pack(graphs + excluded), held=model._held, progress=bar)[0]
    return [
        Suggestion(
            x["index"],
            x.get("value"),
            x.get("deviation"),
            x.get("true_deviation"),
            classes[x["place"]] if classes else None,
            x.get("probability"),
            x["acquisition"],
            x["cost"],
            x["why"],
            x["nearest"][0]["id"],
            x["similarity"],
            {t["target"]: Expected(t["value"], t["deviation"], t["true_deviation"]) for t in x["targets"]}
            if "targets" in x
            else None,
            x.get("front"),
        )
        for x in found["batch"]
    ]
