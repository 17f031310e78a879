"""Batches in shards: the same verdicts, whatever happens to a shard."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Usage, Verdict
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch, stream_batch
from unhack.tasks.execution.shards.executor import ShardsExecutor
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.text import AnswerCheck, TextVerifier

Sources = Callable[..., list[str]]
WITHIN_S = 60.0
ONLY_PQ = """
def check(args, kwargs, output, expected):
    return {"".join(map(chr, (112, 113))): True, "".join(map(chr, (113, 112))): False}[output]
"""
"""A checker that breaks on everything but two texts that no control guesses."""


def without_usage(verdicts: tuple[Verdict, ...]) -> list[Verdict]:
    return [replace(verdict, usage=Usage()) for verdict in verdicts]


def wait_until(condition: Callable[[], Any]) -> None:
    deadline = time.monotonic() + WITHIN_S
    while not condition():
        assert time.monotonic() < deadline, "it did not come true in time"
        time.sleep(0.02)


def patient(squares: Task) -> Task:
    """The same task with limits that are not over before a test is."""
    limits = Limits(wall_s=300.0, cpu_s=20.0)
    return replace(squares, verifier=replace(squares.verifier, limits=limits))  # type: ignore[type-var]


class TestVerdicts:
    @pytest.mark.slow
    def test_they_are_those_of_one_pool_in_the_same_order(
        self, shards: ShardsExecutor, pool: Pool, squares: Task, sources: Sources
    ) -> None:
        odd = ["def f(n): return [n]", "no code", "def f(n): raise KeyError(n)", "def f(:", "f = 1"]
        text = TextVerifier(AnswerCheck.NUMERIC)
        ducks = Task(Problem("ducks", "", answer="5"), text)
        tasks = [squares] * 17 + [ducks] * 2
        completions = [*sources(12), *odd, r"\boxed{5}", r"\boxed{6}"]
        here = run_batch(tasks, completions, backend=pool)
        there = run_batch(tasks, completions, executor=shards)
        assert without_usage(there.verdicts) == without_usage(here.verdicts)
        assert there.rewards[:3] == (0.0, 1.0, 1.0)
        assert len(shards.pids()) == 2

    @pytest.mark.slow
    def test_identical_completions_are_judged_once_and_the_stream_gives_each_index_once(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        completions = sources(4) * 5
        found = list(stream_batch(squares, completions, executor=shards, window=7))
        assert sorted(index for index, _ in found) == list(range(20))
        assert len({id(verdict) for _, verdict in found}) < 20

    def test_a_slow_consumer_holds_the_input_up(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        drawn: list[int] = []

        def source() -> Any:
            for number, text in enumerate(sources(40)):
                drawn.append(number)
                yield text

        stream = stream_batch(squares, source(), executor=shards, window=4)
        next(stream)
        assert len(drawn) <= 5
        stream.close()

    @pytest.mark.slow
    def test_a_straggler_holds_up_nobody(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        late = "import time\ndef f(n):\n    time.sleep(1000)\n    return n * n\n"
        stream = stream_batch(patient(squares), [late, *sources(20)], executor=shards)
        found = {next(stream)[0] for _ in range(20)}
        stream.close()
        assert found == set(range(1, 21))


class Counting:
    """A verifier whose state belongs to this process."""

    kind = "counting"

    def __init__(self) -> None:
        self.seen: list[str] = []

    def verify(self, problem: Problem, completion: str) -> Any:
        self.seen.append(completion)
        return Verdict(Status.PASSED, 1.0)
        yield []

    def canary(self) -> str:
        return ""


class TestTasksThatStay:
    def test_a_callable_of_the_user_is_called_in_this_process(self, shards: ShardsExecutor) -> None:
        asked: list[int] = []

        def mine(completion: str) -> bool:
            asked.append(os.getpid())
            return completion == "5"

        task = Task(Problem("p", ""), PythonVerifier(mine))
        assert run_batch(task, ["5", "6"], executor=shards).rewards == (1.0, 0.0)
        assert asked == [os.getpid()] * 2

    def test_a_class_of_the_user_keeps_its_state_here(self, shards: ShardsExecutor) -> None:
        verifier = Counting()
        run_batch(Task(Problem("p", ""), verifier), ["a", "b"], executor=shards)
        assert sorted(verifier.seen) == ["a", "b"]

    def test_both_kinds_go_into_one_batch(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        mine = Task(Problem("p", ""), PythonVerifier(lambda completion: completion == "5"))
        tasks, texts = [squares, mine, squares, mine], [sources(1)[0], "5", sources(2)[1], "6"]
        assert run_batch(tasks, texts, executor=shards).rewards == (0.0, 1.0, 1.0, 0.0)


_NUMBERS = itertools.count()


class TestRuleTwo:
    def checked(self) -> Task:
        """Unlike that of any other test: equal tasks share what was judged."""
        cases = (Case((3,), expected=None),)
        return Task(
            Problem(f"sharded-{next(_NUMBERS)}", ""), FunctionVerifier("f", cases, checker=ONLY_PQ)
        )

    @pytest.mark.slow
    def test_a_completion_that_another_shard_judged_decides(self, shards: ShardsExecutor) -> None:
        bad = [f"def f(x): return 'banana {k}'\n" for k in range(6)]
        good = "import time\ndef f(x):\n    time.sleep(1)\n    return 'pq'\n"
        batch = run_batch(self.checked(), [good, *bad], executor=shards)
        assert batch.rewards == (1.0, *[0.0] * 6)
        assert {verdict.status for verdict in batch.verdicts[1:]} == {Status.ERROR}

    @pytest.mark.slow
    def test_nothing_judged_anywhere_leaves_them_unscored(self, shards: ShardsExecutor) -> None:
        bad = [f"def f(x): return 'banana {k}'\n" for k in range(4)]
        assert run_batch(self.checked(), bad, executor=shards).rewards == (None,) * 4


@pytest.mark.slow
class TestErrors:
    def test_a_host_that_cannot_isolate_is_the_same_error(
        self, shards: ShardsExecutor, pool: Pool
    ) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),), preload=("no_such_module",))
        task = Task(Problem("p", ""), verifier)
        said: list[str] = []
        for place in ({"executor": shards}, {"backend": pool}):
            with pytest.raises(SandboxUnavailableError, match="no_such_module") as caught:
                run_batch(task, ["def f(): return 1"], **place)  # type: ignore[arg-type]
            said.append(str(caught.value))
        assert said[0] == said[1]

    def test_a_batch_in_progress_ends_when_the_shards_are_closed(
        self, squares: Task, sources: Sources
    ) -> None:
        own = ShardsExecutor(shards=1, slots=1)
        threading.Timer(1.0, own.close).start()
        with pytest.raises(PoolClosedError, match="closed"):
            run_batch(squares, sources(1, before="time.sleep(30)"), executor=own)
        with pytest.raises(PoolClosedError, match="closed"):
            run_batch(squares, sources(1), executor=own)

    def test_numbers_that_make_no_sense_are_refused(self) -> None:
        for shards, slots in ((0, 1), (2, 1), (1, 0)):
            with pytest.raises(UsageError, match=f"shards={shards}"):
                ShardsExecutor(shards=shards, slots=slots)


@pytest.mark.slow
class TestEnds:
    def test_a_killed_shard_is_replaced_and_each_item_has_one_verdict(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        run_batch(squares, sources(2), executor=shards)
        before = shards.pids()
        texts = sources(24, before="time.sleep(0.02)")
        found: list[tuple[int, Verdict]] = []
        for pair in stream_batch(squares, texts, executor=shards):
            found.append(pair)
            if len(found) == 5:
                os.kill(before[0], signal.SIGKILL)
        assert sorted(index for index, _ in found) == list(range(24))
        assert [verdict.score for _, verdict in sorted(found, key=lambda pair: pair[0])] == [
            float(k % 3 != 0) for k in range(24)
        ]
        wait_until(lambda: len(shards.pids()) == 2 and before[0] not in shards.pids())

    def test_what_three_shards_die_of_is_blamed_and_others_are_judged(
        self, squares: Task, sources: Sources
    ) -> None:
        own = ShardsExecutor(shards=1, slots=2)
        texts = [*sources(3), "import time\ndef f(n): time.sleep(1000)\n"]
        found: dict[int, Verdict] = {}

        def judge() -> None:
            found.update(stream_batch(patient(squares), texts, executor=own))

        def at_work(pid: int) -> bool:
            """True once this shard has what it dies of, and all else is judged."""
            shards = own._pools[os.getpid()].shards  # pyright: ignore[reportPrivateUsage]
            return len(found) == 3 and any(m.process.pid == pid and m.open for m in [*shards])

        thread = threading.Thread(target=judge)
        thread.start()
        killed: set[int] = set()
        for _ in range(3):
            wait_until(lambda: set(own.pids()) - killed)
            [pid] = set(own.pids()) - killed
            wait_until(lambda p=pid: at_work(p))
            os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        thread.join(WITHIN_S)
        own.close()
        assert [found[index].score for index in range(3)] == [0.0, 1.0, 1.0]
        assert (found[3].status, found[3].score) == (Status.ERROR, 0.0)
        assert len(found) == 4

    def test_a_batch_that_is_given_up_frees_the_shards(
        self,
        shards: ShardsExecutor,
        squares: Task,
        sources: Sources,
        unless_it_hangs: Callable[..., Any],
    ) -> None:
        texts = [sources(2)[1], *sources(9, before="time.sleep(1000)")]
        stream = stream_batch(patient(squares), texts, executor=shards)
        next(stream)
        stream.close()
        batch = unless_it_hangs(lambda: run_batch(squares, sources(2), executor=shards))
        assert batch.rewards == (0.0, 1.0)

    def test_a_fork_makes_shards_of_its_own(
        self, shards: ShardsExecutor, squares: Task, sources: Sources
    ) -> None:
        run_batch(squares, sources(1), executor=shards)
        mine = set(shards.pids())
        read, write = os.pipe()
        child = os.fork()
        if not child:
            try:
                rewards = run_batch(squares, sources(2), executor=shards).rewards
                fine = rewards == (0.0, 1.0) and not mine & set(shards.pids())
                os.write(write, b"fine" if fine else b"wrong")
            finally:
                os._exit(0)
        os.close(write)
        with open(read, "rb") as answer:
            assert answer.read() == b"fine"
        os.waitpid(child, 0)
        assert run_batch(squares, sources(2), executor=shards).rewards == (0.0, 1.0)
