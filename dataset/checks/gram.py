"""Checks that NumPy and LIBSVM read the kernel matrices that we write.

Go writes a linear kernel of random points with two classes as .npy, .csv and .libsvm;
NumPy must find the same numbers in the first two, and svm-train -t 4 must train on the
third and reach the accuracy that the separable classes allow.

Run: python dataset/checks/gram.py   (needs Go, NumPy, and svm-train of LIBSVM)
"""

import csv
import os
import subprocess
import sys
import tempfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
folder = tempfile.mkdtemp()
subprocess.run(["go", "run", "./gram", folder], cwd=HERE, check=True)
k = np.load(os.path.join(folder, "gram.npy"))
x = np.load(os.path.join(folder, "points.npy"))
print("NumPy", np.__version__, k.dtype, k.shape, "C order" if k.flags["C_CONTIGUOUS"] else "other order")
ok = k.dtype == np.float64 and np.allclose(k, x @ x.T, rtol=1e-12)
with open(os.path.join(folder, "gram.csv")) as f:
    rows = list(csv.reader(f))
text = np.array([[float(v) for v in r[1:]] for r in rows[1:]])
print("CSV holds the same bits:", np.array_equal(text, k), "header:", ",".join(rows[0][:4]), "…")
ok = ok and np.array_equal(text, k)
with open(os.path.join(folder, "gram.ids.csv")) as f:
    print("identifiers:", " ".join(f.read().split("\n")[:3]), "…")
model = os.path.join(folder, "model")
out = subprocess.run(["svm-train", "-t", "4", "-v", "5", os.path.join(folder, "gram.libsvm")], stdout=subprocess.PIPE, check=True, text=True).stdout
print("svm-train -t 4 -v 5:", out.strip().split("\n")[-1])
subprocess.run(["svm-train", "-q", "-t", "4", os.path.join(folder, "gram.libsvm"), model], check=True)
out = subprocess.run(["svm-predict", os.path.join(folder, "gram.libsvm"), model, os.devnull], stdout=subprocess.PIPE, check=True, text=True).stdout
print("svm-predict on the training rows:", out.strip())
sys.exit(not (ok and "100%" in out))
