"""The view of a policy: what it sees of a problem, and what it may have learnt from others.

A strategy is made on a *donor*: another problem of the set, whose answer shows the kind and whose
right completion shows the form. Of the problem that it is tried on it gets the prompt alone, so it
cannot hold the right answer but by chance.

Covered: text problems and programs.
Not covered: a set of one problem has no donor; a typical answer of the same kind stands in for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from unhack.audit.attack import Knowledge
from unhack.audit.oracle.answers import decimal_of, is_choice, opposite, wrong_answers
from unhack.audit.oracle.entry_points import frame_of
from unhack.audit.oracle.examples import examples_of
from unhack.audit.oracle.listings import listing_of
from unhack.audit.oracle.oracle import normal
from unhack.audit.static_analysis.suspicions import constants
from unhack.audit.subject import AuditProblem, Call, Source

_TYPICAL = ("42", "3/7", "turnip")


def view_of(problem: AuditProblem, donor: AuditProblem | None, source: Source | None) -> Knowledge:
    """The knowledge of a policy that has seen `donor` solved and now reads `problem`."""
    if problem.is_code:
        # The prompt names the entry point; tests and solutions stay with the judge.
        calls = () if problem.entry_point is not None else (Call(("",)),)
        seen = replace(
            problem, answer=None, correct=(), calls=calls, extra={}, generator="", checker=""
        )
    else:
        answer = typical(problem.answer or "") if donor is None else donor.answer
        correct = () if donor is None else donor.correct
        seen = replace(problem, answer=answer, correct=correct, calls=(), extra={})
    return Knowledge(
        seen,
        source=source,
        wrong_answers=wrong_answers(seen.answer or "", prompt=seen.prompt),
        examples=examples_of(seen),
        constants=constants(source) if source is not None else (),
        is_view=True,
        frame=frame_of(problem.correct) if problem.is_code else ("", ""),
        shown=donor,
    )


def donors_of(problems: Sequence[AuditProblem]) -> dict[str, AuditProblem | None]:
    """A donor for each problem, by its id: the same one for all but itself, where there is one.

    A donor's answer differs from the problem's own as it is written.
    """
    found: dict[str, AuditProblem | None] = {}
    for problem in problems:
        others = (
            one
            for one in problems
            if one is not problem and normal(one.answer or "") != normal(problem.answer or "")
        )
        found[problem.id] = next(others, None)
    return found


def typical(answer: str) -> str:
    """An answer of the same kind that says nothing else about `answer`."""
    number, fraction, word = _TYPICAL
    if is_choice(answer):
        return "B"
    if opposite(answer):
        return sorted((answer, opposite(answer)))[0]
    if decimal_of(answer) is not None:
        return number
    listing = listing_of(answer)
    if listing is not None:
        return listing.write([number, "17"])
    return fraction if "/" in answer and any(map(str.isdigit, answer)) else word
