"""What to measure next."""

import json
import subprocess

import numpy as np
import pytest

from mlgkernel import MLGClassifier, MLGRegressor, _engine, suggest


def oxygen(graphs):
    """Return the share of oxygen in each molecule, which a normalised kernel can learn."""
    return np.array([g.smiles.upper().count("O") / g.n for g in graphs])


@pytest.fixture(scope="module")
def shares(drugs):
    y = oxygen(drugs.graphs)
    return drugs.graphs, y, MLGRegressor("wl h=2", ridge=0.001).fit(drugs.graphs[:60], y[:60])


def test_values(shares):
    graphs, y, model = shares
    found = suggest(model, graphs, 5)
    assert len(found) == 5 and all(s.index >= 60 for s in found)
    value, std = model.predict([graphs[s.index] for s in found], return_std=True)
    np.testing.assert_array_equal([s.value for s in found], value)
    np.testing.assert_array_equal([s.std for s in found], std)
    assert all(0 < s.true_std < s.std and s.label is None and s.cost == 1 and s.nearest for s in found)
    assert y[[s.index for s in found]].mean() > np.quantile(y[60:], 0.8)
    assert suggest(model, graphs, 3) == found[:3]
    small = suggest(model, graphs, 5, goal="min")
    assert y[[s.index for s in small]].mean() < np.quantile(y[60:], 0.2)
    inside = suggest(model, graphs, 5, goal=(0.2, 0.22), exclude=[graphs[found[0].index]])
    assert all(0.1 < s.value < 0.32 for s in inside)
    assert suggest(model, graphs, 2, goal=0.21)[0].gain >= 0
    assert len(suggest(model, graphs, 4, goal="learn")) == 4
    cheap = np.linspace(1, 9, len(graphs))
    bought = suggest(model, graphs, cost=cheap, budget=12)
    assert 0 < sum(s.cost for s in bought) <= 12
    assert suggest(model, graphs[:60], 3) == []
    with pytest.raises(ValueError, match="X is empty"):
        suggest(model, [], 3)
    a, b = (suggest(model, graphs, 3, acquisition="thompson", random_state=k) for k in (1, 2))
    assert a != b


def test_classes(drugs):
    y = np.array(["yes" if t == "steroid" else "no" for t in drugs.target])
    model = MLGClassifier("wl h=2").fit(drugs.graphs[::2], y[::2])
    found = suggest(model, drugs.graphs, 4, label="yes")
    assert found[0].label == "yes" and found[0].value is None and found[0].index % 2 == 1
    assert 0 <= found[0].probability <= 1
    assert suggest(model, drugs.graphs, 4)[0].probability < 0.99
    with pytest.raises(ValueError, match=r"goal='min' is for values, but the model predicts classes"):
        suggest(model, drugs.graphs, 4, goal="min")
    with pytest.raises(ValueError, match=r"label='maybe', want one of \['no', 'yes'\]"):
        suggest(model, drugs.graphs, 4, label="maybe")


def test_loop(drugs):
    """Ask and tell: the best is found in a few rounds."""
    y = oxygen(drugs.graphs)
    known = list(range(0, 230, 23))
    for _ in range(5):
        model = MLGRegressor("wl h=2").fit([drugs.graphs[i] for i in known], y[known])
        known += [s.index for s in suggest(model, drugs.graphs, 4)]
    assert len(set(known)) == 30 and y[known].max() == y.max()


@pytest.fixture(scope="module")
def two(drugs):
    """Return graphs with their shares of oxygen and nitrogen, and a model of 60 of them."""
    y = np.stack([[g.smiles.upper().count(x) / g.n for g in drugs.graphs] for x in "ON"], axis=1)
    known = y[:60].copy()
    known[::7, 1] = np.nan
    return drugs.graphs, y, MLGRegressor("wl h=2", ridge=0.01).fit(drugs.graphs[:60], known)


def test_several_targets(two, tmp_path):
    """Goals of several targets: those of the command, of whose model file nothing else is known."""
    graphs, y, model = two
    found = suggest(model, graphs, 4, goal={"0": "max", "1": (0.05, None)})
    (std, values), at = model.predict(graphs, return_std=True)[::-1], [s.index for s in found]
    assert len(found) == 4 and all(
        s.value is None and s.std is None and 0 <= s.probability <= 1 for s in found
    )
    for column, name in enumerate(["0", "1"]):
        np.testing.assert_array_equal([s.targets[name].value for s in found], values[at, column])
        np.testing.assert_array_equal([s.targets[name].std for s in found], std[at, column])
    assert y[at[0], 0] > np.quantile(y[60:, 0], 0.8) and values[at[0], 1] > 0.05
    model.save(tmp_path / "two.mlg")
    pool = tmp_path / "pool.smi"
    pool.write_text("".join(f"{g.smiles} {i}\n" for i, g in enumerate(graphs)))
    for goal in (
        {0: "max", 1: (0.05, None)},
        {"0": "max", "1": "max"},
        {"1": 0.1, "0": (None, 0.2)},
        {1: "min"},
    ):
        flags = []
        for name, g in goal.items():
            text = ":".join("" if end is None else str(end) for end in g) if isinstance(g, tuple) else g
            flags += ["--goal", f"{name}={text}"]
        done = subprocess.run(
            [str(_engine.binary()), "--json", "suggest", "two.mlg", "pool.smi", "-k", "3", *flags],
            capture_output=True,
            text=True,
            timeout=240,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        got = suggest(model, [g.smiles for g in graphs], 3, goal=goal)
        want = json.loads(done.stdout)["batch"]
        assert [str(s.index) for s in got] == [x["id"] for x in want]
        assert [s.gain for s in got] == [x["acquisition"] for x in want]
        assert [s.front for s in got] == [x.get("front") for x in want]
    # What was measured for all targets that matter is left out: a graph without nitrogen's value is not.
    open_ = [s.index for s in suggest(model, graphs[:60], 60, goal={"1": "max"})]
    assert sorted(open_) == list(range(0, 60, 7))
    assert suggest(model, graphs[:60], 60, goal={"0": "max"}) == []


def test_loop_of_several(two):
    """Ask and tell with two goals: the front grows."""
    graphs, y, _ = two
    known = list(range(0, 230, 23))
    area = []
    for _ in range(4):
        area.append(max(y[i, 0] * y[i, 1] for i in known))
        model = MLGRegressor("wl h=2").fit([graphs[i] for i in known], y[known])
        known += [s.index for s in suggest(model, graphs, 4, goal={"0": "max", "1": "max"})]
    assert len(set(known)) == 26 and area[-1] > 1.2 * area[0]


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ("max", r"goal='max', but the model has the targets 0, 1; want a dictionary such as {'0': 'max'}"),
        ({}, "goal={}, want a goal of some target"),
        ({"2": "max"}, 'the model has no target "2", want one of 0, 1'),
        ({"0": "best", "1": "max"}, 'target 0: goal "best": want max, min'),
        ({"0": None}, "goal=None, want 'max'"),
        ({"0": "max", 0: "min"}, "named twice"),
        ({"0": "learn", "1": "max"}, "the goal learn is for one target alone"),
    ],
)
def test_wrong_goals(two, goal, message):
    graphs, _, model = two
    with pytest.raises(ValueError, match=message):
        suggest(model, graphs, 3, goal=goal)


def test_goals_of_other_models(shares, drugs):
    graphs, y, model = shares
    with pytest.raises(ValueError, match="but the model has one target; want a goal alone, such as 'max'"):
        suggest(model, graphs, 3, goal={"y": "max"})
    classes = MLGClassifier("wl h=2").fit(graphs[:40], np.stack([y[:40] > 0.1, y[:40] > 0.15], axis=1))
    with pytest.raises(ValueError, match="suggest by classes is for models of one target"):
        suggest(classes, graphs, 3)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"q": 0}, "q=0, want at least 1"),
        ({"goal": "most"}, 'goal "most": want max, min, learn'),
        ({"goal": None}, "goal=None, want 'max', 'min'"),
        ({"goal": (3, 1)}, "begins below its end"),
        ({"acquisition": "best"}, "acquisition best is not for the goal max"),
        ({"budget": -1}, "budget=-1, want more than 0"),
        ({"beta": -1}, "beta=-1, want at least 0"),
        ({"cost": [1]}, r"cost has the shape \(1,\) for 234 graphs, want \(234,\)"),
        ({"cost": [[1]] * 234}, r"cost has the shape \(234, 1\)"),
        ({"cost": [1, 0] * 117}, r"cost\[1\]=0, want a positive number"),
        ({"cost": [float("nan")] * 234}, r"cost\[0\]=nan, want a positive number"),
        ({"label": "x"}, "label is for classes"),
    ],
)
def test_wrong(shares, wrong, message):
    graphs, _, model = shares
    with pytest.raises(ValueError, match=message):
        suggest(model, graphs, **wrong)


def test_exclude_is_a_collection(shares):
    """The letters of a SMILES are not taken for molecules."""
    graphs, _, model = shares
    with pytest.raises(TypeError, match=r"exclude='CCN' is a text, want a collection.*\['CCN'\]"):
        suggest(model, graphs, exclude="CCN")
    with pytest.raises(TypeError, match="X is one graph, want a collection of graphs"):
        suggest(model, graphs, exclude=graphs[0])


def test_small_values(shares):
    """The gain of predictions and bounds is a value, also where small ones are wanted."""
    graphs, _, model = shares
    found = suggest(model, graphs, 5, goal="min", acquisition="mean")
    assert [s.gain for s in found] == [s.value for s in found]


def test_wrong_model(shares):
    graphs, y, _ = shares
    with pytest.raises(TypeError, match="model is str, want MLGRegressor"):
        suggest("model", graphs)
    machine = MLGRegressor("wl h=2", C=10).fit(graphs[:20], y[:20])
    with pytest.raises(ValueError, match="no deviations"):
        suggest(machine, graphs)
