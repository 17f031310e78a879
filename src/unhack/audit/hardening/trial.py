"""Trials of a hardened copy: what it scores otherwise that is right, what it rewards that is wrong.

Covered: every correct completion that the original rewards and its other forms, fully or partly
right, each of which must keep exactly its score, unless a wrong answer in the same form gets as
much; every witness, on further problems the completions that its attacks make of a prompt, and
varied forms of all these, which must lose theirs. A strategy is closed where it earns no more than
a guess does: one that names a single answer is right by luck somewhere.
Not covered: right answers in forms that nobody named; give them as `correct`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice
from typing import TypeVar

from unhack.audit.hardening.allowance import Allowance, bounded_journal
from unhack.audit.hardening.holes import Hole, PlayedHacks, still_open
from unhack.audit.hardening.right_forms import (
    near_misses,
    partial_forms,
    right_forms,
    spoilt,
)
from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.baseline import Baseline, measure_baselines
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import AuditProblem, Query, Score, Subject
from unhack.core.errors import UsageError
from unhack.core.finding import Finding
from unhack.sandbox.job import Backend

_VARIED, _FORMS = 8, 40
"""Problems whose completions are tried in other forms too, and most of them, right or partial."""
_FIRST = 32
"""Completions that most fixes fail on; only then come the others."""
COSTS_RIGHT = "it would no longer give"
"""Begins the reason why a copy that takes something from a right completion is refused."""
_EQUAL = 1e-9
_Item = TypeVar("_Item")


class Form(Enum):
    """The sort of a completion that may have to keep its score."""

    WHOLE = "whole"
    PART = "part"
    """One item is wrong."""
    SHORT = "short"
    """One item is left out; binds nothing where leaving one out is rewarded in full."""


@dataclass(frozen=True, slots=True)
class Right:
    """A completion that must keep its score."""

    problem: int
    """Index of its problem."""
    text: str
    score: float
    """By the original."""


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The result of a trial of a copy."""

    lost: tuple[Right, ...]
    """Right completions that the copy scores otherwise."""
    open: frozenset[int]
    """Indexes of the holes that are still rewarded, or on which the copy breaks; of strategies that
    are rewarded by luck alone, none."""
    trouble: str = ""
    """The reason why the copy could not be tried."""

    @property
    def keeps(self) -> bool:
        """True when nothing is lost."""
        return not self.lost and not self.trouble

    @property
    def complaint(self) -> str:
        """The reason why a copy is not taken; one clause."""
        if self.trouble:
            return f"the copy cannot run: {self.trouble}"
        one = self.lost[0]
        return f"{COSTS_RIGHT} {one.score:g} for {one.text[:80]!r}"


@dataclass(frozen=True, slots=True)
class Trial:
    """The test that every copy of one verifier is held to."""

    problems: tuple[AuditProblem, ...]
    right: tuple[Right, ...]
    original: ScoreJournal = field(repr=False)
    oracle: TextOracle = field(default_factory=TextOracle, repr=False)
    allowance: Allowance = field(default_factory=Allowance, repr=False)
    backend: Backend | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, subject: Subject, *, allowance: Allowance | None = None, backend: Backend | None = None
    ) -> Trial:
        """The trial of what the original rewards. Raises SandboxUnavailableError."""
        problems = tuple(subject.problems)
        allowance = allowance or Allowance()
        journal = bounded_journal(subject, allowance, backend)
        baselines = measure_baselines(journal, problems)
        asked = list(dict.fromkeys(_forms(baselines)))
        queries = [Query(problems[at], text) for at, text, _ in asked]
        scores = subject.score(queries)
        journal.try_sharing(list(zip(queries, scores, strict=True)))
        controls = journal.screen(
            [Query(problems[at], spoilt(problems[at], text)) for at, text, _ in asked]
        )
        rewarded = [
            (at, text)
            for (at, text, form), score in zip(asked, scores, strict=True)
            if form is Form.WHOLE and score.at_least(baselines[at].threshold or 0.0)
        ]
        loose = _loose_forms(journal, baselines, rewarded)
        rewarded_short = {
            at
            for (at, _, form), score in zip(asked, scores, strict=True)
            if form is Form.SHORT and score.at_least(baselines[at].threshold or 0.0)
        }
        known = [
            Right(at, text, score.value)
            for (at, text, form), score, control in zip(asked, scores, controls, strict=True)
            if score.value is not None and _is_kept(baselines[at], score, form)
            if form is not Form.SHORT or at not in rewarded_short
            if text in problems[at].correct or not control.at_least(score.value)
            if (at, text) not in loose
        ]
        allowance.calls -= journal.calls
        return cls(problems, tuple(known), journal, allowance=allowance, backend=backend)

    def holes(self, findings: Sequence[Finding]) -> list[Hole]:
        """The witnesses of findings, and what the attacks of hacks make of other prompts."""
        return self._hacks.holes(findings)

    def variants(self, findings: Sequence[Finding]) -> list[Hole]:
        """Varied forms of the hacks of findings, on several problems each, rewarded or not."""
        return self._hacks.variants(findings)

    @property
    def _hacks(self) -> PlayedHacks:
        return PlayedHacks(self.problems, self.original, self.oracle, self.allowance)

    def run(
        self,
        copy: Subject,
        holes: Sequence[Hole],
        *,
        alone: bool = True,
        open_before: frozenset[int] | None = None,
    ) -> TrialOutcome:
        """Score everything with a copy, whose problems stand in the same order.

        Not `alone`, several completions may share a process: good for choosing a fix, not for
        accepting it. Where none of `open_before` is closed, right completions are not scored.
        Raises SandboxUnavailableError.
        """
        journal = bounded_journal(copy, self.allowance, self.backend)

        def scores_of(of: Sequence[Hole] | Sequence[Right]) -> list[Score]:
            queries = [Query(copy.problems[one.problem], one.text) for one in of]
            return self._score(journal, queries, alone=alone)

        lost: list[Right] = []
        try:
            if open_before is not None:
                some = [holes[at] for at in _spread(sorted(open_before))]
                if all(
                    one.at_least(hole.score)
                    for hole, one in zip(some, scores_of(some), strict=True)
                ):
                    return TrialOutcome((), open_before)
            still = still_open(holes, scores_of(holes))
            if open_before is not None and open_before <= still:
                return TrialOutcome((), still)
            few = _spread(self.right) if open_before is not None else []
            for right in (few, self.right):
                lost = lost or self._lost(right, scores_of(right))
        except UsageError as error:
            return TrialOutcome((), frozenset(range(len(holes))), str(error))
        except _OverError:
            spent = self.allowance.spent or "the time is used up"
            return TrialOutcome((), frozenset(range(len(holes))), spent)
        finally:
            self.allowance.calls -= journal.calls
        return TrialOutcome(tuple(lost), still)

    @staticmethod
    def _lost(right: Sequence[Right], scores: Sequence[Score]) -> list[Right]:
        if any(score.stopped for score in scores):
            raise _OverError
        return [
            one
            for one, score in zip(right, scores, strict=True)
            if score.value is None or not abs(score.value - one.score) <= _EQUAL
        ]

    def _score(
        self, journal: ScoreJournal, queries: Sequence[Query], *, alone: bool
    ) -> list[Score]:
        if alone or not self.original.shares:
            return journal.score(queries)
        journal.try_sharing(())
        return journal.screen(queries)


class _OverError(Exception):
    """The budget that is left to a fix is used up."""


def _spread(of: Sequence[_Item]) -> list[_Item]:
    return list(of[:: max(1, -(-len(of) // _FIRST))])


def _loose_forms(
    journal: ScoreJournal, baselines: Sequence[Baseline], rewarded: Sequence[tuple[int, str]]
) -> set[tuple[int, str]]:
    """Rewarded forms that near misses are rewarded in too, though not as the completions are
    written; with one that repeats the question all that do."""
    pairs = [
        (at, form, plain, near)
        for at, form in rewarded
        if form not in baselines[at].problem.correct
        for right in baselines[at].problem.correct[:2]
        for plain, near in near_misses(right, form)
    ]
    asked = list(dict.fromkeys((at, text) for at, _, *both in pairs for text in both))
    scores = journal.screen([Query(baselines[at].problem, text) for at, text in asked])
    passes = {
        one
        for one, score in zip(asked, scores, strict=True)
        if score.at_least(baselines[one[0]].threshold or 0.0)
    }
    loose = {
        (at, form)
        for at, form, plain, near in pairs
        if (at, near) in passes and (at, plain) not in passes
    }
    repeating = {(at, form) for at, form in rewarded if baselines[at].problem.prompt in form}
    return loose | repeating if loose & repeating else loose


def _forms(baselines: Iterable[Baseline]) -> Iterator[tuple[int, str, Form]]:
    """(problem, completion, its form) of what may have to keep its score."""
    for index, baseline in enumerate(baselines):
        problem = baseline.problem
        if baseline.threshold is None:
            continue
        for turn, text in enumerate(problem.correct):
            yield index, text, Form.WHOLE
            if index < _VARIED and turn < 2:
                for form in islice(right_forms(problem, text), _FORMS):
                    yield index, form, Form.WHOLE
                for form in islice(partial_forms(problem, text, short=False), _FORMS):
                    yield index, form, Form.PART
                for form in islice(partial_forms(problem, text, short=True), _FORMS):
                    yield index, form, Form.SHORT


def _is_kept(baseline: Baseline, score: Score, form: Form) -> bool:
    """Tell whether a score is one that no fix may change.

    A partly right completion that is rewarded in full is a hole itself, and binds nobody.
    """
    assert baseline.threshold is not None
    if form is Form.WHOLE:
        return score.at_least(baseline.threshold)
    nothing = max(0.0, baseline.null)
    return score.at_least(nothing + _EQUAL) and not score.at_least(baseline.threshold)
