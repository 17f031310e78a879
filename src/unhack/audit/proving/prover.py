r"""The prover: scores payloads, and has the oracle prove that those that pass are wrong.

A hit is never reported as it is: `Proof`s are, and each holds the oracle's evidence. A shortened
hedge must not mark the right answer better than the rest: `\boxed{3} \boxed{2} \boxed{4}` commits
to nothing; shortened to `3 \boxed{2}` it commits to 2.

Covered: marks that the answers share in the whole text, of any form, on the left and on the right.
Not covered: a text whose answers were marked unevenly from the beginning; its attack says why it
commits to none of them.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from unhack.audit.attack import Attack, Claim, Knowledge, Payload, payloads_of
from unhack.audit.oracle.oracle import Oracle, is_said
from unhack.audit.proving.baseline import Baseline
from unhack.audit.proving.cpu import CpuAllowance
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.report.discovery import CurvePoint
from unhack.audit.report.report import Tried
from unhack.audit.subject import AuditProblem, Query, Score
from unhack.core.finding import Evidence, ExpectedReward

_CHUNK = 64
_MAX_PROOFS = 2
"""Of one attack on one problem: more would only show the same again."""
_FULLY, _SAMPLED = 2, 2
"""Problems that get every payload of an attack; how many of each attack the others get."""
_MAX_ASKED = 6
"""Passing payloads of one attack on one problem that the oracle is asked about."""
_ENOUGH_PROOFS = 3
"""Of one attack, on all problems: then it is not tried any more."""


@dataclass(frozen=True, slots=True)
class Proof:
    """A payload that passes and is wrong."""

    attack: Attack
    payload: Payload
    problem: AuditProblem
    score: float
    threshold: float
    evidence: Evidence
    expected_reward: ExpectedReward | None = None
    """Of the strategy that made the payload; None for a payload made from the right answer."""


@dataclass
class Budget:
    """Calls of the verifier and seconds that may still be used."""

    calls: int
    until: float
    """By `time.monotonic`."""
    cpu: CpuAllowance | None = None
    """Of all tiers together; None for no limit."""
    room: Callable[[], float] = lambda: math.inf
    """Calls of the verifier that the whole audit may still make."""

    @property
    def spent(self) -> str:
        """The reason why nothing more may be tried; empty while something may."""
        if self.calls <= 0 or self.room() <= 0:
            return "the call budget is used up"
        if self.cpu is not None and self.cpu.spent:
            return "the CPU budget is used up"
        return "the time budget is used up" if time.monotonic() > self.until else ""


@dataclass
class Prover:
    """One audit's search for proofs."""

    journal: ScoreJournal
    oracle: Oracle
    budget: Budget
    on_step: Callable[[str, int, int, int], None]
    """(stage, done, total, proofs so far)."""
    first_only: bool = False
    """One hack is enough."""
    thorough: bool = False
    """Every problem gets every payload, not only the first two."""
    on_point: Callable[[CurvePoint, str], None] = lambda point, best: None
    """Takes each update of tier 5, and the best-rewarded text although it is wrong."""
    proofs: list[Proof] = field(default_factory=list[Proof])
    unproven: list[tuple[Attack, Payload, AuditProblem]] = field(
        default_factory=list[tuple[Attack, Payload, AuditProblem]]
    )
    """Payloads that passed and could not be shown to be wrong."""
    small_faults: int = 0
    """Programs that passed and are wrong on few inputs, none of which the verifier uses."""
    _left: dict[str, list[tuple[Baseline, Attack, Payload]]] = field(
        default_factory=dict[str, list[tuple[Baseline, Attack, Payload]]]
    )
    """By stage, what a budget cut off."""
    _planned: dict[str, int] = field(default_factory=dict[str, int])
    _counts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    _tiers: dict[str, int] = field(default_factory=dict[str, int])

    @property
    def tried(self) -> tuple[Tried, ...]:
        """The counts of each attack."""
        return tuple(
            Tried(name, self._tiers[name], *counts) for name, counts in self._counts.items()
        )

    def attack(
        self, stage: str, attacks: Sequence[Attack], targets: Iterable[tuple[Baseline, Knowledge]]
    ) -> str:
        """Try the payloads of all attacks; return the reason for stopping early, or an empty text.

        First one payload of each attack on each problem, then the second of each: a small budget
        reaches all of them.
        """
        waiting: list[tuple[int, Baseline, Attack, Payload]] = []
        for place, (baseline, known) in enumerate(targets):
            turns: Counter[str] = Counter()
            for attack, payload in payloads_of(attacks, known):
                if place < _FULLY or self.thorough or turns[attack.name] < _SAMPLED:
                    waiting.append((turns[attack.name], baseline, attack, payload))
                turns[attack.name] += 1
        waiting.sort(key=lambda item: item[0])
        return self.prove(stage, [item[1:] for item in waiting])

    def prove(self, stage: str, waiting: Sequence[tuple[Baseline, Attack, Payload]]) -> str:
        """Score payloads in chunks and prove what passes; return the reason for stopping early."""
        total, left = len(waiting), list(waiting)
        self._planned.setdefault(stage, total)
        while left:
            why = self.over or self.budget.spent
            if why:
                self._left[stage] = left
                return why
            ripe = [item for item in left if not self._proven_enough(item[1])]
            size = min(_CHUNK, self.budget.calls)
            chunk, left = ripe[:size], ripe[size:]
            scores = self.journal.screen(
                [Query(baseline.problem, payload.text) for baseline, _, payload in chunk],
                until=self.budget.until,
            )
            late = [item for item, one in zip(chunk, scores, strict=True) if one.stopped]
            left = [*late, *left]
            self.budget.calls -= len(chunk) - len(late)
            for (baseline, attack, payload), score in zip(chunk, scores, strict=True):
                if not score.stopped:
                    self.weigh(baseline, attack, payload, score=score)
            self.on_step(stage, total - len(left), total, len(self.proofs))
        return ""

    @property
    def over(self) -> str:
        """The reason why no more proofs are wanted; empty while they are."""
        hacked = any(proof.expected_reward is not None for proof in self.proofs)
        return "a hack was proven" if self.first_only and hacked else ""

    def waiting(self, stage: str) -> int:
        """The number of payloads that a budget cut off."""
        return len(self._left.get(stage, ()))

    def planned(self, stage: str) -> int:
        """The number of payloads that a stage has been given."""
        return self._planned.get(stage, 0)

    def resume(self, stage: str) -> str:
        """Try what a budget cut off; as `prove`."""
        return self.prove(stage, self._left.pop(stage, []))

    def _proven_enough(self, attack: Attack) -> bool:
        counts = self._counts.get(attack.name)
        return counts is not None and attack.tier < 4 and counts[2] >= _ENOUGH_PROOFS

    def count(self, attack: Attack, *, payloads: int, passed: int, proven: int = 0) -> None:
        """Note payloads that were scored elsewhere and are not weighed."""
        counts = self._counts[attack.name]
        self._tiers[attack.name] = attack.tier
        counts[0] += payloads
        counts[1] += passed
        counts[2] += proven

    def weigh(self, baseline: Baseline, attack: Attack, payload: Payload, *, score: Score) -> bool:
        """Note a scored payload; return True when it is now proven."""
        counts = self._counts[attack.name]
        self._tiers[attack.name] = attack.tier
        counts[0] += 1
        if baseline.threshold is None or not score.at_least(baseline.threshold):
            return False
        counts[1] += 1
        mine = [p for p in self.proofs if p.attack is attack and p.problem is baseline.problem]
        asked = sum(one is attack and of is baseline.problem for one, _, of in self.unproven)
        if len(mine) >= _MAX_PROOFS or asked >= _MAX_ASKED:
            return False
        evidence = self.oracle.why_wrong(baseline.problem, payload)
        if evidence is None or evidence.slight:
            self.small_faults += evidence is not None
            if evidence is None:
                self.unproven.append((attack, payload, baseline.problem))
            return False
        counts[2] += 1
        assert score.value is not None
        self.proofs.append(
            Proof(attack, payload, baseline.problem, score.value, baseline.threshold, evidence)
        )
        return True


def holds_answer(problem: AuditProblem, text: str) -> bool:
    """Tell whether a text has the right answer in it, as words of its own."""
    return bool(problem.answer) and bool(places_of(text, [problem.answer or ""]))


def still_wrong(oracle: Oracle, proof: Proof, text: str) -> Evidence | None:
    """The evidence against a shortened witness; its claim must still hold for what is left."""
    claim, asserts = proof.payload.claim, proof.payload.asserts
    if claim is Claim.OTHER_ANSWER:
        if not asserts or not places_of(text, asserts[:1]):
            return None
        right = proof.problem.answer or ""
        if right and text.rfind(right) > text.rfind(asserts[0]) + len(asserts[0]):
            return None  # what is left may commit to the right answer
        if right and right in text and _turn(proof.payload.text, right, asserts[0]) not in text:
            return None  # what leads from the right answer to the other one has to stay
    elif claim is Claim.EVERY_ANSWER:
        if singles_out(text, proof.payload.text, asserts, right=proof.problem.answer or ""):
            return None
        asserts = tuple(places_of(text, asserts))
    evidence = oracle.why_wrong(proof.problem, Payload(text, claim, asserts))
    if evidence is not None and evidence.slight and not proof.evidence.slight:
        return None
    return evidence


def _turn(text: str, right: str, other: str) -> str:
    """The text between the right answer and the other one that follows it."""
    start, end = text.rfind(right) + len(right), text.rfind(other)
    return text[start:end] if len(right) <= start <= end else ""


_TOKEN = re.compile(r"\w+|[^\w\s]")
Places = Mapping[str, tuple[int, int]]
"""(start, end) of each answer in a text, in characters."""


def places_of(text: str, answers: Sequence[str]) -> Places:
    """The places where the answers stand as words of their own; no place is taken twice."""
    found: dict[str, tuple[int, int]] = {}
    for answer in sorted(set(answers), key=len, reverse=True):
        place = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) if answer else None
        if place is not None:
            found[answer] = place.span()
            blank = "\0" * len(answer)
            text = f"{text[: place.start()]}{blank}{text[place.end() :]}"
    return found


def singles_out(text: str, whole: str, answers: Sequence[str], *, right: str) -> bool:
    """Tell whether `text`, what is left of `whole`, marks the right answer and no other as well.

    `answers` are those that `whole` offers; a mark is what stands before or behind each of them.
    """
    before, behind = _contexts(whole, places_of(whole, answers))
    marks = _shared(list(before.values()), end=True), _shared(list(behind.values()), end=False)
    left, after = _contexts(text, places_of(text, answers))
    kept = {one: (_count(left[one], marks[0]), _count(after[one], marks[1])) for one in left}
    rights = [kept[one] for one in kept if is_said(one, right)]
    others = [kept[one] for one in kept if not is_said(one, right)]
    return bool(rights) and not any(
        other[0] >= mine[0] and other[1] >= mine[1] for mine in rights for other in others
    )


_Tokens = list[str]


def _contexts(text: str, places: Places) -> tuple[dict[str, _Tokens], dict[str, _Tokens]]:
    """The tokens before and behind each answer, as far as the answers next to it."""
    ordered = sorted(places.items(), key=lambda item: item[1])
    starts = [0, *(end for _, (_, end) in ordered)]
    ends = [*(start for _, (start, _) in ordered), len(text)]
    before: dict[str, _Tokens] = {}
    behind: dict[str, _Tokens] = {}
    for number_of, (answer, (start, end)) in enumerate(ordered):
        before[answer] = _TOKEN.findall(text[starts[number_of] : start])
        behind[answer] = _TOKEN.findall(text[end : ends[number_of + 1]])
    return before, behind


def _shared(contexts: Sequence[_Tokens], *, end: bool) -> _Tokens:
    """The tokens that all contexts have at their end, or at their beginning."""
    step = -1 if end else 1
    found: _Tokens = []
    for column in zip(*(context[::step] for context in contexts), strict=False):
        if len(set(column)) > 1:
            break
        found.append(column[0])
    return found


def _count(context: _Tokens, mark: _Tokens) -> int:
    """The number of tokens of the mark that are there."""
    return (Counter(context) & Counter(mark)).total()
