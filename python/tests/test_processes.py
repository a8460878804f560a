"""The worker: killed, interrupted, forked, shared by threads, and what it leaves behind."""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from joblib import Parallel, delayed

import mlgkernel
from mlgkernel import (
    DirectedWarning,
    Graph,
    GraphletSampling,
    MLGClassifier,
    MLGEmbedding,
    MLGRegressor,
    MultiscaleLaplacian,
    ShortestPath,
    VertexHistogram,
    WeisfeilerLehman,
    WorkerError,
    _engine,
)

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals and fork of POSIX")
linux = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/status")
    return not status.exists() or "\nState:\tZ" not in status.read_text()


def wait_until(condition, seconds=10.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@pytest.mark.parametrize(
    "make",
    [
        lambda: MultiscaleLaplacian(),
        lambda: MultiscaleLaplacian(radii=(1,), exact=True),
        lambda: WeisfeilerLehman(normalize=True),
        lambda: ShortestPath(),
    ],
)
def test_killed_worker_is_replaced(make, drugs):
    kernel = make().fit(drugs.graphs[:30])
    want = kernel.transform(drugs.graphs[30:40])
    pid = _engine.worker_pid()
    folder = _engine._engine.worker.dir
    os.kill(pid, signal.SIGKILL if sys.platform != "win32" else signal.SIGTERM)
    got = kernel.transform(drugs.graphs[30:40])
    assert got.tobytes() == want.tobytes()
    assert _engine.worker_pid() != pid
    assert not os.path.exists(folder)


def test_killed_worker_of_estimators(drugs):
    model = MLGClassifier(C=10, probability=True).fit(drugs.graphs[:60], drugs.target[:60])
    embedding = MLGEmbedding(20).fit(drugs.graphs[:60])
    want = model.predict_proba(drugs.graphs[60:70]), embedding.transform(drugs.graphs[60:70])
    os.kill(_engine.worker_pid(), signal.SIGTERM)
    time.sleep(0.05)
    assert model.predict_proba(drugs.graphs[60:70]).tobytes() == want[0].tobytes()
    assert embedding.transform(drugs.graphs[60:70]).tobytes() == want[1].tobytes()


@posix
def test_worker_killed_during_a_call(drugs):
    """A slow call goes on with another worker."""
    VertexHistogram().fit(drugs.graphs[:2])
    first = _engine.worker_pid()
    threading.Timer(0.2, os.kill, (first, signal.SIGKILL)).start()
    k = slow(12_000_000)
    assert k.shape == (1, 1)
    assert _engine.worker_pid() != first


@linux
def test_worker_without_memory_is_not_started_again(drugs, monkeypatch):
    """What the system killed for its memory would be killed again, and take other programs with it."""
    VertexHistogram().fit(drugs.graphs[:2])
    worker, starts = _engine._engine.worker, _engine._engine.started
    assert worker.memory > 1 << 20  # what the system has
    monkeypatch.setattr(worker, "memory", 1 << 20)  # the worker has more than that
    threading.Timer(0.2, os.kill, (worker.process.pid, signal.SIGKILL)).start()
    with pytest.raises(MemoryError, match=r"had \S+ of 0.00105 GB and was killed.* take fewer graphs"):
        slow(12_000_000)
    assert _engine._engine.started == starts and not os.path.exists(worker.dir)
    assert slow(1).shape == (1, 1)  # other calls work, with another worker
    assert _engine._engine.started == starts + 1


@posix
def test_samples_without_memory():
    """Draws that do not fit into memory are refused."""
    model = MLGRegressor(ridge=0.1).fit(["CC", "CCC", "CCO"], [1, 2, 3])
    for n in (10**10, 10**18):
        with pytest.raises(MemoryError, match=rf"2×{n} values .* GB of memory, but .* draw fewer samples"):
            model.sample_y(["CCN", "CCCN"], n)


@linux
def test_worker_that_gets_no_memory(monkeypatch, tmp_path):
    """Go ends a program that gets none, and says so."""
    program = tmp_path / "program"
    stacks = "seq -f 'goroutine %g [select]:' 1000"  # what was going on comes after the reason
    script = f"echo x >> {tmp_path}/starts; (echo fatal error: runtime: out of memory; {stacks}) >&2; exit 2"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    mlgkernel.stop_worker()
    monkeypatch.setenv("MLG_BINARY", str(program))
    with pytest.raises(MemoryError, match=r"no more memory for the worker\. It is not started again"):
        VertexHistogram().fit(["CCO"])
    assert (tmp_path / "starts").read_text() == "x\n"


def slow(samples):
    """Compute for more than a second for 12 million samples."""
    rng = np.random.default_rng(1)
    network = Graph.from_arrays(rng.integers(0, 300, (900, 2)), 300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectedWarning)
        return GraphletSampling(k=5, sampling={"n_samples": samples}, n_jobs=1).fit_transform([network])


def test_worker_that_always_dies(drugs, monkeypatch, tmp_path):
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\necho broken on purpose >&2\nexit 3\n")
    program.chmod(0o755)
    if sys.platform == "win32":
        pytest.skip("a shell script")
    mlgkernel.stop_worker()
    monkeypatch.setenv("MLG_BINARY", str(program))
    with pytest.raises(WorkerError, match="broken on purpose"):
        VertexHistogram().fit(drugs.graphs[:3])
    monkeypatch.setenv("MLG_BINARY", str(tmp_path / "absent"))
    with pytest.raises((WorkerError, FileNotFoundError)):
        VertexHistogram().fit(drugs.graphs[:3])
    monkeypatch.undo()
    VertexHistogram().fit(drugs.graphs[:3])


@posix
def test_interrupt(drugs):
    """Ctrl-C ends a long call with KeyboardInterrupt, and the next call works."""
    kernel = VertexHistogram().fit(drugs.graphs[:5])
    want = kernel.transform(drugs.graphs[:5])
    old = _engine.worker_pid()
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background
    try:
        with pytest.raises(KeyboardInterrupt):
            slow(2_000_000_000)
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 10
    wait_until(lambda: not alive(old))
    assert kernel.transform(drugs.graphs[:5]).tobytes() == want.tobytes()


def test_threads(drugs):
    want = [WeisfeilerLehman(n_iter=h).fit_transform(drugs.graphs[:40]) for h in range(1, 5)]

    def work(i):
        return WeisfeilerLehman(n_iter=i % 4 + 1).fit_transform(drugs.graphs[:40])

    with ThreadPoolExecutor(8) as pool:
        for i, k in enumerate(pool.map(work, range(64))):
            assert k.tobytes() == want[i % 4].tobytes()


def in_child(kernel, graphs):
    return kernel.transform(graphs), os.getpid(), _engine.worker_pid()


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(method, drugs):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(method)
    kernel = MultiscaleLaplacian(n_jobs=1).fit(drugs.graphs[:30])
    want = kernel.transform(drugs.graphs[30:35])
    own = _engine.worker_pid()
    context = multiprocessing.get_context(method)
    with context.Pool(2) as pool:
        jobs = [pool.apply_async(in_child, (kernel, drugs.graphs[30:35])) for _ in range(6)]
        results = [j.get(timeout=60) for j in jobs]
        pool.close()
        pool.join()
    for got, pid, worker in results:
        assert got.tobytes() == want.tobytes()
        assert pid != os.getpid() and worker not in (None, own)
    assert _engine.worker_pid() == own
    assert kernel.transform(drugs.graphs[30:35]).tobytes() == want.tobytes()
    for _, _, worker in results:
        wait_until(lambda pid=worker: not alive(pid))


@posix
def test_fork_while_another_thread_computes(drugs):
    """A child that was forked while the lock was held is not blocked, and the parent goes on."""
    graphs = drugs.graphs[:20]
    want = VertexHistogram().fit_transform(graphs)
    thread = threading.Thread(target=slow, args=(3_000_000,))
    thread.start()
    time.sleep(0.2)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            same = VertexHistogram().fit_transform(graphs).tobytes() == want.tobytes()
            os.write(write, b"y" if same else b"n")
            mlgkernel.stop_worker()
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    assert os.read(read, 1) == b"y"
    os.close(read)
    assert os.waitpid(pid, 0)[1] == 0
    thread.join(60)
    assert not thread.is_alive()


def test_joblib(drugs):
    kernel = WeisfeilerLehman(normalize=True).fit(drugs.graphs[:30])
    want = kernel.transform(drugs.graphs[30:40])
    for backend in ("loky", "threading", "multiprocessing"):
        parts = Parallel(n_jobs=2, backend=backend)(
            delayed(kernel.transform)(drugs.graphs[30 + i : 32 + i]) for i in range(0, 10, 2)
        )
        assert np.concatenate(parts).tobytes() == want.tobytes(), backend


@pytest.mark.parametrize(
    "kernel",
    [MultiscaleLaplacian(), MultiscaleLaplacian(radii=(1,), exact=True), ShortestPath(normalize=True)],
)
def test_pickle(kernel, drugs):
    kernel.fit(drugs.graphs[:30])
    want = kernel.transform(drugs.graphs[30:40])
    data = pickle.dumps(kernel)
    mlgkernel.stop_worker()
    other = pickle.loads(data)
    assert other.transform(drugs.graphs[30:40]).tobytes() == want.tobytes()
    again = pickle.loads(pickle.dumps(other))
    assert again.transform(drugs.graphs[30:40]).tobytes() == want.tobytes()
    for a, b in zip(again.diagonal(), kernel.diagonal()):
        np.testing.assert_array_equal(a, b)


def script(text: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(text)], stdout=subprocess.PIPE)


START = """
    import os, sys, time
    from mlgkernel import VertexHistogram, _engine
    VertexHistogram().fit(["CCO", "CC"])
    print(_engine.worker_pid(), _engine._engine.worker.dir, flush=True)
"""


@pytest.mark.parametrize("end", ["", "sys.exit(3)", "raise RuntimeError", "os._exit(0)"])
def test_nothing_is_left_at_exit(end):
    process = script(START + f"    {end}\n")
    out, _ = process.communicate(timeout=60)
    pid, folder = out.split()
    wait_until(lambda: not alive(int(pid)))
    wait_until(lambda: not os.path.exists(folder))


@posix
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_when_python_is_killed(number):
    process = script(START + "    time.sleep(60)\n")
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    process.send_signal(number)
    process.wait(10)
    process.stdout.close()
    wait_until(lambda: not alive(int(pid)))
    wait_until(lambda: not os.path.exists(folder))


@linux
@posix
def test_worker_ends_in_the_middle_of_work_when_python_is_killed():
    process = script(
        START
        + """
    from mlgkernel import GraphletSampling
    ring = [(i, (i + 1) % 300) for i in range(300)]
    GraphletSampling(k=5, sampling={"n_samples": 2_000_000_000}).fit([ring])
    """
    )
    assert process.stdout is not None
    pid, folder = process.stdout.readline().split()
    time.sleep(0.5)
    process.kill()
    process.wait(10)
    process.stdout.close()
    wait_until(lambda: not alive(int(pid)))
    wait_until(lambda: not os.path.exists(folder))


def memory(pid: int | str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise AssertionError("no VmRSS")


@linux
def test_ten_thousand_calls_leave_nothing():
    """No growth of memory, descriptors, handles or files over 10 000 calls."""
    graphs = mlgkernel.as_graphs(["CCO", "CN"])
    kernel = MultiscaleLaplacian(n_jobs=1)

    def calls(n):
        for i in range(n // 2):
            VertexHistogram(n_jobs=1).fit(graphs) if i % 2 else kernel.fit(graphs)
            kernel.transform(graphs[:1]) if i else None
        gc.collect()

    calls(1000)
    pid, starts = _engine.worker_pid(), _engine._engine.started
    before = memory("self"), memory(pid), len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{pid}/fd"))
    calls(10_000)
    after = memory("self"), memory(pid), len(os.listdir("/proc/self/fd")), len(os.listdir(f"/proc/{pid}/fd"))
    assert _engine.worker_pid() == pid and _engine._engine.started == starts
    assert after[0] - before[0] < 8 << 20, "memory of Python"
    assert after[1] - before[1] < 24 << 20, "memory of the worker"
    assert after[2] <= before[2] and after[3] <= before[3], "open files"
    assert os.listdir(_engine._engine.worker.dir) == ["stderr"]
    assert len(os.listdir(tempfile.gettempdir())) < 10_000


@linux
def test_large_matrices_leave_nothing(drugs):
    """Matrices that travel in files: the files are gone, and memory is given back."""
    graphs = (drugs.graphs * 5)[:1000]
    kernel = VertexHistogram()
    kernel.fit_transform(graphs)
    gc.collect()
    before = memory("self")
    for _ in range(30):  # 8 MB each
        k = kernel.fit_transform(graphs)
        k[0, 0] = 0  # a matrix is the caller's own
    del k
    gc.collect()
    assert memory("self") - before < 40 << 20
    assert os.listdir(_engine._engine.worker.dir) == ["stderr"]


def test_results_hold_no_descriptors(drugs):
    """More matrices than a process may have open files, each too large for the pipe, live at once."""
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
    try:
        kernel = mlgkernel.VertexHistogram().fit(drugs.graphs)
        graphs = drugs.graphs[:40]
        matrices = [kernel.transform(graphs) for _ in range(200)]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert matrices[0].nbytes > 1 << 16 and all((m == matrices[0]).all() for m in matrices)
    matrices[0][0, 0] = -1  # it is the caller's own
    assert matrices[1][0, 0] != -1


def test_no_room_in_the_folder(drugs, monkeypatch):
    """Where files cannot be written, arrays travel on the pipes."""
    mlgkernel.stop_worker()
    kernel = mlgkernel.VertexHistogram()
    want = kernel.fit_transform(drugs.graphs * 3)
    shutil.rmtree(_engine._engine.worker.dir)
    assert kernel.fit_transform(drugs.graphs * 3).tobytes() == want.tobytes()
    mlgkernel.stop_worker()
    monkeypatch.setattr(_engine, "_memory", lambda: None)
    assert kernel.fit_transform(drugs.graphs * 3).tobytes() == want.tobytes()
    mlgkernel.stop_worker()


@linux
def test_matrix_without_memory():
    """A matrix that does not fit into memory is refused before any work, with what to do instead."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    free = int(next(x for x in lines if "MemAvailable" in x).split()[1])
    n = int((free * 1024 / 4) ** 0.5)
    if n > 1_000_000:
        pytest.skip("too much memory")
    graphs = [Graph([])] * n
    with pytest.raises(MemoryError, match=rf"{n}×{n} values .* GB of memory, but .* MLGEmbedding"):
        VertexHistogram().fit_transform(graphs)
