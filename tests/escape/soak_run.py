"""Mixed hostile and honest jobs while fork servers are killed at random.

    python soak_run.py COUNT [SEED]         progress on stderr, one line of JSON on stdout

Half of the jobs are hostile programs of the corpus under a limit of 0.1 s, the others are honest,
right or wrong. Every verdict must come exactly once and be right: hostile never passed, right
passed, wrong failed, none unscored.

Covered: the profiles that fork from a warm interpreter (function, scratch, standard input).
Not covered: programs of their own, whose interpreter alone takes longer to start than the limit.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import random
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import ground
import sealed
from corpus import Program, load_corpus

from unhack import Case, FunctionVerifier, Limits, Pool, Problem, Task, Verdict, stream_batch

LIMITS = Limits(wall_s=0.1, cpu_s=1.0, memory_bytes=128 << 20, disk_bytes=8 << 20)
KILL_EVERY = (30, 90)
"""Bounds of the verdicts between two kills: few enough to meet many jobs, and so many that hardly
one is met three times, however slow the machine is."""
REPORT_EVERY = 1000
SETTLED_SHARE = 0.2
"""After this share of the jobs the memory of the host is taken as its level."""
MAX_FAULTS = 50
"""Kinds of wrong verdicts that are written down; all are counted."""


@dataclass(frozen=True, slots=True)
class Item:
    """One job, and what its verdict must be."""

    kind: str
    """`hostile`, `right` or `wrong`."""
    name: str
    task: Task
    completion: str


@dataclass
class Mix:
    """The jobs, drawn at random."""

    token: str
    target: dict[str, Any]
    seed: int
    hostile: list[Item] = field(default_factory=list[Item])
    honest: list[Task] = field(default_factory=list[Task])

    def __post_init__(self) -> None:
        for program in load_corpus():
            if program.profile in ("function", "scratch", "stdio") and not program.checker:
                self.hostile.append(self._hostile(program))
        for scratch in (False, False, False, True):
            cases = (Case((self.token[:4], 3), expected=[3, self.token[:4]]),)
            verifier = FunctionVerifier(
                "solve",
                cases,
                scratch=scratch,
                limits=sealed.HONEST_LIMITS,
                extraction=sealed.RAW,
            )
            self.honest.append(Task(Problem(f"swap {scratch}", ""), verifier))

    def _hostile(self, program: Program) -> Item:
        [one] = sealed.hostile(program, token=self.token, target=self.target, limits=LIMITS)
        task = Task(one.task.problem, one.watched.inner)
        return Item("hostile", program.id, task, one.completion)

    def draw(self, count: int) -> Iterator[Item]:
        """`count` jobs in a random order."""
        source = random.Random(self.seed)
        for index in range(count):
            kind = source.choices(("hostile", "right", "wrong"), (5, 3, 2))[0]
            if kind == "hostile":
                item = source.choice(self.hostile)
            else:
                answer = "[b, a]" if kind == "right" else source.choice(("[a, b]", "None", "b"))
                text = f"def solve(a, b):\n    return {answer}  # {index}\n"
                item = Item(kind, f"{kind} {index}", source.choice(self.honest), text)
            yield item


class Killer:
    """Kills a random fork server now and then."""

    def __init__(self, pool: Pool, seed: int) -> None:
        self.pool = pool
        self.kills = 0
        self.judged = 0
        """Verdicts so far."""
        self._random = random.Random(seed)
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        wanted = self._random.randint(*KILL_EVERY)
        while not self._end.wait(self._random.uniform(0.0, 0.05)):
            pids = self.pool.worker_pids()
            if pids and self.judged >= wanted:
                wanted = self.judged + self._random.randint(*KILL_EVERY)
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self._random.choice(pids), signal.SIGKILL)
                    self.kills += 1

    def stop(self) -> None:
        """No further kill."""
        self._end.set()
        self._thread.join()


def fault_of(item: Item, verdict: Verdict, token: str) -> str:
    """What is wrong with a verdict; empty when it is right."""
    status = verdict.status.value
    shown = "".join(case.output for case in verdict.cases)
    if item.kind == "right":
        return "" if status == "passed" else f"right, yet {status}: {verdict.reason}"
    if item.kind == "wrong":
        return "" if status == "failed" else f"wrong, yet {status}: {verdict.reason}"
    if status in ("passed", "unscored"):
        return f"hostile, yet {status}: {verdict.reason}"
    return "it shows PWNED or the token" if "PWNED" in shown or token in shown else ""


def soak(count: int, *, seed: int, slots: int = 2) -> dict[str, Any]:
    """Run, and say what was found, as JSON."""
    soil = ground.Ground()
    soil.plant()
    before = ground.take_snapshot()
    pool = Pool(slots=slots)
    mix = Mix(soil.token, soil.target, seed)
    items = list(mix.draw(count))
    killer = Killer(pool, seed)
    statuses: Counter[str] = Counter()
    seen = bytearray(count)
    faults: Counter[str] = Counter()
    level = 0
    started = time.monotonic()
    pairs = stream_batch(
        [item.task for item in items],
        (item.completion for item in items),
        backend=pool,
        dedupe=False,
    )
    for done, (index, verdict) in enumerate(pairs, 1):
        seen[index] += 1
        killer.judged = done
        item = items[index]
        statuses[f"{item.kind} {verdict.status.value}"] += 1
        fault = fault_of(item, verdict, soil.token)
        if fault:
            faults[f"{item.name}: {fault}"] += 1
        if done == int(count * SETTLED_SHARE):
            gc.collect()
            level = ground.memory_bytes()[0]
        if done % REPORT_EVERY == 0:
            rate = done / (time.monotonic() - started)
            text = f"{done} of {count}, {rate:.0f}/s, {killer.kills} kills, {faults.total()} wrong"
            print(text, file=sys.stderr, flush=True)
    seconds = time.monotonic() - started
    killer.stop()
    gc.collect()
    grown = ground.memory_bytes()[0] - level
    pool.close()
    return {
        "jobs": count,
        "seed": seed,
        "once": seen == bytearray(b"\1" * count),
        "wrong": faults.total(),
        "faults": dict(faults.most_common(MAX_FAULTS)),
        "statuses": dict(sorted(statuses.items())),
        "kills": killer.kills,
        "seconds": round(seconds, 1),
        "isolation": pool.isolation.value,
        "uid": os.getuid(),
        "hostile_programs": len(mix.hostile),
        "memory_grown_bytes": grown,
        "left": ground.left_since(before),
        "damage": soil.damage(),
    }


if __name__ == "__main__":
    print(json.dumps(soak(int(sys.argv[1]), seed=int(sys.argv[2]) if sys.argv[2:] else 1)))
