# pyright: basic, reportMissingImports=false
"""Our tasks as a taskset of verifiers, and so of prime-rl.

    vf-eval unhack-taskset --env.taskset.tasks '["strings"]'

Covered: built-in suites and tasks, directories; `vf-validate`, which judges the reference solution
and an untouched task; answers stay out of the data, which verifiers writes into traces.
Not covered: several turns, tools, runtimes; a task is one prompt and one reply.
Source: verifiers 0.4.0, `Taskset`, `Task`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from unhack.core.errors import UsageError
from unhack.integrations.rows import named_task
from unhack.integrations.verifiers.reward import judged, sealed
from unhack.tasks.directory import build
from unhack.tasks.suite import find_folders, find_tasks, suite_folders
from unhack.tasks.task import Task


class SealedTaskData(vf.TaskData):
    """The part of a task that traces hold: its prompt and its name, never its answer."""

    unhack_task: str
    """Name of the task."""


class SealedTask(vf.Task[SealedTaskData]):
    """One task, judged sealed."""

    @property
    def key(self) -> str:
        """The name of the task."""
        return self.data.unhack_task

    @vf.reward(weight=1.0)
    async def sealed(self, task: SealedTaskData, trace: Any) -> float:
        """The reward in [0, 1]. Raises UnhackError for what could not be scored."""
        return await sealed(task, trace)

    async def validate(self, runtime: Any) -> bool | None:
        """True when the reference solution gets the full reward; None where there is none."""
        task = named_task(self.data.unhack_task)
        reference = task.problem.reference
        if reference is None:
            return None
        return await judged(task, str(reference), wall_s=self.data.timeout.scoring) == 1.0


class SealedTasksetConfig(vf.TasksetConfig):
    """Tasks to load, and their limit, under `--env.taskset.*`.

    Example:

        SealedTasksetConfig(tasks=["strings/knit-rows", "my-tasks"], scoring_s=60.0)
    """

    tasks: list[str] = Field(default_factory=list)
    """Suites, tasks or directories."""
    scoring_s: float = Field(default=300.0, gt=0, allow_inf_nan=False)
    """Seconds within which a rollout must be scored; a judge that needs four fifths of them makes
    it fail, which drops it."""


class SealedTaskset(vf.Taskset[SealedTask, SealedTasksetConfig]):
    """The tasks of the configuration.

    Example:

        taskset = SealedTaskset(SealedTasksetConfig(tasks=["strings"]))
        [task.key for task in taskset.load()]
    """

    def load(self) -> Iterator[SealedTask]:
        """Each task in order. Raises UsageError without names, UnknownNameError, TaskError."""
        if not self.config.tasks:
            raise UsageError("taskset.tasks names no task: give a suite, such as strings")
        for name in self.config.tasks:
            for known_as, task in _found(name):
                data = SealedTaskData(
                    id=task.id,
                    prompt=task.prompt,
                    unhack_task=known_as,
                    timeout=vf.TaskTimeout(scoring=self.config.scoring_s),
                )
                yield SealedTask(data, self.config.task)


def _found(name: str) -> Iterator[tuple[str, Task]]:
    """(the name that finds it again, task) of each: its id, or the path of its directory."""
    wanted = {task.id for task in find_tasks(name)}
    for folder in find_folders(name):
        builtin = folder.path.parent in suite_folders().values()
        for task in build(folder):
            row = task.id.partition("#")[2]
            path = f"{folder.path}#{row}" if row else str(folder.path)
            if task.id in wanted:
                yield (task.id if builtin else path), task
