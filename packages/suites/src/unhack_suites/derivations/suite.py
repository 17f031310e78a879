"""The suite `derivations`: problems with known derivations, drawn from a seed.

Covered: the same seed gives the same problems; a secret seed gives fresh ones at any time; ids hold
no seed.
Not covered: how a policy is asked; the statement is the prompt.
"""

from __future__ import annotations

import functools
import hashlib
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.hashing import content_hash
from unhack_suites.derivations.checker import check_derivation
from unhack_suites.derivations.kinds import KINDS
from unhack_suites.derivations.report import DerivationReport
from unhack_suites.derivations.undecided import Equality

_EQUATION = re.compile(r"[-\d(x-z][-\d()x-z^+* ]*=[-\d()x-z^+* ]*\d")
COUNT = 72
"""Problems of the built-in suite: six of each kind."""


@dataclass(frozen=True, slots=True)
class DerivationProblem:
    """A problem to be solved in lines that can be checked."""

    id: str
    """`derivations/KIND/HASH`."""
    kind: str
    statement: str
    reference: tuple[str, ...]
    """Lines of a right derivation; secret."""
    answer: str
    """Secret."""

    def check(self, text: str, *, equality: Equality | None = None) -> DerivationReport:
        """The derivation line by line; never raises for a text. `equality` decides what the checker
        does not read (`undecided.MathEquality`)."""
        return check_derivation(
            self.statement,
            text,
            answer=self.answer,
            needed=_needed(self.statement, self.reference, self.answer),
            equality=equality,
        )


def make_problems(
    seed: int | str, *, count: int = COUNT, kinds: tuple[str, ...] = tuple(KINDS)
) -> list[DerivationProblem]:
    """`count` different problems, the kinds in turn. `seed` may be a secret.

    Raises UnknownNameError for a kind that there is not, UsageError for a count below 1.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise UnknownNameError("kind of derivation", kind, valid=KINDS)
    if count < 1 or not kinds:
        raise UsageError("at least one problem of one kind has to be asked for")
    drawn = _drawn(str(seed), kinds)
    found: dict[str, DerivationProblem] = {}
    while len(found) < count:
        problem = next(drawn)
        found.setdefault(problem.id, problem)
    return list(found.values())


@functools.lru_cache(maxsize=1024)
def _needed(statement: str, reference: tuple[str, ...], answer: str) -> tuple[str, ...]:
    """The given numbers that the answer rests on in the reference; what stands in equations is not
    among them, since those are changed as a whole."""
    prose = _EQUATION.sub(" ", statement)
    told = dict.fromkeys(re.findall(r"(?<![\w./])\d+(?:[./]\d+)?%?(?![\w/])", prose))
    report = check_derivation(statement, "\n".join(reference), answer=answer, needed=tuple(told))
    return tuple(one for one in told if one not in report.unused)


def _drawn(seed: str, kinds: tuple[str, ...]) -> Iterator[DerivationProblem]:
    number = 0
    while True:
        kind = kinds[number % len(kinds)]
        digest = hashlib.sha256(f"derivations\0{seed}\0{kind}\0{number}".encode()).digest()
        statement, lines, answer = KINDS[kind](random.Random(digest))
        name = f"derivations/{kind}/{content_hash(statement)[:10]}"
        yield DerivationProblem(name, kind, statement, lines, answer)
        number += 1
