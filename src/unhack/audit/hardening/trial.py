"""Trials of a hardened copy: what it rejects that is right, what it still rewards that is wrong.

Covered: every correct completion that the original rewards, the same with other white space around
it, and every wrong completion that was proven to pass.
Not covered: right answers in forms that nobody named; give them as `correct`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace

from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.subject import AuditProblem, Query, Subject
from unhack.core.errors import UsageError
from unhack.core.finding import Finding

_VARIED = 8
"""Problems whose correct completions are also tried with other white space around them."""


@dataclass(frozen=True, slots=True)
class Right:
    """A completion that must keep its reward."""

    problem: int
    """Index of its problem."""
    text: str
    threshold: float
    """The least that it must score."""


@dataclass(frozen=True, slots=True)
class Hole:
    """A completion that must lose its reward."""

    problem: int
    text: str
    flaw: str


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The result of a trial of a copy."""

    lost: tuple[Right, ...]
    """Right completions that the copy no longer rewards."""
    open: frozenset[int]
    """Indexes of the holes that still pay."""
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
            return f"the copy cannot be run: {self.trouble}"
        return f"it would reject the correct completion {self.lost[0].text[:80]!r}"


@dataclass(frozen=True, slots=True)
class Trial:
    """The test that every copy of one verifier is held to."""

    problems: tuple[AuditProblem, ...]
    right: tuple[Right, ...]

    @classmethod
    def of(cls, subject: Subject) -> Trial:
        """The trial of what the original rewards. Raises SandboxUnavailableError."""
        problems = tuple(subject.problems)
        baselines = measure_baselines(ScoreJournal(subject, None), problems)
        known = [
            Right(index, text, baseline.threshold)
            for index, baseline in enumerate(baselines)
            if baseline.threshold is not None
            for text in baseline.problem.correct
        ]
        known += [
            replace(one, text=text)
            for one in known
            if one.problem < _VARIED and not problems[one.problem].is_code
            for text in (f"\n{one.text}\n", f"  {one.text}  ")
        ]
        scores = subject.score([Query(problems[one.problem], one.text) for one in known])
        pairs = zip(known, scores, strict=True)
        return cls(problems, tuple(one for one, score in pairs if score.at_least(one.threshold)))

    def holes(self, findings: Sequence[Finding]) -> list[Hole]:
        """The witnesses of findings."""
        places = {problem.id: index for index, problem in enumerate(self.problems)}
        return [
            Hole(places[finding.problem], finding.witness, finding.flaw)
            for finding in findings
            if finding.problem in places
        ]

    def texts(self) -> list[tuple[str, str]]:
        """(completion, answer) of what is right, for problems with an answer."""
        found = [(one.text, self.problems[one.problem].answer) for one in self.right]
        return [(text, answer) for text, answer in found if answer is not None]

    def run(self, copy: Subject, holes: Sequence[Hole]) -> TrialOutcome:
        """Score everything with a copy, whose problems stand in the same order.

        Raises SandboxUnavailableError.
        """
        problems = copy.problems
        queries = [Query(problems[one.problem], one.text) for one in (*self.right, *holes)]
        try:
            scores = copy.score(queries)
        except UsageError as error:
            return TrialOutcome((), frozenset(range(len(holes))), str(error))
        kept: dict[int, list[float]] = defaultdict(list)
        lost: list[Right] = []
        for one, score in zip(self.right, scores, strict=False):
            if score.at_least(one.threshold) and score.value is not None:
                kept[one.problem].append(score.value)
            else:
                lost.append(one)
        still = {
            index
            for index, (hole, score) in enumerate(
                zip(holes, scores[len(self.right) :], strict=True)
            )
            if kept[hole.problem] and score.at_least(min(kept[hole.problem]))
        }
        return TrialOutcome(tuple(lost), frozenset(still))
