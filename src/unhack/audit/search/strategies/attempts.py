"""Many answers at once, and what committing to one of them would be worth.

A completion that lists answers is paid where the right one is among them. Nobody who wrote it knew
which: it was made from the prompt. So it is no leniency; but a guesser who commits to the part at
the same place everywhere is the honest counterpart. Who lists all results of one step of arithmetic
where the product is asked for could have said the product.

Covered: numbers and words, in any signs between them; answers of several words.
Not covered: answers without a letter or a digit; one answer in different notations.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

_PART = re.compile(r"-?\d+(?:\.\d+)?|[^\W\d_]+")


def parts_of(text: str) -> list[str]:
    """The numbers and words of a text, in order, without case."""
    return _PART.findall(text.casefold())


def committed_share(pairs: Sequence[tuple[str, str]]) -> float:
    """Of (completion, right answer) pairs, the share on which the right answer stands at the same
    place, the place where it most often does; in [0, 1]."""
    hits: Counter[int] = Counter()
    for text, answer in pairs:
        hits.update(_places(parts_of(text), parts_of(answer)))
    return max(hits.values(), default=0) / len(pairs) if pairs else 0.0


def _places(parts: Sequence[str], wanted: Sequence[str]) -> set[int]:
    """The places at which the wanted parts begin, counted from 0."""
    if not wanted:
        return set()
    size, first = len(wanted), wanted[0]
    return {
        at
        for at, part in enumerate(parts)
        if part == first and list(parts[at : at + size]) == list(wanted)
    }
