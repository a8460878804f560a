"""How far long work has come, on standard error or in a notebook."""

from __future__ import annotations

import sys
import time
from typing import Any


class Bar:
    """A bar of tqdm where it is installed, in notebooks too; else a line every few seconds."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stage = ""
        self.bar: Any = None
        self.shown = time.monotonic()
        try:
            from tqdm.auto import tqdm
        except ImportError:
            tqdm = None
        self.tqdm = tqdm

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Show that `done` of `total` steps of a stage are done."""
        if self.tqdm is None:
            if time.monotonic() - self.shown > 5:
                self.shown = time.monotonic()
                print(f"[{self.name}] {stage}: {100 * done // max(total, 1)} %", file=sys.stderr)
            return
        if self.bar is None or stage != self.stage:
            self.close()
            self.stage = stage
            self.bar = self.tqdm(total=total, desc=f"{self.name}: {stage}", leave=False)
        self.bar.update(done - self.bar.n)

    def close(self) -> None:
        """End the bar, which does not stay."""
        if self.bar is not None:
            self.bar.close()
            self.bar = None
