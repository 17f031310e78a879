"""Threads are counted for each job by itself, and a job sees nothing of the others."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from unhack.sandbox.job import Isolation, Job, Kind, Outcome, Profile, run_all, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool

pytestmark = pytest.mark.slow

LIMITS = Limits(wall_s=30.0, cpu_s=20.0, processes=24)
HOG = """
import _thread, time
_thread.stack_size(1 << 16)
def f():
    for _ in range(400):
        try:
            _thread.start_new_thread(time.sleep, (1.5,))
        except RuntimeError:
            break
    time.sleep(1.5)
"""
COUNT = """
import _thread
def f():
    _thread.stack_size(1 << 16)
    gate = _thread.allocate_lock()
    gate.acquire()
    count = 0
    try:
        while count < 400:
            _thread.start_new_thread(gate.acquire, ())
            count += 1
    except RuntimeError:
        pass
    return count
"""
"""With modules that are built in: a library in a closed folder cannot be read at every level."""
STATE = """
import gc, os, resource, sys, time
def f():
    objects = [type(item).__name__ for item in gc.get_objects()]
    names = []
    frame = sys._getframe()
    while frame is not None:
        names.append([frame.f_code.co_name, sorted(frame.f_locals)])
        frame = frame.f_back
    return [
        objects.count("RunningJob"), objects.count("Server"), objects.count("socket"), names,
        gc.get_count(), gc.get_stats()[0]["collections"], gc.get_freeze_count(),
        os.getpid(), os.getppid(), os.getuid(), id(object()), id([]), id({}),
        resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.time() // 60,
        [fd for fd in range(100) if is_open(fd)], sys.argv, dict(os.environ), hidden(),
    ]
def hidden():
    gc.unfreeze()
    kinds = [type(item).__name__ for item in gc.get_objects()]
    return [kinds.count("RunningJob"), kinds.count("Server"), len(kinds)]
def is_open(fd):
    try:
        os.fstat(fd)
    except OSError:
        return False
    return True
"""


@pytest.fixture(params=[Kind.FUNCTION, Kind.SCRATCH])
def profile(request: pytest.FixtureRequest) -> Profile:
    return Profile(kind=request.param)


class TestThreads:
    def test_a_job_may_start_as_many_as_its_limit_beside_one_that_has_all_of_its_own(
        self, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any], profile: Profile
    ) -> None:
        hogs = [calls_job(HOG, limits=LIMITS, profile=profile) for _ in range(3)]
        honest = [calls_job(COUNT, limits=LIMITS, profile=profile) for _ in range(3)]
        with closing(Pool(slots=1, isolation=Isolation.NAMESPACES)) as pool:
            outcomes = run_all(pool, [*hogs, *honest])
        assert [value_of(outcome) for outcome in outcomes[3:]] == [23, 23, 23]

    def test_the_landlock_level_runs_them_one_after_the_other(
        self, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        jobs = [calls_job(source, limits=LIMITS) for source in (HOG, COUNT)]
        with closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool:
            _, honest = run_all(pool, jobs)
        assert value_of(honest) >= 23


class TestState:
    def test_a_job_finds_the_same_wherever_it_stands(
        self, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any], profile: Profile
    ) -> None:
        state = calls_job(STATE, limits=LIMITS, profile=profile)
        hog = calls_job(HOG, limits=LIMITS, profile=profile)
        with closing(Pool(slots=1, isolation=Isolation.NAMESPACES)) as pool:
            before = [value_of(run_one(pool, state)) for _ in range(6)]
            beside = [value_of(outcome) for outcome in run_all(pool, [hog, hog, *[state] * 4])[2:]]
        assert len({repr(seen) for seen in before + beside}) == 1
        assert before[0][:3] == [0, 0, 0]
        assert before[0][-1][:2] == [0, 0], "what the collector was told to forget"
        called = [name for name, _ in before[0][3]]
        assert not {"serve", "accept", "_serve", "reap"} & set(called)
