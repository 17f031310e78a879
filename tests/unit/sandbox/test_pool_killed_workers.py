"""What becomes of jobs when their workers are killed, stopped or die again and again."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import pytest

from unhack.sandbox import pool as pool_module
from unhack.sandbox import shared
from unhack.sandbox.base import Ending, Job, Outcome, Profile, run_all, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool import Pool
from unhack.verifiers import jobs

SLEEP = "import time\ndef f(seconds): time.sleep(seconds); return seconds\n"
_HANG_S = 60.0


@pytest.fixture
def own_pool() -> Generator[Pool]:
    """A pool with one slot that no other test uses."""
    with shared.pool(slots=1) as made:
        yield made


def _kill_workers(pool: Pool, number: int = signal.SIGKILL) -> None:
    for pid in pool.worker_pids():
        os.kill(pid, number)


def _running(pool: Pool) -> int:
    """Jobs that have a process now."""
    count = 0
    for pid in pool.worker_pids():
        try:
            count += len(Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        except OSError:
            continue
    return count


def _wait_until(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + _HANG_S
    while not condition():
        assert time.monotonic() < until, "it never came to that"
        time.sleep(0.01)


class TestKilledWorkers:
    def test_a_job_whose_worker_was_killed_is_tried_again_and_gives_its_answer(
        self, own_pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        found: list[Outcome] = []
        done = threading.Event()
        own_pool.submit(calls_job(SLEEP, [0.5]), lambda o: (found.append(o), done.set())[1])
        _wait_until(lambda: _running(own_pool) == 1)
        _kill_workers(own_pool)
        assert done.wait(_HANG_S)
        [outcome] = found
        assert value_of(outcome) == 0.5
        assert (outcome.ending, outcome.attempts) == (Ending.EXITED, 2)

    def test_a_job_whose_every_worker_dies_is_broken_and_nothing_else_is(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        found: list[Outcome] = []
        done = threading.Event()
        own_pool.submit(calls_job(SLEEP, [600]), lambda o: (found.append(o), done.set())[1])
        until = time.monotonic() + _HANG_S
        while not done.is_set() and time.monotonic() < until:
            if _running(own_pool):
                _kill_workers(own_pool)
            time.sleep(0.01)
        [outcome] = found
        assert (outcome.ending, outcome.error) == (Ending.BROKEN, "its worker died")
        assert run_one(own_pool, calls_job("def f(): pass")).ending is Ending.EXITED

    def test_killing_all_workers_again_and_again_changes_no_answer(
        self, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        with shared.pool(slots=2) as pool:
            stop = threading.Event()

            def kill() -> None:
                for _ in range(6):
                    if stop.wait(0.4):
                        return
                    _kill_workers(pool)

            killer = threading.Thread(target=kill)
            killer.start()
            source = "import time\ndef f(x): time.sleep(0.005); return x\n"
            answers: list[Any] = []
            number = 0
            while killer.is_alive():
                batch = [calls_job(source, [number + index]) for index in range(40)]
                answers += [value_of(outcome) for outcome in run_all(pool, batch)]
                number += 40
            stop.set()
            killer.join()
            assert answers == list(range(number))
            assert number > 0

    def test_a_worker_that_falls_silent_is_replaced(
        self,
        own_pool: Pool,
        calls_job: Callable[..., Job],
        value_of: Callable[[Outcome], Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(pool_module, "_SILENCE_S", 0.2)
        limits = Limits(wall_s=0.1)
        run_one(own_pool, calls_job("def f(): pass", limits=limits))
        silent = own_pool.worker_pids()
        _kill_workers(own_pool, signal.SIGSTOP)
        outcome = run_one(own_pool, calls_job("def f(): return 1", limits=limits))
        assert value_of(outcome) == 1
        assert set(own_pool.worker_pids()).isdisjoint(silent)

    def test_a_sealed_half_whose_worker_was_killed_is_not_tried_again(self, own_pool: Pool) -> None:
        found: list[Outcome] = []
        done = threading.Event()
        ours, theirs = socket.socketpair()
        limits = Limits(wall_s=30)
        peer = theirs.detach()
        job = jobs.serve({"solution": ""}, peer=peer, limits=limits, profile=Profile())
        own_pool.submit(job, lambda o: (found.append(o), done.set())[1])
        _wait_until(lambda: _running(own_pool) == 1)
        _kill_workers(own_pool)
        assert done.wait(_HANG_S)
        ours.close()
        assert (found[0].ending, found[0].attempts) == (Ending.BROKEN, 1)
