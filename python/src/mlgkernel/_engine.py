"""The worker: the Go program as a child process that computes everything.

One worker serves a Python process. It is started by the first call and answers one request at a
time; threads wait for each other, and a request itself uses all processors. A process that was
forked off gets a worker of its own. Whatever the worker holds can be made again (`Held`), so that
a worker that was killed is replaced without notice. One that had too much memory is not: the same call
would end in the same way.
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import json
import mmap
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from .exceptions import DirectedWarning, WorkerError

Progress = Callable[..., None]  # called with stage, done and total

PROTOCOL = 10
_INLINE = 1 << 16  # larger bodies travel in files
_MAPPED = 1 << 26  # larger answers are mapped, not read
_HEAD = struct.Struct("<IQ")


def binary() -> Path:
    """Return the path of the Go program: `$MLG_BINARY`, or the one in this package."""
    given = os.environ.get("MLG_BINARY")
    if given:
        return Path(given)
    name = "mlg.exe" if sys.platform == "win32" else "mlg"
    path = Path(__file__).with_name("bin") / name
    if not path.exists():
        raise WorkerError(
            f"{path} is missing: the package was not built. Install it with pip, "
            "or set MLG_BINARY to the path of the program mlg"
        )
    return path


class Died(Exception):
    """The worker ended in the middle of a request."""


class Worker:
    """One child process, its pipes and the folder that both sides share."""

    def __init__(self) -> None:
        self.pid = os.getpid()
        self.dir = tempfile.mkdtemp(prefix="mlgkernel-", dir=_memory())
        self.serial = 0
        self.memory = 0  # bytes that it may take, as it says, 0 where it does not know
        flags: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            flags = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
        try:
            with open(os.path.join(self.dir, "stderr"), "wb") as err:
                self.process = subprocess.Popen(
                    [str(binary()), "worker", "--dir", self.dir],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=err,
                    bufsize=0,
                    **flags,
                )
        except BaseException:
            shutil.rmtree(self.dir, ignore_errors=True)
            raise
        assert self.process.stdin is not None and self.process.stdout is not None
        self.stdin, self.stdout = self.process.stdin, self.process.stdout

    def exchange(
        self, header: dict[str, Any], body: bytes, progress: Progress | None
    ) -> tuple[dict[str, Any], np.ndarray]:
        """Send a request and return the header and the body (bytes) of the answer."""
        if len(body) > _INLINE:
            self.serial += 1
            path = os.path.join(self.dir, f"request-{self.serial}")
            try:
                with open(path, "wb", buffering=0) as f:
                    _write(f, memoryview(body))
                header, body = dict(header, file=os.path.basename(path)), b""
            except OSError:  # no room left
                with contextlib.suppress(OSError):
                    os.remove(path)
        text = json.dumps(header, allow_nan=False).encode()
        try:
            _write(self.stdin, memoryview(_HEAD.pack(len(text), len(body)) + text + body))
            while True:
                header_size, body_size = _HEAD.unpack(self._read(_HEAD.size))
                answer = json.loads(bytes(self._read(header_size)))
                data = np.frombuffer(self._read(body_size), np.uint8)
                if not answer.get("progress"):
                    break
                if progress is not None:
                    progress(**answer["progress"])
        except (BrokenPipeError, ConnectionResetError) as e:
            raise Died from e
        if answer.get("file"):
            data = _map(os.path.join(self.dir, answer["file"]))
        return answer, data

    def _read(self, n: int) -> bytearray:
        out = bytearray(n)
        view = memoryview(out)
        got = 0
        while got < n:
            more = self.stdout.readinto(view[got:])  # type: ignore[attr-defined]
            if not more:
                raise Died
            got += more
        return out

    def last_words(self) -> str:
        """Return what the worker wrote to standard error: the reason for its end, then what it was doing."""
        with contextlib.suppress(OSError), open(os.path.join(self.dir, "stderr"), "rb") as f:
            return f.read(4000).decode(errors="replace").strip()
        return ""

    def too_large(self) -> str:
        """Return what to say of a worker that ended for lack of memory, "" for another end."""
        words = self.last_words()
        if "out of memory" in words or "cannot allocate memory" in words:
            return "there was no more memory for the worker"
        if not hasattr(os, "wait4") or self.process.returncode is not None:
            return ""
        end = time.monotonic() + 5
        with contextlib.suppress(ChildProcessError):
            while time.monotonic() < end:
                pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
                if pid:
                    self.process.returncode = code = os.waitstatus_to_exitcode(status)
                    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
                    if code != -signal.SIGKILL or not peak > self.memory / 2 > 0:
                        break
                    return f"the worker had {peak / 1e9:.3g} of {self.memory / 1e9:.3g} GB and was killed"
                time.sleep(0.01)
        return ""

    def close(self, kill: bool = False) -> None:
        """End the worker and remove its folder. A process that was forked off only lets go."""
        own = self.pid == os.getpid()
        if own and kill:
            with contextlib.suppress(OSError):
                self.process.kill()
        for pipe in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        if not own:
            self.process.returncode = 0  # not ours: nothing to wait for
            return
        try:
            self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def _memory() -> str | None:
    """Return a folder in memory with room for large matrices, None for the usual temporary one."""
    folder = "/dev/shm"
    try:
        room = os.statvfs(folder)
    except (OSError, AttributeError):
        return None
    return folder if os.access(folder, os.W_OK) and room.f_bavail * room.f_frsize >= 1 << 30 else None


def _write(f: Any, data: memoryview) -> None:
    while len(data):
        data = data[f.write(data) :]


def _map(path: str) -> np.ndarray:
    """Return what a file holds, which is removed. A large one is mapped into memory, privately."""
    # A mapping holds a descriptor, and Windows does not remove a file that is mapped.
    if sys.platform == "win32" or os.path.getsize(path) < _MAPPED:
        data = np.fromfile(path, np.uint8)
        os.remove(path)
        return data
    with open(path, "rb") as f:
        os.remove(path)
        return np.frombuffer(mmap.mmap(f.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)


class Held:
    """Something that the worker holds under a handle, with the request that makes it.

    It is pickled as the bytes of a model file, or, for an embedding, as the request itself.
    """

    def __init__(self, op: str, args: dict[str, Any], body: bytes) -> None:
        self.op, self.args, self.body = op, args, body
        self.place: list[Any] = [None, 0]  # worker (weakly) and handle

    def __reduce__(self) -> tuple[Any, ...]:
        if self.op in ("fit", "train"):
            _, arrays = call("save", {}, held=self)
            work = {k: self.args[k] for k in ("workers", "max_memory", "device") if k in self.args}
            return Held, ("load", work, arrays["bytes"].tobytes())
        return Held, (self.op, self.args, self.body)


class Engine:
    """The worker of this process, with its lock."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.worker: Worker | None = None
        self.started = 0
        self.notes: dict[str, int] = {}  # of the last answer
        self.free: collections.deque[tuple[Any, int]] = collections.deque()

    def call(
        self,
        op: str,
        args: dict[str, Any],
        body: bytes = b"",
        held: Held | None = None,
        progress: Progress | None = None,
    ) -> tuple[Any, dict[str, np.ndarray]]:
        with self.lock:
            try:
                return self._attempt(op, args, body, held, progress)
            except Died:
                why = self.worker.too_large() if self.worker else ""
                self._drop()
                if why:
                    raise MemoryError(
                        f"{why}. It is not started again for the same call: take fewer graphs at a time, or "
                        "MLGEmbedding in place of a kernel matrix"
                    ) from None
            try:
                return self._attempt(op, args, body, held, progress)
            except Died:
                words = self.worker.last_words() if self.worker else ""
                self._drop()
                raise WorkerError(
                    f"the worker ended twice during {op!r}" + (f":\n{words}" if words else "")
                ) from None

    def _attempt(
        self, op: str, args: dict[str, Any], body: bytes, held: Held | None, progress: Progress | None
    ) -> tuple[Any, dict[str, np.ndarray]]:
        worker = self._ready()
        handle = 0 if held is None else self._handle(worker, held)
        return self._exchange(worker, op, args, body, handle, progress)

    def _handle(self, worker: Worker, held: Held) -> int:
        ref, handle = held.place
        if ref is None or ref() is not worker:
            result, _ = self._exchange(worker, held.op, held.args, held.body)
            handle = self.adopt(held, result["handle"])
        return handle

    def adopt(self, held: Held, handle: int) -> int:
        """Note that the worker holds something under a handle until `held` is forgotten."""
        ref = weakref.ref(self.worker)  # type: ignore[arg-type]
        held.place = [ref, handle]
        weakref.finalize(held, self.free.append, (ref, handle)).atexit = False
        return handle

    def _exchange(
        self,
        worker: Worker,
        op: str,
        args: dict[str, Any],
        body: bytes,
        handle: int = 0,
        progress: Progress | None = None,
    ) -> tuple[Any, dict[str, np.ndarray]]:
        release = []
        while self.free:
            ref, old = self.free.popleft()
            if ref() is worker:
                release.append(old)
        header = {"op": op, "args": args, "handle": handle, "release": release}
        header["progress"] = progress is not None
        try:
            answer, data = worker.exchange(header, body, progress)
        except Died:
            raise
        except BaseException:  # interrupted: the worker may be in the middle of an answer
            self._drop()
            raise
        if answer.get("error"):
            raise _error(answer, args.get("kernel", ""))
        self.notes = answer.get("notes") or {}
        for text in answer.get("said") or []:
            warn(text)
        arrays = {}
        for a in answer.get("arrays", ()):
            kind = np.dtype(a["type"])
            count = int(np.prod(a["shape"], dtype=np.int64))
            part = data[a["offset"] : a["offset"] + count * kind.itemsize]
            arrays[a["name"]] = part.view(kind).reshape(a["shape"])
        return answer.get("result"), arrays

    def _ready(self) -> Worker:
        worker = self.worker
        if worker is not None and worker.process.poll() is None:
            return worker
        self._drop()
        self.worker = worker = Worker()
        self.started += 1
        if self.started == 1:
            _close_with_process()
        result, _ = self._exchange(worker, "hello", {}, b"")
        if result["protocol"] != PROTOCOL:
            self._drop()
            raise WorkerError(
                f"{binary()} has version {result['protocol']} of the protocol, this package has version "
                f"{PROTOCOL}; want the program that was built with the package"
            )
        worker.memory = result["memory"]
        return worker

    def _drop(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close(kill=True)

    def close(self) -> None:
        worker, self.worker = self.worker, None
        if worker is not None:
            worker.close()


class Rejected(ValueError):
    """An error about what was sent. `wrong` says what it is about (internal/worker/wrong.go)."""

    def __init__(self, message: str, wrong: dict[str, Any], kernel: str) -> None:
        super().__init__(message)
        self.wrong, self.kernel = wrong, kernel


def says(subject: str, wrong: dict[str, Any]) -> str:
    """Return what is wrong with the value of a parameter."""
    want = f", want {wrong['want']}" if wrong.get("want") else ""
    return subject + want + (f": {wrong['why']}" if wrong.get("why") else "")


def _error(answer: dict[str, Any], kernel: str) -> Exception:
    kind, text, wrong = answer["kind"], answer["error"], answer.get("wrong") or {}
    if kind == "missing":
        return FileNotFoundError(text)
    if kind == "file":
        return OSError(text)
    if kind == "memory":
        return MemoryError(text)
    if kind != "value":
        return WorkerError(text)
    if wrong.get("of", "Options") == "Options" and "parameter" in wrong:  # of a function, such as EdgeWeight
        name = re.sub(r"(?<!^)([A-Z])", r"_\1", wrong["parameter"]).lower()
        text = says(f"{name}={wrong.get('value', '')}", wrong)
    return Rejected(text, wrong, kernel)


_engine = Engine()


def call(
    op: str,
    args: dict[str, Any],
    body: bytes = b"",
    held: Held | None = None,
    progress: Progress | None = None,
) -> tuple[Any, dict[str, np.ndarray]]:
    """Send a request to the worker and return the result and the arrays of the answer.

    `held` is what it is about; it is made again where the worker does not hold it any more.
    `progress` is told how far the work has come. What the worker changed in graphs is a warning.
    """
    with _engine.lock:
        result = _engine.call(op, args, body, held, progress)
        notes = _engine.notes
    warn_of(notes)
    return result


def hold(held: Held, progress: Progress | None = None, **more: Any) -> tuple[Any, dict[str, np.ndarray]]:
    """Make what `held` describes, with further arguments, and return the answer."""
    with _engine.lock:
        result, arrays = _engine.call(held.op, dict(held.args, **more), held.body, progress=progress)
        _engine.adopt(held, result["handle"])
        notes = _engine.notes
    warn_of(notes)
    return result, arrays


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun: "1 graph", "2 graphs"."""
    return f"{n} {one if n == 1 else many or one + 's'}"


# What is said of one, and of several.
_NOTES = {
    "directed": (
        "1 graph is directed: some of its edges are given in both directions and others in one",
        "{} graphs are directed: some of their edges are given in both directions and others in one",
    ),
    "undirected": (
        "1 graph is directed: its edges are taken as undirected",
        "{} graphs are directed: their edges are taken as undirected",
    ),
    "loops": ("1 self-loop is left out", "{} self-loops are left out"),
    "parallel": (
        "1 parallel edge is joined with another: labels by '|', and weights are added",
        "{} parallel edges are joined with others: labels by '|', and weights are added",
    ),
    "repeated": ("1 parallel edge is left out", "{} parallel edges are left out"),
    "weights": (
        "1 edge has different weights in its two directions: it gets their mean",
        "{} edges have different weights in their two directions: each gets their mean",
    ),
    "labels": (
        "1 edge has different labels in its two directions: they are joined by '|'",
        "{} edges have different labels in their two directions: they are joined by '|'",
    ),
}


def warn_of(notes: dict[str, int]) -> None:
    """Warn of what was changed in graphs."""
    for key, (one, several) in _NOTES.items():
        n = notes.get(key, 0)
        if n:
            warn(one if n == 1 else several.format(n), DirectedWarning)


def warn_of_walks(result: dict[str, Any], name: str = "lambda") -> None:
    """Warn of a weight of the steps of walks that is not the given one."""
    if "lambda" in result:
        warn(
            f"{name} is too large: the geometric series does not converge on these graphs. "
            f"{name.partition('=')[0]}={result['lambda']:.6g} is used instead"
        )


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package, be it by scikit-learn."""
    level, frame = 1, sys._getframe()
    between = tuple(os.path.dirname(path) + os.sep for path in (__file__, sklearn.__file__))
    while frame.f_back is not None and frame.f_code.co_filename.startswith(between):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


def stop_worker() -> None:
    """End the worker. The next call starts another one."""
    with _engine.lock:
        _engine.close()


def worker_pid() -> int | None:
    """Return the process number of the worker, None where there is none."""
    worker = _engine.worker
    return worker.process.pid if worker is not None else None


def _close() -> None:
    _engine.close()


def _close_with_process() -> None:
    """Have the worker ended with a child of multiprocessing, which leaves out `atexit`."""
    process = sys.modules.get("multiprocessing.process")
    if process is not None and process.parent_process() is not None:
        from multiprocessing import util

        util.Finalize(None, _close, exitpriority=10)


def _after_fork() -> None:
    global _engine
    old, _engine = _engine, Engine()
    if old.worker is not None:
        old.worker.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_close)
