"""Input of a batch: refusals that say what to give, and groups of tasks made anew."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any, overload

import pytest

from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict, unscored_verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import Batch, arun_batch, groups_of, run_batch, stream_batch
from unhack.tasks.execution.scheduler import (
    _Duplicates as Duplicates,  # pyright: ignore[reportPrivateUsage]
)
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier


def number_task(gold: int, name: str = "p") -> Task:
    return Task(Problem(name, "", answer=str(gold)), TextVerifier(AnswerCheck.NUMERIC))


class MadeAnew(Sequence[Task]):
    """Tasks that exist only while somebody holds them, as the rows of a data set do."""

    def __init__(self, golds: Sequence[int], *, per_problem: int = 1) -> None:
        self.golds = golds
        self.per_problem = per_problem

    def __len__(self) -> int:
        return len(self.golds)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Task]: ...
    def __getitem__(self, index: int | slice) -> Any:
        assert isinstance(index, int)
        return number_task(self.golds[index], f"p{index // self.per_problem}")


class TestWhatIsRefused:
    @pytest.mark.parametrize(
        ("completions", "said"),
        [
            ("42", r"completions is one string.*\[completion\]"),
            (b"42", r"completions is bytes.*\[completion\]"),
            (bytearray(b"42"), "completions is bytearray"),
            ({"a": "42"}, r"completions is a dict.*list\(completions.values\(\)\)"),
            (Counter({"42": 1}), "completions is a Counter"),
            (None, "completions is None; give a list of strings"),
            (42, "completions is an int; give a list of strings"),
            (4.2, "completions is a float"),
            (object(), "completions is an object"),
        ],
    )
    def test_completions_that_are_no_list_of_strings(
        self, pool: Pool, completions: Any, said: str
    ) -> None:
        with pytest.raises(UsageError, match=said):
            run_batch(number_task(4), completions, backend=pool)
        with pytest.raises(UsageError, match=said):
            stream_batch(number_task(4), completions, backend=pool)
        with pytest.raises(UsageError, match=said):
            asyncio.run(arun_batch(number_task(4), completions, backend=pool))

    @pytest.mark.parametrize(
        ("task", "said"),
        [
            ("strings/knit-rows", r"is a name, not a task; load it first: .*find_tasks"),
            (None, "None stands where a Task belongs"),
            (7, "an int stands where a Task belongs"),
            ({"a": 1}, "a dict stands where a Task belongs"),
            (["strings/knit-rows"], "task 0 is a str, not a Task"),
            ([number_task(4).problem], "task 0 is a Problem, not a Task"),
            (number_task(4).verifier, "a TextVerifier stands where a Task belongs"),
        ],
    )
    def test_what_stands_where_a_task_belongs(self, pool: Pool, task: Any, said: str) -> None:
        with pytest.raises(UsageError, match=said):
            run_batch(task, ["42"], backend=pool)

    @pytest.mark.parametrize("completions", [["\\boxed{4}"], ("\\boxed{4}",), {"\\boxed{4}"}])
    def test_every_iterable_of_strings_is_taken(self, pool: Pool, completions: Any) -> None:
        assert run_batch(number_task(4), completions, backend=pool).rewards == (1.0,)
        assert run_batch(number_task(4), iter(completions), backend=pool).rewards == (1.0,)


class TestTasksMadeAnew:
    @pytest.mark.slow
    def test_no_verdict_of_another_task_is_given(self, pool: Pool) -> None:
        golds = [number % 7 for number in range(3000)]
        given = [(number // 3) % 7 for number in range(3000)]
        completions = [f"\\boxed{{{number}}}" for number in given]
        found = dict(stream_batch(MadeAnew(golds), completions, backend=pool, window=8))
        right = [float(gold == number) for gold, number in zip(golds, given, strict=True)]
        assert [found[index].score for index in range(3000)] == right

    def test_equal_tasks_side_by_side_are_one_group(self, pool: Pool) -> None:
        tasks = MadeAnew([4] * 6, per_problem=3)
        completions = [f"\\boxed{{{number}}}" for number in range(2, 8)]
        groups = ((0, 1, 2), (3, 4, 5))
        assert run_batch(tasks, completions, backend=pool).group_indices == groups
        given = run_batch(tasks, completions, group_size=3, backend=pool)
        assert given.group_indices == groups

    def test_a_group_of_two_problems_is_refused(self) -> None:
        with pytest.raises(UsageError, match="completions 0 to 1 mixes problems"):
            groups_of([number_task(1), number_task(2)], 2, group_size=2)

    def test_tasks_that_cannot_be_compared_are_two(self) -> None:
        class NoTruth:
            __hash__ = None  # pyright: ignore[reportAssignmentType]

            def __eq__(self, other: object) -> bool:
                raise ValueError("ambiguous")

        tasks = [
            Task(Problem("p", ""), FunctionVerifier("f", (Case((), expected=NoTruth()),)))
            for _ in range(2)
        ]
        assert groups_of([tasks[0], tasks[0], tasks[1]], 3) == ((0, 1), (2,))


class TestWhatIsRemembered:
    def _judge(self, store: Duplicates, index: int, task: Task, text: str) -> Verdict | None:
        known = store.look_up((index, task, text))
        if known is None:
            store.record(index, Verdict(Status.PASSED, 1.0, text))
        return known

    def test_a_task_lives_as_long_as_its_verdicts(self) -> None:
        store = Duplicates()
        for index in range(500):  # each is freed at once, so that numbers are given again
            assert self._judge(store, index, number_task(index), "same text") is None

    def test_the_store_is_bounded_and_keeps_what_was_used_last(self) -> None:
        store = Duplicates(kept=10)
        task = number_task(4)
        for index in range(100):
            self._judge(store, index, task, "often")
            self._judge(store, 1000 + index, task, f"once {index}")
        assert self._judge(store, 5000, task, "often") is not None
        assert self._judge(store, 5001, task, "once 99") is not None
        assert self._judge(store, 5002, task, "once 5") is None
        kept = store._verdicts  # pyright: ignore[reportPrivateUsage]
        assert len(kept) == 10


class TestAsText:
    def test_a_batch_is_shown_in_one_short_line(self) -> None:
        passed, failed = Verdict(Status.PASSED, 1.0), Verdict(Status.FAILED, 0.0, "wrong <b>")
        assert repr(Batch((), ())) == "Batch(0)"
        batch = Batch((passed, failed, passed, failed), ((0, 1, 2, 3),))
        assert repr(batch) == "Batch(4: 2 passed, 2 failed, mean 0.5)"
        mixed = Batch((passed, failed, failed, unscored_verdict("down")), ((0, 1, 2, 3),))
        assert repr(mixed) == "Batch(4: 1 passed, 2 failed, 1 unscored, mean 0.333)"
        assert (
            repr(Batch((unscored_verdict("x"),), ((0,),)))
            == "Batch(1: 0 passed, 0 failed, 1 unscored)"
        )

    def test_a_notebook_shows_text_of_completions_as_text(self) -> None:
        failed = Verdict(Status.FAILED, 0.0, "<script>alert(1)</script>")
        page = Batch((failed,) * 30, (tuple(range(30)),))._repr_html_()  # pyright: ignore[reportPrivateUsage]
        assert "<script>" not in page
        assert "&lt;script&gt;" in page
        assert "and 10 more" in page
