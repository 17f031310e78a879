"""A reward file for OpenRLHF.

    --reward.remote_url /path/to/site-packages/unhack/integrations/openrlhf/reward.py
    --data.label_key task

The label of a row names the task that judges its completion. Where it is the right answer itself,
the file is `answers.py`, beside this one.

Covered: prompts that OpenRLHF cut off on the left; the tokens at the end of a turn; completions
that end at the same time are judged together, although each comes alone.
Not covered: dropping what could not be scored, for which OpenRLHF has no word. The error is logged
here, since OpenRLHF shows it at level info only; the reward stays None and the step ends.
Source: OpenRLHF 0.11.2, `SingleTurnAgentExecutor`.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from typing import Any, cast

from unhack.core.errors import UnhackError, UsageError, with_article
from unhack.core.lines import without_end
from unhack.core.verdict import Verdict
from unhack.integrations.rows import name_in, named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task
from unhack.verifiers.reward import reward_of

_LEAST_OVERLAP = 16
"""Characters of a prompt's end that a query must begin with; fewer may be there by chance."""
_log = logging.getLogger("unhack.openrlhf")


def reward_func(
    queries: Sequence[str], prompts: Sequence[str], labels: Sequence[Any]
) -> dict[str, Any]:
    """`rewards` and `scores` in [0, 1], `extra_logs` with `unhack_passed`: one value a query, as a
    tensor where torch is loaded.

    Raises UnhackError, after logging it: for what could not be scored, UsageError for lists of
    unlike length, a label that names no task, a query that does not hold its prompt.
    """
    return judge_call(queries, prompts, labels, find=labelled_task)


def judge_call(
    queries: Any, prompts: Any, labels: Any, *, find: Callable[[Any], Task]
) -> dict[str, Any]:
    """`reward_func`, with the task that `find` makes of a label."""
    try:
        pairs = read_calls(queries, prompts, labels, find=find)
        verdicts = shared_scheduler().judge_all(
            [task for task, _ in pairs], [text for _, text in pairs]
        )
        answer = told(verdicts)
    except UnhackError as error:
        _log.error("no reward: %s", error)
        raise
    torch: Any = sys.modules.get("torch")
    if torch is not None:
        for name in ("rewards", "scores"):
            answer[name] = torch.tensor(answer[name])
    return answer


def read_calls(
    queries: Any, prompts: Any, labels: Any, *, find: Callable[[Any], Task]
) -> list[tuple[Task, str]]:
    """The task and the completion of each query. Raises UsageError, UnknownNameError."""
    for name, value in (("query", queries), ("prompts", prompts), ("labels", labels)):
        if not isinstance(value, list | tuple):
            raise UsageError(f"{name} is {with_article(value)}, not a list")
        held = len(cast("list[object]", value))
        if held != len(queries):
            raise UsageError(f"{held} {name} for {len(queries)} queries")
    return [
        (find(label), completion_of(query, prompt))
        for query, prompt, label in zip(queries, prompts, labels, strict=True)
    ]


def labelled_task(label: Any, find: Callable[[str], Task] = named_task) -> Task:
    """The task that a label names. Raises UsageError, UnknownNameError."""
    return find(name_in({"label": label}, "label"))


def completion_of(query: Any, prompt: Any) -> str:
    """The part of a query after its prompt, without the tokens that end a turn.

    A prompt that was too long is there from somewhere in its middle on. Raises UsageError where a
    query begins with neither the prompt nor its end: to judge all of it would judge the prompt.
    """
    for name, value in (("query", query), ("prompts", prompt)):
        if not isinstance(value, str):
            raise UsageError(f"{name} holds {with_article(value)}, not a text")
    if query.startswith(prompt):
        return without_end(query[len(prompt) :])
    cut = query.lstrip("\ufffd")  # half a character, where a token was cut
    size = _overlap(prompt, cut)
    if size < min(_LEAST_OVERLAP, len(prompt)):
        raise UsageError(
            "the query begins neither with its prompt nor with the prompt's end: the tokenizer "
            "does not give back what it took, or the prompt fills no part of max_len"
        )
    return without_end(cut[size:])


def _overlap(prompt: str, query: str) -> int:
    """Length of the longest end of `prompt` that `query` begins with, in linear time."""
    pattern = query[: len(prompt)]
    falls = [0] * len(pattern)
    size = 0
    for at in range(1, len(pattern)):
        while size and pattern[at] != pattern[size]:
            size = falls[size - 1]
        size += pattern[at] == pattern[size]
        falls[at] = size
    size = 0
    for letter in prompt:
        while size and (size == len(pattern) or letter != pattern[size]):
            size = falls[size - 1]
        size += bool(pattern) and letter == pattern[size]
    return size


def told(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """The answer in OpenRLHF's words. Raises UnhackError where one is unscored."""
    rewards: list[float] = []
    for verdict in verdicts:
        reward = reward_of(verdict)
        if reward is None:
            raise UnhackError(
                f"a completion could not be scored, which is not a 0: {verdict.reason}"
            )
        rewards.append(reward)
    passed = [float(verdict.passed) for verdict in verdicts]
    return {"rewards": rewards, "scores": [*rewards], "extra_logs": {"unhack_passed": passed}}
