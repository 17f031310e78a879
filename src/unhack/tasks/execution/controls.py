"""Completions that were judged in this process: controls of tasks that have no reference.

Covered: calls from any thread.
Not covered: other processes; each keeps its own.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from unhack.tasks.task import Task

KEPT_CONTROLS = 1024
"""Tasks of which a run, and the process, keeps a completion that was judged."""
_MAX_CONTROL_CHARS = 1 << 16
"""Of a completion that is kept for other runs."""


class KnownControls:
    """Completions that were judged in this process, one for a task, for the tasks met last.

    Example:

        CONTROLS.keep(task, completion)
        CONTROLS.find(task)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[int, tuple[Task, str]] = OrderedDict()

    def keep(self, task: Task, completion: str) -> None:
        """Keep a completion, unless it is long or the task has one."""
        with self._lock:
            if len(completion) <= _MAX_CONTROL_CHARS:
                self._found.setdefault(id(task), (task, completion))
            if len(self._found) > KEPT_CONTROLS:
                self._found.popitem(last=False)

    def find(self, task: Task) -> str | None:
        """The completion of this very task."""
        with self._lock:
            return self._found.get(id(task), (task, None))[1]


CONTROLS = KnownControls()
"""Of this process."""
