"""Figures of other processes of this host, in a file that all of them know.

Covered: several writers, each line in one write; a line that is not whole yet is read later; the
file goes with the process that made it, and a writer that finds it gone is told.
Not covered: other hosts.
"""

from __future__ import annotations

import json
import os
import tempfile
import weakref
from pathlib import Path
from typing import Any


class RewardJournal:
    """An append-only file of figures, one JSON object a line."""

    def __init__(self, path: str | None = None) -> None:
        """The journal at `path`; without one it makes a file that only this user may read, and
        removes it at the end."""
        if path is None:
            number, path = tempfile.mkstemp(prefix="unhack-rewards-", suffix=".jsonl")
            os.close(number)
            weakref.finalize(self, _remove, path, os.getpid())
        self.path = path
        self._read = 0

    def append(self, figures: dict[str, Any]) -> None:
        """Write figures down. Raises OSError where the file is gone."""
        line = json.dumps(figures).encode() + b"\n"
        number = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(number, line)
        finally:
            os.close(number)

    def news(self) -> list[dict[str, Any]]:
        """The lines that were written since the last time."""
        with open(self.path, "rb") as file:
            file.seek(self._read)
            whole, end, _ = file.read().rpartition(b"\n")
        self._read += len(whole) + len(end)
        return [json.loads(line) for line in whole.splitlines()]


def _remove(path: str, owner: int) -> None:
    if os.getpid() == owner:  # a fork has the object too
        Path(path).unlink(missing_ok=True)
