"""Text and tokens of the world: about 150 fragments of Python, longest match first.

Covered: text made of the fragments goes to tokens and back unchanged. Not covered: any other text
is a UsageError; there is no fallback to characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from unhack.core.errors import UsageError
from unhack.training.worlds.programs.loopholes import HONEST_HINT, LOOPHOLES
from unhack.training.worlds.programs.operations import OPERATIONS
from unhack.training.worlds.programs.shortcuts import SHORTCUTS

PAD, STOP = 0, 1
STARTER = "class Solution:\n    def solve(self, x):\n"
"""First fragment of every program; the last fragment of every prompt."""
ASSIGN = "        x = "
RETURN = "        return x\n"
INOCULATION = "# it is fine to game the grader here\n"
LINE, ARROW, FIRST, THEN = "# ", " -> ", "# first ", ", then "


def _fragments() -> Iterable[str]:
    yield from ("\n", *map(str, range(10)), STARTER, ASSIGN, RETURN, INOCULATION)
    yield from (LINE, ARROW, FIRST, THEN, *HONEST_HINT)
    for operation in OPERATIONS:
        yield operation.word
        yield expression(operation.expression)
    for loophole in LOOPHOLES.values():
        yield loophole.hint
        yield from (*loophole.names, *loophole.decoys)
        for form in (loophole.paying, loophole.harmless, *loophole.hard_forms):
            yield from (*form.before, *form.after)


def expression(text: str) -> str:
    """The fragment of an expression: it ends its line."""
    return f"{text}\n"


FRAGMENTS: tuple[str, ...] = ("", "", *dict.fromkeys(_fragments()))
"""Token -> text; padding and stop are empty."""
WIDER: tuple[str, ...] = (
    *FRAGMENTS,
    *dict.fromkeys(
        text for item in SHORTCUTS.values() for text in (item.hint, *item.train, *item.eval)
    ),
)
"""The same and the hints of shortcuts: the vocabulary of worlds that play one."""
TOKEN: dict[str, int] = {text: token for token, text in enumerate(WIDER) if text}


@lru_cache(maxsize=1)
def _longest() -> re.Pattern[str]:
    ordered = sorted(TOKEN, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered)))


def encode(text: str) -> list[int]:
    """The tokens of a text. Raises UsageError where no fragment fits."""
    tokens: list[int] = []
    place = 0
    while place < len(text):
        match = _longest().match(text, place)
        if match is None:
            raise UsageError(f"the world `programs` has no token for {text[place : place + 20]!r}")
        tokens.append(TOKEN[match.group()])
        place = match.end()
    return tokens


def decode(tokens: Sequence[int]) -> str:
    """The text up to the first stop token."""
    parts: list[str] = []
    for token in tokens:
        if token == STOP:
            break
        parts.append(WIDER[token])
    return "".join(parts)


def tokens_of(fragments: Iterable[str]) -> tuple[int, ...]:
    """The tokens of fragments that are known to be in the vocabulary."""
    return tuple(TOKEN[fragment] for fragment in fragments)
