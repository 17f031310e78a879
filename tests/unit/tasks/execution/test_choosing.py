"""Who judges a batch: `backend`, `executor`, or what is best here."""

from __future__ import annotations

import pytest

from unhack import Task, run_batch
from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.verdict import Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.execution.choosing import choose
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.executor import BatchInProgress
from unhack.tasks.suite import find_task

SEATS = "parsing/seat-ranges"


class _Noting:
    """An executor that counts its batches."""

    def __init__(self, pool: Pool) -> None:
        self.inner = LocalExecutor(pool)
        self.begun = 0

    def begin(self) -> BatchInProgress:
        self.begun += 1
        return self.inner.begin()


def _verdicts(task: Task, **place: object) -> tuple[Verdict, ...]:
    return run_batch(task, ["def expand_seats(spec):\n    return []\n"], **place).verdicts  # type: ignore[arg-type]


def test_a_batch_goes_to_the_executor_that_was_given(pool: Pool) -> None:
    executor = _Noting(pool)
    [verdict] = _verdicts(find_task(SEATS), executor=executor)
    assert executor.begun == 1
    assert verdict.score == 0.0


def test_a_backend_beside_an_executor_is_refused(pool: Pool) -> None:
    with pytest.raises(UsageError, match="not both"):
        choose(pool, LocalExecutor(pool))


def test_an_unknown_executor_is_named_with_those_there_are() -> None:
    with pytest.raises(UnknownNameError, match="unknown executor 'rya'"):
        choose(executor="rya")
