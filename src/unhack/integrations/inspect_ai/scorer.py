# pyright: basic, reportMissingImports=false
"""A scorer for Inspect AI: the sealed verdict of a task on a sample's completion.

    inspect eval my_eval.py --scorer unhack/verdict
    Task(dataset, solver=generate(), scorer=verdict())

The task is named by the argument `task`, or else by the sample's metadata, or else by its id.

Covered: samples that are scored at the same time are judged together; asyncio and trio; partial
credit as the value. What could not be scored is `Score.unscored`, which no metric counts.
Not covered: what a solver left in its sandbox; the model's text alone is judged.
Source: Inspect AI 0.3.285.
"""

from __future__ import annotations

from typing import Any

from inspect_ai.scorer import Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from unhack.core.verdict import Verdict
from unhack.integrations.inspect_ai.waiting import result_of
from unhack.integrations.rows import name_in, named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.verifiers.reward import reward_of


@scorer(metrics=[accuracy(), stderr()])
def verdict(task: str = "", column: str = "task") -> Scorer:
    """The reward in [0, 1] that a task gives to `state.output.completion`.

    `task` names one task for all samples; `column` is the key of the metadata that names the task
    of a sample. A name that is none, or metadata of a wrong kind, is an error of the sample that
    names the key.
    """

    async def score(state: TaskState, target: Target) -> Score:
        judged_by = named_task(task or _name(state, column))
        found = await result_of(shared_scheduler().submit(judged_by, state.output.completion))
        return _score(found, state.output.completion)

    return score


def _name(state: TaskState, column: str) -> str:
    if column in (state.metadata or {}):
        return name_in(state.metadata, column)
    return str(state.sample_id)


def _score(found: Verdict, completion: str) -> Score:
    told: dict[str, Any] = {
        "status": str(found.status),
        "seal": str(found.seal),
        "cpu_s": found.usage.cpu_s,
    }
    reward = reward_of(found)
    if reward is None:
        return Score.unscored(
            reason="scoring_failed", answer=completion, explanation=found.reason, metadata=told
        )
    return Score(value=reward, answer=completion, explanation=found.reason, metadata=told)
