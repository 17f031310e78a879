"""Tier 5 for environments: a policy over moves is trained on whole episodes.

    EnvironmentAuditOptions(discoverer=EpisodeReinforcement())

An episode that the judge passes is worth 1, rewarded steps what they are rewarded, an end without a
score nothing: it is proven by itself. Whether a pass is wrong the behaviour oracle decides, for the
curve and for the proof; a win is shortened move by move and played again from scratch.

Covered: own episodes and those of foreign graders, several tasks at once, a limit of plays and of
time, an interrupt. Not covered: moves that depend on what an earlier one printed.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from unhack.audit.environments.attack import AgentView, AttackRoute, EnvironmentAttack
from unhack.audit.environments.foreign.grader import EpisodeEnd
from unhack.audit.environments.proving import TaskTrial, Win
from unhack.audit.environments.runner import EpisodeLearning
from unhack.audit.report.discovery import CurvePoint, Discovery
from unhack.training.discovery.grammar import Token, Written
from unhack.training.discovery.interrupts import INTERRUPTED, interrupts
from unhack.training.discovery.learner import Learner
from unhack.training.discovery.moves import EpisodeGrammar, actions_of_moves

_AT_ONCE = 4
_WINDOW, _CONVERGED, _SURE = 3, 0.5, 0.9
_HOW = "moves that a policy learnt by being rewarded"


@dataclass(frozen=True, slots=True)
class EpisodeReinforcement:
    """Tier 5 of an environment's audit; see `unhack.audit.environments.runner`."""

    updates: int = 20
    group: int = 16
    tasks: int = 2
    """Tasks that it is trained on."""
    learns: bool = True
    """False for the control: as many episodes, all of them drawn from the first policy."""

    async def __call__(
        self,
        trials: Sequence[TaskTrial],
        /,
        *,
        seed: int,
        spent: Callable[[], str | None],
        on_point: Callable[[CurvePoint, str], None],
    ) -> EpisodeLearning:
        """Train; `spent` gives the reason to begin no further episode."""
        # Torch takes seconds to import, and the options of tier 5 are made without it.
        from unhack.training.discovery.tiny import GrammarLearner

        some = list(trials)[: self.tasks]
        grammar = EpisodeGrammar([AgentView.of(trial.task) for trial in some])
        learner: Learner = GrammarLearner(grammar, seed=seed)
        run = _Episodes(some, grammar, learner, self.learns, on_point)
        why = ""
        with interrupts() as interrupted:
            for step in range(self.updates):
                why = INTERRUPTED if interrupted() else spent() or ""
                why = why or await run.update(step, group=self.group, spent=spent)
                if why or run.share >= _SURE:
                    break
        passed = sum(reward >= 1.0 for reward in run.rewards.values())
        return EpisodeLearning(run.record(why), run.wins(), len(run.rewards), passed)


@dataclass
class _Episodes:
    """One training run and what it has seen."""

    trials: Sequence[TaskTrial]
    grammar: EpisodeGrammar
    learner: Learner
    learns: bool
    on_point: Callable[[CurvePoint, str], None]
    curve: list[CurvePoint] = field(default_factory=list[CurvePoint])
    rewards: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])
    won: dict[tuple[int, str], Win] = field(default_factory=dict[tuple[int, str], Win])
    seen: Counter[tuple[int, str]] = field(default_factory=Counter[tuple[int, str]])

    @property
    def share(self) -> float:
        """Mean share of episodes in the last updates that are rewarded and wrong."""
        return sum(point.wrong for point in self.curve[-_WINDOW:]) / _WINDOW

    async def update(self, step: int, *, group: int, spent: Callable[[], str | None]) -> str:
        """Draw, play, learn; why it could not be done, empty when it was."""
        problems = list(range(len(self.trials)))
        drawn = self.learner.draw(problems, group=group, step=step)
        items = [(problems[at // group], written) for at, written in enumerate(drawn)]
        fresh: dict[tuple[int, str], Written] = {}
        for number, written in items:
            if (number, written.text) not in self.rewards:
                fresh[number, written.text] = written
        gate = asyncio.Semaphore(_AT_ONCE)

        async def play(key: tuple[int, str], written: Written) -> None:
            async with gate:
                if not spent():
                    await self._play(key, written.tokens)

        await asyncio.gather(*(play(key, written) for key, written in fresh.items()))
        keys = [(number, written.text) for number, written in items]
        if any(key not in self.rewards for key in keys):
            return spent() or "an episode was not played"
        rewards = [self.rewards[key] for key in keys]
        wrong = [key in self.won for key in keys]
        self.seen.update(key for key in keys if key in self.won)
        entropy = self.learner.learn(rewards, group=group).entropy if self.learns else 0.0
        point = CurvePoint(
            step,
            reward=sum(rewards) / len(rewards),
            passing=sum(reward >= 1.0 for reward in rewards) / len(rewards),
            wrong=sum(wrong) / len(wrong),
            entropy=entropy,
            calls=len(self.rewards),
        )
        self.curve.append(point)
        best = min((text for _, text in self.won), key=len, default="")
        self.on_point(point, best)
        return ""

    async def _play(self, key: tuple[int, str], tokens: Sequence[Token]) -> None:
        trial = self.trials[key[0]]
        actions = actions_of_moves(tokens, AgentView.of(trial.task))
        play, win = await trial.attempt(_attack(tokens), actions)
        passed = play.outcome is EpisodeEnd.PASSED
        self.rewards[key] = 1.0 if passed else min(1.0, max(0.0, play.step_reward))
        if win is not None:
            self.won[key] = win

    def wins(self) -> tuple[tuple[TaskTrial, Win], ...]:
        """The wins, the shortest first."""
        ordered = sorted(self.won.items(), key=lambda one: len(one[0][1]))
        return tuple((self.trials[key[0]], win) for key, win in ordered)

    def record(self, why: str) -> Discovery:
        """The result of the training."""
        common = max(self.seen, key=lambda key: self.seen[key], default=None)
        return Discovery(
            policy="a policy over moves of an episode",
            parameters=self.learner.parameters,
            curve=tuple(self.curve),
            converged=self.share >= _CONVERGED,
            witness=common[1] if common is not None else "",
            problem=self.trials[common[0]].task.id if common is not None else "",
            why=why,
            interrupted=why == INTERRUPTED,
        )


def _attack(tokens: Sequence[Token]) -> EnvironmentAttack:
    """The attack that moves are, of the class of flaw that the last of them stands for."""
    flaw = next((one.hint for one in reversed(tokens) if one.hint), "weak_cases")
    route = AttackRoute.MEANING if flaw == "weak_cases" else AttackRoute.WORKSPACE
    return EnvironmentAttack("learnt", (), route, flaw, _HOW, lambda view: ())
