"""A verdict for every rollout, or none for the batch.

A completion without a verdict has no reward, and a group without one of its rollouts has another
baseline; so what the machinery failed on is run once more, and a second failure ends the step.
"""

from __future__ import annotations

from collections.abc import Sequence

from unhack.core.errors import BatchUnscoredError
from unhack.core.verdict import Verdict
from unhack.sandbox.job import Backend
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task


def judge_texts(
    tasks: Sequence[Task], texts: Sequence[str], *, backend: Backend | None
) -> list[Verdict]:
    """The verdict of each text in its task, in order. Raises BatchUnscoredError where one of them
    has none after two runs."""
    found = list(run_batch(list(tasks), list(texts), backend=backend).verdicts)
    again = [place for place, verdict in enumerate(found) if not verdict.scored]
    if again:
        batch = run_batch(
            [tasks[place] for place in again], [texts[place] for place in again], backend=backend
        )
        for place, verdict in zip(again, batch.verdicts, strict=True):
            if not verdict.scored:
                reason = f"no verdict in two runs; first: {verdict.reason}"
                raise BatchUnscoredError(reason, batch=batch)
            found[place] = verdict
    return found
