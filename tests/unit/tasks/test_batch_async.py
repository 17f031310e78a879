"""The async callers of the one implementation."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Self

import pytest

from unhack.core.errors import BatchUnscoredError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict, unscored_verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import arun_batch, astream_batch, run_batch
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.python import PythonVerifier

RIGHT = "def f(x): return x + 1"
LOOP = "def f(x):\n    while True: pass"
TASK = Task(
    Problem("p", "prompt"),
    FunctionVerifier("f", (Case((1,), expected=2),), limits=Limits(wall_s=500, cpu_s=500)),
)


class TestArunBatch:
    def test_it_gives_what_run_batch_gives(self, pool: Pool) -> None:
        completions = [RIGHT, "def f(x): return x", "", RIGHT]
        waited = asyncio.run(arun_batch(TASK, completions, group_size=2, backend=pool))
        straight = run_batch(TASK, completions, group_size=2, backend=pool)
        assert waited.rewards == straight.rewards == (1.0, 0.0, 0.0, 1.0)
        assert waited.group_indices == straight.group_indices

    def test_the_event_loop_goes_on_meanwhile(self, pool: Pool) -> None:
        asked, going = threading.Event(), threading.Event()

        def judge(completion: str) -> bool:
            asked.set()
            return going.wait(60)

        async def main() -> tuple[float | None, ...]:
            task = Task(Problem("p", "prompt"), PythonVerifier(judge))
            judging = asyncio.create_task(arun_batch(task, [RIGHT], backend=pool))
            while not asked.is_set():
                await asyncio.sleep(0.01)
            going.set()
            return (await judging).rewards

        assert asyncio.run(main()) == (1.0,)

    def test_several_batches_share_a_pool(self, pool: Pool) -> None:
        async def main() -> list[tuple[float | None, ...]]:
            batches = await asyncio.gather(
                *(
                    arun_batch(TASK, [f"def f(x): return x + {n}", RIGHT], backend=pool)
                    for n in range(4)
                )
            )
            return [batch.rewards for batch in batches]

        assert asyncio.run(main()) == [(0.0, 1.0), (1.0, 1.0), (0.0, 1.0), (0.0, 1.0)]

    @pytest.mark.slow
    def test_its_errors_are_those_of_run_batch(self, pool: Pool) -> None:
        with pytest.raises(UsageError, match="cannot be cut"):
            asyncio.run(arun_batch(TASK, [RIGHT] * 3, group_size=2, backend=pool))
        broken = FunctionVerifier("f", (Case((), expected=1),), checker="1 / 0")
        task = Task(Problem("p", ""), broken)
        completions = [f"def f(): return {number}" for number in range(7)]
        with pytest.raises(BatchUnscoredError):
            asyncio.run(arun_batch(task, completions, backend=pool))

    @pytest.mark.slow
    def test_cancelling_the_task_cancels_the_jobs(self, calls_job: Callable[..., Any]) -> None:
        from unhack.sandbox.job import run_one

        async def main(pool: Pool) -> None:
            judging = asyncio.create_task(arun_batch(TASK, [LOOP], backend=pool))
            await asyncio.sleep(0.3)  # the loop runs for minutes, if nobody ends it
            judging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await judging

        with closing(Pool(slots=1)) as pool:
            asyncio.run(main(pool))
            run_one(pool, calls_job("def f(): return 1"))

    def test_a_cancelled_task_waits_for_no_verdict(self) -> None:
        executor = _NeverJudged()

        async def main() -> bool:
            judging = asyncio.create_task(arun_batch(TASK, [RIGHT, LOOP], executor=executor))
            while not executor.open:
                await asyncio.sleep(0.01)
            judging.cancel()
            with pytest.raises(asyncio.CancelledError):
                await judging
            return await asyncio.to_thread(executor.cancelled.wait, 60)

        assert asyncio.run(main())


class _NeverJudged:
    """An executor, and its one batch, that gives no verdict before a minute is over."""

    def __init__(self) -> None:
        self.open = 0
        self.cancelled = threading.Event()
        self._until = time.monotonic() + 90

    def begin(self) -> Self:
        """See `Executor`."""
        return self

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        """See `BatchInProgress`."""
        self.open += len(items)

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        """See `BatchInProgress`."""
        left = self._until - time.monotonic()
        if self.cancelled.wait(left if timeout_s is None else min(left, timeout_s)):
            raise AssertionError("nothing is taken from a batch that was cancelled")
        if time.monotonic() < self._until:
            return []
        return [(self.open, unscored_verdict("nobody judged it"))]

    def cancel(self) -> None:
        """See `BatchInProgress`."""
        self.cancelled.set()


class TestAstreamBatch:
    def test_every_index_comes_once(self, pool: Pool) -> None:
        completions = [f"def f(x): return x + {number % 4}" for number in range(40)]

        async def main() -> dict[int, bool]:
            return {
                index: verdict.passed
                async for index, verdict in astream_batch(TASK, completions, backend=pool, window=8)
            }

        assert asyncio.run(main()) == {number: number % 4 == 1 for number in range(40)}

    def test_leaving_the_loop_early_leaves_the_pool_free(
        self, pool: Pool, calls_job: Callable[..., Any]
    ) -> None:
        from unhack.sandbox.job import Ending, run_one

        async def main() -> int:
            stream = astream_batch(TASK, [RIGHT, LOOP], backend=pool)
            async for index, _ in stream:
                await stream.aclose()  # type: ignore[attr-defined]
                return index
            return -1

        assert asyncio.run(main()) == 0
        assert run_one(pool, calls_job("def f(): return 1")).ending is Ending.EXITED
