"""`unhack env run`: agents by name play, and what they did is shown and written down."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from itertools import islice

from unhack.cli import terminal
from unhack.cli.env import screen
from unhack.cli.env.order import EnvRunOrder
from unhack.core.errors import UsageError
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.episode import EpisodeLimits
from unhack.environments.episode_pool import EpisodePlayer, FinishedEpisode, play_all
from unhack.environments.players.scripted import IdlePlayer, RandomPlayer, ReferencePlayer
from unhack.environments.report import transcript
from unhack.environments.report.atif import as_trajectory
from unhack.environments.steps.rewards import StepRewards
from unhack.environments.suites import find_tasks


def choose_player(order: EnvRunOrder) -> EpisodePlayer:
    """The player that the options name. Raises UsageError for a name that is none, and for a chat
    agent without a model."""
    kind, _, rest = order.agent.partition(":")
    if order.agent == "solver":
        return ReferencePlayer()
    if order.agent == "idle":
        return IdlePlayer()
    if kind == "random" and (not rest or rest.lstrip("-").isdigit()):
        return RandomPlayer(int(rest or 0))
    if order.agent == "chat":
        return _chat(order)
    raise UsageError(
        f"{order.agent!r} is not an agent; the agents are solver, idle, random:SEED and chat"
    )


def choose_rewards(order: EnvRunOrder) -> StepRewards:
    """The weights that the options give. Raises UsageError for one that is none."""
    judges: dict[str, float] = {}
    for given in order.judge or ():
        kind, _, weight = given.partition("=")
        try:
            judges[kind] = float(weight)
        except ValueError:
            raise UsageError(f"--judge: {given!r} is not KIND=W, such as lint=0.1") from None
    return StepRewards(progress=order.progress, judges=judges, split_seed=order.split_seed)


def _chat(order: EnvRunOrder) -> EpisodePlayer:
    # The clients of language models are an extra that the other agents do without.
    from unhack.agents.chat.agent import ChatAgent, make_meter
    from unhack.agents.language_models.endpoint import Endpoint
    from unhack.environments.players.acting import ActingPlayer

    endpoint = Endpoint.from_environment(
        url=order.llm_url, model=order.llm_model, key_env=order.llm_key_env
    )
    if endpoint is None:
        raise UsageError("--agent chat needs a model: --llm-model NAME, or UNHACK_LLM_MODEL")
    return ActingPlayer(ChatAgent(endpoint, make_meter(endpoint, cost_limit_usd=order.llm_cost)))


def run_suite(plan: EnvRunOrder) -> None:
    """Play the suite, print a table or lines of JSON, and write the report."""
    tasks = list(islice(find_tasks(plan.suite), plan.limit))
    player, rewards = choose_player(plan), choose_rewards(plan)
    if plan.out is not None:
        try:
            plan.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"--out: {plan.out} cannot be made: {error}") from None

    def show(played: FinishedEpisode) -> None:
        if plan.as_json:
            terminal.write_json(transcript.as_values(played))

    async def main(advance: Callable[[], None]) -> list[FinishedEpisode]:
        limits = EpisodeLimits(turns=plan.turns)
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
    (plan.out / "trajectories").mkdir(exist_ok=True)
    for one in played:
        run = as_trajectory(one, agent=plan.agent, model=plan.llm_model or "")
        (plan.out / "trajectories" / f"{one.index}.json").write_text(json.dumps(run, indent=1))
    title = f"{plan.agent} on {plan.suite}, {len(tasks)} tasks"
    (plan.out / "report.html").write_text(transcript.page(title, played), encoding="utf-8")
