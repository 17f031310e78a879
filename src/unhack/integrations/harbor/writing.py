"""Names of tasks as Harbor folders: task directories, and suites of repository tasks.

Covered: one folder for each task, named by its id; two tasks of one name are refused before
anything is written; names that are neither say what they could be.
Not covered: folders that are there already, which are never written over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.environments.suites import SUITES, find_repository_tasks
from unhack.environments.task import RepositoryTask
from unhack.integrations.harbor.repository_folder import export_repository, require_new
from unhack.integrations.harbor.task_folder import export_task, harbor_name
from unhack.tasks.suite import find_tasks
from unhack.tasks.task import Task


def export_all(names: Sequence[str], out: Path) -> Iterator[Path]:
    """Write the tasks that names stand for below `out`; each folder once it is there.

    Raises UsageError, TaskError, before the first folder is written where a name is wrong.
    """
    found: dict[str, Task | RepositoryTask] = {}
    for name in names:
        for task in tasks_of(name):
            folder = harbor_name(task.id).replace("/", "__")
            if folder in found:
                raise UsageError(f"{task.id} and {found[folder].id} are one folder, {folder}")
            require_new(out / folder)
            found[folder] = task
    for name, task in found.items():
        if isinstance(task, Task):
            export_task(task, out / name)
        else:
            export_repository(task, out / name)
        yield out / name


def tasks_of(name: str) -> Iterator[Task | RepositoryTask]:
    """The tasks of a name: a suite or folder of repository tasks, or what `find_tasks` finds."""
    top = Path(name)
    repositories = name.partition(":")[0].partition("/")[0] in SUITES
    if repositories or (top / "task.json").exists() or (top / "manifest.json").exists():
        return iter(find_repository_tasks(name))
    return iter(find_tasks(name))
