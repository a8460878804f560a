"""Checks that NumPy and LIBSVM read the kernel matrices that we write.

The command writes the label kernel of the built-in drugs as .npy and .csv, in which NumPy
must find the values that it computes itself from the labels, and their WL kernel as .libsvm,
on which svm-train -t 4 must train and know the training graphs again.

Run: python dataset/checks/gram.py   (needs Go, NumPy, and svm-train of LIBSVM)
"""

import collections
import csv
import json
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.mkdtemp()
mlg = os.path.join(folder, "mlg")
subprocess.run(["go", "build", "-o", mlg, "../../cmd/mlg"], cwd=HERE, check=True)


def run(*args):
    subprocess.run([mlg, "--quiet", *args], cwd=folder, check=True)


def svm(*args):
    return subprocess.run(args, cwd=folder, stdout=subprocess.PIPE, check=True, text=True).stdout.strip().split("\n")[-1]


for kernel, name in (("labels", "gram.npy"), ("labels", "gram.csv"), ("wl", "gram.libsvm")):
    run("gram", "builtin:drugs", "--kernel", kernel, "-o", name)
run("convert", "builtin:drugs", "drugs.jsonl")
with open(os.path.join(folder, "drugs.jsonl")) as f:
    counts = [collections.Counter(json.loads(line)["node_labels"]) for line in f]
elements = sorted({e for c in counts for e in c})
x = np.array([[c[e] for e in elements] for c in counts], float)
x /= np.linalg.norm(x, axis=1)[:, None]
k = np.load(os.path.join(folder, "gram.npy"))
print("NumPy", np.__version__, k.dtype, k.shape, "C order" if k.flags["C_CONTIGUOUS"] else "other order")
ok = k.dtype == np.float64 and np.allclose(k, x @ x.T, rtol=1e-12)
with open(os.path.join(folder, "gram.csv")) as f:
    rows = list(csv.reader(f))
text = np.array([[float(v) for v in r[1:]] for r in rows[1:]])
print("values as NumPy computes them:", ok)
print("CSV holds the same bits:", np.array_equal(text, k), "header:", ",".join(rows[0][:4]), "…")
ok = ok and np.array_equal(text, k)
with open(os.path.join(folder, "gram.ids.csv")) as f:
    print("identifiers:", " ".join(f.read().split("\n")[:3]), "…")
train = ["svm-train", "-t", "4", "-c", "1000"]
print("svm-train -t 4 -v 5:", svm(*train, "-v", "5", "gram.libsvm"))
svm(*train, "-q", "gram.libsvm", "model")
out = svm("svm-predict", "gram.libsvm", "model", os.devnull)
print("svm-predict on the training rows:", out)
sys.exit(not (ok and "100%" in out))
