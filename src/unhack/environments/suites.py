"""The suites of repository tasks by name, and tasks by id.

Covered: installed suites; `repos:SEED` for other tasks of the suite's generator; folders of tasks,
as `unhack tasks mine` writes them.
Harbor folders, one or a folder of them, can be played (`find_tasks`).
Not covered: rows of other formats (`sources.loaders`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

from unhack.core.errors import UsageError
from unhack.environments.environment import EpisodeTask
from unhack.environments.sources.loaders.harbor import read_harbor
from unhack.environments.sources.task_folder import load_mined, read_task
from unhack.environments.task import RepositoryTask
from unhack.sandbox.distributions import load_all, to_install

GROUP = "unhack.environments"
"""Entry points: the name of a suite, and a `RepositorySuite`."""
_DRAWN = 40


class RepositorySuite(Protocol):
    """Repository tasks that a distribution brings."""

    def ids(self) -> Sequence[str]:
        """The ids of its published tasks, in their order; each begins with the suite's name."""
        ...

    def task(self, task_id: str) -> RepositoryTask:
        """The published task of an id. Raises TaskError where it cannot be made."""
        ...

    def drawn(self, seed: str, count: int) -> Sequence[RepositoryTask]:
        """Other tasks of the same generator, the same for the same seed. Raises UsageError where
        it makes none."""
        ...


@cache
def repository_suites() -> Mapping[str, RepositorySuite]:
    """The installed suites of repository tasks by name."""
    return MappingProxyType(load_all(GROUP))


def is_repository_suite(target: str) -> bool:
    """True for the name of a suite, `SUITE:SEED`, or the id of a task, known or not."""
    return target.partition(":")[0].partition("/")[0] in repository_suites()


def find_repository_tasks(name: str) -> Iterator[RepositoryTask]:
    """The tasks of a suite (`repos`, `repos:SEED`) or of a folder, or the one with this id, each
    made when it is asked for.

    Raises UsageError for a name that is none of these, TaskError for a folder that is broken.
    """
    head, colon, seed = name.partition(":")
    suite = repository_suites().get(head.partition("/")[0])
    if suite is not None and colon:
        return iter(suite.drawn(seed, _DRAWN))
    if suite is not None and "/" not in head:
        return map(suite.task, suite.ids())
    folder = Path(name)
    if folder.is_dir():
        found = [read_task(folder)] if (folder / "task.json").exists() else load_mined(folder)
        return iter(found)
    if suite is None or name not in suite.ids():
        suites = ", ".join(repository_suites()) or to_install("suite", "suites")
        raise UsageError(f"{name!r} is not a suite ({suites}), SUITE:SEED, a folder or a task")
    return iter([suite.task(name)])


def find_tasks(name: str) -> Iterator[EpisodeTask]:
    """As `find_repository_tasks`; a folder with `tests/test.sh`, or of such folders, is read as
    Harbor's. Raises UsageError, TaskError."""
    top = Path(name)
    folders = [top] if _is_harbor(top) else []
    if top.is_dir() and not folders:
        folders = sorted(one for one in top.iterdir() if _is_harbor(one))
    return map(read_harbor, folders) if folders else find_repository_tasks(name)


def find_one_task(name: str) -> EpisodeTask:
    """The only task of a name. Raises UsageError for several, TaskError."""
    found = list(find_tasks(name))
    if len(found) != 1:
        such = f"; name one, such as {found[0].id}" if found else ""
        raise UsageError(f"{name!r} matches {len(found)} tasks{such}")
    return found[0]


def _is_harbor(folder: Path) -> bool:
    return (folder / "tests" / "test.sh").is_file()
