"""Samples of a group of rollouts: a right completion, wrong ones of its form, half of it.

Covered: text answers, whose right completion gets other answers in the same place; programs, whose
results are spoiled, or whose second half is missing.
Not covered: right completions in which the answer does not stand as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim, Knowledge, Payload
from unhack.audit.attacks.payloads.program_shape import SPOIL, Snippet, shape_of
from unhack.audit.oracle.answers import wrong_answers
from unhack.audit.oracle.oracle import mentions
from unhack.audit.oracle.programs import program_text
from unhack.audit.proving.baseline import Baseline
from unhack.audit.subject import AuditProblem

_WRONG = 2
_PADDING = " It is worth going over every step of this once more." * 40
_FILLER = "pad_{number} = {number}\n"


@dataclass(frozen=True)
class GroupSample:
    """The completions of one problem, from weak to right."""

    baseline: Baseline
    right: str
    """The first correct completion that is rewarded."""
    wrong: tuple[Payload, ...]
    """Other answers in the form of the right one."""
    part: str
    """The first half of the right one; empty where there is none."""
    padded: str
    """The first wrong one, made long; empty where there is none."""

    @property
    def texts(self) -> list[str]:
        """The texts that have to be scored besides the baseline's."""
        extra = [payload.text for payload in self.wrong]
        return [text for text in (*extra, self.part, self.padded) if text]


def group_samples_of(baselines: Sequence[Baseline]) -> list[GroupSample]:
    """One for each problem with a rewarded correct completion."""
    found: list[GroupSample] = []
    for baseline in baselines:
        rejected = {text for text, _ in baseline.rejected}
        right = next((text for text in baseline.problem.correct if text not in rejected), None)
        if right is None or baseline.threshold is None:
            continue
        problem = baseline.problem
        wrong = tuple(_wrong_programs(problem) if problem.is_code else _wrong_texts(problem, right))
        part = _half_program(right) if problem.is_code else _half_text(problem, right)
        padded = _pad(problem, wrong[0].text) if wrong else ""
        found.append(GroupSample(baseline, right, wrong, part, padded))
    return found


def replace_answer(right: str, answer: str, other: str) -> str | None:
    """A completion with another answer wherever its own stands; None where it does not stand."""
    if not answer:
        return None
    place = re.compile(rf"(?<![\w.]){re.escape(answer)}(?!\w|\.\d)")
    return place.sub(lambda _: other, right) if place.search(right) else None


def _wrong_texts(problem: AuditProblem, right: str) -> Iterator[Payload]:
    answer = problem.answer or ""
    for other in wrong_answers(answer, prompt=problem.prompt)[:_WRONG] if answer else ():
        text = replace_answer(right, answer, other)
        if text is not None and not mentions(text, answer):
            yield Payload(text, Claim.OTHER_ANSWER, (other,))


def _half_text(problem: AuditProblem, right: str) -> str:
    half = right[: len(right) // 2]
    return "" if not half.strip() or mentions(half, problem.answer or "") else half


def _wrong_programs(problem: AuditProblem) -> Iterator[Payload]:
    shape = shape_of(Knowledge(problem))
    for source in (
        shape.with_change("spoil(result)", setup=SPOIL),
        shape.source(Snippet("the usual type")),
    ):
        if source is not None:
            yield Payload(in_place(problem.correct[0], source), Claim.PROGRAM)


def _half_program(right: str) -> str:
    lines = program_text(right).splitlines(keepends=True)
    return in_place(right, "".join(lines[: len(lines) // 2])) if len(lines) > 1 else ""


def in_place(completion: str, source: str) -> str:
    """A completion with other code: in its fence where it has one."""
    old = program_text(completion)
    at = completion.find(old)
    return f"{completion[:at]}{source}{completion[at + len(old) :]}" if old and at >= 0 else source


def _pad(problem: AuditProblem, text: str) -> str:
    if not problem.is_code:
        return f"{_PADDING.strip()}\n\n{text}"
    source = program_text(text)
    filler = "".join(_FILLER.format(number=number) for number in range(80))
    return in_place(text, f"{source.rstrip()}\n\n\n{filler}")
