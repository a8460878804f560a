"""Processor time of `mlg refine`, and the constants of the formula of docs/howto/scaling.md.

    go build -o bin/ ./cmd/mlg && go build -o bin/ ./bench/molecules
    python3 bench/refine.py ../shared/datasets/NCI1 [train flags...]

It makes 50 000 graphs from those of a dataset, trains on samples of 512, 1024 and 2048 of them, and
refines with the first 20 000 and with all. It prints a row for each run, with the user time of the
process, and

    t(m) = (T(50 000) − T(20 000))/30 000 = a + b·m + c·m²      seconds for each graph
    s(m) = T(20 000) − 20 000·t(m)                              seconds for what is learned in the end
"""

import os
import resource
import subprocess
import sys
import tempfile

GRAPHS = (20_000, 50_000)
SAMPLES = (512, 1024, 2048)


def run(*command: str) -> tuple[float, int]:
    """Runs a command; the user time, and the peak of its memory in MB."""
    pid = os.posix_spawnp(command[0], command, os.environ)
    _, status, used = os.wait4(pid, 0)
    if status:
        sys.exit(f"{' '.join(command)}: status {status}")
    return used.ru_utime, used.ru_maxrss // 1000


def measure(mlg: str, folder: str, data: list[str], flags: list[str]) -> dict[int, list[float]]:
    """The user time of refinements, by the size of the sample and then by the number of graphs."""
    times: dict[int, list[float]] = {}
    print("   m      n  refine s  peak MB  train s", flush=True)
    for m in SAMPLES:
        sample, model = f"{folder}/{m}.jsonl", f"{folder}/{m}.mlg"
        with open(data[0]) as lines, open(sample, "w") as out:
            out.writelines(line for line, _ in zip(lines, range(m), strict=False))
        trained, _ = run(mlg, "--quiet", "--json", "train", sample, "-o", model, *flags)
        for n, path in zip(GRAPHS, data, strict=True):
            used, peak = run(mlg, "--quiet", "--json", "refine", model, path, "-o", f"{folder}/out.mlg")
            times.setdefault(m, []).append(used)
            print(f"{m:4d} {n:6d} {used:9.2f} {peak:8d} {trained:8.2f}", flush=True)
    return times


def parabola(points: list[tuple[float, float]]) -> tuple[float, float, float]:
    """The coefficients a, b, c of a + b·x + c·x² through three points."""
    (x, u), (y, v), (z, w) = points
    first, second = (v - u) / (y - x), (w - v) / (z - y)
    c = (second - first) / (z - x)
    b = first - c * (x + y)
    return u - b * x - c * x * x, b, c


def main() -> None:
    """Makes the graphs, measures, and prints the constants."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    source, flags = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        data = []
        for n in GRAPHS:
            data.append(f"{folder}/{n}.jsonl")
            with open(data[-1], "wb") as out:
                subprocess.run(["bin/molecules", "-n", str(n), "-seed", "1", source], stdout=out, check=True)
        devnull = os.open(os.devnull, os.O_WRONLY)
        report = os.dup(1)
        sys.stdout = os.fdopen(report, "w")
        os.dup2(devnull, 1)  # of the commands
        times = measure("bin/mlg", folder, data, flags)
    each = [(m, (t[1] - t[0]) / (GRAPHS[1] - GRAPHS[0])) for m, t in times.items()]
    for (m, t), used in zip(each, times.values(), strict=True):
        print(f"m = {m}: {1000 * t:.3f} ms for each graph, {used[0] - GRAPHS[0] * t:.1f} s in the end")
    a, b, c = parabola(each)
    print(f"a = {1e3 * a:.4f} ms, b = {1e6 * b:.4f} µs, c = {1e9 * c:.4f} ns")


if __name__ == "__main__":
    main()
