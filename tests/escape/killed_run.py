"""Kills hosts, fork servers and jobs, and prints what comes of it as one line of JSON.

    python killed_run.py LEVEL SCENARIO     a function of this file, see `SCENARIOS`
    python killed_run.py LEVEL --victim     the host that is killed: runs a batch until its end
    python killed_run.py LEVEL --victim-with-shards     the same in two shards

Covered: SIGKILL of the host at work and while it starts, of every fork server, of a job's own
processes; a fork server that is stopped; a machine that is too small for what runs on it.
Not covered: a kernel that panics.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import ground
import sealed
from killed_jobs import BUSY, FLOOD, LONG, SLEEP, function_task, hostile_batch

from unhack import Pool, Task, Verdict, run_batch, stream_batch
from unhack.core.errors import UnhackError
from unhack.sandbox.job import Isolation
from unhack.sandbox.linux import cgroups
from unhack.tasks.execution.shards.executor import ShardsExecutor

WITHIN_S = 60.0
"""How long the kernel and the workers have to clear up on a busy machine."""
KILLS_WHILE_FORKING = 120
CROWD = 30
FAMILY = {"namespaces": 28, "landlock": 4}
"""Processes of a host at work; without namespaces each of its two workers has one job at a time."""
AT_WORK = 16
"""Processes of a host whose two shards are at work: these, their workers and twelve jobs."""
BETWEEN_KILLS = 12
"""Verdicts between two kills of all fork servers: more than the jobs that one of them meets, so
that no job is met by three."""


def be_victim(level: str) -> None:
    """The host that will be killed."""
    tasks, sources = hostile_batch(level)
    run_batch(tasks, sources, backend=Pool(slots=2, isolation=Isolation(level)), dedupe=False)


def start_victim(level: str) -> subprocess.Popen[bytes]:
    """Start one and leave it."""
    words = [sys.executable, __file__, level, "--victim"]
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)


def family_of(pid: int) -> list[int]:
    """All descendants of a process."""
    everybody = ground.processes()
    found = [pid]
    for parent in found:
        found += [child for child, (_, above, _) in everybody.items() if above == parent]
    return found[1:]


def wait_until(condition: Callable[[], Any], *, within_s: float) -> bool:
    """Poll; whether it came true in time."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def host_at_work(level: str) -> dict[str, Any]:
    """SIGKILL of a host whose jobs spin, sleep, fork and ignore signals."""
    before = ground.take_snapshot()
    victim = start_victim(level)
    wanted = FAMILY[level]
    ready = wait_until(lambda: len(family_of(victim.pid)) >= wanted, within_s=60)
    family, host = len(family_of(victim.pid)), ground.host_name(victim.pid)
    groups = ground.control_groups(host)
    victim.kill()
    victim.wait()
    killed_at = time.monotonic()
    left = ground.left_since(before, within_s=WITHIN_S)
    seconds = time.monotonic() - killed_at
    found = ground.control_groups(host)
    Pool(slots=1, isolation=Isolation(level)).close()
    return {
        "ready": ready,
        "family": family,
        "left": left,
        "seconds": round(seconds, 2),
        "groups_at_work": len(groups),
        "groups_left_by_the_kill": len(found),
        "groups_after_the_next_start": ground.control_groups(host),
    }


def host_with_shards(level: str) -> dict[str, Any]:
    """SIGKILL of a host whose jobs are in two shards, at work and while these start."""
    before = ground.take_snapshot()
    hosts: list[str] = []
    for pause_s in (0.2, 0.5, 0.8, 60.0):  # the last one until it is at work
        words = [sys.executable, __file__, level, "--victim-with-shards"]
        victim = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True)
        wait_until(lambda pid=victim.pid: len(family_of(pid)) >= AT_WORK, within_s=pause_s)
        hosts += map(ground.host_name, [victim.pid, *family_of(victim.pid)])
        victim.kill()
        victim.wait()
    left = ground.left_since(before, within_s=WITHIN_S)
    Pool(slots=1, isolation=Isolation(level)).close()
    groups = [group for host in hosts for group in ground.control_groups(host)]
    return {"family": len(hosts), "left": left, "groups_after_the_next_start": groups}


def be_victim_with_shards(level: str) -> None:
    """The host that will be killed, with shards."""
    tasks, sources = hostile_batch(level)
    run_batch(tasks, sources, executor=ShardsExecutor(shards=2, slots=2), dedupe=False)


def host_while_it_starts(level: str) -> dict[str, Any]:
    """SIGKILL of hosts at every stage of their start."""
    before = ground.take_snapshot()
    hosts: list[str] = []
    for step in range(16):
        victim = start_victim(level)
        hosts.append(ground.host_name(victim.pid))
        time.sleep(0.05 + 0.05 * step)
        victim.kill()
        victim.wait()
    left = ground.left_since(before, within_s=WITHIN_S)
    Pool(slots=1, isolation=Isolation(level)).close()
    groups = [group for host in hosts for group in ground.control_groups(host)]
    return {"hosts": len(hosts), "left": left, "groups_after_the_next_start": groups}


class Judging:
    """A batch of honest and wrong completions on a thread, while others kill."""

    def __init__(self, level: str, *, count: int, slow: str = "") -> None:
        self.pool = Pool(slots=2, isolation=Isolation(level))
        task = function_task(sealed.HONEST_LIMITS.with_(wall_s=60.0, soft_slice_s=0.5))
        head = f"import time\n\ndef solve(n):\n    {slow or 'pass'}\n"
        self.sources = [
            f"{head}    return n * n{' + 1' if number % 3 == 0 else ''}  # {number}\n"
            for number in range(count)
        ]
        self.statuses: list[str] = []
        self.reasons: list[str] = []
        self.judged = 0
        self.thread = threading.Thread(target=self._run, args=(task,))
        self.thread.start()

    def _run(self, task: Task) -> None:
        found: dict[int, Verdict] = {}
        for index, verdict in stream_batch(task, self.sources, backend=self.pool, dedupe=False):
            found[index] = verdict
            self.judged = len(found)
        verdicts = [found[index] for index in range(len(found))]
        self.statuses = [verdict.status.value for verdict in verdicts]
        self.reasons = [verdict.reason for verdict in verdicts]

    def finish(self, *, within_s: float) -> dict[str, Any]:
        """Wait, and compare with what each must get."""
        self.thread.join(within_s)
        done = not self.thread.is_alive()
        self.pool.close()
        wanted = ["failed" if number % 3 == 0 else "passed" for number in range(len(self.sources))]
        wrong = [
            f"{number}: {got} instead of {due}: {reason}"
            for number, (got, due, reason) in enumerate(
                zip(self.statuses, wanted, self.reasons, strict=False)
            )
            if got != due
        ]
        return {"done": done, "verdicts": len(self.statuses), "wrong": wrong}


def with_snapshot(function: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `function` found, and what it left."""
    before = ground.take_snapshot()
    found = function()
    return {**found, "left": ground.left_since(before, within_s=WITHIN_S)}


def fork_servers(level: str) -> dict[str, Any]:
    """SIGKILL of every fork server, several times, while jobs run on them."""

    def scenario() -> dict[str, Any]:
        judging = Judging(level, count=60, slow="time.sleep(0.2)")
        killed: set[int] = set()
        for turn in range(3):
            wait_until(lambda t=turn: judging.judged >= t * BETWEEN_KILLS, within_s=60)
            wait_until(lambda: set(judging.pool.worker_pids()) - killed, within_s=60)
            time.sleep(0.4)
            for pid in set(judging.pool.worker_pids()) - killed:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                killed.add(pid)
        return {"killed": len(killed), **judging.finish(within_s=120)}

    return with_snapshot(scenario)


def fork_servers_while_they_fork(level: str) -> dict[str, Any]:
    """SIGKILL of fork servers that fork hundreds of times a second: a job whose server dies before
    the kernel knows that the two belong together must not live on."""

    def scenario() -> dict[str, Any]:
        pool = Pool(slots=2, isolation=Isolation(level))
        task = function_task(LONG.with_(wall_s=0.02, soft_slice_s=0.001))
        stop = threading.Event()

        def feed() -> None:
            while not stop.is_set():
                with contextlib.suppress(UnhackError):
                    run_batch(task, [SLEEP] * 100, backend=pool, dedupe=False)

        thread = threading.Thread(target=feed)
        thread.start()
        source = random.Random(3)
        kills = 0
        while kills < KILLS_WHILE_FORKING:
            busy = [pid for pid in pool.worker_pids() if family_of(pid)]
            time.sleep(source.uniform(0.0, 0.02))
            for pid in busy:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                    kills += 1
        stop.set()
        thread.join()
        pool.close()
        return {"killed": kills}

    return with_snapshot(scenario)


def server_of_a_flood(level: str) -> dict[str, Any]:
    """SIGKILL of a fork server that the host has just told to end a job for too much output."""

    def scenario() -> dict[str, Any]:
        pool = Pool(slots=1, isolation=Isolation(level))
        task = function_task(LONG.with_(soft_slice_s=300.0, output_bytes=1 << 16))
        found: list[str] = []

        def judge() -> None:
            try:
                found.append(run_batch(task, [FLOOD], backend=pool).verdicts[0].status.value)
            except UnhackError as error:
                found.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=judge)
        thread.start()
        wait_until(lambda: any(family_of(pid) for pid in pool.worker_pids()), within_s=60)
        time.sleep(0.1)
        [server] = pool.worker_pids()
        os.kill(server, signal.SIGSTOP)  # so that the order to end the job stays unread
        time.sleep(1.0)
        os.kill(server, signal.SIGKILL)
        thread.join(60)
        pool.close()
        return {"statuses": found}

    return with_snapshot(scenario)


def jobs_of(pool: Pool) -> list[int]:
    """The processes of the jobs of a pool."""
    return [pid for server in pool.worker_pids() for pid in family_of(server)]


def own_processes(level: str) -> dict[str, Any]:
    """SIGKILL of single jobs by somebody outside: only their own verdicts may change."""

    def scenario() -> dict[str, Any]:
        judging = Judging(level, count=40, slow="time.sleep(0.15)")
        killed = 0
        for _ in range(8):
            time.sleep(0.1)
            wait_until(lambda: jobs_of(judging.pool) or judging.judged == 40, within_s=60)
            children = jobs_of(judging.pool)
            if children:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(random.choice(children), signal.SIGKILL)
                    killed += 1
        return {"killed": killed, **judging.finish(within_s=120)}

    return with_snapshot(scenario)


def crowded_machine(level: str) -> dict[str, Any]:
    """Right completions that need little of a core, beside many processes that want all of it."""
    pool = Pool(slots=2, isolation=Isolation(level))
    task = function_task(sealed.HONEST_LIMITS.with_(wall_s=1.0))
    run_batch(task, ["def solve(n):\n    return n * n\n"], backend=pool)
    words = [sys.executable, "-I", "-S", "-c", "while True: pass"]
    crowd = [subprocess.Popen(words, start_new_session=True) for _ in range(CROWD)]
    try:
        sources = [f"{BUSY}# {number}\n" for number in range(6)]
        verdicts = run_batch(task, sources, backend=pool).verdicts
    finally:
        for process in crowd:
            process.kill()
            process.wait()
        pool.close()
    return {
        "statuses": [verdict.status.value for verdict in verdicts],
        "cpu_s": [round(verdict.usage.cpu_s, 3) for verdict in verdicts],
    }


def stopped_server(level: str) -> dict[str, Any]:
    """SIGSTOP of the fork servers: the watchdog replaces them, and their jobs go elsewhere."""

    def scenario() -> dict[str, Any]:
        pool = Pool(slots=1, isolation=Isolation(level))
        limits = sealed.HONEST_LIMITS.with_(wall_s=0.5)
        task = function_task(limits)
        run_batch(task, ["def solve(n):\n    return n * n\n"], backend=pool)
        [server] = pool.worker_pids()
        os.kill(server, signal.SIGSTOP)
        batch = run_batch(task, ["def solve(n):\n    return n * n  # again\n"], backend=pool)
        found = [verdict.status.value for verdict in batch.verdicts]
        replaced = server not in pool.worker_pids()
        pool.close()
        return {"statuses": found, "replaced": replaced}

    return with_snapshot(scenario)


def stale_groups(level: str) -> dict[str, Any]:
    """Folders named after processes that are gone are reaped; those of the living are not."""
    parents = cgroups.find_parents()
    dead = [path / "unhack-4194999-1-0-candidate" for path in parents.directories()]
    for path in dead:
        path.mkdir()
    living = Pool(slots=1, isolation=Isolation(level))
    run_batch(
        function_task(sealed.HONEST_LIMITS), ["def solve(n):\n    return n\n"], backend=living
    )
    host = ground.host_name(os.getpid())
    mine = ground.control_groups(host)
    Pool(slots=1, isolation=Isolation(level)).close()
    found = {
        "delegated": len(dead),
        "dead_left": [str(path) for path in dead if path.exists()],
        "living": len(mine),
        "living_left": len(ground.control_groups(host)),
    }
    living.close()
    return {**found, "after_close": ground.control_groups(host)}


SCENARIOS = {
    function.__name__: function
    for function in (
        host_at_work,
        host_while_it_starts,
        host_with_shards,
        fork_servers,
        fork_servers_while_they_fork,
        server_of_a_flood,
        own_processes,
        crowded_machine,
        stopped_server,
        stale_groups,
    )
}

if __name__ == "__main__":
    if sys.argv[2] == "--victim":
        be_victim(sys.argv[1])
    elif sys.argv[2] == "--victim-with-shards":
        be_victim_with_shards(sys.argv[1])
    else:
        print(json.dumps(SCENARIOS[sys.argv[2]](sys.argv[1])))
