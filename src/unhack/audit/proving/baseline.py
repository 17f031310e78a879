"""Scores of right and empty completions, and the threshold of passing that follows.

A completion passes when it scores at least as much as the lowest-scoring correct one. Correct
completions that the verifier plainly rejects do not lower that mark: they are reported as a lack of
completeness.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.report.report import Area, AuditCheck
from unhack.audit.subject import AuditProblem, Query, Score

_NULL_TEXTS = ("", "I do not know.", "...")
_NULL_CODE = ("", "pass\n", "x = 1\n")


@dataclass(frozen=True)
class Baseline:
    """The scores of right and empty completions of one problem."""

    problem: AuditProblem
    threshold: float | None
    """The score from which a completion passes; None where no correct one is rewarded."""
    null: float
    """The highest score of an empty completion; 0 where it gets none."""
    rejected: tuple[tuple[str, Score], ...]
    """Correct completions below the threshold."""
    unsteady: str = ""
    """A completion that was scored differently the second time."""
    scores: Mapping[str, Score] = field(default_factory=dict[str, Score])
    """The first score of each correct and each empty completion, by its text."""


def measure_baselines(journal: ScoreJournal, problems: Sequence[AuditProblem]) -> list[Baseline]:
    """Score every correct and empty completion twice, the second time in the other order."""
    queries = [Query(problem, text) for problem in problems for text in _texts(problem)]
    first = journal.score(queries)
    second = journal.score(queries[::-1])[::-1]
    found: list[Baseline] = []
    at = 0
    for problem in problems:
        count = len(_texts(problem))
        found.append(_baseline(problem, first[at : at + count], second[at : at + count]))
        at += count
    return found


def _texts(problem: AuditProblem) -> tuple[str, ...]:
    return (*problem.correct, *(_NULL_CODE if problem.is_code else _NULL_TEXTS))


def _baseline(problem: AuditProblem, first: Sequence[Score], second: Sequence[Score]) -> Baseline:
    texts = _texts(problem)
    count = len(problem.correct)
    null = max(0.0, *(_value(score) for score in first[count:]))
    right = [_value(score) for score in first[:count]]
    best = max(right, default=-math.inf)
    threshold = None
    if best > 0.0:
        # Half-way between nothing and the best: below that a correct one was rejected.
        middle = min(null + (best - null) / 2, best)
        threshold = min(value for value in right if value >= middle)
    rejected = tuple(
        (text, score)
        for text, score in zip(problem.correct, first, strict=False)
        if threshold is None or not score.at_least(threshold)
    )
    unsteady = next(
        (
            text
            for text, one, two in zip(texts, first, second, strict=True)
            if repr(one.value) != repr(two.value)
        ),
        None,
    )
    note = "" if unsteady is None else unsteady or "(the empty completion)"
    scores = dict(zip(texts, first, strict=True))
    return Baseline(problem, threshold, null, rejected, note, scores)


def _value(score: Score) -> float:
    """The score as a number; what has none, or NaN, is below everything."""
    if score.value is None or math.isnan(score.value):
        return -math.inf
    return score.value


def baseline_checks(baselines: Sequence[Baseline]) -> list[AuditCheck]:
    """Completeness, determinism and signal, as far as the baseline shows them."""
    total = sum(len(baseline.problem.correct) for baseline in baselines)
    rejected = [(baseline.problem, *pair) for baseline in baselines for pair in baseline.rejected]
    text = f"{total - len(rejected)} of {total} correct completions pass"
    witness = ""
    if rejected:
        problem, witness, score = rejected[0]
        given = score.reason or score.trouble or f"score {score.value}"
        text += f"; problem {problem.id} rejects one: {given}"
    found = [
        AuditCheck(
            Area.COMPLETENESS,
            "correct completions pass",
            None if not total else not rejected,
            text if total else "no correct completions are known",
            witness,
        )
    ]
    unsteady = [baseline for baseline in baselines if baseline.unsteady]
    found.append(
        AuditCheck(
            Area.DETERMINISM,
            "the same score again, in another order",
            not unsteady,
            f"{len(baselines) - len(unsteady)} of {len(baselines)} problems gave the same scores",
            unsteady[0].unsteady if unsteady else "",
        )
    )
    floors = [baseline.null for baseline in baselines if baseline.threshold is not None]
    if floors:
        highest = max(floors)
        found.append(
            AuditCheck(
                Area.SIGNAL,
                "an empty completion gets nothing",
                highest <= 0.0,
                f"the most that an empty completion gets is {highest:g}",
            )
        )
    return found
