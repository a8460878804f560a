#!/usr/bin/env python3
"""AUC of `mlg train` on rows that it has not seen, with what the model costs.

    python3 beside.py TABLE TARGET SEED TRAIN TEST NAME=MLG… [xgboost]

Rows with a value are shuffled by SEED. The first TRAIN of them train, the next TEST are predicted; 0 0 stands for four
fifths and the rest. Every MLG does it with the same rows. xgboost adds that of classes.py (needs what that needs).
"""

import csv
import importlib.util
import json
import pathlib
import random
import resource
import subprocess
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parents[2]


def auc(classes, scores):
    """Return the share of pairs of both classes that scores put in order, ties half."""
    order = sorted(range(len(scores)), key=lambda i: scores[i])
    rank, i = [0.0] * len(scores), 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and scores[order[j + 1]] == scores[order[i]]:
            j += 1
        for k in range(i, j + 1):
            rank[order[k]] = (i + j) / 2 + 1
        i = j + 1
    ones = sum(classes)
    return (sum(r for r, c in zip(rank, classes) if c) - ones * (ones + 1) / 2) / (ones * (len(classes) - ones))


def command(*args):
    """Return what a command prints and its processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    out = subprocess.run([str(a) for a in args], check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return out, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    table, target, seed, train, test, *mlgs = sys.argv[1:]
    with open(table) as f:
        rows = [(r["smiles"], r[target]) for r in csv.DictReader(f) if r[target] != ""]
    random.Random(int(seed)).shuffle(rows)
    train, test = int(train) or len(rows) * 4 // 5, int(test) or len(rows)
    parts = {"train": rows[:train], "test": rows[train : train + test]}
    for mlg in mlgs:
        if mlg == "xgboost":
            spec = importlib.util.spec_from_file_location("classes", BENCH / "chemistry" / "classes.py")
            classes = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(classes)
            x = {name: classes.features([s for s, _ in some]) for name, some in parts.items()}
            y = {name: [float(v) for _, v in some] for name, some in parts.items()}
            trees = classes.xgboost.XGBClassifier(n_estimators=300, n_jobs=2, tree_method="hist").fit(x["train"], y["train"])
            scores = trees.predict_proba(x["test"])[:, 1]
            print(f"{target} seed {seed}: xgboost AUC {auc([v == 1 for v in y['test']], scores):.4f}", flush=True)
            continue
        name, mlg = mlg.split("=")
        with tempfile.TemporaryDirectory() as folder:
            at = pathlib.Path(folder)
            for part, some in parts.items():
                with open(at / f"{part}.csv", "w", newline="") as f:
                    w = csv.writer(f)
                    w.writerow(["smiles", target, "row"])
                    w.writerows([*r, f"r{i}"] for i, r in enumerate(some))
            model = at / "m.mlg"
            flags = ["--target", target, "--task", "classification"]
            out, trained = command(mlg, "--quiet", "--json", "train", at / "train.csv", "-o", model, "--id", "row", *flags)
            plan = json.loads(out)
            out, predicted = command(mlg, "--quiet", "--json", "predict", model, at / "test.csv", "--id", "row")
            size = model.stat().st_size
        said = {p["id"]: p for p in map(json.loads, out.splitlines())}
        one = next(c for c in plan["classes"] if float(c) == 1)
        known = [(float(v) == 1, said[f"r{i}"]["probability"][one]) for i, (_, v) in enumerate(parts["test"]) if "error" not in said[f"r{i}"]]
        told = plan["estimate"]
        print(
            f"{target} seed {seed}: {name} {plan['graphs']} to train, {len(known)} predicted, AUC {auc(*zip(*known)):.4f}, "
            f"told {told['value']:.4f} ± {told['deviation']:.4f}, {len(plan['kernels'])} kernels, ridge {plan['value']:g}, {size / 1e6:.1f} MB, "
            f"processor {trained:.0f} s to train, {predicted:.0f} s to predict; " + ", ".join(k["candidate"] for k in plan["kernels"][:40]),
            flush=True,
        )


main()
