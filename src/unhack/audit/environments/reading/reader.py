"""Tasks of a folder, each read without running anything.

    for folder in task_folders(Path("tasks")):
        print(read_task(folder).said)

Covered: folders in Harbor's layout at any depth; tests in Python by their syntax tree, shell by its
lines.
Not covered: tests in other languages, which are named as not read; programs that tests call.
"""

from __future__ import annotations

from pathlib import Path

from unhack.audit.environments.reading.rules import suspicions_of
from unhack.audit.environments.reading.suspicion import KINDS, TaskReading
from unhack.audit.environments.reading.task_text import TaskText
from unhack.core.errors import TaskError, UsageError

_ORDER = {kind: place for place, kind in enumerate(KINDS)}


def task_folders(folder: Path) -> list[Path]:
    """The folder itself, or those below it, that have a task.toml. Raises UsageError for none."""
    if (folder / "task.toml").is_file():
        return [folder]
    found = sorted(path.parent for path in folder.rglob("task.toml") if path.is_file())
    if not found:
        raise UsageError(
            f"{folder}: no folder below it has a task.toml; name one with Harbor tasks"
        )
    return found


def read_task(folder: Path, *, below: Path | None = None) -> TaskReading:
    """One task, named by its path below another folder; what cannot be read is said, never
    raised."""
    name = folder.resolve().name
    if below is not None and below != folder:
        name = folder.relative_to(below).as_posix()
    try:
        text = TaskText(folder)
        found = suspicions_of(text)
    except (TaskError, OSError, RecursionError, ValueError) as error:
        return TaskReading(name, unread=(str(error) or type(error).__name__,), failed=True)
    ordered = sorted(set(found), key=lambda one: (_ORDER[one.kind], one.file, one.line, one.about))
    return TaskReading(name, tuple(ordered), tuple(text.unread))
