"""Rewards for verl: the functions that its `custom_reward_function` option names.

    # config
    custom_reward_function.path: /path/to/site-packages/unhack/integrations/verl.py
    custom_reward_function.name: compute_score

The row's `extra_info["task"]`, or else its `data_source`, names a task: a built-in one or a
directory, `NAME#3` for the fourth row of a text task. `compute_score` judges one completion, as
verl's naive reward manager asks; `compute_scores` takes the lists of its batch manager and judges
them at once, which is faster.

Covered: both signatures of verl; unscored items raise, since verl has no word for them.
Not covered: reward models and sandboxes of verl's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from unhack.core.errors import UnhackError
from unhack.tasks.batch import run_batch
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """`{"score", "passed", "reason"}` of one completion. Raises UnhackError."""
    [found] = compute_scores([data_source], [solution_str], [ground_truth], [extra_info])
    return found


def compute_scores(
    data_sources: Sequence[str],
    solution_strs: Sequence[str],
    ground_truths: Sequence[Any],
    extra_infos: Sequence[Mapping[str, Any] | None],
    **rest: Any,
) -> list[dict[str, Any]]:
    """The same for lists of equal length, judged together."""
    del ground_truths, rest
    tasks = [
        _task(str((extra or {}).get("task") or source))
        for source, extra in zip(data_sources, extra_infos, strict=True)
    ]
    batch = run_batch(tasks, list(solution_strs))
    found: list[dict[str, Any]] = []
    for reward, verdict in zip(batch.rewards, batch.verdicts, strict=True):
        if reward is None:
            raise UnhackError(f"a completion could not be scored: {verdict.reason}")
        found.append({"score": reward, "passed": verdict.passed, "reason": verdict.reason})
    return found


@lru_cache(maxsize=4096)
def _task(name: str) -> Task:
    return find_task(name)
