"""The scheduler, for callers that bring completions one by one."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Generator
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict, unscored_verdict
from unhack.sandbox.pool.pool import Pool, shared_pool
from unhack.sandbox.pool.worker_start import SLOTS
from unhack.tasks.execution.choosing import choose, shared_scheduler
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.scheduler import Scheduler
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault

KNIT = find_task("strings/knit-rows")
RIGHT = str(KNIT.problem.reference)


@dataclass
class FailsFirst:
    """Breaks as many times as it is told to, its controls included."""

    times: int
    calls: list[str] = field(default_factory=list[str])

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        self.calls.append(completion)
        if len(self.calls) <= self.times:
            raise VerifierFault("the disk is full")
        yield []
        return Verdict(Status.PASSED, 1.0)


def flaky(times: int) -> Task:
    verifier: Any = FailsFirst(times)
    return Task(problem=Problem("flaky", "", reference="right"), verifier=verifier)


class Fails:
    """An executor that leaves everything unscored, until it begins a batch for the `second` time or
    its batch is to `cancel`; then it fails."""

    def __init__(self, *, cancel: bool = False, second: bool = False) -> None:
        self.fails_at_cancel, self.fails_second = cancel, second
        self.begun = 0
        self.left: list[int] = []

    @property
    def open(self) -> int:
        return len(self.left)

    def begin(self) -> Fails:
        self.begun += 1
        if self.fails_second and self.begun > 1:
            raise RuntimeError("can't start new thread")
        return self

    def add(self, items: list[tuple[int, Task, str]]) -> None:
        self.left += [index for index, _, _ in items]

    def take(
        self, *, at_least: int = 1, timeout_s: float | None = None
    ) -> list[tuple[int, Verdict]]:
        if self.fails_at_cancel:
            threading.Event().wait(timeout_s)
            return []
        taken, self.left = self.left, []
        return [(index, unscored_verdict("the disk is full")) for index in taken]

    def cancel(self) -> None:
        if self.fails_at_cancel:
            raise PoolClosedError("the executor is closed")


class TestScheduler:
    def test_a_caller_that_gives_up_ends_no_other_call(self) -> None:
        scheduler = Scheduler(choose())

        async def main() -> list[Verdict]:
            given_up = asyncio.ensure_future(scheduler.judge(KNIT, RIGHT))
            others = [asyncio.ensure_future(scheduler.judge(KNIT, RIGHT)) for _ in range(3)]
            await asyncio.sleep(0)
            given_up.cancel()
            return [*await asyncio.gather(*others), await scheduler.judge(KNIT, RIGHT)]

        assert [one.score for one in asyncio.run(main())] == [1.0] * 4

    def test_calls_of_many_threads_get_the_verdicts_of_their_own_completions(self) -> None:
        scheduler, found = Scheduler(choose()), dict[int, float | None]()

        def ask(at: int) -> None:
            text = RIGHT + f"\n# {at}" if at % 3 else f"x = {at}"
            found[at] = scheduler.submit(KNIT, text).result().score

        threads = [threading.Thread(target=ask, args=(at,)) for at in range(24)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
        assert found == {at: 1.0 if at % 3 else 0.0 for at in range(24)}

    def test_cancelling_ends_what_is_open_and_nothing_after_it(self) -> None:
        scheduler = Scheduler(choose())
        endless = "def knit_rows(pattern):\n    while True:\n        pass\n"
        calls = [scheduler.submit(KNIT, f"{endless}# {at}") for at in range(20)]
        scheduler.cancel()
        later = scheduler.submit(KNIT, RIGHT)
        assert all(isinstance(one.exception(60), CancelledError) for one in calls)
        assert later.result(120).score == 1.0

    def test_it_judges_again_after_it_stood_idle(self) -> None:
        scheduler = Scheduler(choose())
        for _ in range(3):
            assert scheduler.judge_all([KNIT] * 2, [RIGHT, "pass"])[0].passed

    def test_an_event_loop_goes_on_meanwhile(self) -> None:
        async def main() -> tuple[list[Verdict], int]:
            turns = 0
            asked = asyncio.gather(*[Scheduler(choose()).judge(KNIT, RIGHT) for _ in range(2)])
            while not asked.done():
                turns += 1
                await asyncio.sleep(0.001)
            return await asked, turns

        verdicts, turns = asyncio.run(main())
        assert [one.passed for one in verdicts] == [True, True]
        assert turns > 1

    @pytest.mark.slow
    def test_what_could_not_be_scored_is_tried_again(self) -> None:
        # Each try asks the verifier twice: for the completion and for the reference.
        task = flaky(2)
        assert Scheduler(choose()).submit(task, "x").result().passed

    @pytest.mark.slow
    def test_after_three_tries_it_is_unscored(self) -> None:
        assert not Scheduler(choose()).submit(flaky(99), "x").result().scored

    def test_a_closed_pool_ends_the_call_with_an_error_and_the_next_is_told_too(self) -> None:
        pool = Pool(slots=1)
        pool.close()
        for _ in range(2):
            with pytest.raises(PoolClosedError):
                Scheduler(LocalExecutor(pool)).submit(KNIT, RIGHT).result()

    def test_calls_of_a_batch_that_cannot_be_cancelled_end_all_the_same(self) -> None:
        scheduler = Scheduler(Fails(cancel=True))
        call = scheduler.submit(KNIT, RIGHT)
        with pytest.raises(PoolClosedError):
            scheduler.cancel()
        assert isinstance(call.exception(60), CancelledError)

    @pytest.mark.slow
    def test_another_try_that_fails_in_any_way_ends_the_call(self) -> None:
        call = Scheduler(Fails(second=True)).submit(KNIT, RIGHT)
        assert isinstance(call.exception(60), RuntimeError)

    @pytest.mark.parametrize("completion", [None, 3, b"x", ["x"]])
    def test_what_is_no_text_is_refused_by_name(self, completion: Any) -> None:
        with pytest.raises(UsageError, match="completion is"):
            Scheduler(choose()).submit(KNIT, completion)

    def test_a_process_has_one(self) -> None:
        assert shared_scheduler() is shared_scheduler()


class TestSlots:
    def test_an_environment_variable_bounds_the_shared_pool(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(SLOTS, "3")
        child = os.fork()
        if child == 0:
            os._exit(shared_pool().slots)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3

    @pytest.mark.parametrize("value", ["0", "-1", "many", "1.5"])
    def test_another_value_is_refused(self, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(SLOTS, value)
        child = os.fork()
        if child == 0:
            try:
                shared_pool()
            except UsageError as error:
                os._exit(SLOTS in str(error))
            os._exit(2)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
