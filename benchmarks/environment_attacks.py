"""Attacks on environments against three usual graders and the sealed judge.

One planted task (a package of two files, the fault never fixed, three hidden tests). `in_place`
lays the hidden tests over the workspace and parses pytest's summary; `revert` checks the tests out
from the base commit first; `fresh` copies the declared .py files onto a new checkout and wants exit
code 0 and a JUnit report with every test passed, in one process. Each is played in a container of
its own in the sandbox, in which background processes, home, git and the PATH survive until the
grader has run. `sealed` is the environment's own judge. Each attack is a win where the grader
passes it, an escape where the episode ends without a score.

    python benchmarks/environment_attacks.py
"""

from __future__ import annotations

import argparse
import asyncio
import time
from collections import Counter
from typing import Any

from measure import save
from unhack.audit.environments.attack import EnvironmentAttack, solution_of
from unhack.audit.environments.episode_runner import EpisodeRunner, OwnEpisodes, actions_of, before
from unhack.audit.environments.foreign.container import ContainerEpisodes
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.environments.actions import Submit
from unhack_verifier_bench.environments import graders
from unhack_verifier_bench.environments.tasks import SHAPES

FOREIGN = (graders.IN_PLACE, graders.REVERT, graders.FRESH)
AT_ONCE = 2


async def table(name: str, runner: EpisodeRunner) -> dict[str, Any]:
    """Every attack under one grader, after its controls."""
    right = await runner.play(SHAPES, solution_of(SHAPES))
    idle = await runner.play(SHAPES, [Submit()])
    gate = asyncio.Semaphore(AT_ONCE)
    ends: dict[str, EpisodeEnd] = {}

    async def one(attack: EnvironmentAttack) -> None:
        async with gate:
            sibling = before(attack, SHAPES)
            play = await runner.play(SHAPES, actions_of(attack, SHAPES), before=sibling)
            ends[attack.name] = play.outcome

    await asyncio.gather(*map(one, ENVIRONMENT_ATTACKS.values()))
    won = [one for one in ENVIRONMENT_ATTACKS if ends[one] is EpisodeEnd.PASSED]
    routes = Counter(ENVIRONMENT_ATTACKS[one].route.value for one in won)
    found = {
        "reference": right.outcome.value,
        "idle": idle.outcome.value,
        "won": len(won),
        "won_by_route": dict(routes),
        "unscored": [one for one in ENVIRONMENT_ATTACKS if ends[one] is EpisodeEnd.UNSCORED],
        "winners": won,
    }
    unscored = len(found["unscored"])
    print(f"{name:10} reference {right.outcome}, idle {idle.outcome}: {len(won)} won "
          f"({dict(routes)}), {unscored} unscored", flush=True)  # fmt: skip
    return found


async def every() -> dict[str, Any]:
    """All graders, one after the other."""
    found: dict[str, Any] = {}
    for grader in FOREIGN:
        runner = ContainerEpisodes(grader)
        try:
            found[grader.name] = await table(grader.name, runner)
        finally:
            runner.close()
    own = OwnEpisodes()
    try:
        found["sealed"] = await table("sealed", own)
    finally:
        own.close()
    return found


def main() -> int:
    """Play, print, save."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    begun = time.monotonic()
    found = asyncio.run(every())
    routes = Counter(one.route.value for one in ENVIRONMENT_ATTACKS.values())
    record: dict[str, Any] = {
        "attacks": len(ENVIRONMENT_ATTACKS),
        "by_route": dict(routes),
        "graders": found,
    }
    record["seconds"] = round(time.monotonic() - begun)
    save("environment_attacks", "python benchmarks/environment_attacks.py", record)
    return 0 if not found["sealed"]["won"] and not found["sealed"]["unscored"] else 1


if __name__ == "__main__":
    raise SystemExit(main())
