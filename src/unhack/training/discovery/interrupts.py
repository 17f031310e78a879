"""The first Ctrl-C as a wish to end the training and keep what it found; the second one ends all.

Covered: the main thread, where Python delivers signals. Not covered: other threads, in which a
caller interrupts by its own means.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Generator
from types import FrameType

INTERRUPTED = "it was interrupted; what it found until then is kept"
"""The reason that is given for the end of such a training."""


@contextlib.contextmanager
def interrupts() -> Generator[Callable[[], bool]]:
    """While the block runs, the first SIGINT is noted and the second raises KeyboardInterrupt; the
    value tells whether there was one."""
    seen = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield seen.is_set
        return

    def note(number: int, frame: FrameType | None) -> None:
        if seen.is_set():
            raise KeyboardInterrupt
        seen.set()

    before = signal.signal(signal.SIGINT, note)
    try:
        yield seen.is_set
    finally:
        signal.signal(signal.SIGINT, before)
