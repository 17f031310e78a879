"""Names of tasks as Harbor folders: task directories, and suites of repository tasks.

Covered: one folder for each task, named by its id; two tasks of one name are refused before
anything is written; names that are neither say what they could be.
Not covered: folders that are there already, which are never written over.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from unhack.core.errors import UsageError
from unhack.integrations.harbor.repository_folder import export_repository, require_new
from unhack.integrations.harbor.task_folder import export_task, harbor_name
from unhack.integrations.task_names import AnyTask, tasks_of
from unhack.tasks.task import Task


def export_all(names: Sequence[str], out: Path) -> Iterator[Path]:
    """Write the tasks that names stand for below `out`; each folder once it is there.

    Raises UsageError, TaskError, before the first folder is written where a name is wrong.
    """
    found: dict[str, AnyTask] = {}
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
