"""What every peer driver shares: the case, the two ways to drive it, the meters, the output.

A driver is a program `<peer>_driver.py` that calls `main` with a `Peer`. It scores the HumanEval/0
canonical completion N times (`--wrong` substitutes a body that fails the tests), nothing is
deduplicated, and prints one JSON line. Imports, start-up and a warm-up lie outside the timing.

Modes:
    thread   one driver process, W threads (or W asyncio tasks for an async peer)
    process  W forked driver processes, each scoring its share one at a time

CPU seconds are those of the whole process tree: the cpuacct cgroup where the driver may make one
(`cpu_source: cpuacct`), which also counts what nobody reaps, such as the inner process of bwrap;
otherwise `resource.getrusage` of the drivers and their reaped children (`cpu_source: rusage`).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing as mp
import os
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from multiprocessing.connection import Connection

from peer_case import Case, load_case
from peer_meter import Meter, cpu_group, rusage_s

WARM_UP = 3


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer: `score(case, n, workers)` returns how many of `n` runs passed."""

    name: str
    distribution: str
    """The name on PyPI, whose installed version is reported."""
    isolation: str
    score: Callable[[Case, int, int], int]
    version: Callable[[], str] | None = None
    """For a peer that is no Python distribution."""


def in_threads(one: Callable[[], bool], n: int, *, workers: int) -> int:
    """Run `one` n times on a pool of `workers` threads; how many returned True."""
    if workers == 1:
        return sum(one() for _ in range(n))
    with ThreadPoolExecutor(workers) as pool:
        return sum(pool.map(lambda _: one(), range(n)))


async def in_tasks(one: Callable[[], Awaitable[bool]], n: int, *, workers: int) -> int:
    """Run `one` n times with `workers` asyncio tasks; how many returned True."""
    left = iter(range(n))

    async def drain() -> int:
        return sum([await one() for _ in left])

    return sum(await asyncio.gather(*(drain() for _ in range(workers))))


def _worker(peer: Peer, case: Case, n: int, pipe: Connection) -> None:
    peer.score(case, WARM_UP, 1)
    pipe.send(None)
    pipe.recv()
    before = rusage_s()
    pipe.send((peer.score(case, n, 1), rusage_s() - before))


def run_threads(peer: Peer, case: Case, n: int, *, workers: int, meter: Meter) -> int:
    peer.score(case, max(WARM_UP, workers), workers)
    meter.start()
    passed = peer.score(case, n, workers)
    meter.stop()
    return passed


def run_processes(peer: Peer, case: Case, n: int, *, workers: int, meter: Meter) -> int:
    context = mp.get_context("fork")
    pipes: list[Connection] = []
    processes = []
    for index in range(workers):
        ours, theirs = context.Pipe()
        share = n // workers + (index < n % workers)
        process = context.Process(target=_worker, args=(peer, case, share, theirs), daemon=False)
        process.start()
        theirs.close()
        pipes.append(ours)
        processes.append(process)
    for pipe in pipes:
        pipe.recv()
    meter.start()
    for pipe in pipes:
        pipe.send(None)
    results = [pipe.recv() for pipe in pipes]
    meter.stop()
    for process in processes:
        process.join()
    if meter.group is None:
        meter.cpu_s += sum(cpu for _, cpu in results)
    return sum(passed for passed, _ in results)


def main(peer: Peer) -> None:
    """The command line of a driver."""
    parser = argparse.ArgumentParser(description=f"Score HumanEval/0 N times with {peer.name}.")
    parser.add_argument("--n", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--mode", choices=("thread", "process"), default="thread")
    parser.add_argument("--wrong", action="store_true", help="score a body that fails the tests")
    parser.add_argument("--cpu", choices=("auto", "rusage"), default="auto")
    args = parser.parse_args()
    case = load_case(wrong=args.wrong)
    load = os.getloadavg()[0]
    run = run_threads if args.mode == "thread" else run_processes
    with cpu_group(enabled=args.cpu == "auto") as group:
        meter = Meter(group)
        passed = run(peer, case, args.n, workers=args.workers, meter=meter)
    report = {
        "peer": peer.name,
        "version": peer.version() if peer.version else version(peer.distribution),
        "mode": args.mode,
        "workers": args.workers,
        "n": args.n,
        "passed": passed,
        "wall_s": round(meter.wall_s, 4),
        "cpu_s": round(meter.cpu_s, 4),
        "rate": round(args.n / meter.wall_s, 2),
        "isolation": peer.isolation,
        "cpu_source": "rusage" if group is None else "cpuacct",
        "python": sys.version.split()[0],
        "load": round(load, 2),
    }
    sys.stdout.flush()
    print(json.dumps(report), flush=True)
