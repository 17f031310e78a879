"""The suite `repos` as the engine finds it: `SUITE`, an entry point of `unhack.environments`.

Covered: a published task is made once for each version of its generator and kept in the user's
cache; where nothing can be kept it is made anew.
Not covered: making and checking tasks (`suite`, `validation`).
"""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from unhack.core.errors import TaskError, UsageError
from unhack.core.hashing import content_hash
from unhack.environments.sources.task_folder import read_task, write_task
from unhack.environments.task import RepositoryTask
from unhack_suites.repos.suite import build, make_tasks, public_recipes


class PublishedSuite:
    """The published tasks, and others of the same generator.

    SUITE.task(SUITE.ids()[0]).statement
    """

    def ids(self) -> Sequence[str]:
        """The ids of the published tasks, in their order."""
        return tuple(recipe.id for recipe in public_recipes())

    def task(self, task_id: str) -> RepositoryTask:
        """A published task, from the cache where it is there. Raises TaskError."""
        folder = _cache() / task_id.replace("/", "-")
        with contextlib.suppress(TaskError, OSError):
            return read_task(folder)
        recipe = next((one for one in public_recipes() if one.id == task_id), None)
        task = build(recipe) if recipe else None
        if task is None:
            raise TaskError(f"{task_id}: no recipe makes this task")
        with contextlib.suppress(OSError, UsageError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=folder.parent) as made:
                write_task(Path(made, "task"), task)
                Path(made, "task").rename(folder)
        return task

    def drawn(self, seed: str, count: int) -> Sequence[RepositoryTask]:
        """Other tasks of the generator. Raises UsageError."""
        return make_tasks(seed, count)


SUITE = PublishedSuite()


@functools.cache
def _cache() -> Path:
    """The folder of this version of the generator."""
    sources = [
        path.read_text(encoding="utf-8") for path in sorted(Path(__file__).parent.rglob("*.py"))
    ]
    mark = content_hash(*sources, f"{sys.version_info[:2]}")[:16]
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home, "unhack", f"repos-{mark}")
