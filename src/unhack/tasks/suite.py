"""Search for tasks by name or by path.

    find_tasks("strings/knit-rows")   one task of an installed suite
    find_tasks("math/bag-draw#3")     one problem of a text task
    find_tasks("strings")             an installed suite
    find_tasks("./my-tasks/two-sum")  a task directory, or a directory of task directories

The name of an installed suite wins over a path of the same spelling; write `./strings` for the
path. Tasks are read when they are asked for: no process is started, and naming one task reads no
other.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType

from unhack.core.errors import UnknownNameError, UsageError
from unhack.sandbox.distributions import load_all, to_install
from unhack.tasks.directory import TaskFolder, build, read_folder
from unhack.tasks.task import Task

GROUP = "unhack.suites"
"""Entry points: the name of a suite, and a `pathlib.Path` of its folder of task directories."""


@cache
def suite_folders() -> Mapping[str, Path]:
    """The installed suites by name, sorted, each a folder of plain files, in a wheel too. A
    broken one is left out with a warning."""
    return MappingProxyType(load_all(GROUP, kind=Path))


def builtin_suites() -> tuple[str, ...]:
    """The names of the installed suites, sorted."""
    return tuple(suite_folders())


def builtin_ids() -> tuple[str, ...]:
    """The ids of all tasks of the installed suites, sorted; a text task counts once, whatever its
    rows."""
    return tuple(
        f"{suite}/{path.name}"
        for suite, folder in suite_folders().items()
        for path in _task_paths(folder)
    )


def find_folders(name: str | Path) -> tuple[TaskFolder, ...]:
    """The task directories that `name` stands for; the row of a text task is left aside.

    Raises UnknownNameError with the nearest names, TaskError when a `task.toml` is wrong.
    """
    return tuple(map(read_folder, find_paths(name)))


def find_tasks(name: str | Path) -> tuple[Task, ...]:
    """The tasks that `name` stands for, never none.

    Raises UnknownNameError with the nearest names, TaskError when a file of a task is wrong.
    """
    base, row = _split_row(name)
    tasks = tuple(task for folder in find_folders(base) for task in build(folder))
    if row is None:
        return tasks
    chosen = tuple(task for task in tasks if task.id.endswith(f"#{row}"))
    if row == "0" and len(tasks) == 1:  # a single row keeps the plain id
        return tasks
    if not chosen:
        raise UnknownNameError("task", str(name), valid=[task.id for task in tasks])
    return chosen


def find_task(name: str | Path) -> Task:
    """The only task that `name` stands for.

    Raises UsageError when there are several, and what `find_tasks` raises.
    """
    tasks = find_tasks(name)
    if len(tasks) != 1:
        few = ", ".join(task.id for task in tasks[:3])
        raise UsageError(f"{str(name)!r} stands for {len(tasks)} tasks; name one: {few}, …")
    return tasks[0]


def find_paths(name: str | Path) -> tuple[Path, ...]:
    """The task directories that `name` stands for, unread. Raises UnknownNameError."""
    base, _ = _split_row(name)
    if isinstance(base, str):
        suite, *rest = base.split("/")
        folder = suite_folders().get(suite)
        if folder and len(rest) <= 1 and not {"", ".", ".."} & set(rest):
            found = _paths_below(folder.joinpath(*rest))
            if found:
                return found
    found = _paths_below(Path(base))
    if not found:
        raise _unknown_error(str(name))
    return found


def _unknown_error(name: str) -> UnknownNameError | UsageError:
    path = Path(name)
    if path.is_dir():
        return UsageError(f"{name}: holds no task.toml, and no directory in it does")
    if path.is_file():
        return UsageError(f"{name}: this is a file; a task is a directory with a task.toml in it")
    if name[:1] in {".", "/", "~"} or name.endswith("/"):
        return UsageError(f"{name}: there is no such directory{_near_folders(path)}")
    listed = "no directory has this name either; " + (
        "`unhack tasks list` lists the installed tasks"
        if suite_folders()
        else to_install("suite", "suites")
    )
    ids = builtin_ids()
    valid = [*builtin_suites(), *ids]
    shorts = [item for item in ids if item.rpartition("/")[2] == name]
    if shorts:
        return UsageError(f"unknown task or suite {name!r}; did you mean {', '.join(shorts)}?")
    return UnknownNameError("task or suite", name, valid=valid, listed=listed)


def _near_folders(path: Path) -> str:
    """The directories beside a missing one whose names are near."""
    try:
        names = [item.name for item in path.parent.iterdir() if item.is_dir()]
    except OSError:
        return ""
    near = difflib.get_close_matches(path.name, names, n=3)
    return f"; did you mean {', '.join(str(path.parent / item) for item in near)}?" if near else ""


def _split_row(name: str | Path) -> tuple[str | Path, str | None]:
    """`math/bag-draw#3` -> (`math/bag-draw`, `3`)."""
    if isinstance(name, str):
        base, mark, row = name.rpartition("#")
        if mark and row.isdecimal():
            return base, row
    return name, None


def _paths_below(path: Path) -> tuple[Path, ...]:
    """The path itself if it is a task directory, else the task directories right in it."""
    if os.path.isfile(path / "task.toml"):
        return (path,)
    try:
        return tuple(_task_paths(path)) if path.is_dir() else ()
    except PermissionError as error:
        raise UsageError(f"{path}: this directory cannot be read ({error.strerror})") from None


def _task_paths(path: Path) -> Iterator[Path]:
    """Those without a `task.toml` that can be seen are none: `os.path` asks without raising."""
    return (folder for folder in _subfolders(path) if os.path.isfile(folder / "task.toml"))


def _subfolders(path: Path) -> list[Path]:
    return sorted(
        item for item in path.iterdir() if item.is_dir() and item.name[:1] not in {".", "_"}
    )
