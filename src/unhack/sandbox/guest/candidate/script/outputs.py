"""Printed text, warnings and log records of a solution, gathered to go along with an answer.

Covered: text written to `sys.stdout` and `sys.stderr`, and warnings, up to `MAX_CHARS` in all.
Not covered: what is written to descriptors 1 and 2 themselves.
"""

from __future__ import annotations

import io
import logging
import sys
import warnings
from typing import Any

from unhack.sandbox.guest.candidate.standard import type_name

MAX_CHARS = 1 << 20


def _stream() -> Any:
    raw = io.BytesIO()
    return io.TextIOWrapper(raw, "utf-8", "backslashreplace", newline="\n", write_through=True)


class Outputs:
    """The gathered text of one candidate."""

    def __init__(self) -> None:
        self.left = MAX_CHARS
        self.streams = [_stream(), _stream()]
        self.warned: list[list[Any]] = []
        self.logged: list[list[Any]] = []
        self._follows = False

    def install(self) -> None:
        """Stand where the solution prints and warns."""
        sys.stdout, sys.stderr = self.streams
        warnings.simplefilter("always")
        warnings.showwarning = self._warn

    def _warn(self, message: Any, category: type, *where: Any, **more: Any) -> None:
        del where, more
        if len(self.warned) < 1000:
            names = [type_name(kind) for kind in category.__mro__]
            self.warned.append([names, str(message)[:4000]])

    def follow(self, levels: dict[str, int]) -> None:
        """Gather what is logged from now on, at the levels that the script's loggers have."""
        if not self._follows:
            self._follows = True
            handler = logging.Handler()
            handler.emit = self._log  # type: ignore[method-assign]
            logging.root.addHandler(handler)
        for name, level in levels.items():
            logging.getLogger(name or None).setLevel(level)

    def _log(self, record: logging.LogRecord) -> None:
        if len(self.logged) < 1000:
            place = [record.pathname, record.lineno, record.funcName or ""]
            self.logged.append([record.name, record.levelno, record.getMessage()[:4000], place])

    def take(self) -> dict[str, Any]:
        """Everything since the last time, as parts of an answer."""
        found: dict[str, Any] = {}
        for place, stream in enumerate(self.streams):
            raw = stream.buffer
            if raw.tell():
                text = raw.getvalue().decode("utf-8", "replace")[: self.left]
                self.left -= len(text)
                found.setdefault("out", []).append([place, text])
                raw.seek(0)
                raw.truncate()
        if self.logged:
            found["logged"], self.logged = self.logged, []
        if self.warned:
            found["warned"], self.warned = self.warned, []
        return found
