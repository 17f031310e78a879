"""Tasks of any kind by name: task directories, and repository tasks.

Covered: built-in names, directories, suites of repository tasks (`repos`, `repos:SEED`) and folders
of them. A single task is read once for all callers.
Not covered: tasks made in Python; hand those over as they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.environments.suites import find_repository_tasks, is_repository_suite
from unhack.environments.task import RepositoryTask
from unhack.tasks.suite import find_tasks
from unhack.tasks.task import Task

AnyTask = Task | RepositoryTask


def tasks_of(name: str) -> Iterator[AnyTask]:
    """The tasks of a name: a suite or folder of repository tasks, or what `find_tasks` finds.

    Raises UsageError, TaskError.
    """
    top = Path(name)
    repositories = is_repository_suite(name)
    if repositories or (top / "task.json").exists() or (top / "manifest.json").exists():
        return iter(find_repository_tasks(name))
    return iter(find_tasks(name))


@lru_cache(maxsize=4096)
def one_task(name: str) -> AnyTask:
    """The only task of a name. Raises UsageError where there are several, TaskError."""
    found = tasks_of(name)
    first = next(found, None)
    second = next(found, None)
    if first is None or second is not None:
        shown = "no task" if first is None else "several tasks"
        raise UsageError(f"{name!r} stands for {shown}; name one, such as strings/knit-rows")
    return first


def name_of(task: AnyTask) -> str:
    """A name by which `one_task` finds a task that was found by name.

    Raises UsageError for a repository task of a folder, whose folder has to be named itself.
    """
    try:
        one_task(task.id)
    except UsageError:
        if isinstance(task, Task) and task.path is not None:
            _, mark, row = task.id.rpartition("#")
            return f"{task.path.resolve()}{mark}{row if mark else ''}"
        raise UsageError(f"{task.id}: name its own folder, the one with task.json") from None
    return task.id
