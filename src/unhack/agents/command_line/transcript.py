"""The output of an agent, on disk as it comes, the sum of its events, and its cost so far.

Whoever set an attempt to work that was cut off reads the note of its cost: a kill loses none of it.

Covered: whole lines reach the parser as soon as they end; more output than is kept is read and
thrown away, so that the agent never waits for it.
Not covered: secrets that an agent prints; it has none but its own token, which
ends with the attempt.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from unhack.agents.play import AgentUsage

_MAX_KEPT = 64 << 20
_MAX_LINE = 8 << 20
_TAIL = 400
NOTE = "usage.json"
"""In the transcript directory of an attempt."""


class Recorder:
    """Reads one pipe to its end on a thread of its own."""

    def __init__(self, fd: int, path: Path, *, on_line: Callable[[bytes], None]) -> None:
        """`fd` stays open for its owner to close."""
        self._fd = os.dup(fd)
        self._path = path
        self._on_line = on_line
        self._rest = bytearray()
        self.tail = b""
        """The end of what was printed."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def join(self, timeout_s: float) -> None:
        """Wait until everything is written down."""
        self._thread.join(timeout_s)

    def _read(self) -> None:
        kept = 0
        with self._path.open("wb", buffering=0) as file, os.fdopen(self._fd, "rb", 0) as pipe:
            while data := pipe.read(1 << 16):
                file.write(data[: max(0, _MAX_KEPT - kept)])
                kept += len(data)
                self.tail = (self.tail + data)[-_TAIL:]
                self._feed(data)
        if self._rest:
            self._on_line(bytes(self._rest))

    def _feed(self, data: bytes) -> None:
        self._rest += data
        *lines, rest = self._rest.split(b"\n")
        for line in lines:
            self._on_line(bytes(line))
        self._rest = bytearray(rest if len(rest) <= _MAX_LINE else b"")


def note_usage(transcript: Path, usage: AgentUsage) -> None:
    """Replace the note in one step. Raises OSError."""
    beside = transcript / f".{NOTE}.new"
    beside.write_text(json.dumps(asdict(usage)))
    os.replace(beside, transcript / NOTE)
