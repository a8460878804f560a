#!/usr/bin/env python3
"""How good is `mlg train` on rows that it has not seen? A fifth of a table is left out at random.

    python3 bench/holdout.py MLG TABLES NAME FLAGS TABLE:TARGET:SEED,SEED… …  >> NAME.txt

MLG is the command, TABLES a folder of tables with a column smiles, NAME stands in every line, and FLAGS are those of
train. Values have RMSE and MAE, classes 0 and 1 the AUC. Rows without a value are left out.
"""

import csv
import json
import math
import pathlib
import random
import subprocess
import sys
import tempfile
import time


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


def measure(mlg, rows, target, seed, flags, folder):
    """Return targets and predictions of the rows that are left out."""
    random.Random(seed).shuffle(rows)
    left = len(rows) // 5
    for part, some in (("train", rows[left:]), ("test", rows[:left])):
        with open(folder / f"{part}.csv", "w", newline="") as f:
            w = csv.writer(f)
            w.writerow(["smiles", target, "row"])
            w.writerows([r["smiles"], r[target], f"r{i}"] for i, r in enumerate(some))
    model, at = folder / "model.mlg", ["--id", "row"]
    subprocess.run([mlg, "--quiet", "train", folder / "train.csv", "-o", model, "--target", target, *at, *flags], check=True, stdout=subprocess.DEVNULL)
    out = subprocess.run([mlg, "--quiet", "--json", "predict", model, folder / "test.csv", *at], check=True, capture_output=True, text=True)
    said = {p["id"]: p for p in map(json.loads, out.stdout.splitlines())}
    known = [(r[target], said[f"r{i}"]) for i, r in enumerate(rows[:left]) if r[target] != "" and "error" not in said[f"r{i}"]]
    return [float(y) for y, _ in known], [p["value"] if "value" in p else one(p["probability"]) for _, p in known]


def one(probabilities):
    """Return the probability of class 1, which a table may write as 1.0."""
    return next(p for name, p in probabilities.items() if float(name) == 1)


def main():
    mlg, tables, name, flags, *jobs = sys.argv[1:]
    for job in jobs:
        table, target, seeds = job.split(":")
        for seed in map(int, seeds.split(",")):
            with open(pathlib.Path(tables) / f"{table}.csv") as f:
                rows = list(csv.DictReader(f))
            start = time.time()
            with tempfile.TemporaryDirectory() as folder:
                y, p = measure(mlg, rows, target, seed, flags.split(), pathlib.Path(folder))
            if set(y) <= {0, 1}:
                score = f"AUC {auc([v == 1 for v in y], p):.4f}"
            else:
                square = sum((a - b) ** 2 for a, b in zip(y, p)) / len(y)
                score = f"RMSE {math.sqrt(square):.4f} MAE {sum(abs(a - b) for a, b in zip(y, p)) / len(y):.4f}"
            print(name, table, seed, score, "n", len(y), f"{time.time() - start:.0f}s", flush=True)


main()
