"""A subject whose verifier is a function of the test's own process."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.subject import AuditProblem, Query, Score, Source


@dataclass
class Verifier:
    """A function of the completion and the right answer."""

    verify: Callable[[str, str], float | None]
    problems: Sequence[AuditProblem]
    source: Source | None = None
    sees_answer: bool = True
    name: str = "verifier"
    fingerprint: str = "verifier"

    def with_limit(self, wall_s: float) -> Verifier:
        """Itself: nothing here takes long."""
        return self

    def lines_of(self, query: Query) -> frozenset[int]:
        """None are known."""
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        """The scores, in order."""
        return [
            Score(self.verify(query.completion, query.problem.answer or "")) for query in queries
        ]

    def prover(self, *, calls: int = 100_000) -> Prover:
        """A prover without a limit of time."""
        journal = ScoreJournal(self, None)
        return Prover(journal, TextOracle(), Budget(calls, math.inf), lambda *_: None)
