"""The tasks that a request may name: the built-in ones, and those of the operator's folders.

A name is looked up in a table, never on the disk: no request can ask for a path of this machine.

Covered: ids, rows of text tasks (`math/bag-draw#3`); an id that two folders have is refused at the
start.
Not covered: a folder that changes while the server runs; restart it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tasks.directory import TaskFolder, build, read_folder
from unhack.tasks.suite import find_paths, suite_folders
from unhack.tasks.task import Task

_ROW = re.compile(r"(.*)#([0-9]{1,9})", re.DOTALL)


@dataclass(frozen=True)
class Catalogue:
    """Task folders by id; a folder's files are read when it is first asked for."""

    folders: Mapping[str, TaskFolder]

    def find(self, name: str) -> Task:
        """The task of an id. Raises UnknownNameError; UsageError for several rows."""
        numbered = _ROW.fullmatch(name)
        base, row = numbered.groups() if numbered else (name, "")
        folder = self.folders.get(base)
        if folder is None:
            listed = "GET /v1/tasks lists them"
            raise UnknownNameError("task", name[:200], valid=self.folders, listed=listed)
        tasks = _tasks(folder.path)
        if row:
            if len(tasks) > int(row) and (len(tasks) == 1 or tasks[int(row)].id == name):
                return tasks[int(row)]
            raise UsageError(f"task {base!r} has {len(tasks)} rows, from {base}#0 on")
        if len(tasks) != 1:
            raise UsageError(f"task {base!r} has {len(tasks)} rows; name one, such as {base}#0")
        return tasks[0]

    def rows(self, name: str) -> int:
        """The number of tasks that an id of this catalogue stands for."""
        return len(_tasks(self.folders[name].path))


def make_catalogue(own: Iterable[Path] = ()) -> Catalogue:
    """The tasks of the installed suites and of `own` folders. Raises UsageError, TaskError."""
    folders: dict[str, TaskFolder] = {}
    for suite in suite_folders():
        for path in find_paths(suite):
            folders[f"{suite}/{path.name}"] = read_folder(path)
    for top in own:
        for path in find_paths(top):
            folder = read_folder(path)
            name = folder.settings.id
            if name in folders:
                raise UsageError(f"--tasks {top}: there is a task {name!r} already; change its id")
            build(folder)  # what is wrong with it is said at the start, not to a client
            folders[name] = folder
    return Catalogue(folders)


@lru_cache(maxsize=4096)
def _tasks(path: Path) -> tuple[Task, ...]:
    return build(read_folder(path))
