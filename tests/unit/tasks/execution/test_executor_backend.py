"""Jobs and batches of a backend whose executor judges elsewhere."""

from __future__ import annotations

import queue
import time
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError, SandboxUnavailableError, UnknownNameError
from unhack.core.problem import Problem
from unhack.core.verdict import unscored_verdict
from unhack.sandbox.conformance import CheckState, run_checks
from unhack.sandbox.deadline import DeadlineBackend
from unhack.sandbox.job import Ending, Job, Kind, Outcome, Profile, run_all, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.execution.bound_files import fingerprints_of, first_difference, state_of
from unhack.tasks.execution.choosing import backend_on, executor_named
from unhack.tasks.execution.driver import LocalExecutor, Run
from unhack.tasks.execution.executor import BatchInProgress
from unhack.tasks.execution.executor_backend import ExecutorBackend
from unhack.tasks.execution.sent_jobs import outcome_of, pack, task_for
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers import jobs
from unhack.verifiers.function import Case, FunctionVerifier

LIMITS = Limits(wall_s=30.0, cpu_s=20.0, memory_bytes=256 << 20)
PATIENCE_S = 60.0


@pytest.fixture
def backend(pool: Pool) -> Generator[ExecutorBackend]:
    """A backend whose executor judges on the tests' pool."""
    made = ExecutorBackend(LocalExecutor(pool))
    yield made
    made.close()


def _job(*words: str, binds: tuple[tuple[str, str], ...] = ()) -> Job:
    return jobs.program(["/bin/sh", "-c", *words], limits=LIMITS, binds=binds)


def _doubles() -> Task:
    limits = Limits(wall_s=20.0, cpu_s=20.0, memory_bytes=256 << 20)
    return Task(
        Problem("doubles", ""), FunctionVerifier("f", (Case((2,), expected=4),), limits=limits)
    )


@pytest.mark.slow
def test_outcomes_are_those_of_the_pool_in_order(backend: ExecutorBackend, pool: Pool) -> None:
    batch = [_job(f"echo {number}; exit {number}") for number in range(6)]
    there, here = run_all(backend, batch), run_all(pool, batch)
    assert len(there) == len(batch)
    for one, other in zip(there, here, strict=True):
        assert one.stdout == other.stdout
        assert (one.ending, one.limit, one.isolation) == (
            other.ending,
            other.limit,
            other.isolation,
        )
        assert jobs.result_lines(one.result)[0][:3] == jobs.result_lines(other.result)[0][:3]


@pytest.mark.slow
def test_it_passes_the_checks_of_every_backend_through_shards() -> None:
    with executor_named("shards") as executor:
        made = ExecutorBackend(executor)
        failed = [one for one in run_checks(made) if one.state is CheckState.FAILED]
        made.close()
    assert not failed


def test_a_job_with_standard_input_crosses_byte_for_byte(backend: ExecutorBackend) -> None:
    data = bytes(range(256))
    outcome = run_one(backend, replace(_job("cat"), stdin=data))
    assert outcome.stdout == data


def test_a_mounted_file_that_differs_there_refuses_the_job_and_is_named(
    backend: ExecutorBackend, pool: Pool, tmp_path: Path
) -> None:
    file = tmp_path / "data.txt"
    file.write_text("one")
    job = _job("cat /data.txt", binds=((str(file), "/data.txt"),))
    sent = task_for(job.profile, None, files=fingerprints_of([str(file)]))
    assert run_one(backend, job).stdout == b"one"
    [same] = run_batch(sent, [pack(job)], backend=pool).verdicts
    assert outcome_of(same).stdout == b"one"
    file.write_text("another")
    [other] = run_batch(sent, [pack(job)], backend=pool).verdicts
    assert outcome_of(other).ending is Ending.REFUSED
    assert f"{file} differs from the file that the caller has" in outcome_of(other).error
    assert run_one(backend, job).stdout == b"another"


def test_a_mounted_path_that_is_missing_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "verifier"
    folder.mkdir()
    (folder / "a.py").write_text("1")
    known = fingerprints_of([str(folder)])
    assert first_difference(known) == ""
    (folder / "b.py").write_text("2")
    assert "differs" in first_difference(known)
    (folder / "b.py").unlink()
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "a.pyc").write_bytes(b"x")
    assert first_difference(known) == ""
    folder.rename(tmp_path / "moved")
    assert f"{folder} is not there" in first_difference(known)
    assert state_of([str(folder)]) == ()


def test_a_cancelled_job_is_stopped_at_once_and_the_next_one_runs(
    backend: ExecutorBackend,
) -> None:
    found: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    ticket = backend.submit(_job("sleep 20"), found.put)
    ticket.cancel()
    ticket.cancel()
    assert found.get(timeout=PATIENCE_S).ending is Ending.STOPPED
    assert run_one(backend, _job("echo later")).stdout == b"later\n"
    assert found.empty()


@pytest.mark.slow
@pytest.mark.sample
def test_a_deadline_stops_jobs_and_ends_batches_as_on_a_pool(backend: ExecutorBackend) -> None:
    timed = DeadlineBackend(backend, until=time.monotonic() + 2.0)
    assert run_one(timed, _job("sleep 20")).ending is Ending.STOPPED
    timed = DeadlineBackend(backend, until=time.monotonic() + 2.0)
    with pytest.raises(PoolClosedError, match="the time was up"):
        run_batch(_doubles(), ["import time\ndef f(n): time.sleep(15)"], backend=timed)
    later = DeadlineBackend(backend, until=time.monotonic() + PATIENCE_S)
    assert run_batch(_doubles(), ["def f(n): return 2 * n"], backend=later).rewards == (1.0,)


class _Unable:
    """An executor whose every batch ends as a whole."""

    def begin(self) -> BatchInProgress:
        class _Over:
            open = 0

            def add(self, items: list[tuple[int, Task, str]]) -> None:
                self.open += len(items)

            def take(self, *, at_least: int = 1, timeout_s: float | None = None) -> list[object]:
                raise SandboxUnavailableError("host-7: no user namespaces")

            def cancel(self) -> None:
                pass

        return _Over()  # type: ignore[return-value]


def test_what_ends_a_batch_as_a_whole_refuses_its_jobs_in_its_words() -> None:
    backend = ExecutorBackend(_Unable())
    outcomes = run_all(backend, [_job("true"), _job("true")])
    assert {one.ending for one in outcomes} == {Ending.REFUSED}
    assert {one.error for one in outcomes} == {"host-7: no user namespaces"}
    backend.close()


def test_a_closed_backend_stops_what_is_open_and_takes_nothing(pool: Pool) -> None:
    backend = ExecutorBackend(LocalExecutor(pool))
    found: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
    backend.submit(_job("sleep 20"), found.put)
    backend.close()
    assert found.get(timeout=PATIENCE_S).ending is Ending.STOPPED
    with pytest.raises(PoolClosedError, match="make a new one"):
        backend.submit(_job("true"), found.put)


def test_a_job_that_every_place_was_lost_with_says_nothing_of_the_completion() -> None:
    outcome = outcome_of(unscored_verdict("3 nodes were lost with it"))
    assert outcome.ending is Ending.STOPPED
    assert "3 nodes were lost" in outcome.error


@pytest.mark.slow
def test_a_profile_that_no_host_has_is_refused_there_in_the_same_words(
    backend: ExecutorBackend, pool: Pool
) -> None:
    profile = Profile(kind=Kind.FUNCTION, preload=("no_such_module",))
    job = replace(_job("true"), profile=profile)
    there, here = run_one(backend, job), run_one(pool, job)
    assert there.ending is here.ending is Ending.REFUSED
    assert there.error == here.error


def test_another_name_is_answered_with_those_that_are() -> None:
    with pytest.raises(UnknownNameError, match="shards"), backend_on("shard"):
        pass


class RefusesBatches:
    """An executor that was closed."""

    def begin(self) -> Any:
        raise PoolClosedError("the executor is closed; make a new one")


def test_an_executor_that_begins_nothing_ends_the_batch_and_not_the_backend() -> None:
    backend = ExecutorBackend(RefusesBatches())
    try:
        for _ in range(2):
            run = Run(backend)
            run.add([(0, find_task("strings/knit-rows"), "pass")])
            with pytest.raises(PoolClosedError, match="make a new one"):
                run.take(timeout_s=60.0)
    finally:
        backend.close()
