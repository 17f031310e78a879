"""Verdicts one by one: back-pressure, order, and what closing the stream ends."""

from __future__ import annotations

import dataclasses
import itertools
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.job import Ending, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import stream_batch
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


class TestStream:
    def test_every_index_comes_once(self, pool: Pool, counting: Counting) -> None:
        completions = [f"{number % 30} 1" for number in range(200)]
        pairs = list(stream_batch(task_of(counting), completions, backend=pool, window=16))
        assert sorted(index for index, _ in pairs) == list(range(200))
        assert all(verdict.reason == completions[index] for index, verdict in pairs)

    def test_a_slow_consumer_slows_the_input_down(self, pool: Pool, counting: Counting) -> None:
        pulled = 0

        def endless() -> Iterator[str]:
            nonlocal pulled
            for number in itertools.count():
                pulled += 1
                yield f"item {number} 1"

        stream = stream_batch(task_of(counting), endless(), backend=pool, window=10)
        for taken, _ in enumerate(itertools.islice(stream, 200)):
            assert pulled - taken <= 10
        stream.close()
        assert pulled >= 200

    def test_identical_completions_slow_the_input_down_too(
        self, pool: Pool, counting: Counting
    ) -> None:
        pulled = 0

        def same() -> Iterator[str]:
            nonlocal pulled
            for _ in range(5000):
                pulled += 1
                yield "same 1"

        stream = stream_batch(task_of(counting), same(), backend=pool, window=10)
        next(stream)
        stream.close()
        assert pulled <= 11

    def test_verdicts_come_before_the_input_has_ended(self, pool: Pool) -> None:
        got_first = threading.Event()

        def waiting() -> Iterator[str]:
            yield RIGHT
            yield "def f(x): return 0"
            assert got_first.is_set(), "the input was pulled to its end before a verdict came"
            yield "def f(x): return 1"

        for _ in stream_batch(REAL, waiting(), backend=pool, window=2):
            got_first.set()

    def test_closing_the_stream_cancels_what_is_in_progress(
        self, calls_job: Callable[..., Any], unless_it_hangs: Callable[..., Any]
    ) -> None:
        slow = dataclasses.replace(REAL.verifier, limits=Limits(wall_s=500, cpu_s=500))  # type: ignore[type-var]
        with closing(Pool(slots=2)) as pool:
            completions = [RIGHT, *(f"{LOOP}  # {number}" for number in range(4))]
            stream = stream_batch(Task(REAL.problem, slow), completions, backend=pool)
            index, verdict = next(stream)
            assert (index, verdict.passed) == (0, True)
            stream.close()
            outcome = unless_it_hangs(lambda: run_one(pool, calls_job("def f(): return 1")))
            assert outcome.ending is Ending.EXITED

    def test_closing_before_the_first_verdict_pulls_nothing(
        self, pool: Pool, counting: Counting
    ) -> None:
        stream = stream_batch(task_of(counting), ["a 1"], backend=pool)
        stream.close()
        assert counting.asked == []
        assert list(stream) == []
