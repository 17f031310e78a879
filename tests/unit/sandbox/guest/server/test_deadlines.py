from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator

import pytest

from unhack.sandbox.guest.server import deadlines
from unhack.sandbox.guest.server.deadlines import JobTimes


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
