"""Runs the whole corpus sealed, once, and prints what came of it as one line of JSON.

    python sealed_run.py LEVEL [PATTERN OF CLAIMS]

LEVEL is `namespaces`, `landlock`, or `script`: in namespaces, judged by a verifier script that
imports and calls the completion.

Two lanes run at once, each with a pool of a single worker per profile: the honest job that follows
a hostile one therefore runs on the very worker that the hostile one had.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import ground
import honest
import sealed
from corpus import Program, load_corpus
from sealed import Attempt

from unhack import Pool, Verdict, run_batch
from unhack.core.errors import BatchUnscoredError, SandboxUnavailableError
from unhack.sandbox.job import Isolation

LANES = 2
REPEATED = (
    "neighbours/cannot_pass_a_message_to_a_later_job",
    "neighbours/cannot_count_the_jobs_before_it",
    "scratch/cannot_read_what_an_earlier_job_wrote_in_its_scratch",
    "files/cannot_leave_a_file_in_its_scratch_for_the_next_job",
)
"""Attacks on a later job: they are run many times in one batch."""
REPEATS = 40


def judge(pool: Pool, attempts: list[Attempt]) -> list[Verdict]:
    """The verdicts, also where too many are unscored for `run_batch` to give them freely."""
    try:
        batch = run_batch(
            [one.task for one in attempts],
            [one.completion for one in attempts],
            backend=pool,
            dedupe=False,
        )
    except BatchUnscoredError as error:
        return list(error.batch.verdicts)
    return list(batch.verdicts)


def describe(one: Attempt, verdict: Verdict, token: str) -> dict[str, Any]:
    """A verdict, and what the sandbox saw besides, as JSON."""
    raw = b"".join(outcome.result + outcome.stdout for outcome in one.watched.outcomes)
    shown = [case.output for case in verdict.cases]
    claims = raw.decode(errors="replace") + "".join(shown) + verdict.reason
    return {
        "name": one.name,
        "status": verdict.status.value,
        "score": verdict.score,
        "reason": verdict.reason,
        "isolation": verdict.isolation,
        "shown": shown,
        "won": "PWNED" in claims,
        "told": token in claims,
        "controls": one.watched.controls,
        "endings": [
            [o.ending.value, o.limit, o.attempts, o.exit_code, o.signal, round(o.wall_s, 2)]
            for o in one.watched.outcomes
        ],
    }


def wanted_programs(level: str, pattern: str) -> list[Program]:
    """The programs that the level can hold."""
    return [
        program
        for program in load_corpus()
        if re.search(pattern, program.id) and can_hold(level, program)
    ]


def can_hold(level: str, program: Program) -> bool:
    """Whether the level takes programs of this kind."""
    if level == "script":
        return program.profile == "function" and not program.checker
    if level == "landlock":
        return program.profile in ("function", "stdio") and not sealed.preloads(program)
    return True


def isolation_of(level: str) -> Isolation:
    """The sandbox's level."""
    return Isolation.LANDLOCK if level == "landlock" else Isolation.NAMESPACES


def probes(level: str, token: str) -> list[Attempt]:
    """Honest jobs of every kind that the corpus needs."""
    found = [honest.honest_function(900, token, scratch=False), honest.honest_program(901, "stdio")]
    if level == "landlock":
        return found
    if level == "script":
        return [*found, honest.honest_scripted(902, token)]
    found += [honest.honest_function(902, token, scratch=True)]
    found += [honest.honest_program(903, "program"), honest.honest_native(904)]
    kinds = {program.check: program for program in load_corpus() if program.check}
    for number, program in enumerate(kinds.values(), 905):
        found += honest.honest_neighbour(program, number, token)
    return found


def refusals() -> dict[str, str]:
    """What happens to the profiles that a host without namespaces cannot hold."""
    found: dict[str, str] = {}
    for name in ("scratch", "program"):
        pool = Pool(slots=1, isolation=Isolation.LANDLOCK)
        one = (
            honest.honest_function(1, "token", scratch=True)
            if name == "scratch"
            else honest.honest_program(1, "program")
        )
        try:
            [verdict] = judge(pool, [one])
            found[name] = f"ran: {verdict.status.value}"
        except SandboxUnavailableError as error:
            found[name] = f"refused: {error}"
        pool.close()
    return found


class Lane:
    """A pool of single workers, and its part of the corpus."""

    def __init__(self, programs: list[Program], soil: ground.Ground, level: str) -> None:
        self.soil = soil
        self.pool = Pool(slots=1, isolation=isolation_of(level))
        self.hostile: list[dict[str, Any]] = []
        self.honest: list[dict[str, Any]] = []
        self.plan = list(self._plan(programs, level))
        self.error = ""

    def _plan(self, programs: list[Program], level: str) -> Iterator[tuple[str, bool, Attempt]]:
        """(claim, whether it is hostile, attempt); every attack is followed by honest work."""
        for number, program in enumerate(programs, 1000):
            token, target = self.soil.token, self.soil.target
            if level == "script":
                yield program.id, True, sealed.scripted(program, token=token, target=target)
                yield program.id, False, honest.honest_scripted(number, token)
                continue
            for one in sealed.hostile(program, token=token, target=target):
                yield program.id, True, one
            for one in honest.honest_neighbour(program, number, token):
                yield program.id, False, one

    def run(self) -> None:
        """Judge everything in one batch."""
        try:
            verdicts = judge(self.pool, [one for _, _, one in self.plan])
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
            return
        for (claim, hostile, one), verdict in zip(self.plan, verdicts, strict=True):
            found = {"claim": claim, **describe(one, verdict, self.soil.token)}
            (self.hostile if hostile else self.honest).append(found)


def run_repeated(soil: ground.Ground, level: str, pattern: str) -> list[dict[str, Any]]:
    """The attacks on later jobs, many times in one batch on several workers."""
    programs = [p for p in wanted_programs(level, pattern) if p.id in REPEATED]
    attempts = [
        (program.id, one)
        for _ in range(REPEATS)
        for program in programs
        for one in sealed.hostile(program, token=soil.token, target=soil.target)
    ]
    if not attempts:
        return []
    pool = Pool(slots=2, isolation=isolation_of(level))
    verdicts = judge(pool, [one for _, one in attempts])
    pool.close()
    return [
        {"claim": claim, **describe(one, verdict, soil.token)}
        for (claim, one), verdict in zip(attempts, verdicts, strict=True)
    ]


def run(level: str, pattern: str) -> dict[str, Any]:
    """Everything, as JSON."""
    soil = ground.Ground()
    soil.plant()
    before = ground.take_snapshot()
    pool = Pool(slots=1, isolation=isolation_of(level))
    tried = probes(level, soil.token)
    benign = [describe(*pair, "") for pair in zip(tried, judge(pool, tried), strict=True)]
    pool.close()
    failed = [found for found in benign if found["status"] != "passed"]
    if failed:
        return {"refused": f"{len(failed)} of {len(benign)} honest probes fail", "probes": failed}
    programs = wanted_programs(level, pattern)
    lanes = [Lane(programs[start::LANES], soil, level) for start in range(LANES)]
    memory_before = ground.memory_bytes()[0]
    started = time.monotonic()
    threads = [threading.Thread(target=lane.run) for lane in lanes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for lane in lanes:
        lane.pool.close()
    repeated = run_repeated(soil, level, pattern)
    seconds = time.monotonic() - started
    return {
        "refused": "",
        "errors": [lane.error for lane in lanes if lane.error],
        "uid": os.getuid(),
        "private": ground.is_private(),
        "probes": benign,
        "hostile": [found for lane in lanes for found in lane.hostile],
        "honest": [found for lane in lanes for found in lane.honest],
        "repeated": repeated,
        "refusals": refusals() if level == "landlock" else {},
        "left": ground.left_since(before),
        "damage": soil.damage(),
        "seconds": round(seconds, 1),
        "memory_grown_bytes": ground.memory_bytes()[1] - memory_before,
        "numpy": importlib.util.find_spec("numpy") is not None,
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], "".join(sys.argv[2:]))))
