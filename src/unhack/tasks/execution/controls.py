"""Completions that were judged in this process: controls of tasks that have no reference.

Covered: calls from any thread; tasks that are made anew for each call.
Not covered: other processes; each keeps its own.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict

from unhack.tasks.task import (
    MissingControlWarning,
    Task,
    is_same_task,
    warn_of_missing_control,
)

KEPT_CONTROLS = 1024
"""Tasks of which a run, and the process, keeps a completion that was judged."""
_MAX_CONTROL_CHARS = 1 << 16
"""Of a completion that is kept for other runs."""


_Key = tuple[str, str]


def _key(task: Task) -> _Key:
    return task.problem.id, task.problem.prompt


class KnownControls:
    """Completions that were judged in this process, one for a task, for the tasks met last.

    Tasks that are made anew for every call, as rows of a data set are, are the same when equal.

    Example:

        CONTROLS.keep(task, completion)
        CONTROLS.find(task)
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[_Key, tuple[Task, str]] = OrderedDict()
        self._missed: OrderedDict[int, Task] = OrderedDict()

    def keep(self, task: Task, completion: str) -> None:
        """Keep a completion, unless it is long or the task has one."""
        with self._lock:
            known = self._found.get(_key(task))
            has_one = known is not None and is_same_task(known[0], task)
            if len(completion) <= _MAX_CONTROL_CHARS and not has_one:
                self._found[_key(task)] = task, completion
            if len(self._found) > KEPT_CONTROLS:
                self._found.popitem(last=False)

    def find(self, task: Task) -> str | None:
        """The completion of this task, or of an equal one."""
        with self._lock:
            known = self._found.get(_key(task))
        return known[1] if known is not None and is_same_task(known[0], task) else None

    def miss(self, task: Task, said: str) -> None:
        """Warn, once for a task, that none of its controls could be judged: what became of one."""
        with self._lock:
            if id(task) in self._missed or task.control_doubt:  # which was said when it was made
                return
            self._missed[id(task)] = task
            if len(self._missed) > KEPT_CONTROLS:
                self._missed.popitem(last=False)
        with contextlib.suppress(MissingControlWarning):  # as an error it would end the pool
            warn_of_missing_control(task, said, stacklevel=2)


CONTROLS = KnownControls()
"""Of this process."""
