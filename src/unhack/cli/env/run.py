"""`unhack env run`: play, show, write down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import islice

from unhack.cli import terminal
from unhack.cli.env import screen
from unhack.cli.env.agents import choose_player
from unhack.cli.env.order import EnvRunOrder
from unhack.core.errors import UsageError
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.episode import EpisodeLimits, StepRewards
from unhack.environments.episode_pool import FinishedEpisode, play_all
from unhack.environments.report import transcript
from unhack.environments.suites import find_tasks


def run_suite(plan: EnvRunOrder) -> None:
    """Play the suite, print a table or lines of JSON, and write the report."""
    tasks = list(islice(find_tasks(plan.suite), plan.limit))
    player = choose_player(plan)
    if plan.out is not None:
        try:
            plan.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out: {plan.out} cannot be made: {error}") from None

    def show(played: FinishedEpisode) -> None:
        if plan.as_json:
            terminal.write_json(transcript.as_values(played))

    async def main(advance: Callable[[], None]) -> list[FinishedEpisode]:
        limits, rewards = EpisodeLimits(turns=plan.turns), StepRewards(progress=plan.progress)
        found: list[FinishedEpisode] = []
        async with RepositoryWorkshop(limits=limits, rewards=rewards) as workshop:
            async for one in play_all(workshop, tasks, player, at_once=plan.at_once):
                found.append(one)
                show(one)
                advance()
        return sorted(found, key=lambda one: one.index)

    with terminal.progress("episodes played", total=len(tasks)) as advance:
        played = asyncio.run(main(advance))
    if plan.out is not None:
        _write(plan, tasks, played)
    console = terminal.remarks() if plan.as_json else terminal.results()
    if not plan.as_json:
        console.print(screen.episode_table(played))
    console.print(screen.summary(played))
    if plan.out is not None:
        console.print(f"Turn by turn: {(plan.out / 'report.html').resolve().as_uri()}",
                      soft_wrap=True)  # fmt: skip


def _write(plan: EnvRunOrder, tasks: list[EpisodeTask], played: list[FinishedEpisode]) -> None:
    assert plan.out is not None
    lines = [json.dumps(transcript.as_values(one)) for one in played]
    (plan.out / "episodes.jsonl").write_text("".join(f"{line}\n" for line in lines))
    title = f"{plan.agent} on {plan.suite}, {len(tasks)} tasks"
    (plan.out / "report.html").write_text(transcript.page(title, played), encoding="utf-8")
