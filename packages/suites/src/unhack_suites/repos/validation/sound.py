"""Fresh tasks that have passed the checks.

    sound_tasks("a secret", 10)

Covered: draws of `suite` that pass `protocol` in this process.
Not covered: runs in other processes and the ladder, which `benchmarks/repos_suite.py` adds.
"""

from __future__ import annotations

from collections.abc import Iterator

from unhack.core.errors import UsageError
from unhack.environments.task import RepositoryTask
from unhack_suites.repos.running import LocalRunner
from unhack_suites.repos.suite import Recipe, build, recipes
from unhack_suites.repos.validation.protocol import check_task


def sound_tasks(
    seed: int | str, count: int, *, secret: str = ""
) -> list[tuple[Recipe, RepositoryTask]]:
    """`count` recipes of a seed with their tasks, all sound; a longer draw begins with the shorter
    one. Raises UsageError for a count below 1."""
    if count < 1:
        raise UsageError(f"at least one task can be made, not {count}")
    found = (_sound(f"{seed}", index, secret) for index in range(count))
    return list(found)


def _sound(seed: str, index: int, secret: str) -> tuple[Recipe, RepositoryTask]:
    for recipe, task in _made(seed, index, secret):
        if not check_task(task, run=LocalRunner(), rungs=()).problems:
            return recipe, task
    raise UsageError(f"seed {seed}: no sound task {index}")


def _made(seed: str, index: int, secret: str) -> Iterator[tuple[Recipe, RepositoryTask]]:
    for recipe in recipes(seed, index, secret=secret):
        task = build(recipe)
        if task is not None:
            yield recipe, task
