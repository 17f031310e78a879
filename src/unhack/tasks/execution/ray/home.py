"""Items that only the user's process can judge: those whose verifier calls the user's callable."""

from __future__ import annotations

import threading
from collections.abc import Callable

from unhack.core.verdict import Verdict
from unhack.tasks.execution.driver import Run
from unhack.tasks.task import Task

_LOOK_S = 1.0
"""Time after which the thread sees that its batch was cancelled."""


class Home:
    """A run on this process's shared pool, with a thread that hands its verdicts on."""

    def __init__(
        self,
        on_verdicts: Callable[[list[tuple[int, Verdict]]], None],
        on_error: Callable[[BaseException], None],
    ) -> None:
        from unhack.sandbox.pool.shared import shared_pool  # half of the import time

        self._run = Run(shared_pool())
        self._on_verdicts = on_verdicts
        self._on_error = on_error
        self._lock = threading.Lock()
        self._working = False
        self._cancelled = False

    def add(self, item: tuple[int, Task, str]) -> None:
        """Judge an item."""
        self._run.add([item])
        with self._lock:
            if self._working:
                return
            self._working = True
        threading.Thread(target=self._work, name="unhack-home", daemon=True).start()

    def _work(self) -> None:
        try:
            while not self._cancelled:
                found = self._run.take(timeout_s=_LOOK_S)
                if found:
                    self._on_verdicts(found)
                with self._lock:
                    if not self._run.open:
                        self._working = False
                        return
        except BaseException as error:
            self._on_error(error)

    def cancel(self) -> None:
        """End every job here."""
        self._cancelled = True
        self._run.cancel()
