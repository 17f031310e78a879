"""Equalities that the arithmetic checker does not read, decided by math-verify in a judge's worker.

    with pool() as backend:
        check_derivation(statement, text, answer="3", equality=MathEquality(backend))

Covered: roots of any degree, logarithms, sines, sums and the like between numbers, as LaTeX; the
text of a derivation meets a grammar in a sealed worker, never this process; equal equalities are
asked once.
Not covered: degrees; equations with unknowns, which stay unread; an equality of numbers that
math-verify cannot show is taken as wrong.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction

from unhack.core.verdict import Status
from unhack.sandbox.job import Backend, run_all
from unhack.sandbox.limits import Limits
from unhack.verifiers.answers.equivalence import Judgement, Rules, judge_math
from unhack.verifiers.base import VerifierFault
from unhack.verifiers.text import require_math_verify
from unhack_suites.derivations.reading.relations import numbers_of

Equality = Callable[[str, str], "bool | None"]
"""Takes two sides; None where it cannot tell."""
_LIMITS = Limits().with_(wall_s=20, cpu_s=20)
_RULES = Rules(evaluated=False, rel_tol=1e-9)
_KNOWN = {
    "log", "ln", "lg", "exp", "sin", "cos", "tan", "cot", "sqrt", "frac", "dfrac", "tfrac", "cdot",
    "times", "div", "left", "right", "pi", "sum", "prod", "binom", "min", "max", "gcd",
    "lcm", "lfloor", "rfloor", "lceil", "rceil", "arcsin", "arccos", "arctan", "operatorname",
    "infty", "lim", "quad", "displaystyle", "boxed", "text", "limits", "int", "pm",
}  # fmt: skip
_WORD = re.compile(r"[A-Za-z]+")
_SIGN = re.compile(r"(?<![<>!\\_{])=(?![^{]*})")
_MOST_SIDES, _MOST_CHARS = 6, 500


@dataclass
class MathEquality:
    """Equality by math-verify. Raises TaskError where `unhack[math]` is not installed.

    Example:

        equality = MathEquality(shared_pool())
        check_derivation(statement, text, answer="3", equality=equality)
    """

    backend: Backend
    _known: dict[tuple[str, str], bool | None] = field(
        default_factory=dict[tuple[str, str], "bool | None"], init=False, repr=False
    )

    def __post_init__(self) -> None:
        require_math_verify()

    def __call__(self, left: str, right: str) -> bool | None:
        """True or False where math-verify reads both sides, else None."""
        key = (left, right)
        if key not in self._known:
            self._known[key] = self._asked(left, right)
        return self._known[key]

    def _asked(self, left: str, right: str) -> bool | None:
        work = judge_math(left, right, rules=_RULES, limits=_LIMITS)
        try:
            asked = next(work)
            while True:
                asked = work.send(run_all(self.backend, asked))
        except StopIteration as ended:
            found: Judgement = ended.value
        except VerifierFault:
            return None  # the left side, which stands where a gold answer would, cannot be read
        if found.status is Status.PASSED:
            return True
        readable = found.status is Status.FAILED and "read" not in found.reason
        return False if readable else None


def sides_of(line: str) -> tuple[str, ...]:
    """The sides of a line that is nothing but a chain of equalities between numbers, as they stand;
    none for any other line."""
    text = re.sub(r"\\[\[\]()]|\$", " ", line).strip().rstrip(".").strip()
    if len(text) > _MOST_CHARS:
        return ()
    sides = tuple(part.strip() for part in _SIGN.split(text))
    words = set(_WORD.findall(text))
    if not 2 <= len(sides) <= _MOST_SIDES or not all(sides) or words - _KNOWN:
        return ()
    return sides


def chain_holds(sides: tuple[str, ...], equality: Equality) -> bool | None:
    """True where all neighbours are equal, False where some are not, None where none can tell."""
    found = [equality(one, other) for one, other in itertools.pairwise(sides)]
    if False in found:
        return False
    return None if None in found else True


def numbers_in(sides: tuple[str, ...]) -> list[list[Fraction]]:
    """The numbers of each side, with those behind a brace, a bracket or an underscore."""
    return [numbers_of(re.sub(r"[^\d.]+", " ", side)) for side in sides]
