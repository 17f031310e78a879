"""The lines of a verifier that ran: two completions that take the same way pass for the same cause.

Covered: Python code of one file, on the calling thread.
Not covered: other threads and processes, and code that sets a trace function of its own.
"""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any


class Trace:
    """A collector of line numbers while it is active."""

    def __init__(self, path: str) -> None:
        """`path` is the end of the file's path."""
        self.path = f"/{path}"
        self.lines: set[int] = set()

    def __enter__(self) -> Trace:
        sys.settrace(self._enter_frame)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _enter_frame(self, frame: FrameType, event: str, arg: Any) -> Any:
        return self._see_line if frame.f_code.co_filename.endswith(self.path) else None

    def _see_line(self, frame: FrameType, event: str, arg: Any) -> Any:
        if event == "line":
            self.lines.add(frame.f_lineno)
        return self._see_line
