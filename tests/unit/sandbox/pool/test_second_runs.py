"""Second runs: when a job that its CPU limit ended runs again alone, and what that may cost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import pytest

from unhack.sandbox.job import Ending, Job, Outcome, Profile, Role, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.attempt import Attempt, SecondRuns
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs

LIMITS = Limits(wall_s=8.0, cpu_s=2.0)
_HANG_S = 120.0


class Clock:
    """A clock that stands still until it is turned."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Host:
    """A pool's book-keeping, with a clock turned by hand."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.runs = SecondRuns(self.clock)
        self._ids = 0

    def begin(self, limits: Limits = LIMITS, **fields: Any) -> Attempt:
        self._ids += 1
        attempt = Attempt(self._ids, Job(b"{}", limits, **fields), lambda _: None)
        self.start(attempt)
        return attempt

    def start(self, attempt: Attempt) -> None:
        attempt.tries += 1
        self.runs.enter(attempt)

    def end(self, attempt: Attempt, limit: str = "cpu", cpu_s: float = 2.0) -> bool:
        """Whether it gets a second run."""
        self.runs.leave(attempt)
        return self.runs.grant(attempt, ended(limit, cpu_s))

    def pass_time(self, seconds: float) -> None:
        self.clock.now += seconds


@pytest.fixture
def host() -> Host:
    return Host()


def ended(limit: str, cpu_s: float) -> Outcome:
    return Outcome(Ending.LIMIT, signal=int(signal.SIGKILL), limit=limit, cpu_s=cpu_s, wall_s=2.0)


class TestGrant:
    def test_a_job_that_ran_beside_another_runs_again(self, host: Host) -> None:
        attempt, _ = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.end(attempt)

    def test_a_job_that_ran_alone_does_not(self, host: Host) -> None:
        attempt = host.begin()
        host.pass_time(2.0)
        assert not host.end(attempt)

    def test_a_short_neighbour_is_no_reason(self, host: Host) -> None:
        attempt, neighbour = host.begin(), host.begin()
        host.pass_time(0.5)
        host.end(neighbour, limit="")
        host.pass_time(1.5)
        assert not host.end(attempt)

    def test_a_job_that_the_kernel_ended_before_its_time_runs_again(self, host: Host) -> None:
        attempt = host.begin()
        host.pass_time(2.0)
        assert host.end(attempt, cpu_s=1.7)

    @pytest.mark.parametrize(
        ("limit", "cpu_s", "again"),
        [("wall", 7.9, True), ("wall", 0.1, False), ("wall_hard", 7.9, False),
         ("memory", 2.0, False), ("", 2.0, False)],
    )  # fmt: skip
    def test_only_time_spent_computing_is_a_reason(
        self, host: Host, limit: str, cpu_s: float, again: bool
    ) -> None:
        attempt, _ = host.begin(), host.begin()
        host.pass_time(8.0)
        assert host.end(attempt, limit, cpu_s) is again

    def test_nothing_runs_a_third_time(self, host: Host) -> None:
        attempt, neighbour = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.end(attempt)
        host.end(neighbour, limit="")
        host.start(attempt)
        host.pass_time(2.0)
        assert not host.end(attempt)

    def test_half_of_a_seal_and_a_judge_do_not_run_again(self, host: Host) -> None:
        judge = Profile(role=Role.JUDGE)
        half, whole = host.begin(peer=0), host.begin(profile=judge)
        host.pass_time(2.0)
        assert not host.end(half)
        host.begin()
        host.pass_time(2.0)
        assert not host.end(whole)

    @pytest.mark.parametrize(("hard_s", "again"), [(3.0, False), (4.5, True)])
    def test_a_hard_wall_leaves_time_for_it_or_not(
        self, host: Host, hard_s: float, again: bool
    ) -> None:
        attempt, _ = host.begin(LIMITS.with_(wall_hard_s=hard_s)), host.begin()
        host.pass_time(2.0)
        attempt.spent_s = 2.0
        assert host.end(attempt) is again


class TestPatience:
    def given_up(self, host: Host, *, waited_s: float, **fields: Any) -> float:
        """The patience that is said of a candidate whose judge gave it up after 2 s."""
        attempt = host.begin(peer=0, **fields)
        attempt.stopping = "cancel"
        attempt.waited_s = waited_s
        host.runs.leave(attempt)
        outcome = Outcome(Ending.STOPPED, wall_s=2.0)
        return host.runs.conclude(attempt, outcome).patience

    @pytest.mark.parametrize(
        ("waited_s", "patience"), [(0.1, 1.0), (1.0, 8.0), (1.5, 16.0), (2.0, 20.0)]
    )
    def test_a_candidate_that_waited_for_a_core_lacked_so_much(
        self, host: Host, waited_s: float, patience: float
    ) -> None:
        assert self.given_up(host, waited_s=waited_s) == patience

    def test_it_is_charged(self, host: Host) -> None:
        found = [self.given_up(host, waited_s=1.0) for _ in range(20)]
        assert found == [8.0] * 15 + [1.0] * 5  # 30 s for limits of 2 s

    def test_none_is_given_where_the_hard_wall_leaves_no_time(self, host: Host) -> None:
        assert self.given_up(host, waited_s=1.0, limits=LIMITS.with_(wall_hard_s=1.0)) == 1.0

    def test_a_job_that_the_caller_cancelled_has_no_second_try(self, host: Host) -> None:
        attempt = host.begin()
        attempt.stopping, attempt.waited_s = "cancel", 1.0
        assert host.runs.conclude(attempt, Outcome(Ending.STOPPED, wall_s=2.0)).patience == 1.0


class TestOrder:
    def test_nothing_else_starts_until_it_is_over(self, host: Host) -> None:
        attempt, neighbour = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.runs.may_start(Attempt(9, Job(b"{}", LIMITS), lambda _: None))
        assert host.end(attempt)
        other = Attempt(9, Job(b"{}", LIMITS), lambda _: None)
        assert not host.runs.may_start(other)
        assert not host.runs.may_start(attempt)  # the neighbour has not ended
        host.end(neighbour, limit="")
        assert host.runs.may_start(attempt)
        host.start(attempt)
        assert not host.runs.may_start(other)
        host.end(attempt)
        assert host.runs.release(attempt)
        assert host.runs.may_start(other)

    def test_a_judge_goes_on_for_the_candidate_that_waits_for_it(self, host: Host) -> None:
        attempt, _ = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.end(attempt)
        job = Job(b"{}", LIMITS, Profile(role=Role.JUDGE))
        assert host.runs.may_start(Attempt(9, job, lambda _: None, peer=0))
        assert not host.runs.may_start(Attempt(9, job, lambda _: None))

    def test_a_wait_for_room_has_an_end(self, host: Host) -> None:
        attempt, _ = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.end(attempt)
        host.pass_time(1.9)
        assert host.runs.overdue() == []
        host.pass_time(0.2)
        [(late, outcome)] = host.runs.overdue()
        assert late is attempt
        assert "no time was left" in outcome.error


class TestCost:
    def loops(self, host: Host, count: int) -> int:
        """Second runs of so many pairs of loops, one after another."""
        again = 0
        for _ in range(count):
            attempt, neighbour = host.begin(), host.begin()
            host.pass_time(2.0)
            host.end(neighbour, limit="")
            if host.end(attempt):
                again += 1
                host.start(attempt)
                host.pass_time(2.0)
                host.end(attempt)
            host.runs.release(attempt)
        return again

    def test_loops_without_end_cost_a_bounded_share(self, host: Host) -> None:
        began = host.clock.now
        again = self.loops(host, 1000)
        passed = host.clock.now - began
        assert 0 < 2.0 * again <= 30.0 + passed / 20

    def test_the_wait_for_room_is_charged(self, host: Host) -> None:
        """What a second run holds up is not free for being no second run itself."""
        attempt, neighbour = host.begin(), host.begin()
        host.pass_time(2.0)
        assert host.end(attempt)
        host.pass_time(1000.0)
        host.end(neighbour, limit="")
        host.runs.release(attempt)
        later, _ = host.begin(), host.begin()
        host.pass_time(2.0)
        assert not host.end(later)
        assert "no time was left" in host.runs.conclude(later, ended("cpu", 2.0)).error

    def test_one_that_needs_no_second_run_says_nothing(self, host: Host) -> None:
        alone = host.begin()
        host.pass_time(2.0)
        assert not host.end(alone)
        assert host.runs.conclude(alone, ended("cpu", 2.0)).error == ""

    def test_time_set_aside_is_not_given_twice(self, host: Host) -> None:
        attempts = [host.begin(LIMITS.with_(cpu_s=12.0)) for _ in range(4)]
        host.pass_time(12.0)
        assert [host.end(attempt, cpu_s=12.0) for attempt in attempts] == [True, True, False, False]


@pytest.fixture
def crowd() -> Generator[Pool]:
    """A pool for which no time passes: waits for room have no end, all time is crowded."""
    with closing(Pool(slots=2)) as made:
        made._second = SecondRuns(Clock())
        yield made


BURN = "import time\nwhile time.process_time() < 1.3: pass\nprint(49)\n"
NEAR = Limits(wall_s=30.0, cpu_s=1.0)


@pytest.mark.slow
class TestPool:
    def program(self, source: str, limits: Limits) -> Job:
        return jobs.main(source, stdin=b"", limits=limits, profile=Profile())

    def submit(self, pool: Pool) -> tuple[list[tuple[str, Outcome]], threading.Semaphore]:
        """Have a sleeper, a program beyond its CPU limit and a late comer judged: (name, outcome)
        in the order of their ends."""
        order: list[tuple[str, Outcome]] = []
        done = threading.Semaphore(0)

        def take(name: str) -> Callable[[Outcome], None]:
            return lambda outcome: (order.append((name, outcome)), done.release())[0]

        asleep = self.program("import time\ntime.sleep(600)", Limits(wall_s=600.0))
        sleeper = pool.submit(asleep, take("sleeper"))
        pool.submit(self.program(BURN, NEAR), take("burner"))
        while not pool._second.holds_others:
            assert not done.acquire(timeout=0.01), order
        pool.submit(self.program("print(1)", Limits()), take("late"))
        assert not done.acquire(timeout=0.3), order
        sleeper.cancel()
        for _ in range(3):
            assert done.acquire(timeout=_HANG_S)
        return order, done

    def test_a_job_beyond_its_limit_beside_another_runs_again_alone(self, crowd: Pool) -> None:
        order, _ = self.submit(crowd)
        assert [name for name, _ in order] == ["sleeper", "burner", "late"]
        burner = order[1][1]
        assert (burner.limit, burner.attempts) == ("cpu", 2)

    def test_the_end_of_the_second_run_counts(
        self, crowd: Pool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Alone the program is quicker; here that is played by a longer limit."""
        job_now = Attempt._job_now

        def longer(attempt: Attempt) -> Job:
            job = job_now(attempt)
            return self.program(BURN, job.limits.with_(cpu_s=60.0)) if attempt.alone else job

        monkeypatch.setattr(Attempt, "_job_now", longer)
        order, _ = self.submit(crowd)
        burner = order[1][1]
        assert (burner.ending, burner.stdout, burner.attempts) == (Ending.EXITED, b"49\n", 2)

    def test_a_loop_that_is_alone_runs_once(self) -> None:
        with closing(Pool(slots=2)) as pool:
            outcome = run_one(pool, self.program("while True: pass", NEAR))
        assert (outcome.limit, outcome.attempts) == ("cpu", 1)
