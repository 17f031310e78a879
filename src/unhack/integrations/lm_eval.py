"""A filter and a metric for lm-evaluation-harness: all replies of a task judged in one batch.

    # sealed.py, beside the task's YAML
    from unhack.integrations.lm_eval import judge, process_results

    # task.yaml
    filter_list:
      - name: sealed
        filter: [{function: custom, filter_fn: !function sealed.judge}]
    process_results: !function sealed.process_results
    metric_list:
      - {metric: reward, aggregation: nanmean, higher_is_better: true}
      - {metric: passed, aggregation: nanmean, higher_is_better: true}
      - {metric: unscored, aggregation: mean, higher_is_better: false}

A document's column `task` names the task that judges its replies.

Covered: repeats, whose mean is the document's; what could not be scored is NaN, which `nanmean`
leaves out, and the metric `unscored` counts it. No code of a model runs unsealed, so that neither
`HF_ALLOW_CODE_EVAL` nor `--confirm_run_unsafe_code` is wanted.
Not covered: likelihoods; a host that cannot isolate, which ends the run with words.
Source: lm-evaluation-harness 0.4.13, its filter `custom` and `process_results`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

from unhack.core.errors import UsageError, with_article
from unhack.core.verdict import Verdict
from unhack.integrations.rows import name_in, named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.verifiers.reward import reward_of


def judge(
    resps: Iterable[Sequence[str]], docs: Sequence[Mapping[str, Any]], *, column: str = "task"
) -> list[list[dict[str, Any]]]:
    """The verdicts of all replies to all documents, judged together: for each document a list of
    `{"reward", "passed", "status", "reason"}`, one a repeat; `reward` is None where unscored.

    Every document is looked at before anything is judged. Raises UsageError, UnknownNameError for a
    document that names no task, and for a reply that is no text.
    """
    replies = [list(one) for one in resps]
    if len(replies) != len(docs):
        raise UsageError(f"{len(replies)} lists of replies for {len(docs)} documents")
    tasks = [named_task(name_in(doc, column)) for doc in docs]
    for at, texts in enumerate(replies):
        for text in texts:
            if not isinstance(cast("object", text), str):
                raise UsageError(f"resps[{at}] holds {with_article(text)}, not a text")
    flat = [task for task, texts in zip(tasks, replies, strict=True) for _ in texts]
    verdicts = iter(
        shared_scheduler().judge_all(flat, [text for texts in replies for text in texts])
    )
    return [[_told(next(verdicts)) for _ in texts] for texts in replies]


def _told(verdict: Verdict) -> dict[str, Any]:
    return {
        "reward": reward_of(verdict),
        "passed": verdict.passed,
        "status": str(verdict.status),
        "reason": verdict.reason,
    }


def process_results(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, float]:
    """`reward`, `passed`: means over a document's scored repeats, NaN where there is none;
    `unscored`: the share of its repeats without a verdict.

    Raises UsageError for replies that the filter has not judged.
    """
    del doc
    found: Any = results[0] if results else None
    if not isinstance(found, list) or not all(
        isinstance(one, dict) for one in cast("list[object]", found)
    ):
        raise UsageError(
            "process_results got replies, not verdicts: put the filter "
            "`{function: custom, filter_fn: !function sealed.judge}` into filter_list"
        )
    verdicts = cast("list[dict[str, Any]]", found)
    scored = [one for one in verdicts if one["reward"] is not None]
    return {
        "reward": _mean([float(one["reward"]) for one in scored]),
        "passed": _mean([float(one["passed"]) for one in scored]),
        "unscored": _mean([float(one["reward"] is None) for one in verdicts]),
    }


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values) if values else math.nan
