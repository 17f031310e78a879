from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator

import pytest

from unhack.sandbox.guest.server import deadlines
from unhack.sandbox.guest.server.deadlines import JobTimes, RunningJob


@pytest.fixture
def proc() -> Generator[int]:
    fd = os.open("/proc", os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


class TestJobTimes:
    def test_a_job_that_used_its_time_gets_no_more(self) -> None:
        assert JobTimes(10.0, 5.0, True).extension(wall_s=10.0, elapsed_s=15.0) == 0.0

    def test_a_job_that_slept_gets_no_more(self) -> None:
        seen = JobTimes(0.1, 0.0, False)
        assert seen.extension(wall_s=10.0, elapsed_s=10.0) == 0.0
        assert not seen.starved(10.0)

    def test_waiting_for_a_core_is_given_back(self) -> None:
        seen = JobTimes(2.0, 7.0, False)
        assert seen.extension(wall_s=10.0, elapsed_s=10.0) == 7.0
        assert seen.starved(10.0)

    def test_no_job_waits_for_ever(self) -> None:
        assert JobTimes(0.1, 190.0, True).extension(wall_s=10.0, elapsed_s=200.0) == 0.0


class TestReading:
    @pytest.mark.slow
    def test_the_cpu_time_of_a_whole_tree_counts(self, proc: int) -> None:
        below = "s = 0\nfor i in range(3_000_000): s += i\nprint(flush=True)\ninput()"
        code = f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {below!r}])"
        with subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as process:
            assert process.stdout is not None
            process.stdout.readline()
            alone = deadlines.job_times(proc, process.pid, program=False)
            whole = deadlines.job_times(proc, process.pid, program=True)
            process.kill()
            assert process.stdin is not None
            process.stdin.close()
        assert whole.cpu_s > alone.cpu_s

    def test_a_process_that_is_gone_has_no_progress(self, proc: int) -> None:
        done = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"],
                              capture_output=True, text=True, check=True)  # fmt: skip
        seen = deadlines.job_times(proc, int(done.stdout), program=True)
        assert (seen.cpu_s, seen.waited_s, seen.runnable) == (0.0, 0.0, False)


NEVER = 1e9


class TestLimitReached:
    """The job is this process: it has used some CPU time, and is not waiting for a core for long.

    Clocks are turned by hand: `now` is what the fork server would see.
    """

    def job(self, *, wall: float = NEVER, cpu: float = NEVER, hard: float = NEVER) -> RunningJob:
        return RunningJob(1, os.getpid(), -1, (wall, NEVER, cpu, hard))

    def reached(self, job: RunningJob, after_s: float, proc: int, *, program: bool = False) -> int:
        return job.limit_reached(job.started + after_s, proc, program=program)

    def test_a_hard_wall_ends_a_job_though_it_has_waited(self, proc: int) -> None:
        soft, hard = self.job(wall=NEVER), self.job(hard=5.0)
        assert self.reached(soft, 5.0, proc) == deadlines.BY_ITSELF
        assert self.reached(hard, 4.9, proc) == deadlines.BY_ITSELF
        assert self.reached(hard, 5.0, proc) == deadlines.BY_HARD_WALL

    def test_the_hard_wall_is_looked_at_in_time(self) -> None:
        job = self.job(hard=0.25)
        assert job.next_event() == job.started + 0.25

    @pytest.mark.parametrize("program", [False, True])
    def test_cpu_time_that_is_used_up_ends_a_job(self, proc: int, program: bool) -> None:
        job = self.job(cpu=1e-6)
        assert self.reached(job, 1.0, proc, program=program) == deadlines.BY_CPU

    @pytest.mark.parametrize("program", [False, True])
    def test_a_job_with_cpu_time_left_is_looked_at_again(self, proc: int, program: bool) -> None:
        job = self.job()
        assert self.reached(job, 7.0, proc, program=program) == deadlines.BY_ITSELF
        assert 7.0 < job.look_at - job.started <= 8.0
        assert job.next_event() == job.look_at

    def test_a_job_that_slept_through_its_wall_time_is_late(self, proc: int) -> None:
        asleep = "input()"
        with subprocess.Popen([sys.executable, "-c", asleep], stdin=subprocess.PIPE) as process:
            job = RunningJob(1, process.pid, -1, (1.0, NEVER, NEVER, NEVER))
            why = self.reached(job, 1000.0, proc)
            process.kill()
        assert why in {deadlines.BY_WALL, deadlines.BY_STARVING}
