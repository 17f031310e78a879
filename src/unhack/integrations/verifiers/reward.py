# pyright: basic
"""A reward for any taskset of verifiers, plugged in by its configuration.

    --env.taskset.task.rewards.sealed.fn unhack.integrations.verifiers.reward:sealed

The task data names the unhack task: its field `unhack_task`, or else `id`, or else `name`.

Covered: `trace.last_reply`, what the assistant wrote last; rollouts that end at the same time are
judged together; offline scoring, since no runtime is asked for.
Not covered: what lies in a rollout's runtime.
Source: verifiers 0.4.0, `Task.score`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from unhack.core.errors import UnhackError, UsageError
from unhack.integrations.rows import name_in, named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_FIELDS = ("unhack_task", "id", "name")
_SHARE = 0.8
"""Part of verifiers' own time limit after which we raise: it would count a timeout as reward 0."""
_WAIT_S = 300.0
"""The limit where the task sets none."""


async def sealed(task: Any, trace: Any) -> float:
    """The reward in [0, 1] of `trace.last_reply`.

    Raises UnhackError for what could not be scored, or not in time: verifiers then marks the trace
    as failed and drops the rollout. Raises UsageError, UnknownNameError for data without a task.
    """
    return await judged(_named(task), trace.last_reply, wall_s=_limit_s(task))


async def judged(task: Task, text: str, *, wall_s: float) -> float:
    """The reward of a text. Raises UnhackError for what could not be scored within `wall_s`."""
    try:
        verdict = await asyncio.wait_for(shared_scheduler().judge(task, text), wall_s)
    except TimeoutError:
        raise UnhackError(
            f"{task.id}: no verdict within {wall_s:g} s, not a 0; raise timeout.scoring of the task"
        ) from None
    reward = reward_of(verdict)
    if reward is None:
        raise UnhackError(f"{task.id}: unscored, not a 0: {verdict.reason}")
    return reward


def _named(data: Any) -> Task:
    for field in _FIELDS:
        value = getattr(data, field, None)
        if value is not None:
            return named_task(name_in({field: value}, field))
    raise UsageError(f"the task data name no unhack task: set one of {', '.join(_FIELDS)}")


def _limit_s(data: Any) -> float:
    limit = getattr(getattr(data, "timeout", None), "scoring", None)
    return _SHARE * limit if limit else _WAIT_S
