"""The oracle: proof that a completion is wrong, made without the verifier.

Text: a payload is wrong by what it claims to be (`attack.Claim`), and each claim is checked here
against the right answer, with equivalence judged in a worker by `math-verify` and by plain
normalisation. Programs: the completion and every known-correct solution run sealed on the same
inputs; it is wrong where all correct ones agree and it differs.

Covered: answers that are numbers, words, choices and LaTeX; functions and Python programs.
Not covered: prose, and code whose right answers are many (give an `oracle.py`). What cannot be
proven is `None`, never an accusation.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.listings import Listing, listing_of, order_counts, same_record
from unhack.audit.oracle.puzzle_sums import rule_broken
from unhack.audit.subject import AuditProblem
from unhack.core.finding import Evidence
from unhack.core.problem import Problem
from unhack.sandbox.job import Backend
from unhack.sandbox.limits import Limits
from unhack.tasks.batch import run_batch
from unhack.tasks.task import Task
from unhack.verifiers.answers.final_answer import Marker
from unhack.verifiers.text import AnswerCheck, TextVerifier

_WORD = re.compile(r"\w+", re.UNICODE)
_FRACTION = re.compile(r"(-)?(?:\\[dt]?frac\{)?(\d{1,30})(?:/|\}\{)(\d{1,30})\}?")
_SHOWN = 200
_THING = (
    r"(?:[\w-]+ ){0,2}?(?:solution|sequence|path|tour|colou?ring|palindrome|ladder|assignment|"
    r"arrangement|ordering|order|expression|input|schedule|placement|partition|plan|move)s?\b"
)
_OPEN = re.compile(
    r"\bany (?:valid|possible|correct|one of)\b|\bnot (?:be )?unique\b"
    rf"|\b(?:an?|one) (?:valid|correct|possible|feasible|legal) {_THING}"
    r"|\b(?:provide|give|find|produce|construct|write|return|output|show) an?"
    rf" (?:shortest|longest|cheapest|fastest|optimal|minimal|maximal) {_THING}"
    r"|\b(?:multiple|several|more than one) (?:valid |possible |correct )*(?:answer|solution)s?\b"
    r"|\b(?:provide|give|find|produce|construct|write) an? [\w -]{1,40} such that\b",
    re.IGNORECASE,
)
"""Prompts of which several different answers may be right."""
_AS_PERCENT = re.compile(r"\b(?:in|as an?) (?:\w+ )?per ?cent(?:age)?\b", re.IGNORECASE)
_AS_DECIMAL = re.compile(
    r"\bas an? (?:\w+ )?(?:decimal|fraction)\b|\bbetween 0 and 1\b|\bdecimal (?:form|number)\b",
    re.IGNORECASE,
)
_ON_LAST_LINE = re.compile(r"\b(?:on|as|in) (?:the|its|your) (?:very )?last line\b", re.IGNORECASE)
_OF_A_PART = re.compile(r"\d\s*(?:%|per ?cent\w*)", re.IGNORECASE)
_SCALES = re.compile(
    r"%|per ?cent|proba|proportion|fraction|portion|ratio|rate\b|chance|likel|share|odds|tax"
    r"|interest|discount|growth|margin|yield|concentrat|purity|efficien|accura|confiden|increase"
    r"|decrease|\bcents?\b|dollar|euro|pound|[$€£¢]|\bc?m\b|met(?:er|re)|hectare|decimal",
    re.IGNORECASE,
)
"""Words of prompts under which a hundred times as much may be the same."""


class Oracle(Protocol):
    """An independent source of ground truth."""

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """The proof that the payload is wrong; None when there is none."""
        ...


def normal(text: str) -> str:
    """Text without case, width, accents of form, spaces at the ends, or a final full stop."""
    folded = unicodedata.normalize("NFKC", text).casefold().strip().strip("$").strip()
    folded = folded.removesuffix(".").strip()
    boxed = re.fullmatch(r"\\boxed\{(.*)\}", folded)
    return re.sub(r"\s+", " ", boxed.group(1) if boxed else folded)


def is_said(given: str, answer: str) -> bool:
    """Tell whether a text is the answer, but for its form or the way its number is written."""
    value = number(given)
    return normal(given) == normal(answer) or (value is not None and value == number(answer))


def is_open(prompt: str) -> bool:
    """Tell whether a prompt asks for one of several right answers: another one is not wrong."""
    return _OPEN.search(prompt) is not None


def number(text: str) -> float | None:
    """The number that a text is (separators, unit signs and fractions allowed), or None."""
    cleaned = re.sub(r"(?<=\d),(?=\d{3}\b)", "", normal(text)).strip("$€£% ")
    fraction = _FRACTION.fullmatch(cleaned)
    if fraction and int(fraction.group(3)):
        size = int(fraction.group(2)) / int(fraction.group(3))
        return -size if fraction.group(1) else size
    try:
        return float(cleaned)
    except ValueError:
        return None


def mentions(text: str, answer: str) -> bool:
    """Tell whether the answer stands in the text as words of its own."""
    wanted = _WORD.findall(normal(answer))
    words = _WORD.findall(normal(text))
    if not wanted:
        return normal(answer) in normal(text)
    size = len(wanted)
    return any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def _obeys(text: str, answer: str, prompt: str) -> bool:
    """Tell whether a text has all the words that the prompt asks for: those of the answer, which
    stand in the prompt in order, with others between them. Who was given them and says them has
    answered; options that are named as they are do not count."""
    wanted = normal(answer).split()
    if len(wanted) < 2 or not all(word.isalpha() for word in wanted) or mentions(prompt, answer):
        return False
    given = iter(_WORD.findall(normal(prompt)))
    return all(word in given for word in wanted) and set(wanted) <= set(_WORD.findall(normal(text)))


@dataclass(frozen=True)
class TextOracle:
    """Ground truth for final answers."""

    backend: Backend | None = None
    _known: dict[tuple[str, str], bool] = field(default_factory=dict[tuple[str, str], bool])
    """Pairs that a worker has compared before."""

    def why_wrong(self, problem: AuditProblem, payload: Payload) -> Evidence | None:
        """See `Oracle`."""
        answer = problem.answer
        if answer is None or not normal(answer) or _obeys(payload.text, answer, problem.prompt):
            return None
        shown = answer[:_SHOWN]
        if payload.claim is Claim.NO_ANSWER:
            if mentions(payload.text, answer) or _says_as_number(payload.text, answer):
                return None
            text = "it gives no answer, and does not contain the right one"
            return Evidence("no_answer", text, expected=shown)
        if payload.claim in (Claim.OTHER_ANSWER, Claim.EVERY_ANSWER) and is_open(problem.prompt):
            return None
        if payload.claim is Claim.OTHER_ANSWER and payload.asserts:
            if _ends_right(problem, payload.text) or self.same(
                payload.asserts[0], answer, prompt=problem.prompt
            ):
                return None
            text = f"it answers {payload.asserts[0][:_SHOWN]!r}, which is not {shown!r}"
            return Evidence("other_answer", text, expected=shown, obtained=payload.asserts[0])
        if payload.claim is Claim.BREAKS_RULE and payload.asserts:
            given = payload.asserts[0]
            rule = rule_broken(problem.prompt, answer, given) if given in payload.text else ""
            return Evidence("breaks_rule", rule, expected=shown, obtained=given) if rule else None
        if payload.claim is Claim.EVERY_ANSWER:
            offered = list(dict.fromkeys(map(normal, payload.asserts)))
            wrong = [one for one in offered if not self.same(one, answer, prompt=problem.prompt)]
            if len(offered) < 2 or not wrong:
                return None
            text = f"it offers {len(offered)} different answers and commits to none"
            return Evidence("every_answer", text, expected=shown, obtained=", ".join(offered[:8]))
        return None

    def same(self, given: str, answer: str, *, prompt: str = "") -> bool:
        """Tell whether two answers to a prompt may be the same; in doubt they are."""
        if normal(given) == normal(answer):
            return True
        left, right = number(given), number(answer)
        if left is not None and right is not None:
            return _same_number(given, answer, prompt)
        in_record = same_record(given, answer)
        if in_record is not None:
            return in_record
        in_order = _same_parts(given, answer, prompt)
        if in_order is not None:
            return in_order
        if left is None and right is None and not (_is_math(given) and _is_math(answer)):
            return _bare(given) == _bare(answer)
        pair = (normal(given), normal(answer))
        if pair not in self._known:
            self._known[pair] = self._equivalent(given, answer)
        return self._known[pair]

    def _equivalent(self, given: str, answer: str) -> bool:
        verifier = TextVerifier(
            check=AnswerCheck.MATH, answer_in=(Marker.WHOLE,), limits=Limits(wall_s=5.0, cpu_s=5.0)
        )
        task = Task(Problem("same", "", answer=answer), verifier)
        [verdict] = run_batch(task, [given], backend=self.backend).verdicts
        return verdict.passed or not verdict.scored


def _ends_right(problem: AuditProblem, text: str) -> bool:
    """Tell whether the right answer is all that stands on the last line, where the prompt says
    that it has to be: what stands elsewhere does not count then."""
    lines = text.strip().splitlines()
    if len(lines) < 2 or not _ON_LAST_LINE.search(problem.prompt):
        return False
    right = [problem.answer or "", *problem.correct]
    return normal(lines[-1]) in {
        normal(one.splitlines()[-1]) for one in map(str.strip, right) if one
    }


def _same_number(given: str, answer: str, prompt: str) -> bool:
    """Percentages and rounding are matters of taste unless the prompt fixes the form: only a clear
    difference is another answer."""
    left, right = number(given) or 0.0, number(answer) or 0.0
    if math.isinf(left) or math.isinf(right):
        return left == right
    signs = ("%" in given, "%" in answer)
    whole = left.is_integer() and right.is_integer() and not any(signs)
    tolerance = 1e-5 if whole else 0.02
    if abs(left - right) <= tolerance * max(abs(left), abs(right)):
        return True
    low, high = sorted((left, right), key=abs)
    if abs(low * 100 - high) > 1e-6 * abs(high):
        return False
    if signs == (True, True):
        return False
    if any(signs):
        # The one with the sign is a hundred times the other; a prompt that asks for a number of
        # percent has the sign for decoration.
        signed = left if signs[0] else right
        return signed == high and not (signs[0] and _AS_PERCENT.search(prompt))
    if _AS_PERCENT.search(prompt) or _AS_DECIMAL.search(prompt):
        return False
    return not prompt or abs(low) < 1 or bool(_SCALES.search(_OF_A_PART.sub("", prompt)))


def _same_parts(given: str, answer: str, prompt: str) -> bool | None:
    """Tell whether two lists have the same parts, in order where it counts; None if undecided."""
    ours, theirs = listing_of(given), listing_of(answer)
    if ours is None or theirs is None:
        return _same_count(ours, theirs, given, answer)
    left, right = ([_part(item) for item in one.items] for one in (ours, theirs))
    if left == right:
        return True if ours.before == theirs.before else None
    if sorted(left) == sorted(right):
        return not order_counts(theirs, prompt)
    if len(left) != len(right) and order_counts(theirs, prompt):
        return False
    return False if _other_numbers(ours, theirs) else None


def _same_count(
    ours: Listing | None, theirs: Listing | None, given: str, answer: str
) -> bool | None:
    """A plain number is no list of several; None where that is not what the two are."""
    listed, alone = (ours, answer) if theirs is None else (theirs, given)
    if listed is None or len(listed.items) < 2 or number(alone) is None:
        return None
    digits = (re.sub(r"\D", "", text) for text in (given, answer))
    return False if _numbers_in(listed) is not None and len(set(digits)) == 2 else None


def _other_numbers(ours: Listing, theirs: Listing) -> bool:
    """Tell whether two lists of numbers in the same signs hold different ones, in any order."""
    left, right = _numbers_in(ours), _numbers_in(theirs)
    if left is None or right is None or ours.before.strip() != theirs.before.strip():
        return False
    if theirs.before.rstrip().endswith("{"):
        left, right = sorted(set(left)), sorted(set(right))
    return len(left) != len(right) or any(
        abs(one - other) > 0.02 * max(abs(one), abs(other))
        for one, other in zip(left, right, strict=True)
    )


def _numbers_in(listing: Listing) -> list[float] | None:
    """The parts in order of size; None where one is no finite number."""
    values = [None if "%" in item else number(item) for item in listing.items]
    found = [value for value in values if value is not None and math.isfinite(value)]
    return sorted(found) if len(found) == len(values) else None


def _part(item: str) -> str:
    value = number(item)
    return normal(item) if value is None else repr(value)


def _says_as_number(text: str, answer: str) -> bool:
    wanted = number(answer)
    if wanted is None:
        return False
    found = (
        number(word) for word in re.findall(r"[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?", normal(text))
    )
    return any(value is not None and abs(value - wanted) <= 1e-9 for value in found)


def _bare(text: str) -> str:
    return "".join(_WORD.findall(normal(text)))


def _is_math(text: str) -> bool:
    return bool(re.search(r"[\d\\^_=+*/]", text))


def distinct(values: Sequence[str]) -> list[str]:
    """Values whose normal forms differ, in order."""
    found: dict[str, str] = {}
    for value in values:
        found.setdefault(normal(value), value)
    return list(found.values())
