from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import pytest

from unhack.core import plain
from unhack.core.verdict import Status
from unhack.sandbox.job import (
    Ending,
    Job,
    Outcome,
    Profile,
    run_all,
    run_one,
)
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux.processes import children
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs

LOOP = "def f(*args):\n    while True: pass\n"
SLEEP = "import time\ndef f(seconds): time.sleep(seconds); return seconds\n"
_HANG_S = 60.0


@pytest.fixture
def own_pool() -> Generator[Pool]:
    """A pool with one slot that no other test uses."""
    with closing(Pool(slots=1)) as made:
        yield made


class Collected:
    """Outcomes as they come, by name and in order."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.outcomes: dict[str, list[Outcome]] = {}
        self._changed = threading.Condition()

    def take(self, name: str) -> Callable[[Outcome], None]:
        def done(outcome: Outcome) -> None:
            with self._changed:
                self.order.append(name)
                self.outcomes.setdefault(name, []).append(outcome)
                self._changed.notify_all()

        return done

    def wait_for(self, count: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.order) >= count, _HANG_S)

    def only(self, name: str) -> Outcome:
        [outcome] = self.outcomes[name]
        return outcome


class TestOrder:
    def test_outcomes_come_in_the_order_of_the_jobs(
        self, pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        given = [calls_job("def f(x): return x * x", [number]) for number in range(60)]
        assert [value_of(outcome) for outcome in run_all(pool, given)] == [
            number * number for number in range(60)
        ]

    def test_every_job_is_delivered_once_on_one_thread(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        seen: list[tuple[int, int]] = []
        done = threading.Semaphore(0)

        def take(number: int) -> Callable[[Outcome], None]:
            return lambda _: (seen.append((number, threading.get_ident())), done.release())[1]

        threads = [
            threading.Thread(
                target=lambda base=base: [
                    pool.submit(calls_job("def f(): pass"), take(base + number))
                    for number in range(20)
                ]
            )
            for base in (0, 100, 200)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for _ in range(60):
            assert done.acquire(timeout=_HANG_S)
        assert sorted(number for number, _ in seen) == [
            base + number for base in (0, 100, 200) for number in range(20)
        ]
        assert len({thread for _, thread in seen}) == 1

    @pytest.mark.slow
    def test_a_looping_job_delays_no_other_outcome(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=100, cpu_s=100, soft_slice_s=0.05)
        loop = own_pool.submit(calls_job(LOOP, limits=limits), collected.take("loop"))
        for number in range(15):
            job = calls_job("def f(): return 1", limits=limits)
            own_pool.submit(job, collected.take(f"quick {number}"))
        collected.wait_for(15)
        assert collected.order == [f"quick {number}" for number in range(15)]
        loop.cancel()
        collected.wait_for(16)

    @pytest.mark.slow
    def test_a_loop_that_gave_up_its_slot_ends_at_its_wall_limit(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        limits = Limits(wall_s=0.6, soft_slice_s=0.05)
        outcome = run_one(own_pool, calls_job(LOOP, limits=limits))
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "wall")

    @pytest.mark.slow
    def test_more_loops_than_slots_delay_no_other_outcome(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=100, cpu_s=100, soft_slice_s=0.05)
        loops = [
            own_pool.submit(calls_job(LOOP, limits=limits), collected.take(f"loop {number}"))
            for number in range(3)
        ]
        own_pool.submit(calls_job("def f(): return 1", limits=limits), collected.take("quick"))
        collected.wait_for(1)
        assert collected.order == ["quick"]
        for loop in loops:
            loop.cancel()
        collected.wait_for(4)

    def test_a_straggler_goes_on_at_the_lowest_priority(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=100, cpu_s=100, soft_slice_s=0.05)
        handle = own_pool.submit(calls_job(LOOP, limits=limits), collected.take("loop"))
        policies: list[int] = []
        until = time.monotonic() + _HANG_S
        while os.SCHED_IDLE not in policies and time.monotonic() < until:
            for pid in own_pool.worker_pids():
                for child in children(pid):
                    with contextlib.suppress(ProcessLookupError):
                        policies.append(os.sched_getscheduler(child))
            time.sleep(0.01)
        handle.cancel()
        collected.wait_for(1)
        assert os.SCHED_IDLE in policies
        assert collected.only("loop").ending is Ending.STOPPED

    @pytest.mark.slow
    def test_what_ends_a_program_keeps_its_priority_when_the_program_loses_it(
        self, own_pool: Pool
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=100, cpu_s=100, soft_slice_s=0.05)
        loop = ["/bin/sh", "-c", "while :; do :; done"]
        handle = own_pool.submit(jobs.program(loop, limits=limits), collected.take("loop"))
        seen: set[tuple[int, int]] = set()
        until = time.monotonic() + _HANG_S
        while (os.SCHED_OTHER, os.SCHED_IDLE) not in seen and time.monotonic() < until:
            for first in [child for pid in own_pool.worker_pids() for child in children(pid)]:
                with contextlib.suppress(ProcessLookupError):
                    policy = os.sched_getscheduler(first)
                    seen |= {(policy, os.sched_getscheduler(below)) for below in children(first)}
            time.sleep(0.01)
        handle.cancel()
        collected.wait_for(1)
        assert (os.SCHED_OTHER, os.SCHED_IDLE) in seen
        assert {first for first, _ in seen} == {os.SCHED_OTHER}


class TestLimits:
    @pytest.mark.slow
    def test_time_counts_from_the_start_of_a_job_not_from_its_queueing(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        limits = Limits(wall_s=3.2, soft_slice_s=3.1)
        given = [calls_job(SLEEP, [0.4], limits=limits) for _ in range(10)]
        outcomes = run_all(own_pool, given)
        assert [outcome.ending for outcome in outcomes] == [Ending.EXITED] * 10
        assert all(outcome.wall_s >= 0.4 for outcome in outcomes)

    @pytest.mark.slow
    def test_a_sleeping_job_ends_at_its_wall_limit(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        outcome = run_one(pool, calls_job(SLEEP, [600], limits=Limits(wall_s=0.3)))
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "wall")
        assert outcome.wall_s >= 0.3

    @pytest.mark.slow
    def test_a_busy_job_ends_at_its_cpu_limit(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        limits = Limits(wall_s=60, cpu_s=1, soft_slice_s=30)
        outcome = run_one(pool, calls_job(LOOP, limits=limits))
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "cpu")
        assert outcome.cpu_s > 0.99, "the time that it used counts, not the kernel's ticks"

    @pytest.mark.slow
    @pytest.mark.parametrize("program", [SLEEP, LOOP])
    def test_a_hard_wall_ends_a_job_and_is_named(
        self, pool: Pool, calls_job: Callable[..., Job], program: str
    ) -> None:
        limits = Limits(wall_s=100, cpu_s=100, wall_hard_s=0.3)
        outcome = run_one(pool, calls_job(program, [600], limits=limits))
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "wall_hard")
        assert jobs.bad_ending(outcome) == (Status.TIMEOUT, "wall_hard time limit reached")

    @pytest.mark.slow
    def test_programs_near_their_cpu_limit_are_right_beside_others(
        self, pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        """Each used four fifths of its limit by its own clock, whatever the others did."""
        near = "import time\ndef f():\n while time.process_time() < 0.8: pass\n return 49\n"
        limits = Limits(wall_s=100, cpu_s=1, soft_slice_s=0.05)
        outcomes = run_all(pool, [calls_job(near, [], limits=limits) for _ in range(6)])
        assert [value_of(outcome) for outcome in outcomes] == [49] * 6

    def test_memory_beyond_the_limit_is_an_error_inside_the_job(
        self, evaluate: Callable[..., Any]
    ) -> None:
        answer = evaluate(
            "def f(): return len([0] * (1 << 28))", limits=Limits(memory_bytes=1 << 26)
        )
        assert answer[1][0] == "MemoryError"

    def test_a_flood_of_results_ends_the_job_and_is_cut(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        source = "import os\ndef f():\n    while True: os.write(3, b'x' * 65536)\n"
        limits = Limits(wall_s=30, output_bytes=100_000)
        outcome = run_one(pool, calls_job(source, limits=limits))
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "output")
        assert outcome.truncated
        assert outcome.result == b"x" * 100_000

    @pytest.mark.parametrize("stream", ["stdout", "stderr"])
    def test_a_flood_of_output_ends_the_job_and_is_cut(self, pool: Pool, stream: str) -> None:
        source = f"import sys\nwhile True: sys.{stream}.write('y' * 65536)\n"
        limits = Limits(wall_s=30, output_bytes=50_000)
        job = jobs.main(source, stdin=b"", limits=limits, profile=Profile())
        outcome = run_one(pool, job)
        assert (outcome.ending, outcome.limit) == (Ending.LIMIT, "output")
        assert getattr(outcome, stream) == b"y" * 50_000

    def test_output_that_nobody_wants_is_thrown_away_without_a_limit(
        self, evaluate: Callable[..., Any]
    ) -> None:
        source = "def f():\n    for _ in range(300): print('z' * 100_000)\n    return 'done'\n"
        assert evaluate(source, limits=Limits(output_bytes=10_000)) == "done"

    def test_threads_are_bounded(self, evaluate: Callable[..., Any]) -> None:
        source = """
import threading
def f():
    gate = threading.Event()
    started = 0
    try:
        for _ in range(2000):
            threading.Thread(target=gate.wait, daemon=True).start()
            started += 1
    except RuntimeError:
        pass
    gate.set()
    return started
"""
        assert evaluate(source, limits=Limits(processes=8)) < 200

    def test_open_files_are_bounded(self, evaluate: Callable[..., Any]) -> None:
        source = """
import os
def f():
    count = 0
    try:
        while True:
            os.dup(0)
            count += 1
    except OSError as error:
        return [count, error.errno]
"""
        assert evaluate(source, limits=Limits(open_files=20)) == [16, 24]

    def test_a_job_that_exits_early_has_its_code_reported(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        outcome = run_one(pool, calls_job("import os\ndef f(): os._exit(17)"))
        assert (outcome.ending, outcome.exit_code) == (Ending.EXITED, 17)

    def test_a_crash_is_reported_as_its_signal(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        source = "import ctypes\ndef f(): ctypes.string_at(0)"
        outcome = run_one(pool, calls_job(source))
        assert (outcome.ending, outcome.signal) == (Ending.SIGNALED, 11)

    def test_usage_is_what_the_kernel_counted(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        source = "def f():\n    data = bytearray(60 << 20)\n    return sum(range(3_000_000))\n"
        outcome = run_one(pool, calls_job(source))
        assert outcome.max_rss_bytes > 60 << 20
        assert 0.005 < outcome.cpu_s <= outcome.wall_s + 0.05


class TestStopping:
    def test_stop_when_ends_a_job_that_would_go_on(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        source = "def f(x):\n    while x: pass\n    return 'first'\n"
        job = calls_job(source, [0], [1], limits=Limits(wall_s=50, cpu_s=50), each=True)
        stopping = Job(job.message, job.limits, stop_when=lambda data: b"first" in data)
        outcome = run_one(pool, stopping)
        assert outcome.ending is Ending.STOPPED
        assert plain.loads(outcome.result.splitlines()[0]) == [0, "ok", "first"]

    @pytest.mark.slow
    def test_a_running_job_can_be_cancelled(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=50, cpu_s=50)
        handle = own_pool.submit(calls_job(LOOP, limits=limits), collected.take("loop"))
        time.sleep(0.5)
        handle.cancel()
        handle.cancel()
        collected.wait_for(1)
        assert collected.only("loop").ending is Ending.STOPPED

    @pytest.mark.slow
    def test_a_waiting_job_can_be_cancelled_and_never_runs(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        slow = Limits(wall_s=100, cpu_s=100, soft_slice_s=99)
        first = own_pool.submit(calls_job(LOOP, limits=slow), collected.take("first"))
        handles = [
            own_pool.submit(calls_job(LOOP, limits=slow), collected.take(f"waiting {number}"))
            for number in range(5)
        ]
        time.sleep(0.3)
        for handle in handles:
            handle.cancel()
        first.cancel()
        collected.wait_for(6)
        assert {o.ending for list_ in collected.outcomes.values() for o in list_} == {
            Ending.STOPPED
        }
        assert all(collected.only(f"waiting {n}").cpu_s < 1.0 for n in range(5))

    def test_cancelling_what_is_done_does_nothing(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        handle = pool.submit(calls_job("def f(): return 1"), collected.take("done"))
        collected.wait_for(1)
        for _ in range(3):
            handle.cancel()
        assert run_one(pool, calls_job("def f(): pass")).ending is Ending.EXITED
        assert collected.only("done").ending is Ending.EXITED

    def test_cancelling_from_many_threads_gives_one_outcome_each(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        collected = Collected()
        limits = Limits(wall_s=100, cpu_s=100, soft_slice_s=0.05)
        handles = [
            pool.submit(calls_job(LOOP, limits=limits), collected.take(str(number)))
            for number in range(12)
        ]
        threads = [
            threading.Thread(target=lambda: [handle.cancel() for handle in handles])
            for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        collected.wait_for(12)
        run_one(pool, calls_job("def f(): pass"))
        assert {len(found) for found in collected.outcomes.values()} == {1}
        assert {found[0].ending for found in collected.outcomes.values()} == {Ending.STOPPED}
