"""The functions that verl's `reward.custom_reward_function` names.

    reward.custom_reward_function.path=pkg://unhack.integrations.verl
    reward.custom_reward_function.name=compute_score   # or answer_score

verl hands over one completion at a time, each in a thread; calls that wait at the same time are
judged together. `batches` has the reward manager that lets more of them wait.

Covered: the row's `extra_info["task"]`, or else its `data_source`, names a task: a built-in one, a
directory, `NAME#3` for a row of a text task; or, for `answer_score`, `reward_model.ground_truth` is
the right answer, as verl's own data sets of mathematics have it; the `remote` manager, into whose
processes the function goes by its name. What cannot be scored in three tries raises: verl has no
word for it.
Not covered: responses with the answers of tools in them, which verl does not tell apart for a
function: these raise. See `batches`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from unhack.core.errors import UnhackError, UsageError, with_article
from unhack.core.verdict import Verdict
from unhack.integrations.answers import AnswerTasks
from unhack.integrations.rows import name_in, named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_ANSWERS = AnswerTasks("ground_truth")
_ONE_TURN = 2
"""`num_turns` of a prompt and its response."""


def compute_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any = None,
    extra_info: Mapping[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """`{"score", "passed", "reason"}` of one completion. Raises UsageError, UnhackError."""
    del ground_truth, rest
    return _score(row_task(data_source, extra_info), solution_str, extra_info)


def answer_score(
    data_source: Any,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **rest: Any,
) -> dict[str, Any]:
    """Like `compute_score`, against the right answer of the row. Raises GoldError for one that
    cannot be read."""
    del data_source, rest
    row = {**(extra_info or {}), "ground_truth": ground_truth}
    return _score(_ANSWERS(row), solution_str, extra_info)


def _score(task: Task, solution_str: str, extra_info: Mapping[str, Any] | None) -> dict[str, Any]:
    if has_tool_turns((extra_info or {}).get("num_turns")):
        raise UsageError(
            "solution_str holds the answers of tools, which must not be judged; use the reward "
            "manager unhack.integrations.verl.batches with its agent loop"
        )
    return scored(shared_scheduler().submit(task, solution_str).result())


def row_task(data_source: Any, extra_info: Any) -> Task:
    """The task that a row names. Raises UnknownNameError, UsageError."""
    if extra_info is not None and not isinstance(extra_info, Mapping):
        raise UsageError(f"extra_info is {with_article(extra_info)}, not a mapping")
    extra = cast("Mapping[str, Any]", extra_info or {})
    if extra.get("task") is not None:
        return named_task(name_in(extra, "task"))
    return named_task(name_in({"data_source": data_source}, "data_source"))


def has_tool_turns(turns: Any) -> bool:
    """True where verl counts more turns than a prompt and a response."""
    return turns is not None and int(turns) > _ONE_TURN


def scored(verdict: Verdict) -> dict[str, Any]:
    """A verdict in verl's words. Raises UnhackError for an unscored one."""
    reward = reward_of(verdict)
    if reward is None:
        raise UnhackError(f"three tries could not score a completion: {verdict.reason}")
    return {"score": reward, "passed": verdict.passed, "reason": verdict.reason}
