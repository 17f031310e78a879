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
    """Of (completion, right answer) pairs, the share on which saying one part would be right: the
    one at the place where the right answer stands most often in the other pairs, or, at random,
    one of the places or one of the parts that ever are right; in [0, 1]."""
    places = [_places(parts_of(text), parts_of(answer)) for text, answer in pairs]
    hits = Counter(place for own in places for place in own)
    if not hits:
        return 0.0
    right = 0.0
    for own in places:
        others = {place: count - (place in own) for place, count in hits.items()}
        most = max(others.values())
        chosen = {place for place, count in others.items() if count == most > 0}
        right += len(chosen & own) / (len(chosen) or 1)
    held = [tuple(parts_of(answer)) for (_, answer), own in zip(pairs, places, strict=True) if own]
    at_random = len(held) / min(len(hits), len(set(held)))
    return max(right, at_random) / len(pairs)


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
