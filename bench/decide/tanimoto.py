#!/usr/bin/env python3
"""What to measure next: graph kernels beside fingerprints, from the same starts and with the same acquisition.

    mlg --json suggest TABLE --target NAME --simulate --repeats 20 -o replay.json
    python3 bench/decide/tanimoto.py TABLE NAME replay.json > scores.txt

The rival is a Gaussian process with the Tanimoto kernel of counts of ECFP4. It starts from the molecules of every
repeat of the replay, and takes as many a round. Bias, ridges and their choice, candidates, known best and batches
(joint expected improvement by 128 fantasies) are those of mlg. Needs rdkit and scipy.
"""

import csv
import json
import math
import sys

import numpy as np
from rdkit import Chem, RDLogger
from rdkit.Chem import rdFingerprintGenerator
from scipy.special import erfcx, log_ndtr, ndtri
from scipy.stats import t as student

RIDGES = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10]
CANDIDATES, FANTASIES = 500, 128


def tanimoto(counts):
    """Return Σ min / Σ max of the rows of counts."""
    totals = counts.sum(1)
    out = np.empty((len(counts), len(counts)))
    for i, row in enumerate(counts):
        common = np.minimum(row, counts).sum(1)
        out[i] = common / np.maximum(totals[i] + totals - common, 1)
    return out


def read(table, target):
    """Return counts and values of the different molecules of a table, by their rows."""
    ecfp = rdFingerprintGenerator.GetMorganGenerator(radius=2)
    seen, rows, counts, values = set(), [], [], []
    with open(table, encoding="utf-8") as f:
        for number, row in enumerate(csv.DictReader(f), 1):
            molecule = Chem.MolFromSmiles(row["smiles"])
            if molecule is None:
                sys.exit(f"{table}: RDKit cannot read molecule {number}: {row['smiles']}")
            if (text := Chem.MolToSmiles(molecule)) not in seen:
                seen.add(text)
                rows.append(str(number))
                counts.append(ecfp.GetSparseCountFingerprint(molecule).GetNonzeroElements())
                values.append(float(row[target]))
    bits = {b: i for i, b in enumerate(sorted({b for c in counts for b in c}))}
    matrix = np.zeros((len(counts), len(bits)), np.float32)
    for line, c in zip(matrix, counts, strict=True):
        line[[bits[b] for b in c]] = list(c.values())
    return rows, matrix, np.array(values)


def posterior(gram, y):
    """Return a function of (rows of kernel values, kernel values among these) that tells mean and covariance."""
    mean, scale = y.mean(), y.std() or 1
    z, best = (y - mean) / scale, None
    values, vectors = np.linalg.eigh(gram)
    for ridge in RIDGES:
        inverse = (vectors / (values + ridge)) @ vectors.T
        u = inverse.sum(1)
        bias = u @ z / u.sum()
        beta = inverse @ z - bias * u
        g = np.diag(inverse) - u * u / u.sum()
        variance = np.mean(beta**2 / g)
        density = np.mean(-0.5 * np.log(2 * np.pi * variance / g) - beta**2 / g / (2 * variance))
        if best is None or density > best[0]:
            best = density, inverse, u, bias, beta, variance
    _, inverse, u, bias, beta, variance = best

    def tell(cross, among):
        left = (1 - cross @ u) / math.sqrt(u.sum())
        covariance = among - cross @ inverse @ cross.T + np.outer(left, left)
        return mean + scale * (cross @ beta + bias), scale**2 * variance * covariance

    return tell


def log_gain(z):
    """Return log(φ(z) + z Φ(z)), which cancels below −1."""
    phi = -0.5 * z * z - 0.5 * math.log(2 * math.pi)
    low = np.minimum(z, -1)
    mills = math.sqrt(math.pi / 2) * erfcx(-low / math.sqrt(2))  # Φ(z)/φ(z)
    high = np.maximum(z, -1)
    with np.errstate(divide="ignore"):
        above = np.log(np.exp(-0.5 * high * high) / math.sqrt(2 * math.pi) + high * np.exp(log_ndtr(high)))
        return np.where(z < -1, phi + np.log(np.maximum(1 + low * mills, 1e-300)), above)


def batch(mean, covariance, best, k, rng):
    """Return k candidates, each with the largest expected improvement beyond those before it."""
    means, bests, c = mean[None], np.array([best]), covariance.copy()
    first, out = np.diag(c).copy(), []
    for _ in range(k):
        d = np.sqrt(np.where(np.diag(c) > 1e-9 * first, np.diag(c), 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            gain = np.where(
                d > 0,
                np.log(d) + log_gain((means - bests[:, None]) / d),
                np.log(np.maximum(means - bests[:, None], 0)),
            )
        most = gain.max(0)
        with np.errstate(divide="ignore", invalid="ignore"):
            total = np.where(np.isinf(most), most, most + np.log(np.exp(gain - most).mean(0)))
        total[out] = -np.inf
        i = max(set(range(len(mean))) - set(out), key=lambda j: (total[j], mean[j]))
        out.append(i)
        if len(means) == 1:
            means, bests = np.repeat(means, FANTASIES, 0), np.repeat(bests, FANTASIES)
        z = d[i] * ndtri((rng.permutation(FANTASIES) + 0.5) / FANTASIES)
        bests = np.maximum(bests, means[:, i] + z)
        if d[i] > 0:
            means = means + np.outer(z / d[i] ** 2, c[i])
            c = c - np.outer(c[i], c[i]) / d[i] ** 2
    return out


def play(gram, y, start, k, rounds, wanted, rng):
    """Return how many wanted molecules are measured before and after every round."""
    known, found = list(start), []
    for _ in range(rounds + 1):
        found.append(int(wanted[known].sum()))
        rest = np.setdiff1d(np.arange(len(y)), known)
        if len(rest) == 0:
            continue
        tell = posterior(gram[np.ix_(known, known)], y[known])
        mean, _ = tell(gram[np.ix_(known, known)], gram[np.ix_(known, known)])
        best = mean.max()
        cross = gram[np.ix_(rest, known)]
        one, c = tell(cross, gram[np.ix_(rest, rest)])
        d = np.sqrt(np.maximum(np.diag(c), 1e-300))
        keep = np.argsort(-(np.log(d) + log_gain((one - best) / d)), kind="stable")[:CANDIDATES]
        known += rest[keep[batch(one[keep], c[np.ix_(keep, keep)], best, min(k, len(keep)), rng)]].tolist()
    return found


def interval(values):
    """Return a mean with the half width of its interval of 95 %."""
    half = student.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values)) if len(values) > 1 else 0
    return f"{np.mean(values):.1f} ± {half:.1f}"


def main():
    table, target, replay = sys.argv[1:]
    RDLogger.DisableLog("rdApp.*")
    with open(replay, encoding="utf-8") as f:
        r = json.load(f)
    rows, counts, y = read(table, target)
    sign = {"max": 1, "min": -1}[r["goal"]]
    y = sign * y
    if len(y) != r["graphs"]:
        print(f"{len(y)} different molecules for RDKit, {r['graphs']} for mlg", file=sys.stderr)
    gram, at = tanimoto(counts), {row: i for i, row in enumerate(rows)}
    wanted = y >= np.sort(y)[::-1][math.ceil(0.01 * len(y)) - 1]
    fewest = (wanted.sum() + 1) // 2
    needed, shares, reached, dropped = [], [], 0, 0
    for repeat, ids in enumerate(r["starts"]):
        start = [at[i] for i in ids if i in at]
        dropped += len(ids) - len(start)
        found = play(gram, y, start, r["batch"], r["rounds"], wanted, np.random.default_rng(repeat))
        measured = [min(r["start"] + i * r["batch"], len(y)) for i in range(r["rounds"] + 1)]
        needed.append(next((m for m, f in zip(measured, found, strict=True) if f >= fewest), measured[-1]))
        shares.append(100 * found[-1] / wanted.sum())
        reached += found[-1] >= fewest
    print(f"{table}, goal {r['goal']}: {len(y)} molecules, best 1 % are {wanted.sum()}, {len(needed)} repeats")
    print(f"starts: {dropped} of {sum(map(len, r['starts']))} molecules are not those of RDKit, and are dropped")
    for m in r["methods"]:
        end = 100 * m["rounds"][-1]["found1"]["mean"]
        needs = f"needs {interval(m['each']):14} in {m['reached']} repeats"
        print(f"{m['acquisition']:8} {needs}, finds {end:.0f} % of the best 1 %")
    print(f"tanimoto needs {interval(needed):14} in {reached} repeats, finds {np.mean(shares):.0f} % of the best 1 %")
    first, *others = r["methods"]
    for name, each in [("tanimoto", needed), *((m["acquisition"], m["each"]) for m in others)]:
        print(f"{name} needs {interval(np.array(each) - np.array(first['each']))} more than {first['acquisition']}")
    print("tanimoto by repeat:", *needed, flush=True)


if __name__ == "__main__":
    main()
