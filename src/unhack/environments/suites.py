"""The suites of repository tasks by name, and tasks by id.

Covered: built-in suites; `repos:SEED` for other tasks of the same generator; folders of tasks, as
`unhack tasks mine` writes them. A published task is made once for each version of its generator
and kept in the user's cache; where nothing can be kept it is made anew.
Harbor folders, one or a folder of them, can be played (`find_tasks`).
Not covered: rows of other formats (`sources.loaders`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from unhack.core.errors import TaskError, UsageError
from unhack.core.hashing import content_hash
from unhack.environments import repos
from unhack.environments.environment import EpisodeTask
from unhack.environments.repos.suite import Recipe, build, make_tasks, public_recipes
from unhack.environments.sources.loaders.harbor import read_harbor
from unhack.environments.sources.task_folder import load_mined, read_task, write_task
from unhack.environments.task import RepositoryTask

SUITES = ("repos",)
_DRAWN = 40


def find_repository_tasks(name: str) -> Iterator[RepositoryTask]:
    """The tasks of a suite (`repos`, `repos:SEED`) or of a folder, or the one with this id, each
    made when it is asked for.

    Raises UsageError for a name that is none of these, TaskError for a folder that is broken.
    """
    if name == "repos":
        return map(_published, public_recipes())
    if name.startswith("repos:"):
        return iter(make_tasks(name.removeprefix("repos:"), _DRAWN))
    folder = Path(name)
    if folder.is_dir():
        found = [read_task(folder)] if (folder / "task.json").exists() else load_mined(folder)
        return iter(found)
    chosen = [recipe for recipe in public_recipes() if recipe.id == name]
    if not chosen:
        suites = ", ".join(SUITES)
        raise UsageError(f"{name!r} is no suite ({suites}, repos:SEED), no folder and no task")
    return map(_published, chosen)


def find_tasks(name: str) -> Iterator[EpisodeTask]:
    """As `find_repository_tasks`; a folder with `tests/test.sh`, or of such folders, is read as
    Harbor's. Raises UsageError, TaskError."""
    top = Path(name)
    folders = [top] if _is_harbor(top) else []
    if top.is_dir() and not folders:
        folders = sorted(one for one in top.iterdir() if _is_harbor(one))
    return map(read_harbor, folders) if folders else find_repository_tasks(name)


def _is_harbor(folder: Path) -> bool:
    return (folder / "tests" / "test.sh").is_file()


def _published(recipe: Recipe) -> RepositoryTask:
    """A published task, from the cache where it is there."""
    folder = _cache() / recipe.id.replace("/", "-")
    with contextlib.suppress(TaskError, OSError):
        return read_task(folder)
    task = build(recipe)
    if task is None:
        raise TaskError(f"{recipe.id}: its recipe makes no task")
    with contextlib.suppress(OSError, UsageError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            write_task(Path(made, "task"), task)
            Path(made, "task").rename(folder)
    return task


@functools.cache
def _cache() -> Path:
    """The folder of this version of the generator."""
    top = Path(next(iter(repos.__path__)))
    sources = [path.read_text(encoding="utf-8") for path in sorted(top.rglob("*.py"))]
    mark = content_hash(*sources, f"{sys.version_info[:2]}")[:16]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "unhack", f"repos-{mark}")
