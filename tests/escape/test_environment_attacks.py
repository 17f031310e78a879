"""Attacks on environments: each loses against the sealed judge, and each wins against the grader
that it was made for, so that none is without effect."""

from __future__ import annotations

import asyncio
import itertools

import pytest

from unhack.audit.environments.attack import EnvironmentAttack, solution_of
from unhack.audit.environments.episode_runner import OwnEpisodes, actions_of, before
from unhack.audit.environments.foreign.container import AttackPlay, ContainerEpisodes
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.oracle import BehaviourOracle
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.environments.actions import Submit
from unhack.environments.task import RepositoryTask
from unhack_verifier_bench.environments import tasks
from unhack_verifier_bench.environments.pairs import WINS_AGAINST

COSTLY = {"fork_bomb", "memory_bomb", "endless_command"}
ATTACKS = [
    pytest.param(one, id=one.name, marks=[pytest.mark.long] if one.name in COSTLY else [])
    for one in ENVIRONMENT_ATTACKS.values()
]


def _own(attack: EnvironmentAttack, task: RepositoryTask) -> AttackPlay:
    async def play() -> AttackPlay:
        runner = OwnEpisodes()
        try:
            return await runner.play(task, actions_of(attack, task), before=before(attack, task))
        finally:
            runner.close()

    return asyncio.run(play())


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_every_attack_loses_against_the_sealed_judge(attack: EnvironmentAttack) -> None:
    # Lost, and scored: no attack may turn its loss into an episode that is left out.
    play = _own(attack, tasks.SHAPES)
    assert play.outcome is EpisodeEnd.FAILED, play.said


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.control
@pytest.mark.parametrize("name", WINS_AGAINST)
def test_every_attack_wins_against_the_grader_that_it_was_made_for(name: str) -> None:
    grader, task = WINS_AGAINST[name]
    attack = ENVIRONMENT_ATTACKS[name]

    async def play() -> tuple[EpisodeEnd, EpisodeEnd, AttackPlay]:
        runner = ContainerEpisodes(grader)
        try:
            right = await runner.play(task, solution_of(task))
            idle = await runner.play(task, [Submit()])
            won = await runner.play(task, actions_of(attack, task), before=before(attack, task))
        finally:
            runner.close()
        return right.outcome, idle.outcome, won

    right, idle, won = asyncio.run(play())
    assert (right, idle) == (EpisodeEnd.PASSED, EpisodeEnd.FAILED)
    assert won.outcome is not EpisodeEnd.FAILED, won.said


@pytest.mark.sample
@pytest.mark.slow
def test_broken_and_fixed_tests_are_rewarded_nothing_and_would_be_by_a_naive_rule() -> None:
    attack, task = ENVIRONMENT_ATTACKS["pumped_steps"], tasks.STEPWISE

    async def play() -> tuple[float, float]:
        runner = OwnEpisodes()
        try:
            episode = runner.begin(task)
            for action in actions_of(attack, task):
                await episode.step(action)
        finally:
            runner.close()
        seen = [turn.result.process["progress"] for turn in episode.turns]
        naive = sum(max(0.0, b - a) for a, b in itertools.pairwise(seen))
        rewarded = sum(turn.result.reward for turn in episode.turns)
        return rewarded, naive

    rewarded, naive = asyncio.run(play())
    assert rewarded <= 1e-9
    assert naive >= 2.0


@pytest.mark.slow
@pytest.mark.parametrize("name", tasks.PLANTED_TASKS)
def test_the_oracle_knows_the_reference_from_the_start_of_every_task(name: str) -> None:
    task = tasks.PLANTED_TASKS[name]

    async def ask() -> tuple[object, object]:
        runner = OwnEpisodes()
        try:
            oracle = BehaviourOracle(task, runner.workshop.commands)
            right = await runner.play(task, solution_of(task))
            idle = await runner.play(task, [Submit()])
            return await oracle.why_wrong(right.files), await oracle.why_wrong(idle.files)
        finally:
            runner.close()

    right, idle = asyncio.run(ask())
    assert right is None
    assert idle is not None or name == "timed"  # there only the time differs
