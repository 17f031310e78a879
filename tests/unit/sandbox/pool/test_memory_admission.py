from __future__ import annotations

import os
import signal

import pytest

from unhack.sandbox.guest.server import deadlines
from unhack.sandbox.job import Ending, Job, Kind, Outcome, Profile
from unhack.sandbox.limits import MIB, Limits
from unhack.sandbox.linux import cgroups
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.worker import MemoryAdmission, needed_bytes

LIMITS = Limits(memory_bytes=500 * MIB, disk_bytes=100 * MIB)
JOB = Job(b"{}", LIMITS)
WRITING = Job(b"{}", LIMITS, Profile(kind=Kind.SCRATCH))


class TestRoom:
    def test_a_job_with_files_needs_room_for_them(self) -> None:
        assert (needed_bytes(JOB), needed_bytes(WRITING)) == (500 * MIB, 600 * MIB)

    def test_no_more_are_admitted_than_there_is_memory_for(self) -> None:
        memory = MemoryAdmission(2000 * MIB)
        taken = 0
        while memory.has_room(JOB):
            memory.enter(JOB)
            taken += 1
        assert taken == 3
        memory.leave(JOB)
        memory.enter(WRITING)
        assert not memory.has_room(JOB)

    def test_this_host_has_memory(self) -> None:
        whole = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
        assert 0 < cgroups.available_bytes() <= whole


class TestDisturbed:
    def outcome(self, peak: int, limit: str = "memory") -> Outcome:
        number = int(signal.SIGKILL)
        return Outcome(Ending.LIMIT, signal=number, limit=limit, max_rss_bytes=peak)

    @pytest.mark.parametrize(
        ("peak", "limit", "why", "expected"),
        [
            (200 * MIB, "memory", deadlines.BY_ITSELF, True),
            (501 * MIB, "memory", deadlines.BY_ITSELF, False),
            (200 * MIB, "cpu", deadlines.BY_ITSELF, False),
            (200 * MIB, "memory", deadlines.BY_HOST, False),
            (1 * MIB, "wall", deadlines.BY_WALL, False),
            (1 * MIB, "wall", deadlines.BY_STARVING, True),
        ],
    )
    def test_an_end_below_its_own_limits_is_not_its_doing(
        self, peak: int, limit: str, why: int, expected: bool
    ) -> None:
        attempt = Attempt(1, JOB, lambda _: None)
        assert attempt.was_disturbed(self.outcome(peak, limit), why) is expected

    def test_it_is_believed_the_second_time(self) -> None:
        attempt = Attempt(1, JOB, lambda _: None)
        assert attempt.was_disturbed(self.outcome(MIB), deadlines.BY_ITSELF)
        assert not attempt.was_disturbed(self.outcome(MIB), deadlines.BY_ITSELF)

    def test_a_job_that_was_to_end_is_not_tried_again(self) -> None:
        attempt = Attempt(1, JOB, lambda _: None, stopping="cancel")
        assert not attempt.was_disturbed(self.outcome(MIB), deadlines.BY_ITSELF)
