"""The life of a pool: its levels, its end, and what happens when processes are killed."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import PoolClosedError
from unhack.sandbox.job import (
    Ending,
    Isolation,
    Job,
    Kind,
    Outcome,
    Profile,
    Role,
    run_all,
    run_one,
)
from unhack.sandbox.limits import Limits
from unhack.sandbox.linux.processes import children
from unhack.sandbox.pool.pool import Pool
from unhack.verifiers import jobs

NoDescriptorLeft = Callable[[], AbstractContextManager[None]]

LOOP = "def f(*args):\n    while True: pass\n"
_HANG_S = 60.0
_PRELUDE = """
import os
from unhack.sandbox.job import Profile, run_one
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.sandbox.pool.pool import shared_pool
from unhack.verifiers import jobs
template = jobs.CallsTemplate("f", [[[], {}]], limits=Limits(), profile=Profile())
job = template.job("def f(): return 'answer'")
"""


@pytest.fixture
def own_pool() -> Generator[Pool]:
    """A pool with one slot that no other test uses."""
    with closing(Pool(slots=1)) as made:
        yield made


def in_a_host(program: str) -> str:
    """What `program` prints as a host process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", _PRELUDE + program],
        capture_output=True,
        text=True,
        check=False,
        timeout=_HANG_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class TestLevels:
    @pytest.mark.parametrize("level", [Isolation.NAMESPACES, Isolation.LANDLOCK, Isolation.NONE])
    def test_each_level_runs_functions_and_marks_them(
        self, level: Isolation, calls_job: Callable[..., Job], value_of: Callable[[Outcome], Any]
    ) -> None:
        with closing(Pool(slots=1, isolation=level)) as pool:
            outcome = run_one(pool, calls_job("def f(x): return x + 1", [1]))
            assert value_of(outcome) == 2
            assert outcome.isolation is level is pool.isolation

    @pytest.mark.parametrize("kind", [Kind.SCRATCH, Kind.PROGRAM])
    def test_without_namespaces_what_they_would_hold_is_refused_with_advice(
        self, kind: Kind, calls_job: Callable[..., Job]
    ) -> None:
        with closing(Pool(slots=1, isolation=Isolation.LANDLOCK)) as pool:
            outcome = run_one(pool, calls_job("def f(): pass", profile=Profile(kind=kind)))
            assert outcome.ending is Ending.REFUSED
            assert "namespaces" in outcome.error
            assert "unhack doctor" in outcome.error

    def test_a_profile_that_cannot_start_is_refused_with_the_reason(
        self, pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        profile = Profile(preload=("no_such_module_at_all",))
        outcome = run_one(pool, calls_job("def f(): pass", profile=profile))
        assert outcome.ending is Ending.REFUSED
        assert "no_such_module_at_all" in outcome.error
        assert run_one(pool, calls_job("def f(): pass")).ending is Ending.EXITED

    @pytest.mark.slow
    def test_judges_and_candidates_have_workers_of_their_own(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        run_one(own_pool, calls_job("def f(): pass"))
        before = set(own_pool.worker_pids())
        run_one(own_pool, calls_job("def f(): pass", profile=Profile(role=Role.JUDGE)))
        assert len(set(own_pool.worker_pids()) - before) == 1

    @pytest.mark.slow
    def test_workers_of_profiles_that_nobody_uses_are_let_go(
        self, own_pool: Pool, calls_job: Callable[..., Job]
    ) -> None:
        modules = ["csv", "fractions", "decimal", "queue", "shlex", "textwrap", "zlib"]
        for name in modules:
            run_one(own_pool, calls_job("def f(): pass", profile=Profile(preload=(name,))))
        assert len(own_pool.worker_pids()) <= 5


@pytest.mark.slow
class TestClosing:
    def test_closing_gives_every_waiting_job_one_outcome_stopped(
        self, calls_job: Callable[..., Job]
    ) -> None:
        seen: list[tuple[int, Ending]] = []
        pool = Pool(slots=1)
        for number in range(40):
            pool.submit(calls_job(LOOP), lambda o, n=number: seen.append((n, o.ending)))
        time.sleep(0.5)
        pool.close()
        assert sorted(seen) == [(number, Ending.STOPPED) for number in range(40)]

    def test_closing_at_once_leaves_no_worker(self) -> None:
        program = (
            "pool = Pool(slots=2)\n"
            "ends = []\n"
            "for _ in range(5): pool.submit(job, ends.append)\n"
            "pool.close()\n"
            "children = open(f'/proc/self/task/{os.getpid()}/children').read().split()\n"
            "print(len(ends), {end.ending.value for end in ends}, len(children))\n"
        )
        assert in_a_host(program) == "5 {'stopped'} 0"

    def test_closing_ends_every_worker_and_job(self, calls_job: Callable[..., Job]) -> None:
        pool = Pool(slots=2)
        for _ in range(4):
            pool.submit(calls_job(LOOP), lambda _: None)
        run_one(pool, calls_job("def f(): pass", limits=Limits(soft_slice_s=5)))
        workers = pool.worker_pids()
        running = [child for pid in workers for child in children(pid)]
        assert running
        pool.close()
        assert not any(map(_alive, workers))
        until = time.monotonic() + _HANG_S
        while any(map(_alive, running)) and time.monotonic() < until:
            time.sleep(0.01)
        assert not any(map(_alive, running))

    def test_a_job_handed_in_while_the_pool_closes_is_refused_or_gets_one_outcome(self) -> None:
        program = """
import threading, time
lost = []
for number in range(4):
    pool = Pool(slots=1)
    accepted = []
    def submit_until_refused():
        try:
            while True:
                ends = []
                pool.submit(job, ends.append)
                accepted.append(ends)
        except Exception as error:
            assert type(error).__name__ == "PoolClosedError", error
    threads = [threading.Thread(target=submit_until_refused) for _ in range(3)]
    for thread in threads: thread.start()
    time.sleep(0.01 * number)
    pool.close()
    for thread in threads: thread.join()
    lost.append(sum(len(ends) != 1 for ends in accepted))
print(lost)
"""
        assert in_a_host(program) == str([0] * 4)

    def test_a_closed_pool_takes_no_job(self, calls_job: Callable[..., Job]) -> None:
        pool = Pool(slots=1)
        pool.close()
        pool.close()
        with pytest.raises(PoolClosedError):
            pool.submit(calls_job("def f(): pass"), print)

    def test_no_thread_can_hand_work_to_a_closed_pool(self) -> None:
        pool = Pool(slots=1)
        pool.close()
        refused: list[bool] = []

        def hand_in() -> None:
            try:
                pool.call_soon(lambda: None)
                refused.append(False)
            except PoolClosedError:
                refused.append(True)

        for _ in range(50):
            thread = threading.Thread(target=hand_in)
            thread.start()
            thread.join()
        assert refused == [True] * 50

    def test_cancelling_after_the_pool_has_closed_does_nothing(
        self, calls_job: Callable[..., Job]
    ) -> None:
        seen: list[Outcome] = []
        pool = Pool(slots=1)
        run_one(pool, calls_job("def f(): pass"))
        handle = pool.submit(calls_job(LOOP), seen.append)
        pool.close()
        handle.cancel()
        assert [outcome.ending for outcome in seen] == [Ending.STOPPED]

    def test_the_context_manager_closes_its_pool(self, calls_job: Callable[..., Job]) -> None:
        with closing(Pool(slots=1)) as pool:
            run_one(pool, calls_job("def f(): pass"))
            workers = pool.worker_pids()
        assert not any(map(_alive, workers))
        with pytest.raises(PoolClosedError):
            pool.submit(calls_job("def f(): pass"), print)


class TestDescriptors:
    @pytest.mark.slow
    def test_no_descriptor_is_left_over_after_two_hundred_jobs(
        self, calls_job: Callable[..., Job], no_descriptor_left: NoDescriptorLeft
    ) -> None:
        def some(count: int) -> list[Job]:
            limits = Limits(wall_s=5, output_bytes=1000)
            made: list[Job] = []
            for number in range(count):
                made += [
                    calls_job("def f(): return 1"),
                    calls_job("def f(: syntax"),
                    calls_job("import os\ndef f(): os._exit(3)"),
                    calls_job("def f(): return 'x' * 100000", limits=limits),
                    jobs.main(f"print({number})", stdin=b"in", limits=limits, profile=Profile()),
                ]
            return made

        with closing(Pool(slots=2)) as pool:
            run_all(pool, some(2))
            with no_descriptor_left():
                ends = Counter(outcome.ending for outcome in run_all(pool, some(40)))
                pairs = [socket.socketpair() for _ in range(10)]
                for ours, _ in pairs:
                    ours.close()
                waited = run_all(pool, [_waits_for(theirs) for _, theirs in pairs])
                assert ends == {Ending.EXITED: 160, Ending.LIMIT: 40}
                assert len(waited) == 10
                del pairs

    @pytest.mark.slow
    def test_cancelled_jobs_leave_no_descriptor(
        self,
        calls_job: Callable[..., Job],
        unless_it_hangs: Callable[..., Any],
        no_descriptor_left: NoDescriptorLeft,
    ) -> None:
        with closing(Pool(slots=2)) as pool:
            run_one(pool, calls_job("def f(): pass"))
            with no_descriptor_left():
                ends: list[Ending] = []
                handles = [
                    pool.submit(calls_job(LOOP), lambda outcome: ends.append(outcome.ending))
                    for _ in range(20)
                ]
                for handle in handles:
                    handle.cancel()
                unless_it_hangs(lambda: run_one(pool, calls_job("def f(): pass")))
                until = time.monotonic() + _HANG_S
                while len(ends) < 20 and time.monotonic() < until:
                    time.sleep(0.01)
                assert ends == [Ending.STOPPED] * 20

    @pytest.mark.slow
    def test_a_closed_pool_gives_every_descriptor_back(
        self, calls_job: Callable[..., Job], no_descriptor_left: NoDescriptorLeft
    ) -> None:
        with no_descriptor_left():
            ours, theirs = socket.socketpair()
            pool = Pool(slots=2)
            run_one(pool, calls_job("def f(): pass"))
            ends: list[Ending] = []
            for _ in range(10):
                pool.submit(calls_job(LOOP), lambda outcome: ends.append(outcome.ending))
            pool.submit(_waits_for(theirs), lambda outcome: ends.append(outcome.ending))
            time.sleep(0.3)
            pool.close()
            ours.close()
            assert ends == [Ending.STOPPED] * 11

    @pytest.mark.slow
    def test_a_refused_job_gives_its_peer_back(self, no_descriptor_left: NoDescriptorLeft) -> None:
        with no_descriptor_left():
            pool = Pool(slots=1)
            pool.close()
            ours, theirs = socket.socketpair()
            with pytest.raises(PoolClosedError):
                pool.submit(_waits_for(theirs), lambda _: None)
            ours.close()


def _waits_for(peer: socket.socket) -> Job:
    return jobs.serve({"s": ""}, peer=peer.detach(), limits=Limits(), profile=Profile())


@pytest.mark.slow
class TestForkedHosts:
    def test_a_child_makes_a_pool_of_its_own_and_leaves_the_parents_alone(self) -> None:
        program = """
import warnings
warnings.simplefilter("ignore")
parent_pool = shared_pool()
first = run_one(parent_pool, job).result
read_end, write_end = os.pipe()
pid = os.fork()
if pid == 0:
    child_pool = shared_pool()
    same = run_one(child_pool, job).result == first
    apart = set(child_pool.worker_pids()).isdisjoint(parent_pool.worker_pids())
    try:
        parent_pool.submit(job, print)
    except Exception as error:
        refused = type(error).__name__
    parent_pool.close()
    child_pool.close()
    os.write(write_end, repr([same, apart, refused]).encode())
    os._exit(0)
os.waitpid(pid, 0)
print(os.read(read_end, 1000).decode(), run_one(parent_pool, job).result == first)
"""
        assert in_a_host(program) == "[True, True, 'PoolClosedError'] True"

    def test_the_shared_pool_is_one_for_the_process(self) -> None:
        program = """
first = shared_pool()
print(first is shared_pool(), run_one(first, job).ending.value)
"""
        assert in_a_host(program) == "True exited"

    def test_a_host_that_ends_without_closing_ends_cleanly(self) -> None:
        assert in_a_host("print(run_one(shared_pool(), job).ending.value)") == "exited"
