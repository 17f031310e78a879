"""What else a verifier should do: take right answers in other clothes, and tell good from bad.

Covered: variants that keep the meaning of a correct completion for certain (space at the ends, line
ends; comments, layout and an unused function of a program); whether scores differ at all.
Not covered: other forms of an answer (`1/2` for `0.5`), which a prompt may forbid.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from unhack.audit.baseline import Baseline
from unhack.audit.hunt import Budget
from unhack.audit.journal import Journal
from unhack.audit.programs import program_text
from unhack.audit.report import Area, Check
from unhack.audit.subject import AuditProblem, Score, Shot

_MOST_PROBLEMS = 6
_UNUSED = "\n\ndef _unused_helper(value):\n    return value\n"


def checks(
    journal: Journal, marks: Sequence[Baseline], *, thorough: bool, budget: Budget
) -> list[Check]:
    """The checks that the budget still allows."""
    chosen = marks if thorough else marks[:_MOST_PROBLEMS]
    shots = [
        (mark, name, Shot(mark.problem, text))
        for mark in chosen
        for name, text in variants(mark.problem)
    ]
    if not shots or budget.spent:
        return []
    scores = journal.score([shot for _, _, shot in shots])
    budget.calls -= len(shots)
    return [_completeness(shots, scores), _signal(chosen, shots, scores)]


def variants(problem: AuditProblem) -> Iterator[tuple[str, str]]:
    """(name, text) of completions that mean what the first correct one means."""
    if not problem.correct:
        return
    text = problem.correct[0]
    if not problem.is_code:
        yield "a newline at the end", f"{text}\n"
        yield "spaces at the end", f"{text}  "
        yield "an empty line before it", f"\n{text}"
        if "\n" in text:
            yield "other line ends", text.replace("\n", "\r\n")
        return
    source = program_text(text)
    yield "a comment before it", f"# a solution\n{source}"
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError):
        return
    yield "another layout", f"{ast.unparse(tree)}\n"
    yield "an unused function", f"{source.rstrip()}{_UNUSED}"


def _completeness(shots: Sequence[tuple[Baseline, str, Shot]], scores: Sequence[Score]) -> Check:
    rejected = [
        (name, shot)
        for (mark, name, shot), score in zip(shots, scores, strict=True)
        if mark.threshold is not None and not score.at_least(mark.threshold)
    ]
    text = f"{len(shots) - len(rejected)} of {len(shots)} variants of correct completions pass"
    witness = ""
    if rejected:
        name, shot = rejected[0]
        text += f"; not with {name}"
        witness = shot.completion
    return Check(Area.COMPLETENESS, "the same in other clothes", not rejected, text, witness)


def _signal(
    marks: Sequence[Baseline],
    shots: Sequence[tuple[Baseline, str, Shot]],
    scores: Sequence[Score],
) -> Check:
    told_apart = 0
    for mark in marks:
        right = [
            score.value
            for (of, _, _), score in zip(shots, scores, strict=True)
            if of is mark and score.value is not None
        ]
        told_apart += bool(right) and max(right) > mark.null
    text = f"in {told_apart} of {len(marks)} problems a right completion scores more than none"
    return Check(Area.SIGNAL, "right and empty differ", told_apart == len(marks), text)
