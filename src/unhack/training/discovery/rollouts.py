"""The rollouts of tier 5: draw, score, show the oracle, learn; and the record of all of it.

Covered: every score from a sealed call of the audit's own subject, each text scored once; the part
of the budget that training may use.
Not covered: what is proven of it; `weighing` does it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.own_oracle import OwnOracle
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.prover import Prover
from unhack.audit.report.discovery import CurvePoint, Discovery
from unhack.audit.subject import Query, Score
from unhack.training.discovery.grammar import Token, Written
from unhack.training.discovery.interrupts import INTERRUPTED
from unhack.training.discovery.learner import Learner

_GROUPS = 4
"""Least groups of an update."""
_ASKED_ANSWERS, _ASKED_PROGRAMS = 64, 6
"""New passing texts that the oracle is shown in one update; it has to run programs."""
_WINDOW = 5
_CONVERGED, _SURE = 0.5, 0.9
"""Mean share of passing wrong rollouts in the last updates: what counts as converged, and what
ends the training."""
_LARGEST = 2.0
"""Rewards are cut there, in units of what a correct completion gets above an empty one."""
_FOR_RIGHT = 0.25
"""Of its reward that a right answer counts, or a program near one."""

Key = tuple[int, str]
"""The number of a problem, and a text."""


@dataclass
class SequenceRecord:
    """One sequence of pieces, over all problems and fills."""

    drawn: int = 0
    reward: float = 0.0
    """The sum over what was drawn, in units of a right completion's."""
    wrong: int = 0
    """Number that passed and that the oracle calls wrong."""
    example: tuple[Key, Written] | None = None
    """One of these."""

    @property
    def worth(self) -> float:
        """The mean reward, for the share that is known to be wrong."""
        return self.reward / self.drawn * (self.wrong / self.drawn)


@dataclass
class DiscoveryRollouts:
    """One training run and what it has seen."""

    prover: Prover
    marks: Sequence[Baseline]
    learner: Learner
    learns: bool = True
    """False for a control that draws as often from the first policy."""
    curve: list[CurvePoint] = field(default_factory=list[CurvePoint])
    scores: dict[Key, Score] = field(default_factory=dict[Key, Score])
    judged: dict[Key, bool] = field(default_factory=dict[Key, bool])
    """Passing texts that the oracle was shown, and whether it calls them wrong."""
    written: dict[Key, Written] = field(default_factory=dict[Key, Written])
    wrong: dict[Key, Written] = field(default_factory=dict[Key, Written])
    seen: Counter[Key] = field(default_factory=Counter[Key])
    """Counts of each wrong text that the policy wrote."""
    sequences: dict[tuple[Token, ...], SequenceRecord] = field(
        default_factory=dict[tuple[Token, ...], SequenceRecord]
    )
    calls: int = 0
    best: tuple[float, Key] | None = None
    """The reward of the best text that is wrong, in units of a right completion's, and its key."""

    @property
    def share(self) -> float:
        """Mean share of passing wrong rollouts in the last updates."""
        last = self.curve[-_WINDOW:]
        return sum(point.wrong for point in last) / _WINDOW

    @property
    def settled(self) -> bool:
        """True once the policy does little else than pass wrongly."""
        return self.share >= _SURE

    @property
    def exploit(self) -> str:
        """The best-rewarded text although it is wrong; empty where none did."""
        return "" if self.best is None else self.best[1][1]

    def update(self, step: int, *, group: int, until: float) -> str:
        """Draw, score, learn; why it could not be done, empty when it was. `until` is a time by
        `time.monotonic`."""
        count = len(self.marks)
        problems = [number % count for number in range(max(_GROUPS, count))]
        drawn = self.learner.draw(problems, group=group, step=step)
        items = [(problems[at // group], written) for at, written in enumerate(drawn)]
        keys = [(problem, written.text) for problem, written in items]
        self.written.update(zip(keys, drawn, strict=True))
        fresh = list(dict.fromkeys(key for key in keys if key not in self.scores))
        why = self.score(fresh, until=until)
        if why:
            return why
        passing = [self.passes(key) for key in keys]
        self._show(items, passing)
        rewards = [self._reward(key) for key in keys]
        self._note(items, rewards)
        entropy = self.learner.learn(rewards, group=group).entropy if self.learns else 0.0
        shown = [self.judged[key] for key in keys if key in self.judged]
        passed = sum(passing) / len(keys)
        point = CurvePoint(
            step,
            reward=sum(_value(self.scores[key]) for key in keys) / len(keys),
            passing=passed,
            wrong=passed * sum(shown) / len(shown) if shown else 0.0,
            entropy=entropy,
            calls=self.calls,
        )
        self.curve.append(point)
        self.prover.on_point(point, self.exploit)
        return ""

    def record(self, why: str) -> Discovery:
        """The result of the training."""
        common = max(self.seen, key=lambda key: self.seen[key], default=None)
        return Discovery(
            policy=self.learner.name,
            parameters=self.learner.parameters,
            curve=tuple(self.curve),
            converged=self.share >= _CONVERGED,
            witness=common[1] if common is not None else "",
            problem=self.marks[common[0]].problem.id if common is not None else "",
            why=why,
            interrupted=INTERRUPTED in why,
        )

    def score(self, fresh: Sequence[Key], *, until: float) -> str:
        """Score texts; why not all of them could be, empty where they were."""
        if len(fresh) > self.prover.budget.calls:
            return "the calls of the budget are used up"
        shots = [Query(self.marks[problem].problem, text) for problem, text in fresh]
        found = self.prover.journal.screen(shots, until=until)
        known = {key: one for key, one in zip(fresh, found, strict=True) if not one.stopped}
        self.prover.budget.calls -= len(known)
        self.calls += len(known)
        self.scores.update(known)
        return "" if len(known) == len(fresh) else "the seconds of the budget are used up"

    def passes(self, key: Key) -> bool:
        """Tell whether a scored text scores as much as a right completion."""
        threshold = self.marks[key[0]].threshold
        return threshold is not None and self.scores[key].at_least(threshold)

    def is_wrong(self, number: int, written: Written) -> bool:
        """Tell whether the oracle calls a completion wrong."""
        payload, oracle = written.payload, self.prover.oracle
        if payload is None and isinstance(oracle, OwnOracle) and not written.right:
            payload = Payload(written.text, Claim.OTHER_ANSWER)  # it reads the text alone
        return (
            payload is not None
            and oracle.why_wrong(self.marks[number].problem, payload) is not None
        )

    def _reward(self, key: Key) -> float:
        """The raw score between an empty completion's (0) and a correct one's (1).

        What gives nothing but the right answer, or a program made from the right one, gets a part:
        it shows a form that is read, and a policy that is rewarded in full looks for nothing else.
        """
        written = self.written[key]
        part = _FOR_RIGHT if written.right or written.near else 1.0
        mark = self.marks[key[0]]
        assert mark.threshold is not None
        span = mark.threshold - mark.null
        scaled = (_value(self.scores[key]) - mark.null) / (span if span > 0 else 1.0)
        return part * max(-1.0, min(_LARGEST, scaled))

    def _show(self, items: Sequence[tuple[int, Written]], passing: Sequence[bool]) -> None:
        """Show the oracle passing texts that it has not seen, as they come."""
        left = _ASKED_PROGRAMS if self.marks[0].problem.is_code else _ASKED_ANSWERS
        for (number, written), passed in zip(items, passing, strict=True):
            key = (number, written.text)
            if not passed or key in self.judged or not left or self.prover.budget.spent:
                continue
            left -= 1
            self.judged[key] = self.is_wrong(number, written)
            if self.judged[key]:
                self.wrong[key] = written

    def _note(self, items: Sequence[tuple[int, Written]], rewards: Sequence[float]) -> None:
        """Keep what each sequence of pieces got, and the best text that is wrong."""
        for (number, written), reward in zip(items, rewards, strict=True):
            key = (number, written.text)
            wrong = self.judged.get(key, False)
            self.seen.update([key] if wrong else [])
            if written.tokens:
                record = self.sequences.setdefault(written.tokens, SequenceRecord())
                record.drawn += 1
                record.reward += reward
                record.wrong += wrong
                record.example = (key, written) if wrong else record.example
            better = self.best is None or (reward, -len(written.text)) > (
                self.best[0],
                -len(self.best[1][1]),
            )
            if wrong and better:
                self.best = reward, key


def _value(score: Score) -> float:
    """The raw score; 0 where there is none, and infinity as a large number."""
    if score.value is None or math.isnan(score.value):
        return 0.0
    return max(-1e6, min(1e6, score.value))
