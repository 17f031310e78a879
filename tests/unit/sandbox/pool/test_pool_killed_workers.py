"""What becomes of jobs when their workers are killed, stopped or die again and again."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from unhack.sandbox.job import Ending, Job, Outcome, Profile, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool import worker
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs

pytestmark = pytest.mark.slow

SLEEP = "import time\ndef f(seconds): time.sleep(seconds); return seconds\n"
_HANG_S = 60.0


@pytest.fixture
def own_pool() -> Generator[Pool]:
    """A pool with one slot that no other test uses."""
    with closing(Pool(slots=1)) as made:
        yield made


def _kill_workers(pool: Pool, number: int = signal.SIGKILL) -> None:
    for pid in pool.worker_pids():
        os.kill(pid, number)


class Started:
    """A job that says when it is running, and its outcome."""

    def __init__(self, pool: Pool, job: Job) -> None:
        self.running = threading.Event()
        self.done = threading.Event()
        self.outcomes: list[Outcome] = []
        watched = replace(job, stop_when=self._look)
        pool.submit(watched, self._take)

    def _look(self, data: bytes) -> bool:
        self.running.set()
        return False

    def _take(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        self.done.set()

    def wait(self) -> Outcome:
        assert self.done.wait(_HANG_S)
        [outcome] = self.outcomes
        return outcome


class TestKilledWorkers:
    def test_a_job_whose_worker_was_killed_is_tried_again_and_gives_its_answer(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        job = calls_job(SLEEP, [0], [3], each=True)  # time enough to be killed in
        started = Started(own_pool, job)
        assert started.running.wait(_HANG_S)
        _kill_workers(own_pool)
        outcome = started.wait()
        assert [line[2] for line in jobs.result_lines(outcome.result)] == [0, 3]
        assert (outcome.ending, outcome.attempts) == (Ending.EXITED, 2)

    def test_a_job_whose_every_worker_dies_is_broken_and_nothing_else_is(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        limits = Limits(wall_s=100)
        started = Started(own_pool, calls_job(SLEEP, [0], [600], each=True, limits=limits))
        until = time.monotonic() + _HANG_S
        while not started.done.is_set() and time.monotonic() < until:
            if started.running.wait(0.05):
                started.running.clear()
                _kill_workers(own_pool)
        outcome = started.wait()
        assert (outcome.ending, outcome.error) == (Ending.BROKEN, "its worker died")
        assert run_one(own_pool, calls_job("def f(): pass")).ending is Ending.EXITED

    def test_a_job_that_a_dead_worker_had_not_started_was_not_tried_there(
        self, own_pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        limits = Limits(wall_s=100, soft_slice_s=50)
        first = Started(own_pool, calls_job(SLEEP, [0], [600], each=True, limits=limits))
        second = Started(own_pool, calls_job(SLEEP, [0], limits=limits))
        until = time.monotonic() + _HANG_S
        while not first.done.is_set() and time.monotonic() < until:
            if first.running.wait(0.05):
                first.running.clear()
                _kill_workers(own_pool)
        assert first.wait().ending is Ending.BROKEN
        outcome = second.wait()
        assert (value_of(outcome), outcome.attempts) == (0, 1)

    def test_workers_start_again_however_many_starts_failed_beside_one_that_was_ready(
        self, own_pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        job = calls_job("def f(): return 1")
        assert value_of(run_one(own_pool, job)) == 1
        group = next(iter(own_pool._groups.values()))
        group.starts_failed = 3  # as after a host that was out of memory for a moment
        _kill_workers(own_pool)
        assert value_of(run_one(own_pool, job)) == 1

    @pytest.mark.slow
    def test_killing_all_workers_again_and_again_changes_no_answer(
        self, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        source = "import time\ndef f(x): time.sleep(0.005); return x\n"
        found: dict[int, Outcome] = {}
        all_done = threading.Event()

        def take(number: int, outcome: Outcome) -> None:
            """On the pool's own thread: no job ends unseen between a count and its kill."""
            found[number] = outcome
            if len(found) == 300:
                all_done.set()
            elif len(found) % 20 == 0:  # so many between two kills: no job meets three
                _kill_workers(pool)

        with closing(Pool(slots=2)) as pool:
            for number in range(300):
                pool.submit(calls_job(source, [number]), partial(take, number))
            assert all_done.wait(5 * _HANG_S)
        assert [value_of(found[number]) for number in range(300)] == list(range(300))
        assert max(outcome.attempts for outcome in found.values()) > 1, "no job was hit"

    @pytest.mark.sample
    @pytest.mark.slow
    def test_a_worker_that_falls_silent_is_replaced(
        self,
        own_pool: Pool,
        calls_job: Callable[..., Job],
        value_of: Callable[[Outcome], Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(worker, "_SILENCE_S", 0.2)
        monkeypatch.setattr(worker, "_SILENT_JOBS", 1)
        limits = Limits(wall_s=3)
        run_one(own_pool, calls_job("def f(): pass", limits=limits))
        silent = own_pool.worker_pids()
        _kill_workers(own_pool, signal.SIGSTOP)
        outcome = run_one(own_pool, calls_job("def f(): return 1", limits=limits))
        assert value_of(outcome) == 1
        assert set(own_pool.worker_pids()).isdisjoint(silent)

    def test_a_sealed_half_whose_worker_was_killed_is_not_tried_again(self, own_pool: Pool) -> None:
        ours, theirs = socket.socketpair()
        peer = theirs.detach()
        limits = Limits(wall_s=30)
        job = jobs.serve({"solution": "x = 1"}, peer=peer, limits=limits, profile=Profile())
        found: list[Outcome] = []
        done = threading.Event()
        own_pool.submit(job, lambda o: (found.append(o), done.set())[1])
        assert ours.recv(1000).startswith(b'{"started"')
        _kill_workers(own_pool)
        assert done.wait(_HANG_S)
        ours.close()
        assert (found[0].ending, found[0].attempts) == (Ending.BROKEN, 1)
