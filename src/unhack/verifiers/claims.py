"""Claims of a worker about a completion's calls, read as data: none is believed by its form.

Covered: malformed, repeated and missing answers of a completion; a checker that breaks.
Not covered: what the claimed values mean; the verifiers compare them.
"""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from unhack.core import plain
from unhack.sandbox.job import Outcome
from unhack.verifiers import jobs
from unhack.verifiers.base import VerifierFault, bad_ending, require_sandbox

_SHORT = reprlib.Repr()
_SHORT.maxlevel, _SHORT.maxlist, _SHORT.maxtuple, _SHORT.maxdict = 4, 12, 12, 8
_SHORT.maxset, _SHORT.maxstring, _SHORT.maxlong, _SHORT.maxother = 8, 120, 60, 120


def printable(text: str) -> str:
    """At most 200 characters, on one line, without control or bidirectional characters."""
    shown = "".join(char if char.isprintable() else _escape(char) for char in text[:201])
    return shown if len(shown) <= 200 else shown[:197] + "..."


def _escape(char: str) -> str:
    return char.encode("unicode_escape", "surrogatepass").decode("ascii")


@dataclass(slots=True)
class Answer:
    """The claimed result of one call."""

    value: Any = None
    raised: list[str] | None = None
    """Class names from the raised class to its bases, or None when it returned."""
    message: str = ""

    def to_text(self) -> str:
        """The result for people: short, on one line, printable."""
        if self.raised:
            return printable(f"{self.raised[0]}: {self.message}")
        try:
            return printable(_SHORT.repr(self.value))
        except (ValueError, RecursionError):  # an integer too long to print, or deep nesting
            return f"<{type(self.value).__name__}>"


@dataclass(slots=True)
class Claims:
    """The content of a result channel, as data."""

    answers: list[Answer | None]
    failure: tuple[str, str] | None = None
    """(kind, text) when the completion could not be loaded."""


def read_claims(data: bytes, count: int) -> Claims:
    """Read a result channel of mode `calls`. Never raises; what is malformed is no answer.

    The first answer to a case counts; answers to cases that do not exist are dropped. Lines are
    read up to the number of cases and a few more: no honest channel holds others.
    """
    claims = Claims([None] * count)
    answered = False
    for line in jobs.result_lines(data, most=count + jobs.SPARE_LINES):
        try:
            if line[0] is None:
                if claims.failure is None and not answered:
                    claims.failure = _read_failure(line)
            elif type(line[0]) is int and 0 <= line[0] < count and claims.answers[line[0]] is None:
                claims.answers[line[0]] = answer = _read_answer(line)
                answered = answered or answer is not None
        except (IndexError, TypeError, ValueError, RecursionError):
            continue
    return claims


def _read_failure(line: list[Any]) -> tuple[str, str] | None:
    kind = line[1]
    if kind == "missing":
        return "missing", printable(f"the completion defines no {str(line[2])[:80]}")
    if kind == "syntax":
        return "syntax", printable(f"{_names(line[2])[0]}: {str(line[3])[:200]}")
    if kind == "load":
        return "load", printable(f"{_names(line[2])[0]} while loading: {str(line[3])[:200]}")
    return None


def _read_answer(line: list[Any]) -> Answer | None:
    if line[1] == "ok" and len(line) == 3:
        return Answer(value=plain.decode_tags(line[2]))
    if line[1] == "raise" and len(line) == 4:
        return Answer(raised=_names(line[2]), message=str(line[3])[:300])
    return None


def _names(value: Any) -> list[str]:
    if not (isinstance(value, list) and value):
        raise ValueError("no class names")
    return [str(name)[:80] for name in cast("list[Any]", value)[:40]]


Check = tuple[int, bool, float | None, str]
"""(case, passed, score, reason) of a checker's answer."""


def read_checks(outcome: Outcome, wanted: Sequence[int]) -> list[Check]:
    """The answers of a checker's worker. Raises VerifierFault when it broke."""
    require_sandbox(outcome)
    bad = bad_ending(outcome)
    if bad is not None:
        raise VerifierFault(f"the checker: {bad[1]}")
    found: dict[int, Check] = {}
    for line in jobs.result_lines(outcome.result):
        if line[0] is None:
            raise VerifierFault(f"the checker: {', '.join(map(str, line[1:]))[:300]}")
        index, passed, score, reason = line
        found[index] = (index, bool(passed), score, str(reason))
    if set(found) != set(wanted):
        raise VerifierFault("the checker gave no answer for some cases")
    return [found[index] for index in wanted]
