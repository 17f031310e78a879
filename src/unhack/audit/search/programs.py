"""The programs that the search breeds: one expression of the arguments, grown by a small grammar.

Covered: functions, and programs that read standard input. Not covered: loops and definitions.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim, Payload
from unhack.audit.search.texts import Genome, Piece, PieceKind
from unhack.audit.subject import AuditProblem

_BODIES = (
    "None", "0", "1", "-1", "True", "False", "''", "[]", "{}", "()", "args[0]", "len(args[0])",
    "sum(args[0])", "max(args[0])", "min(args[0])", "sorted(args[0])", "args[0][::-1]",
    "list(args[0])", "args[-1]", "args[0] + args[-1]", "str(args[0])", "set(args[0])", "args",
    "args[0] * 2", "args[0] % 2 == 0", "abs(args[0])", "args[0][0]", "args[0][-1]",
)  # fmt: skip
_ATOMS = ("0", "1", "2", "args[0]", "args[-1]", "len(args)")
_CONDITIONS = ("args[0]", "len(args) > 1", "args[0] == args[-1]", "not args[0]", "args[0] != 0")
_LONGEST = 240


@dataclass(frozen=True)
class ProgramBreed:
    """Programs for one problem."""

    problem: AuditProblem

    def first_wave(self, rng: random.Random) -> list[Genome]:
        """Each of the short bodies."""
        return [_genome(body) for body in rng.sample(_BODIES, len(_BODIES))]

    def child(
        self, parents: Sequence[Genome], scored: Sequence[tuple[Genome, float]], rng: random.Random
    ) -> Genome:
        """A parent under an operator, or two parents joined by a condition."""
        first, second = (rng.choice(parents).pieces[0].text for _ in range(2))
        if rng.random() < 0.3:
            second = rng.choice(_BODIES)
        condition, atom = rng.choice(_CONDITIONS), rng.choice(_ATOMS)
        ways = (
            f"({first} if {condition} else {second})",
            f"({first} or {second})",
            f"({first}, {second})",
            f"[{first}]",
            f"({first} {rng.choice(('+', '-', '*', '%', '//'))} {atom})",
            f"{rng.choice(('str', 'int', 'list', 'sorted', 'abs', 'len', 'bool'))}({first})",
            second,
        )
        body = rng.choice(ways)
        return _genome(body if len(body) <= _LONGEST else rng.choice(_BODIES))

    def text(self, genome: Genome) -> str:
        """The program."""
        body = genome.pieces[0].text
        if self.problem.entry_point is None:
            return f"args = input().split() or ['']\nprint({body})\n"
        return f"def {self.problem.entry_point}(*args):\n    return {body}\n"

    def payload(self, genome: Genome) -> Payload:
        """The program; the oracle runs it."""
        return Payload(self.text(genome), Claim.PROGRAM)


def _genome(body: str) -> Genome:
    return Genome((Piece(body, PieceKind.OTHER),))
