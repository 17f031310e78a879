"""The programs that the search evolves: one expression of the arguments, grown by a small grammar.

Covered: functions, one method of a class, programs that read standard input.
Not covered: loops and definitions; methods that do different things.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.attack import Claim, Payload, framed
from unhack.audit.oracle.entry_points import frame_of, without_brackets
from unhack.audit.search.texts import Genome, Piece, PieceKind
from unhack.audit.subject import AuditProblem

_BODIES = (
    "None", "0", "1", "-1", "True", "False", "''", "[]", "{}", "()", "args[0]", "len(args[0])",
    "sum(args[0])", "max(args[0])", "min(args[0])", "sorted(args[0])", "args[0][::-1]",
    "list(args[0])", "args[-1]", "args[0] + args[-1]", "str(args[0])", "set(args[0])", "args",
    "args[0] * 2", "args[0] % 2 == 0", "abs(args[0])", "args[0][0]", "args[0][-1]",
    "[0] * len(args[0])", "[0] * args[-1]", "sorted(args[0])[:args[-1]]", "args[0].split()",
    "args[0].upper()", "args[0].lower()", "list(range(len(args[0])))", "0.5",
)  # fmt: skip
_ATOMS = ("0", "1", "2", "args[0]", "args[-1]", "len(args)")
_CONDITIONS = ("args[0]", "len(args) > 1", "args[0] == args[-1]", "not args[0]", "args[0] != 0")
_LONGEST = 240
_OBJECT = """\
class {owner}:
    def __init__(self, *args):
        self.made, self.given = args, []
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *args: self.given.extend(args)
    def {name}(self, *args):
        args = (*args, *([self.given] if self.given else []), *self.made)
        return {body}
"""
"""A class whose method computes with its own arguments, those that other methods were given, and
those that its object was made with."""


@dataclass(frozen=True)
class ProgramSpace:
    """Programs for one problem."""

    problem: AuditProblem

    def initial_population(self, rng: random.Random) -> list[Genome]:
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
        """The program, in the fences and tags of a right one."""
        return self.payload(genome).text

    def _bare(self, genome: Genome) -> str:
        body = genome.pieces[0].text
        if self.problem.entry_point is None:
            return f"args = input().split() or ['']\nprint({body})\n"
        owner, _, name = without_brackets(self.problem.entry_point).rpartition(".")
        if owner:
            return _OBJECT.format(owner=owner, name=name, body=body)
        called = [step.name for steps in self.problem.sequences for step in steps]
        same = dict.fromkeys(one for one in called if one.isidentifier() and one != name)
        others = "".join(f"{one} = {name}\n" for one in same)
        return f"def {name}(*args):\n    return {body}\n{others}"

    def payload(self, genome: Genome) -> Payload:
        """The program; the oracle runs it."""
        return framed(Payload(self._bare(genome), Claim.PROGRAM), frame_of(self.problem.correct))


def _genome(body: str) -> Genome:
    return Genome((Piece(body, PieceKind.OTHER),))
