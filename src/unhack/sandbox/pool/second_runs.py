"""Second runs: a job that its CPU limit ended beside others is tried once more, alone in its pool.

Cores share caches and execution units, so a program needs more CPU time beside others than alone,
and a right one that is near its limit may be lost for what runs beside it. A loop reaches the same
limit, and nothing tells the two apart. So a second run is given only where it can change something
(others ran beside the job for half of its time, or the kernel ended it by its coarse count before
its time was up), and second runs may take a twentieth of the time that the pool is at work, after
half a minute that every pool may spend. All that is in the way of a second run is charged to it:
programs that always reach their limit cost everybody that share, however many they are.

The two halves of a seal are tried again by those who made them, not alone but with more patience,
where the candidate waited for a core while its judge waited for it. It is the same account.

Covered: CPU limits, and wall limits that a job reached by computing.
Not covered: the rest of the host, which no pool can hold still; judges.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace

from unhack.sandbox.job import Outcome, Role
from unhack.sandbox.pool.attempt import Attempt
from unhack.sandbox.pool.worker import calls_candidate

_SPARE_S = 30.0
"""Seconds that second runs may take before the pool has been at work for long."""
_SHARE = 1 / 20
"""Share of the time that the pool is at work for second runs."""
_CROWDED = 0.5
"""Share of a job's time with others beside it that may have lengthened its CPU time."""
_COMPUTING = 0.9
"""Share of its wall limit that a job has computed when that is what made it late."""
_STARVED = 0.1
"""Share of its time that a candidate waited for a core when that may have made it late."""
_MARGIN, _MOST_PATIENCE = 4, 20.0
"""Patience beyond what a candidate lacked, since the next wait may be longer, and the most."""
_NO_TIME = "it ran beside others, and no time was left for a second run alone"


class SecondRuns:
    """The second runs of one pool, and the time left for them; used on the pool's thread alone.

    Example:

        runs = SecondRuns()
        if runs.grant(attempt, outcome):  # from here on nothing else may start
            ...
        runs.release(attempt)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counted_at = self._quiet_since = clock()
        self._in_flight = 0
        self._busy_s = 0.0
        """Time with a job in flight."""
        self._crowded_s = 0.0
        """Time with two or more."""
        self._granted: dict[int, tuple[Attempt, Outcome, float]] = {}
        """Attempt id -> the job that waits or runs, its first outcome, the time of that."""
        self._running = False
        """True while one of them has its worker."""
        self._held_since = 0.0
        self._spent_s = 0.0

    @property
    def holds_others(self) -> bool:
        """True while nothing else may start."""
        return bool(self._granted)

    def enter(self, attempt: Attempt) -> None:
        """Take note that a worker was given a job."""
        attempt.began = self._count(1), self._crowded_s
        self._running = attempt.alone

    def leave(self, attempt: Attempt) -> None:
        """Take note that its worker has it no longer."""
        now = self._count(-1)
        if attempt.alone:
            self._running, self._quiet_since = False, now

    def may_start(self, attempt: Attempt) -> bool:
        """True when no second run is in the way of a job, and nothing in that of a second run.

        A judge whose candidate runs already goes on: its candidate waits for it.
        """
        if attempt.alone:
            return not self._in_flight
        return not self._granted or calls_candidate(attempt)

    def grant(self, attempt: Attempt, outcome: Outcome) -> bool:
        """True when a job is to run again alone; the time for it is set aside."""
        if not _computed_to_its_end(attempt, outcome):
            return False
        now = self._count(0)
        began, crowded = attempt.began
        cpu_s = attempt.job.limits.cpu_s
        by_ticks = outcome.limit == "cpu" and outcome.cpu_s < math.ceil(cpu_s)
        beside = self._crowded_s - crowded >= _CROWDED * (now - began)
        if not (by_ticks or beside):
            return False
        if self._left_s(now) < cpu_s:
            attempt.denied = _NO_TIME
            return False
        if not self._granted:
            self._held_since = now
        self._granted[attempt.id] = attempt, outcome, now
        attempt.alone = True
        return True

    def conclude(self, attempt: Attempt, outcome: Outcome) -> Outcome:
        """The outcome, which says where there was no time for a second run; of a candidate that its
        judge gave up on while it waited for a core, with the patience that another try needs, for
        which its CPU limit is charged."""
        if attempt.denied:
            return replace(outcome, error=attempt.denied)
        waited, wall, limits = attempt.waited_s, outcome.wall_s, attempt.job.limits
        given_up = attempt.stopping == "cancel" and attempt.job.peer is not None
        starved = waited > _STARVED * wall and attempt.left_s > limits.cpu_s
        if not (given_up and starved) or self._left_s(self._count(0)) < limits.cpu_s:
            return outcome
        self._spent_s += limits.cpu_s
        had = max(wall - waited, wall / _MOST_PATIENCE)
        return replace(outcome, patience=min(_MARGIN * wall / had, _MOST_PATIENCE))

    def release(self, attempt: Attempt) -> bool:
        """Take note that a second run is over, or does not take place; False when it was none."""
        if self._granted.pop(attempt.id, None) is None:
            return False
        now = self._count(0)
        if not self._granted:
            self._spent_s += now - self._held_since
        return True

    def overdue(self) -> list[tuple[Attempt, Outcome]]:
        """The jobs that have waited for those under way as long as their first run took, or until
        no time is left, with their first outcomes, which are to count."""
        if self._running:
            return []
        now = self._count(0)
        is_over = self._left_s(now) < 0
        return [
            (attempt, replace(first, error=_NO_TIME))
            for attempt, first, since in self._granted.values()
            if is_over or now - max(since, self._quiet_since) > first.wall_s
        ]

    def _left_s(self, now: float) -> float:
        """Seconds for second runs that are neither spent nor set aside."""
        aside = sum(attempt.job.limits.cpu_s for attempt, *_ in self._granted.values())
        held = now - self._held_since if self._granted else 0.0
        return _SPARE_S + _SHARE * self._busy_s - self._spent_s - held - aside

    def _count(self, change: int) -> float:
        """Bring the sums up to now, which is returned, and the number of jobs in flight after."""
        now = self._clock()
        passed, self._counted_at = now - self._counted_at, now
        if self._in_flight:
            self._busy_s += passed
            if self._in_flight > 1:
                self._crowded_s += passed
        self._in_flight += change
        return now


def _computed_to_its_end(attempt: Attempt, outcome: Outcome) -> bool:
    """True for the first end of a candidate's job by its CPU time, if it has a hard wall ahead that
    leaves time for another."""
    job = attempt.job
    if attempt.stopping or attempt.tries != 1 or job.peer is not None:
        return False
    if job.profile.role is not Role.CANDIDATE or job.limits.cpu_s > attempt.left_s:
        return False
    late = outcome.limit == "wall" and outcome.cpu_s >= _COMPUTING * job.limits.wall_s
    return late or outcome.limit == "cpu"
