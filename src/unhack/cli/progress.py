"""Signs of life of long commands where no terminal is: a line on stderr every 20 seconds, with what
is done, what is left, and an estimate where there is enough to base it on.

Covered: commands that hang in one long step still write, as the lines come from a thread. Not
covered: terminals, which have bars (`cli.terminal`).
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

EVERY_S = 20.0
"""Seconds between two lines."""
_FEWEST_DONE = 3
_SHORTEST_S = 10.0
"""Too little to estimate from: fewer items, or less time."""


@dataclass
class CommandProgress:
    """The state of a long command. One thread changes it, another reads it."""

    what: str
    total: int | None = None
    """Items in all; None or 0 where nobody knows."""
    done: int = 0
    """Items done, those of an earlier run included."""
    note: str = ""
    """A few words on the last item."""
    clock: Callable[[], float] = time.monotonic
    _started: float = field(init=False)
    _first: int = field(init=False)

    def __post_init__(self) -> None:
        self.begin(self.what, total=self.total, done=self.done)

    def begin(self, what: str, *, total: int | None = None, done: int = 0) -> None:
        """Go over to another stage: its time and its estimate begin anew."""
        self.what, self.total, self.done, self.note = what, total, done, ""
        self._first, self._started = done, self.clock()

    def advance(self) -> None:
        """One more item is done."""
        self.done += 1

    def line(self) -> str:
        """One line on what is done and what is left."""
        passed_s = self.clock() - self._started
        so_far = f"{duration(passed_s)} so far"
        if not self.total:
            parts = [so_far]
        else:
            left = max(0, self.total - self.done)
            parts = [f"{self.done} of {self.total} done, {left} left", so_far]
            here = self.done - self._first
            if left and here >= _FEWEST_DONE and passed_s >= _SHORTEST_S:
                parts.append(f"about {duration(passed_s / here * left)} to go at this rate")
        return f"{self.what}: {'; '.join([*parts, *filter(None, [self.note])])}"


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3 h 20 min`."""
    whole = round(seconds)
    if whole < 100:
        return f"{whole} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


@contextlib.contextmanager
def ticking(
    tick: Callable[[], None], *, every_s: float, wait: Callable[[float], bool] | None = None
) -> Generator[None]:
    """Call `tick` on a thread every so many seconds while the block runs.

    `wait` sleeps for so many seconds and returns True when the block has ended.
    """
    over = threading.Event()
    sleep = wait or over.wait

    def work() -> None:
        while not sleep(every_s):
            tick()

    thread = threading.Thread(target=work, name="unhack-progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


@contextlib.contextmanager
def progress_lines(
    line: Callable[[], str], *, wait: Callable[[float], bool] | None = None
) -> Generator[None]:
    """Write `line()` to stderr every 20 seconds while the block runs."""

    def tick() -> None:
        with contextlib.suppress(OSError, ValueError):  # whoever read stderr has gone
            print(line(), file=sys.stderr, flush=True)

    with ticking(tick, every_s=EVERY_S, wait=wait):
        yield
