"""The memory of a sealed tree with a card, the host's and the card's, watched from outside.

A driver reserves address space by the terabyte, so no bound of it can hold such a process; and no
kernel bounds what a process takes of a card. So a thread looks, and ends the tree when it has more
than it may.

Covered: resident memory of all processes of the tree but what files back; memory of the card, by
process where the driver tells, else by how much more of the card is used than before.
Not covered: what is taken and given back between two looks.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path

from unhack.core.errors import SandboxUnavailableError
from unhack.sandbox.gpu.cards import Card, nvml
from unhack.sandbox.linux.processes import tree_of

_LOOK_S = 0.02
_MOST_STILL_S = 0.25
"""A watch that is asked to keep still looks again after that, whatever goes on."""
_KIB = 1024
_FIELDS = ("RssAnon:", "RssShmem:")

CardUse = Callable[[frozenset[int]], int]
"""Bytes of a card that processes of these pids use."""


def resident_bytes(pids: frozenset[int]) -> int:
    """Memory that no file backs."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            for line in Path(f"/proc/{pid}/status").read_text().splitlines():
                if line.startswith(_FIELDS):
                    total += int(line.split()[1]) * _KIB
    return total


def use_of(card: Card) -> CardUse:
    """How the use of a card is told here; without the driver's word nothing can be told, and what
    fails is the next allocation on the card."""
    try:
        library = nvml()
        before, _ = library.memory(card.index)
        others_before = library.processes(card.index)
    except SandboxUnavailableError:
        return lambda pids: 0

    def used(pids: frozenset[int]) -> int:
        held = library.processes(card.index)
        own = sum(size for pid, size in held.items() if pid in pids)
        if own:
            return own
        # The driver has not counted it yet, or counts it by no number of ours: then what the card
        # holds more than before, without what known processes took since.
        grown = sum(size - others_before.get(pid, 0) for pid, size in held.items())
        return max(0, library.memory(card.index)[0] - before - max(0, grown))

    return used


@dataclass(slots=True)
class MemoryWatch:
    """Ends a tree that takes too much. `exceeded` says what it took, once it did."""

    pid: int
    host_bytes: int
    card_bytes: int
    use: CardUse
    end: Callable[[], None]
    exceeded: str = ""
    peak_host_bytes: int = 0
    peak_card_bytes: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _looking: threading.Lock = field(default_factory=threading.Lock)
    _still_until: float = 0.0
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Look from here on."""
        self._thread = threading.Thread(target=self._run, name="memory-watch", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Look no more."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def look(self) -> None:
        """Look once, and end the tree if it has too much."""
        pids = tree_of(self.pid)
        host = resident_bytes(pids)
        self.peak_host_bytes = max(self.peak_host_bytes, host)
        with contextlib.suppress(SandboxUnavailableError):
            self.peak_card_bytes = max(self.peak_card_bytes, self.use(pids))
        if host > self.host_bytes:
            self.exceeded = _words(host, "of the host's memory", self.host_bytes)
        elif self.peak_card_bytes > self.card_bytes:
            self.exceeded = _words(self.peak_card_bytes, "of the card's memory", self.card_bytes)
        if self.exceeded:
            self._over.set()
            self.end()

    @contextlib.contextmanager
    def still(self) -> Generator[None]:
        """No look is under way or begins within, for a quarter of a second at most: a look shares
        this process's interpreter, and the driver, with whoever measures a time here."""
        with self._looking:
            self._still_until = time.monotonic() + _MOST_STILL_S
        try:
            yield
        finally:
            self._still_until = 0.0

    def _run(self) -> None:
        while not self._over.is_set():
            started = time.monotonic()
            with self._looking:
                if started >= self._still_until:
                    self.look()
            # a look costs some milliseconds on a large tree: rest at least nine times as long
            self._over.wait(max(_LOOK_S, 9 * (time.monotonic() - started)))


def _words(used: int, what: str, allowed: int) -> str:
    gib = 1 << 30
    return f"it took {used / gib:.2f} GiB {what}, {allowed / gib:.2f} GiB are allowed"
