"""The source, or the whole world, that a user's target names.

    strings/knit-rows   math   ./my-task     tasks: one, a suite, a folder
    repos   ./mined                          repository tasks
    rewards.py:score   pkg.rewards:score     a reward function, sealed
    ./verifier-folder                        a verifier script, sealed
    my_tasks.py:tasks                        `Task` objects that the module makes
    my_world.py:MyWorld                      a class with `draw` and `judge`: a world of its own

Covered: a function or class that gives scores is never imported here. Not covered: the last two
are the user's own code, which this process imports.
"""

from __future__ import annotations

import ast
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_function, load_subject
from unhack.audit.subjects.target import Target, definitions, find_target
from unhack.core.errors import UnknownNameError, UsageError
from unhack.environments.suites import find_tasks as find_episode_tasks
from unhack.environments.suites import is_repository_suite, repository_suites
from unhack.sandbox.job import Backend
from unhack.tasks.suite import find_tasks
from unhack.tasks.task import Task
from unhack.training.worlds.tasks.sources import (
    FunctionSource,
    ProblemSource,
    RepositorySource,
    TaskSource,
)

_WORLD = frozenset({"draw", "judge"})
"""Methods by which a class of worlds is known."""


def open_source(
    target: str, *, rows: str, names: Sequence[str], backend: Backend | None = None
) -> ProblemSource:
    """The source that a target names. `rows`: JSONL of a function's problems, empty for those
    beside it; `names`: worlds with a name, for complaints.

    Raises UsageError (UnknownNameError, TaskError), SandboxUnavailableError.
    """
    path = Path(target)
    if is_python(target):
        return _python_source(target, rows=rows, backend=backend)
    if rows:
        raise UsageError(f"world.path holds the rows of a reward function; {target} is none")
    if _is_episodes(target):
        return RepositorySource(target, list(find_episode_tasks(target)))
    if (path / "verifier.py").is_file() and not (path / "task.toml").is_file():
        subject = load_subject(target, backend=backend)
        assert isinstance(subject, FunctionSubject)
        return FunctionSource(subject)
    try:
        return TaskSource(target, find_tasks(target), backend=backend)
    except UnknownNameError as error:
        raise UnknownNameError("world, task or suite", target, valid=[*names, *error.valid]) from (
            error
        )


def is_python(target: str) -> bool:
    """Tell whether a target names something in Python source."""
    head = target.partition(":")[0]
    if head in repository_suites():
        return False
    return target.endswith((".py", ".ipynb")) or ":" in target


def world_class(target: str) -> Any:
    """The class of a world that a target names; None where it names something else.

    Raises UsageError where there is no such file, module or name.
    """
    found = find_target(target)
    owner = found.owner
    if (
        owner is None
        or not {node.name for node in owner.body if isinstance(node, ast.FunctionDef)} >= _WORLD
    ):
        return None
    return getattr(_import(found), owner.name)


def _python_source(target: str, *, rows: str, backend: Backend | None) -> ProblemSource:
    found = find_target(target)
    if found.function is None and found.owner is None and _makes_tasks(found):
        value = getattr(_import(found), found.entry, None)
        tasks = _tasks_of(value)
        if tasks:
            return TaskSource(target, tasks, backend=backend)
    problems = Path(rows) if rows else None
    return FunctionSource(load_function(target, problems=problems, backend=backend))


def _makes_tasks(found: Target) -> bool:
    """Tell whether a name is assigned at the top of its module: only a run can tell what it is."""
    return any(
        isinstance(item, ast.Name) and item.id == found.entry
        for node in definitions(found.module.tree.body)
        if isinstance(node, (ast.Assign, ast.AnnAssign))
        for item in (node.targets if isinstance(node, ast.Assign) else [node.target])
    )


def _tasks_of(value: Any) -> list[Task]:
    """Tasks of a task, or of a collection of tasks; none of anything else."""
    if isinstance(value, Task):
        return [value]
    if not isinstance(value, (list, tuple)):
        return []
    items = cast("Sequence[Any]", value)
    return [item for item in items if isinstance(item, Task)] if items else []


def _import(found: Target) -> Any:
    """The module of a target, imported into this process: the user's own code."""
    module = found.module
    root = str(module.root)
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        made = importlib.import_module(module.name)
        if Path(made.__file__ or "").resolve() != module.path:
            raise ImportError(f"a module of this name is loaded from {made.__file__}")
        return made
    except Exception as error:
        raise UsageError(
            f"{module.path} cannot be imported: {type(error).__name__}: {error}"
        ) from error


def _is_episodes(target: str) -> bool:
    top = Path(target)
    if is_repository_suite(target):
        return True
    marks = ("task.json", "manifest.json", "tests/test.sh")
    if any((top / mark).is_file() for mark in marks):
        return True
    return top.is_dir() and any((one / "tests" / "test.sh").is_file() for one in top.iterdir())
