"""The parts of shards by themselves: channels, rows, cached tasks, the choice of an executor."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.core.errors import UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.pool.reactor import Reactor
from unhack.tasks.execution.choosing import choose, shards_and_slots
from unhack.tasks.execution.driver import LocalExecutor
from unhack.tasks.execution.shards.channel import (
    ShardChannel,
    of_row,
    pack_task,
    to_row,
    unpack_task,
)
from unhack.tasks.execution.shards.executor import ShardsExecutor
from unhack.tasks.execution.shards.task_cache import TaskCache
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.rubric import Criterion, RubricVerifier

WITHIN_S = 60.0


class Mine(FunctionVerifier):
    """A verifier of the user's."""


@pytest.fixture
def reactor() -> Generator[Reactor]:
    made = Reactor(name="test-shards", at_end=lambda: None)
    yield made
    made.stop()


class TestChannels:
    def join(self, reactor: Reactor) -> tuple[ShardChannel, ShardChannel, list[Any], Any]:
        """Two ends; what the second hears, and an event for its end."""
        heard: list[Any] = []
        ended = threading.Event()
        ends: list[ShardChannel] = []
        done = threading.Event()

        def connect() -> None:
            one, other = socket.socketpair()
            ends.append(ShardChannel(one, reactor, on_message=lambda _: None, on_end=lambda: None))
            ends.append(ShardChannel(other, reactor, on_message=heard.append, on_end=ended.set))
            done.set()

        reactor.call_soon(connect)
        assert done.wait(WITHIN_S)
        return ends[0], ends[1], heard, ended

    def test_messages_of_any_size_come_whole_and_in_order_before_the_end(
        self, reactor: Reactor
    ) -> None:
        one, other, heard, ended = self.join(reactor)
        sent = [("a", 1), ("b", b"x" * 30_000_000), ("c", "é\ud800"), ("d", [None] * 9)]

        def send() -> None:
            for message in sent:
                one.send(message)
            one.send("last")

        reactor.call_soon(send)
        wait = threading.Event()
        while not heard or heard[-1] != "last":
            assert not wait.wait(0.01)
        reactor.call_soon(one.close)
        assert ended.wait(WITHIN_S)
        assert heard == [*sent, "last"]
        reactor.call_soon(other.close)


class TestRows:
    cases = st.builds(
        CaseResult,
        st.booleans(),
        st.text(max_size=9),
        st.none() | st.floats(0, 1),
        st.text(max_size=9),
        st.integers(0, 9),
    )

    @pytest.mark.slow
    @given(
        status=st.sampled_from([status for status in Status if status is not Status.UNSCORED]),
        score=st.floats(0, 1),
        cases=st.lists(cases | st.just(CaseResult(True)), max_size=4),
        seal=st.sampled_from(Seal),
        details=st.dictionaries(st.text(max_size=3), st.floats(allow_nan=False), max_size=2),
    )
    def test_a_verdict_is_the_same_after_a_row(
        self, status: Status, score: float, cases: list[CaseResult], seal: Seal, details: Any
    ) -> None:
        usage = Usage(1.0, 2.0, 3)
        verdict = Verdict(status, score, "r", tuple(cases), usage, seal, "namespaces", details)
        assert of_row(to_row(verdict)) == verdict


class TestCrossing:
    def test_a_task_of_the_package_crosses_as_it_is(self) -> None:
        task = find_task("parsing/seat-ranges")
        data = pack_task(task)
        assert data is not None
        assert unpack_task(data) == task

    @pytest.mark.parametrize(
        "verifier",
        [
            PythonVerifier(lambda completion: True),
            RubricVerifier([Criterion("c", PythonVerifier(lambda completion: True))]),
            Mine("f", (Case((), expected=1),)),
        ],
    )
    def test_what_knows_the_users_classes_or_callables_stays(self, verifier: Any) -> None:
        assert pack_task(Task(Problem("p", ""), verifier)) is None

    def test_a_value_that_breaks_when_it_is_packed_stays(self) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),))
        task = Task(Problem("p", "", meta={"lock": threading.Lock()}), verifier)
        assert pack_task(task) is None

    def test_tasks_beyond_the_bound_are_forgotten_but_for_those_in_use(self) -> None:
        verifier = FunctionVerifier("f", (Case((), expected=1),))
        tasks = [Task(Problem(str(n), ""), verifier) for n in range(6)]
        cache = TaskCache(tasks=2)
        kept = cache.of(tasks[0])
        kept.open = 1
        for task in tasks[1:]:
            cache.of(task)
        assert cache.forget() == [1, 2, 3, 4]
        assert cache.of(tasks[0]) is kept
        assert cache.of(tasks[1]).number == 6


class TestChoice:
    @pytest.mark.parametrize(
        ("slots", "shards", "wanted"),
        [("8", "", (1, 8)), ("9", "", (2, 9)), ("30", "", (4, 30)), ("2", "2", (2, 2)),
         ("32", "1", (1, 32)), ("2", "5", (2, 2))],
    )  # fmt: skip
    def test_there_is_a_shard_for_every_eight_workers_unless_it_is_said(
        self, monkeypatch: pytest.MonkeyPatch, slots: str, shards: str, wanted: tuple[int, int]
    ) -> None:
        pools: dict[int, Pool] = {}
        monkeypatch.setattr(
            "unhack.sandbox.pool.pool._shared", pools
        )  # the pool of other tests keeps its size
        monkeypatch.setenv("UNHACK_SLOTS", slots)
        monkeypatch.setenv("UNHACK_SHARDS", shards)
        assert shards_and_slots() == wanted
        kind = ShardsExecutor if wanted[0] > 1 else LocalExecutor
        assert isinstance(choose(), kind)
        assert isinstance(choose(executor="shards"), ShardsExecutor)
        assert isinstance(choose(executor="local"), LocalExecutor)
        pools[os.getpid()].close()

    def test_a_number_of_shards_that_is_none_is_refused(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("UNHACK_SHARDS", "many")
        with pytest.raises(UsageError, match=r"UNHACK_SHARDS is 'many'; give a number of shards"):
            choose()


@pytest.mark.slow
def test_few_items_are_judged_here_and_many_start_shards(
    squares: Task, sources: Callable[..., list[str]]
) -> None:
    from unhack.tasks.batch import run_batch

    executor = ShardsExecutor(shards=1, slots=1, few=5)
    try:
        assert run_batch(squares, sources(4), executor=executor).rewards == (0.0, 1.0, 1.0, 0.0)
        assert executor.pids() == []
        assert run_batch(squares, sources(3), executor=executor).rewards == (0.0, 1.0, 1.0)
        assert len(executor.pids()) == 1
    finally:
        executor.close()


def test_a_task_that_a_shard_cannot_read_is_judged_here(
    squares: Task, sources: Callable[..., list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from unhack.tasks.batch import run_batch
    from unhack.tasks.execution.shards import task_cache

    monkeypatch.setattr(task_cache, "pack_task", lambda task: b"no pickle")
    executor = ShardsExecutor(shards=1, slots=1)
    try:
        assert run_batch(squares, sources(5), executor=executor).rewards == (0, 1, 1, 0, 1)
        assert len(executor.pids()) == 1
    finally:
        executor.close()
