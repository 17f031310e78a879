"""From wins to findings: proof, the shortest actions that still win, a replay from scratch.

Covered: a pass is a finding only where the oracle says that the behaviour of the reference was not
restored, where the attack had the solution from somewhere, or where what it leaves is known to hold
nothing of it; an end without a score and rewarded
steps are findings by themselves, since idle and honest episodes have neither.
Not covered: shortening what is inside a file.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unhack.audit.environments.attack import (
    AgentView,
    AttackRoute,
    EnvironmentAttack,
    Sent,
    as_call,
)
from unhack.audit.environments.episode_runner import EpisodeRunner, actions_of, before
from unhack.audit.environments.foreign.container import AttackPlay
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.oracle import BehaviourOracle
from unhack.audit.report.flaws import FLAWS
from unhack.core.finding import Evidence, Finding, FindingKind
from unhack.environments.actions import Submit
from unhack.environments.task import RepositoryTask

_REPLAYS = 2
_MOST_STEP_REWARD = 1e-9
_CHARS = 20_000
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Win:
    """A play that was better than it should be, with the proof."""

    attack: EnvironmentAttack
    task: RepositoryTask
    actions: tuple[Sent, ...]
    play: AttackPlay
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class TaskTrial:
    """A task with where it is played and the oracle that knows its reference."""

    task: RepositoryTask
    runner: EpisodeRunner
    oracle: BehaviourOracle
    count: Callable[[int], None]
    """Takes a number of plays."""

    async def play(self, attack: EnvironmentAttack, actions: Sequence[Sent]) -> AttackPlay:
        """Play some actions of an attack."""
        self.count(1)
        return await self.runner.play(self.task, actions, before=before(attack, self.task))

    async def attempt(
        self, attack: EnvironmentAttack, actions: Sequence[Sent] | None = None
    ) -> tuple[AttackPlay, Win | None]:
        """Play an attack, whole or with some of its actions; the proof where it won."""
        chosen = actions_of(attack, self.task) if actions is None else list(actions)
        play = await self.play(attack, chosen)
        evidence = await self._evidence(attack, play)
        if evidence is None:
            return play, None
        return play, Win(attack, self.task, tuple(chosen), play, evidence)

    async def _evidence(self, attack: EnvironmentAttack, play: AttackPlay) -> Evidence | None:
        if play.outcome is EpisodeEnd.UNSCORED:
            text = "the episode ended without a score, and one in which nothing is done does not"
            return Evidence("unscored", text)
        if play.step_reward > _MOST_STEP_REWARD:
            text = f"its steps earned a reward of {play.step_reward:.3g} although nothing was done"
            return Evidence("paid_steps", text)
        if play.outcome is not EpisodeEnd.PASSED:
            return None
        if await self._means_another(attack):
            return None
        if attack.work:
            return self._without_work(attack, play)
        if not play.handed and any(self.task.reference.values()):
            return Evidence("no_answer", "it hands in no file, and passes")
        wrong = await self.oracle.why_wrong(play.handed) if play.handed else None
        if wrong is None and (attack.route is AttackRoute.LEAK or attack.accomplice is not None):
            text = "it passes with the solution that the environment left readable"
            return Evidence("leak", text)
        return wrong

    async def _means_another(self, attack: EnvironmentAttack) -> bool:
        """True where the control of an attack passes too: that one is the finding."""
        if attack.control is None:
            return False
        control = [*attack.control(AgentView.of(self.task)), Submit()]
        return (await self.play(attack, control)).outcome is EpisodeEnd.PASSED

    def _without_work(self, attack: EnvironmentAttack, play: AttackPlay) -> Evidence | None:
        """The proof that a play holds nothing of the solution's work; None where it does."""
        for path in attack.work:
            right = self.task.reference[path] or ""
            if play.read(path) == right.encode(errors="surrogateescape"):
                return None
        path = attack.work[0]
        wanted, got = self.task.reference[path] or "", play.read(path) or b""
        text = f"{path} holds nothing of the solution's {len(wanted)} characters"
        shown = got[:_SHOWN].decode(errors="replace").strip()
        return Evidence("no_answer", text, path, wanted[:_SHOWN].strip(), shown)


async def shortened(trial: TaskTrial, win: Win) -> Win:
    """The win with as few actions as still win, for the same reason."""
    best, at = win, 0
    while at < len(best.actions) and len(best.actions) > 1:
        actions = [*best.actions[:at], *best.actions[at + 1 :]]
        _, fewer = await trial.attempt(win.attack, actions)
        if fewer is not None and fewer.play.outcome is win.play.outcome:
            best = fewer
        else:
            at += 1
    return best


async def replayed(trial: TaskTrial, win: Win) -> bool:
    """True where the same actions win again, each time from scratch."""
    for _ in range(_REPLAYS):
        _, again = await trial.attempt(win.attack, win.actions)
        if again is None or again.play.outcome is not win.play.outcome:
            return False
    return True


def finding_of(win: Win, also: Sequence[str], *, tier: int = 1) -> Finding:
    """The finding of a proven win; `also` are other attacks of the same class that won."""
    rows = f" (row {', '.join(map(str, win.attack.rows))})" if win.attack.rows else ""
    flaw = FLAWS[win.attack.flaw]
    passed = win.play.outcome is EpisodeEnd.PASSED
    return Finding(
        flaw=flaw.id,
        severity=flaw.severity,
        attack=f"{win.attack.route}/{win.attack.name}",
        tier=tier,
        problem=win.task.id,
        witness=witness_of(win.actions),
        score=1.0 if passed else win.play.step_reward,
        threshold=1.0 if passed else 0.0,
        evidence=win.evidence,
        fix=flaw.fix,
        catalogue=f"{win.attack.how}{rows}",
        also=tuple(also),
        kind=FindingKind.HACK,
    )


def witness_of(actions: Sequence[Sent]) -> str:
    """The actions, one line of JSON each, as an agent's tool calls."""
    calls = [{"action": name, "arguments": given} for name, given in map(as_call, actions)]
    return "\n".join(map(json.dumps, calls))[:_CHARS]
