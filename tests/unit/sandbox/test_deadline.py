import time
from collections.abc import Callable

from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Ending, Isolation, Job, Outcome, run_all
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs


class Hanging:
    """A backend whose jobs end only when they are cancelled."""

    isolation = Isolation.NONE
    slots = 1

    def __init__(self) -> None:
        self.submitted = 0

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> "JobHandle":
        self.submitted += 1
        return JobHandle(on_done)

    def call_soon(self, function: Callable[[], None]) -> None:
        function()

    def close(self) -> None:
        pass


class JobHandle:
    def __init__(self, on_done: Callable[[Outcome], None]) -> None:
        self.on_done = on_done

    def cancel(self) -> None:
        self.on_done(Outcome(Ending.STOPPED, error="cancelled"))


class Quick(Hanging):
    """A backend whose jobs are done before their handle is there."""

    def submit(self, job: Job, on_done: Callable[[Outcome], None]) -> JobHandle:
        on_done(Outcome(Ending.EXITED, exit_code=0))
        return JobHandle(lambda outcome: None)


JOB = jobs.judge("reward", {"nonce": ""}, limits=Limits())


def test_what_hangs_is_ended_at_the_deadline() -> None:
    timed = DeadlineBackend(Hanging(), until=time.monotonic() + 0.1)
    outcomes = run_all(timed, [JOB, JOB, JOB])
    assert [one.ending for one in outcomes] == [Ending.STOPPED] * 3
    assert timed.passed


def test_what_comes_late_is_not_begun() -> None:
    inner = Hanging()
    [outcome] = run_all(DeadlineBackend(inner, until=time.monotonic() - 1), [JOB])
    assert outcome.ending is Ending.STOPPED
    assert inner.submitted == 0


def test_a_block_has_an_earlier_deadline_and_never_a_later_one() -> None:
    timed = DeadlineBackend(Hanging(), until=time.monotonic() + 1000)
    whole = timed.until
    with timed.within(time.monotonic() + 0.05):
        [outcome] = run_all(timed, [JOB])
        assert outcome.ending is Ending.STOPPED
        with timed.within(whole + 1000):
            assert timed.until < whole
    assert timed.until == whole
    assert not timed.passed


def test_jobs_that_are_done_at_once_keep_their_outcomes() -> None:
    timed = DeadlineBackend(Quick(), until=time.monotonic() + 1000)
    assert [one.ending for one in run_all(timed, [JOB, JOB])] == [Ending.EXITED] * 2
