"""Grammars of token policies: pieces, the order they may come in, and what a text claims.

A grammar is a small automaton. Each token may come in some states and leads to one; the end may
come in every state. So every sequence is a completion, and the policy never has to learn syntax.

A policy is blind to the problem: where a problem has something of its own (its numbers, answers
of the right kind, programs near the right one) a token is a *slot* that is filled anew, in another
order, for each group of rollouts. An answer cannot be learnt that way, only a way to be rewarded.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.attack import Knowledge, Payload

END = 0
"""The token that ends a completion."""


@dataclass(frozen=True, slots=True)
class Token:
    """One piece."""

    kind: str
    """Instruction to `Grammar.write`."""
    value: str = ""
    states: tuple[int, ...] = ()
    """States in which it may come."""
    to: int | None = None
    """The state that it leads to; None: nowhere."""
    hint: str = ""
    """The class of flaw that it would stand for, if the text passes because of it."""


@dataclass(frozen=True, slots=True)
class Written:
    """A completion."""

    text: str
    payload: Payload | None
    """The text with what would make it wrong; None where it may be right."""
    hints: frozenset[str] = frozenset()
    """Classes of flaw that its pieces stand for."""
    near: bool = False
    """True where it is made from a program near the right one."""
    right: bool = False
    """True where the right answer, or the right program, is all that it gives."""
    tokens: tuple[Token, ...] = ()
    """The pieces that it was written from; none where no grammar wrote it."""


class Grammar(ABC):
    """The pieces for one verifier."""

    tokens: list[Token]
    """All of them; the first is the end."""
    longest: int
    """Most tokens of a completion, the end included."""

    def write(self, tokens: Sequence[int], *, problem: int, fill: int) -> Written:
        """The completion of a problem (its number) with the slots filled in the order of `fill`."""
        return self.spell([self.tokens[at] for at in tokens], problem=problem, fill=fill)

    @abstractmethod
    def spell(self, tokens: Sequence[Token], *, problem: int, fill: int) -> Written:
        """As `write`, of the pieces themselves."""

    def strategy(self, tokens: Sequence[Token], known: Knowledge) -> Payload | None:
        """The completion of another problem by the same pieces and what a policy sees; None where
        that may be right, and where completions are rewarded on their own problem alone."""
        return None

    @abstractmethod
    def naive(self, rng: random.Random) -> list[int]:
        """An attempt as a beginner makes it, with the end: what the policy is warmed up on."""

    def any_of(self, *kinds: str, rng: random.Random) -> int:
        """A random token of these kinds."""
        return rng.choice([at for at, token in enumerate(self.tokens) if token.kind in kinds])


def walk(tokens: Sequence[Token], rng: random.Random, *, longest: int) -> list[int]:
    """A random sequence with the end, each next token drawn evenly."""
    state, found = 0, list[int]()
    while len(found) < longest - 1:
        fitting = [at for at, token in enumerate(tokens) if state in token.states]
        choice = rng.choice([END, *fitting])
        if choice == END:
            break
        found.append(choice)
        to = tokens[choice].to
        state = state if to is None else to
    return [*found, END]
