"""The cores that jobs may run on are those of the pool, whatever jobs did before."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Generator
from contextlib import closing
from typing import Any

import pytest

from unhack.sandbox.job import Isolation, Job, Kind, Outcome, Profile, run_all, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.rootfs import inside, interpreter
from unhack.verifiers import jobs

CORES = sorted(os.sched_getaffinity(0))
TAKE_ALL = """
import ctypes, os, threading
libc = ctypes.CDLL(None)

def take(found):
    every = (ctypes.c_ulong * 128)(*[~0] * 128)
    for name in (0, os.getpid(), threading.get_native_id()):
        libc.sched_setaffinity(name, 1024, every)
        try:
            os.sched_setaffinity(name, range(4096))
        except OSError:
            pass
    found.append(sorted(os.sched_getaffinity(0)))

def f():
    found = []
    take(found)
    thread = threading.Thread(target=take, args=(found,))
    thread.start()
    thread.join()
    return found
"""
SHOWN = "import os\ndef f(): return sorted(os.sched_getaffinity(0))\n"
BOUND = """
import json
import os
def f():
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    return sorted(os.sched_getaffinity(0))
"""
CROWD = """
import os, threading
cores = sorted(os.sched_getaffinity(0))[:COUNT]
def work():
    while True:
        for core in cores:
            try:
                os.sched_setaffinity(0, {core})
            except OSError:
                pass
            for _ in range(100_000 // COUNT ** 9):
                pass
def f():
    for _ in range(12):
        threading.Thread(target=work, daemon=True).start()
    work()
"""
BUSY = "def f():\n    for _ in range(2_000_000): pass\n    return 49\n"
ANSWER = "import json\nprint(json.dumps(f()))\n"
Run = Callable[..., Any]


@pytest.fixture
def run(calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]) -> Run:
    """`run(pool, kind, source)`: what `f()` of `source` returns in a job of that kind."""

    def one(pool: Pool, kind: Kind, source: str) -> Any:
        if kind is not Kind.PROGRAM:
            return value_of(run_one(pool, calls_job(source, (), profile=Profile(kind=kind))))
        files = {"program.py": ((source + ANSWER).encode(), 0o644)}
        argv = [inside(interpreter()), "-I", "program.py"]
        done = run_one(pool, jobs.program(argv, files=files, stdin=b"", limits=Limits()))
        return json.loads(done.stdout)

    return one


@pytest.fixture(params=[Isolation.NAMESPACES, Isolation.LANDLOCK])
def narrow(request: pytest.FixtureRequest) -> Generator[Pool]:
    """A pool as one started under `taskset`: it has the last core."""
    os.sched_setaffinity(0, CORES[-1:])
    try:
        made = Pool(slots=1, isolation=request.param)
    finally:
        os.sched_setaffinity(0, CORES)
    yield made
    made.close()


@pytest.fixture
def own_pool() -> Generator[Pool]:
    """Two slots that no other test uses, so that the crowd disturbs none."""
    with closing(Pool(slots=2)) as made:
        yield made


@pytest.mark.skipif(len(CORES) < 2, reason="one core is all there is")
@pytest.mark.parametrize("kind", Kind)
def test_no_job_leaves_the_cores_of_taskset(narrow: Pool, kind: Kind, run: Run) -> None:
    if narrow.isolation is Isolation.LANDLOCK and kind is not Kind.FUNCTION:
        pytest.skip("refused on this level")
    assert run(narrow, kind, TAKE_ALL) == [CORES[-1:]] * 2


@pytest.mark.parametrize("kind", Kind)
def test_a_job_may_run_wherever_the_pool_may(pool: Pool, kind: Kind, run: Run) -> None:
    """Each fork server stays on one core by and by; no job does."""
    assert [run(pool, kind, SHOWN) for _ in range(4)] == [CORES] * 4


def test_a_job_that_binds_itself_binds_no_later_one(
    pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
) -> None:
    given = [calls_job(source, ()) for _ in range(20) for source in (BOUND, SHOWN)]
    found = [value_of(outcome) for outcome in run_all(pool, given)]
    assert found == [CORES[:1], CORES] * 20


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 2], ids=["stays", "moves"])
def test_honest_neighbours_of_a_crowd_that_binds_itself_are_right(
    own_pool: Pool, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any], cores: int
) -> None:
    """A crowd on one core, and one that goes from core to core all the time."""
    crowd = CROWD.replace("COUNT", str(cores))
    near, short = Limits(wall_s=1.0, cpu_s=1.0), Limits(wall_s=0.1, cpu_s=1.0)
    given = [calls_job(crowd, (), limits=short), calls_job(BUSY, (), limits=near)] * 2
    hostile, first, other, second = run_all(own_pool, given)
    assert [value_of(outcome) for outcome in (first, second)] == [49, 49]
    assert {hostile.limit, other.limit} <= {"wall", "cpu"}
