from __future__ import annotations

import dataclasses
import random
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unhack.core.errors import (
    BatchUnscoredError,
    PoolClosedError,
    UnknownNameError,
    UsageError,
)
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Usage, Verdict, unscored_verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import Batch, run_batch, stream_batch
from unhack.tasks.task import Task
from unhack.verifiers.base import Steps, VerifierFault
from unhack.verifiers.function import Case, FunctionVerifier

RIGHT = "def f(x): return x + 1"
LOOP = "def f(x):\n    while True: pass"
REAL = Task(
    Problem("p", "prompt", reference=RIGHT),
    FunctionVerifier("f", (Case((1,), expected=2), Case((2,), expected=3))),
)


class Counting:
    """Judges a text by what it says, and counts how often it was asked."""

    kind = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def verify(self, problem: Problem, completion: str) -> Steps:
        self.asked.append(completion)
        if completion.startswith("broken"):
            raise VerifierFault("it broke")
        score = float(completion.rpartition(" ")[2])
        return Verdict(Status.PASSED if score == 1.0 else Status.FAILED, score, completion)
        yield []

    def canary(self) -> str:
        return "broken canary"


@pytest.fixture
def counting() -> Counting:
    return Counting()


def task_of(verifier: Any, name: str = "p") -> Task:
    return Task(Problem(name, ""), verifier)


def without_usage(batch: Batch) -> list[Verdict]:
    return [dataclasses.replace(verdict, usage=Usage()) for verdict in batch.verdicts]


class TestOrder:
    def test_verdicts_stand_in_the_order_of_the_completions(
        self, pool: Pool, counting: Counting
    ) -> None:
        completions = [f"item {number} {number % 2}" for number in range(100)]
        batch = run_batch(task_of(counting), completions, backend=pool)
        assert [verdict.reason for verdict in batch.verdicts] == completions
        assert batch.rewards == tuple(float(number % 2) for number in range(100))

    @pytest.mark.slow
    def test_two_thousand_items_are_all_judged_and_right(self, pool: Pool) -> None:
        completions = [f"def f(x): return x + {number % 3}  # {number}" for number in range(2000)]
        batch = run_batch(REAL, completions, backend=pool)
        assert batch.rewards == tuple(float(number % 3 == 1) for number in range(2000))

    def test_a_verdict_does_not_depend_on_its_neighbours_or_its_place(self, pool: Pool) -> None:
        completions = [
            RIGHT,
            "def f(x): return x",
            "def f(x): raise KeyError('k')",
            "import os\nos._exit(2)",
            "def g(x): pass",
            "def f(x:",
            "",
            "import random\ndef f(x): return random.random()",
            "import time\ndef f(x): return int(time.time()) // 86400",
            "def f(x): return [object(), {1, 2}, 'x' * 50]",
        ]
        straight = without_usage(run_batch(REAL, completions, backend=pool))
        rng = random.Random(7)
        for _ in range(4):
            order = list(range(len(completions)))
            rng.shuffle(order)
            shuffled = run_batch(REAL, [completions[index] for index in order], backend=pool)
            assert without_usage(shuffled) == [straight[index] for index in order]

    def test_a_loop_holds_up_no_other_verdict(self, pool: Pool) -> None:
        endless = dataclasses.replace(REAL.verifier, limits=Limits(wall_s=500, cpu_s=500))  # type: ignore[type-var]
        completions = [LOOP, *(f"{RIGHT}  # {number}" for number in range(15))]
        stream = stream_batch(Task(REAL.problem, endless), completions, backend=pool)
        found = {next(stream)[0] for _ in range(15)}
        stream.close()
        assert found == set(range(1, 16))

    def test_progress_is_told_in_the_callers_thread_once_for_each_item(
        self, pool: Pool, counting: Counting
    ) -> None:
        seen: list[tuple[int, int]] = []
        completions = ["a 1", "b 0", "a 1", "a 1"]
        run_batch(
            task_of(counting),
            completions,
            backend=pool,
            on_verdict=lambda index, _: seen.append((index, threading.get_ident())),
        )
        assert sorted(index for index, _ in seen) == [0, 1, 2, 3]
        assert {thread for _, thread in seen} == {threading.get_ident()}

    def test_no_completions_make_an_empty_batch(self, pool: Pool) -> None:
        batch = run_batch(REAL, [], backend=pool)
        assert (batch.verdicts, batch.group_indices, batch.rewards) == ((), (), ())


class TestDuplicates:
    def test_identical_completions_are_judged_once(self, pool: Pool, counting: Counting) -> None:
        completions = ["a 1", "b 0", "a 1", "a 1", "b 0", "c 1"] * 50
        batch = run_batch(task_of(counting), completions, backend=pool)
        assert sorted(counting.asked) == ["a 1", "b 0", "c 1"]
        assert [verdict.reason for verdict in batch.verdicts] == completions

    def test_without_deduplication_each_one_is_judged(self, pool: Pool, counting: Counting) -> None:
        run_batch(task_of(counting), ["a 1"] * 20, backend=pool, dedupe=False)
        assert counting.asked == ["a 1"] * 20

    def test_the_same_text_for_two_tasks_is_judged_for_each(self, pool: Pool) -> None:
        first, second = Counting(), Counting()
        tasks = [task_of(first, "p"), task_of(second, "q")] * 5
        run_batch(tasks, ["a 1"] * 10, backend=pool)
        assert (first.asked, second.asked) == (["a 1"], ["a 1"])

    def test_texts_that_differ_by_a_blank_are_different(
        self, pool: Pool, counting: Counting
    ) -> None:
        run_batch(task_of(counting), ["a 1", " a 1", "a  1"], backend=pool)
        assert len(counting.asked) == 3

    def test_an_unscored_verdict_is_not_kept_for_later_twins(
        self, pool: Pool, counting: Counting
    ) -> None:
        def slowly() -> Iterator[str]:
            for _ in range(3):
                yield "broken 1"

        pairs = list(stream_batch(task_of(counting), slowly(), backend=pool, window=1))
        assert [index for index, _ in pairs] == [0, 1, 2]
        assert counting.asked.count("broken 1") == 3


class TestInput:
    def test_a_list_of_tasks_gives_each_completion_its_own(self, pool: Pool) -> None:
        tasks = [
            Task(Problem(f"p{n}", ""), FunctionVerifier("f", (Case((), expected=n),)))
            for n in range(6)
        ]
        completions = [f"def f(): return {n if n % 2 else -1}" for n in range(6)]
        batch = run_batch(tasks, completions, backend=pool)
        assert batch.rewards == (0.0, 1.0, 0.0, 1.0, 0.0, 1.0)

    @pytest.mark.parametrize(
        ("tasks", "completions"),
        [
            (3, 2),
            (0, 1),
            (2, 3),
        ],
    )
    def test_lists_of_different_lengths_are_an_error_that_says_so(
        self, pool: Pool, counting: Counting, tasks: int, completions: int
    ) -> None:
        given = [task_of(counting)] * tasks
        with pytest.raises(UsageError, match=f"{tasks} tasks? for {completions} completions?:"):
            run_batch(given, ["a 1"] * completions, backend=pool)
        assert counting.asked == []

    def test_a_generator_of_another_length_is_a_usage_error_too(
        self, pool: Pool, counting: Counting
    ) -> None:
        with pytest.raises(UsageError):
            run_batch([task_of(counting)] * 2, iter(["a 1"] * 3), backend=pool)

    @pytest.mark.parametrize(
        ("wrong", "said"),
        [
            (None, "completion 1 is None; give a list of strings"),
            (5, "completion 1 is an int; give a list of strings"),
            (b"bytes", "completion 1 is bytes; decode it"),
            (["list"], "completion 1 is a list; give the text alone"),
            ({"content": "a 1"}, "completion 1 is a dict; give the text alone"),
        ],
    )
    def test_a_completion_that_is_no_string_is_an_error_that_names_it(
        self, pool: Pool, counting: Counting, wrong: Any, said: str
    ) -> None:
        with pytest.raises(UsageError, match=said):
            run_batch(task_of(counting), ["a 1", wrong], backend=pool)

    def test_an_error_of_the_callers_generator_comes_through(
        self, pool: Pool, counting: Counting
    ) -> None:
        def failing() -> Iterator[str]:
            yield "a 1"
            raise LookupError("the caller's own")

        with pytest.raises(LookupError, match="the caller's own"):
            run_batch(task_of(counting), failing(), backend=pool)

    def test_an_error_in_the_progress_callback_comes_through(
        self, pool: Pool, counting: Counting
    ) -> None:
        def fail(index: int, verdict: Verdict) -> None:
            raise LookupError("the caller's own")

        with pytest.raises(LookupError):
            run_batch(task_of(counting), ["a 1"] * 5, backend=pool, on_verdict=fail)
        assert run_batch(task_of(counting), ["b 1"], backend=pool).rewards == (1.0,)

    def test_a_closed_pool_is_an_error_not_a_wait(self) -> None:
        closed = Pool(slots=1)
        closed.close()
        with pytest.raises(PoolClosedError):
            run_batch(REAL, [RIGHT], backend=closed)

    @pytest.mark.slow
    def test_a_pool_that_closes_meanwhile_ends_the_batch_with_an_error(
        self, unless_it_hangs: Callable[..., Any]
    ) -> None:
        closing = Pool(slots=1)
        threading.Timer(0.5, closing.close).start()
        task = Task(REAL.problem, dataclasses.replace(REAL.verifier, limits=Limits(wall_s=50)))  # type: ignore[type-var]
        loops = [f"{LOOP}  # {number}" for number in range(5)]
        with pytest.raises(PoolClosedError):
            unless_it_hangs(lambda: run_batch(task, loops, backend=closing))


class TestGroups:
    def test_groups_are_runs_of_the_given_size(self, pool: Pool, counting: Counting) -> None:
        batch = run_batch(
            task_of(counting), ["a 1", "b 0", "c 0", "d 0"], group_size=2, backend=pool
        )
        assert batch.group_indices == ((0, 1), (2, 3))
        assert batch.advantages("dr_grpo").values == (0.5, -0.5, 0.0, 0.0)
        assert batch.advantages("dr_grpo").mask == (True, True, False, False)

    def test_without_a_size_one_task_is_one_group(self, pool: Pool, counting: Counting) -> None:
        assert run_batch(task_of(counting), ["a 1"] * 3, backend=pool).group_indices == ((0, 1, 2),)

    def test_without_a_size_runs_of_one_task_are_groups(
        self, pool: Pool, counting: Counting
    ) -> None:
        first, second = task_of(counting, "p"), task_of(counting, "q")
        tasks = [first, first, second, first]
        batch = run_batch(tasks, ["a 1", "b 0", "c 1", "d 1"], backend=pool)
        assert batch.group_indices == ((0, 1), (2,), (3,))

    @pytest.mark.parametrize("size", [0, -1, 3, 5])
    def test_a_size_that_does_not_divide_the_batch_is_an_error(
        self, pool: Pool, counting: Counting, size: int
    ) -> None:
        with pytest.raises(UsageError, match=f"4 completions cannot be cut into groups of {size}"):
            run_batch(task_of(counting), ["a 1"] * 4, group_size=size, backend=pool)
        assert counting.asked == []

    def test_pass_at_k_is_the_mean_over_groups_without_unscored_items(self) -> None:
        passed, failed = Verdict(Status.PASSED, 1.0), Verdict(Status.FAILED, 0.0)
        batch = Batch(
            (passed, failed, failed, failed, passed, unscored_verdict("x")), ((0, 1, 2), (3, 4, 5))
        )
        assert batch.pass_at_k(1) == pytest.approx((1 / 3 + 1 / 2) / 2)
        assert batch.pass_at_k(2) == pytest.approx((2 / 3 + 1) / 2)
        with pytest.raises(ValueError, match="k must lie"):
            batch.pass_at_k(3)

    def test_the_report_counts_groups_and_unscored_items(self) -> None:
        passed, failed = Verdict(Status.PASSED, 1.0), Verdict(Status.FAILED, 0.0)
        batch = Batch((passed, passed, failed, unscored_verdict("x")), ((0, 1), (2, 3)))
        report = batch.report()
        assert (report.all_pass, report.all_fail, report.unscored) == (0.5, 0.5, 1)

    def test_an_unknown_estimator_is_an_error_with_the_nearest_name(self) -> None:
        with pytest.raises(UnknownNameError, match="rloo"):
            Batch((), ()).advantages("rlooo")


class TestUnscored:
    @pytest.mark.parametrize(
        ("total", "broken", "raises"),
        [
            (1, 1, False),
            (5, 5, False),
            (6, 6, True),
            (100, 5, False),
            (100, 6, True),
            (599, 6, True),
            (600, 6, False),
            (600, 7, True),
        ],
    )
    def test_only_more_than_five_and_more_than_one_per_cent_raise(
        self, pool: Pool, counting: Counting, total: int, broken: int, raises: bool
    ) -> None:
        completions = [
            f"broken {number}" if number < broken else f"item {number} 1" for number in range(total)
        ]
        if not raises:
            batch = run_batch(task_of(counting), completions, backend=pool)
        else:
            with pytest.raises(
                BatchUnscoredError, match=f"{broken} of {total} items.*it broke"
            ) as caught:
                run_batch(task_of(counting), completions, backend=pool)
            batch = caught.value.batch
        assert batch.rewards == (None,) * broken + (1.0,) * (total - broken)

    def test_an_unscored_item_has_no_part_in_its_group(
        self, pool: Pool, counting: Counting
    ) -> None:
        batch = run_batch(task_of(counting), ["a 1", "broken 1", "b 0"], backend=pool)
        assert batch.rewards == (1.0, None, 0.0)
        advantages = batch.advantages("dr_grpo")
        assert (advantages.values, advantages.mask) == ((0.5, 0.0, -0.5), (True, False, True))
