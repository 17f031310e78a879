r"""Compare the final answer of a text with the secret answer of its problem.

| check | passes when the final answer |
|---|---|
| `exact` | is the same text, whitespace runs counted as one space, Unicode composed (NFC) |
| `numeric` | is a numeral (see `numerals`) of exactly the gold value, or within a tolerance |
| `choice` | is one of the letters and nothing else: `B`, `(B)`, `B.`, `\text{B}` |
| `regex` | is matched, all of it, by the pattern that is the problem's answer |
| `math` | equals the gold expression (see `equivalence`) |

The final answer is the last marked one (see `answers`). By default all marked answers of a text
must agree, so that listing candidates earns nothing. A text without a marked answer never passes.

Covered: nothing in a completion is evaluated, and no process that reads it holds anything but text,
so verdicts carry `Seal.TEXT`. `exact`, `numeric` and `choice` run in the caller's process in time
linear in the text, on bounded numbers; `regex` and `math` run in judges' workers with limits, and a
limit that is hit scores 0. A reason never holds the gold answer.
Not covered: gold answers that are easy to guess; reasoning that contradicts the final answer.
"""

from __future__ import annotations

import importlib.util
import math
import re
import unicodedata
from collections.abc import Generator, Hashable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Any, TypeVar

from unhack.core.errors import NotInstalledError, TaskError, UnknownNameError
from unhack.core.lines import without_end
from unhack.core.problem import Problem
from unhack.core.verdict import CaseResult, Seal, Status, Verdict
from unhack.sandbox.job import Job, Outcome
from unhack.sandbox.limits import Limits
from unhack.verifiers import jobs
from unhack.verifiers.answers.equivalence import judge_math, list_size, reading
from unhack.verifiers.answers.final_answer import (
    MAX_MARKED,
    Marked,
    Marker,
    joined_boxes,
    marked_answers,
    without_reasoning,
    write_answer,
)
from unhack.verifiers.answers.numerals import Percent, bare_math, narrow
from unhack.verifiers.answers.quantities import (
    PASSED,
    Judgement,
    Rules,
    fail,
    judge_quantities,
    read_quantity,
)
from unhack.verifiers.base import Steps, VerifierFault, invalid_verdict
from unhack.verifiers.jobs import bad_ending, printable, require_sandbox, usage_of

MAX_COMPLETION_CHARS = 500_000
MAX_ANSWER_CHARS = 10_000
_MAX_TEXTS = 16
"""Ways in which the marked answers of one text may write the same answer."""
_MAX_COMPOSED_CHARS = 500
"""Longest text that is brought into composed form; that may take quadratic time."""


class AnswerCheck(StrEnum):
    """The comparison of the final answer and the gold answer."""

    EXACT = "exact"
    NUMERIC = "numeric"
    CHOICE = "choice"
    REGEX = "regex"
    MATH = "math"


class Several(StrEnum):
    """The treatment of a text with several marked answers."""

    AGREE = "agree"
    """All must say the same, or the text fails."""
    LAST = "last"
    """The last one counts, whatever the others say."""


_Name = TypeVar("_Name", bound=StrEnum)
_Judging = Generator[list[Job], list[Outcome], Judgement]


@dataclass(frozen=True)
class TextVerifier:
    """Verifier of kind `text`. Raises TaskError, UnknownNameError for options that do not fit.

    Example:

        TextVerifier(AnswerCheck.MATH, after="</think>", units=("cm",))
    """

    kind = "text"
    check: AnswerCheck
    answer_in: tuple[Marker, ...] = (Marker.BOXED, Marker.HASHES)
    """Forms in which the final answer may stand."""
    else_in: tuple[Marker, ...] = ()
    """Forms that are looked for in a text without any of `answer_in`."""
    several: Several = Several.AGREE
    after: str = ""
    """Only what follows the last occurrence of this text is read, which must occur."""
    reasoning: bool = False
    """True where an answer within `<think>` … `</think>` counts (also `thinking`, `reasoning`)."""
    choices: tuple[str, ...] = tuple("ABCDEFGHIJ")
    """`choice`: what may be chosen, upper or lower case."""
    ignore_case: bool = False
    """`exact`: whether case is ignored."""
    units: tuple[str, ...] = ()
    """`numeric`, `math`: units that may stand beside the number and are ignored, `$` or `cm`; a
    number with any other unit is no number."""
    any_unit: bool = False
    """`numeric`, `math`: whether an answer may name a unit where the gold answer has none, as in
    data sets whose golds have lost theirs; one that the problem's prompt does not ask for is wrong,
    `5 minutes` where it asks for hours."""
    percent: Percent = Percent.FRACTION
    """`numeric`, `math`: what a percent sign means."""
    rel_tol: float = 0.0
    """`numeric`, `math`: tolerance relative to the gold value; 0 compares exactly."""
    abs_tol: float = 0.0
    evaluated: bool = True
    """`numeric`, `math`: whether the answer must be in evaluated form (see `equivalence`)."""
    limits: Limits = Limits(wall_s=5.0, cpu_s=5.0)
    """Of each job of `regex` and `math`."""

    def __post_init__(self) -> None:
        self._set("check", _member(AnswerCheck, self.check, "text check"))
        self._set("several", _member(Several, self.several, "rule for several answers"))
        self._set("percent", _member(Percent, self.percent, "meaning of percent"))
        for name in ("answer_in", "else_in"):
            markers = (_member(Marker, item, "answer form") for item in getattr(self, name))
            self._set(name, tuple(markers))
        if not self.answer_in:
            raise TaskError("answer_in names no form; give at least one, such as boxed")
        for name in ("rel_tol", "abs_tol"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0):
                raise TaskError(f"{name} must be a finite number of at least 0, not {value!r}")
        if (self.rel_tol or self.abs_tol) and self.check not in {
            AnswerCheck.NUMERIC,
            AnswerCheck.MATH,
        }:
            raise TaskError(f"rel_tol and abs_tol have no meaning for the check {self.check}")
        if not self.choices or not all(item.strip() for item in self.choices):
            raise TaskError("choices must be a list of texts that are not blank")
        if self.check is AnswerCheck.MATH:
            require_math_verify()

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @cached_property
    def _rules(self) -> Rules:
        return Rules(
            self.percent, self.units, self.rel_tol, self.abs_tol, self.evaluated, self.any_unit
        )

    def require_answer(self, problem: Problem) -> str:
        """The problem's answer, stripped. Raises TaskError when this check cannot use it."""
        gold = (problem.answer or "").strip()
        if not gold:
            raise TaskError(f"problem {problem.id} has no answer to compare with")
        if self.check is AnswerCheck.NUMERIC and read_quantity(gold, self._rules) is None:
            raise TaskError(f"problem {problem.id}: its answer {gold[:80]!r} is not a number")
        if self.check is AnswerCheck.CHOICE and self._read_choice(gold) is None:
            names = ", ".join(self.choices)
            raise TaskError(f"problem {problem.id}: its answer {gold[:80]!r} is not one of {names}")
        if self.check is AnswerCheck.REGEX:
            try:
                re.compile(gold)
            except (re.error, RecursionError, OverflowError) as error:
                raise TaskError(
                    f"problem {problem.id}: its pattern does not compile: {error}"
                ) from None
        return gold

    def verify(self, problem: Problem, completion: str) -> Steps:
        """Judge one completion; `problem.answer` must be given."""
        try:
            gold = self.require_answer(problem)
        except TaskError as error:
            raise VerifierFault(str(error)) from None
        final = self._final_answer(completion, gold)
        if isinstance(final, Verdict):
            return final
        rules = replace(self._rules, question=problem.prompt) if self.any_unit else self._rules
        judgement = yield from self._judge(gold, final.text, rules)
        passed = judgement.status is Status.PASSED
        outcomes = judgement.outcomes
        return Verdict(
            judgement.status,
            float(passed),
            judgement.reason,
            (CaseResult(passed, judgement.reason, output=printable(final.text)),),
            usage_of(*outcomes),
            Seal.TEXT,
            outcomes[-1].isolation.value if outcomes else "none",
        )

    def canary(self) -> str:
        """A text whose final answer is a number, or the first choice."""
        answer = self.choices[0] if self.check is AnswerCheck.CHOICE else "0"
        return f"{self.after}\n{write_answer(answer, self.answer_in[0])}"

    def _final_answer(self, completion: str, gold: str) -> Marked | Verdict:
        """The answer to be judged, or the verdict on a text that has none."""
        if len(completion) > MAX_COMPLETION_CHARS:
            return _invalid_verdict(f"the text is longer than {MAX_COMPLETION_CHARS} characters")
        if self.after:
            _, found, completion = completion.rpartition(self.after)
            if not found:
                return _invalid_verdict(f"the text holds no {self.after!r}")
        elif not self.reasoning:
            completion = without_reasoning(completion)
        completion = without_end(completion)
        marked = marked_answers(completion, self.answer_in)
        if not marked:
            marked = marked_answers(completion, self.else_in)
        if not marked:
            forms = " or ".join((*self.answer_in, *self.else_in))
            return _invalid_verdict(f"no final answer in the form {forms}")
        if len(marked) > MAX_MARKED:
            return _failed_verdict(f"more than {MAX_MARKED} marked answers")
        final = marked[-1]
        if len(final.text) > MAX_ANSWER_CHARS:
            return _failed_verdict(f"the answer is longer than {MAX_ANSWER_CHARS} characters")
        if self.several is Several.AGREE and len(marked) > 1:
            size = list_size(gold, self._rules) if self.check is AnswerCheck.MATH else 0
            boxes = [item.text for item in marked if item.marker is Marker.BOXED]
            if len(marked) == len(boxes) == size != list_size(final.text, self._rules):
                return replace(final, text=", ".join(boxes))  # with words between them
            texts = {item.text for item in marked}
            if len(texts) > _MAX_TEXTS or len({self._reading(text) for text in texts}) > 1:
                joined, start = joined_boxes(completion, marked[-_MAX_TEXTS:])
                if self.check is AnswerCheck.MATH and start == marked[0].start:
                    return replace(final, text=joined)  # a list, a member in each box
                return _failed_verdict(f"{len(marked)} marked answers that do not agree")
        return final

    def _reading(self, text: str) -> Hashable:
        """The reading of a marked answer, for comparing those of one text with each other."""
        if self.check is AnswerCheck.NUMERIC or self.check is AnswerCheck.MATH:
            return reading(text, self._rules)
        if self.check is AnswerCheck.CHOICE:
            return self._read_choice(text) or text
        return self._plain(text)

    def _judge(self, gold: str, answer: str, rules: Rules) -> _Judging:
        if self.check is AnswerCheck.REGEX:
            return (yield from self._judge_regex(gold, answer))
        if self.check is AnswerCheck.MATH:
            return (yield from judge_math(gold, answer, rules=rules, limits=self.limits))
        if self.check is AnswerCheck.NUMERIC:
            wanted, given = read_quantity(gold, rules), read_quantity(answer, rules)
            return judge_quantities(wanted, given, rules)
        if self.check is AnswerCheck.CHOICE:
            chosen = self._read_choice(answer)
            if chosen is None:
                return fail("the answer is not one of the choices and nothing else")
            return PASSED if chosen == self._read_choice(gold) else fail("wrong answer")
        return PASSED if self._plain(gold) == self._plain(answer) else fail("wrong answer")

    def _judge_regex(self, pattern: str, text: str) -> _Judging:
        fields = {"pattern": pattern, "text": text}
        [outcome] = yield [jobs.judge("regex", fields, limits=self.limits)]
        require_sandbox(outcome)
        for line in jobs.result_lines(outcome.result):
            if line[:2] == [None, "matched"]:
                status = Status.PASSED if line[2] is True else Status.FAILED
                reason = "" if line[2] is True else "the answer does not match"
                return Judgement(status, reason, (outcome,))
            raise VerifierFault(f"regex: {str(line[-1])[:300]}")
        bad = bad_ending(outcome)
        if bad is None:
            raise VerifierFault("regex: no result")
        return Judgement(bad[0], f"matching the answer: {bad[1]}", (outcome,))

    def _read_choice(self, text: str) -> str | None:
        """The one choice that `text` is, in its own spelling."""
        letter = _bare_choice(text)
        named = next((item for item in self.choices if _same(item, letter)), None)
        match = None if named else _WITH_TEXT.fullmatch(text[: _MAX_CHOICE_CHARS + 1])
        if match is None or len(text) > _MAX_CHOICE_CHARS or _OTHER_CHOICE.search(match["text"]):
            return named
        letter = match["letter"] or match["bare"]
        return next((item for item in self.choices if _same(item, letter)), None)

    def _plain(self, text: str) -> str:
        text = " ".join(text.split())
        if len(text) <= _MAX_COMPOSED_CHARS:
            text = unicodedata.normalize("NFC", text)
        return text.casefold() if self.ignore_case else text


_WRAPPED = re.compile(r"\\(?:text|textbf|textrm|mathrm|mathbf)\{([^{}]*)\}")
_LETTER = re.compile(r"\((.*)\)|\[(.*)\]|(.*?)[).:]?", re.DOTALL)
_WITH_TEXT = re.compile(
    r"\s*(?:\*\*|\\text(?:bf|rm)?\{|\$)?(?:\((?P<letter>[^()\s]{1,9})\)|(?P<bare>[^()\s.:]{1,9})[).:](?=\D))"
    r"\}?(?P<text>.+)",
    re.DOTALL,
)
"""A choice with its text: `(B) Paris`, `B. Paris`."""
_OTHER_CHOICE = re.compile(r"\([A-Z]\)|\b[A-Z][).:]|\b[B-HJ]\b|(?<=\S)\s{1,9}A\b")
"""Marks that a text may not hold beside its letter, so that a list of choices is none."""
_MAX_CHOICE_CHARS = 200


def _bare_choice(text: str) -> str:
    r"""`B` for `(B)`, `B.`, `**B**`, `\text{(B)}`; one layer of each."""
    if len(text) > _MAX_CHOICE_CHARS:
        return text
    text = bare_math(narrow(text)).strip("*").strip()
    wrapped = _WRAPPED.fullmatch(text)
    text = (wrapped[1] if wrapped else text).strip()
    match = _LETTER.fullmatch(text)
    inner = next((part for part in match.groups() if part is not None), text) if match else text
    return inner.strip()


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


def _member(kind: type[_Name], value: str, what: str) -> _Name:
    try:
        return kind(value)
    except ValueError:
        raise UnknownNameError(what, str(value), valid=[item.value for item in kind]) from None


def _invalid_verdict(reason: str) -> Verdict:
    return invalid_verdict(reason, seal=Seal.TEXT)


def _failed_verdict(reason: str) -> Verdict:
    return Verdict(Status.FAILED, 0.0, reason, seal=Seal.TEXT)


def require_math_verify() -> None:
    """Check that math-verify is installed. Raises TaskError with the command that installs it."""
    for name in ("math_verify", "latex2sympy2_extended", "antlr4"):
        if importlib.util.find_spec(name) is None:
            words = f"the check math needs the package {name}, which is not installed: "
            words += 'pip install ".[math]" in a checkout of unhack'
            raise TaskError(words) from NotInstalledError(name)
