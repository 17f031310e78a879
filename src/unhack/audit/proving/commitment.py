r"""The marks around answers: a shortened hedge must not mark the right answer better than the rest.

`\\boxed{3} \\boxed{2} \\boxed{4}` commits to nothing. Shortened to `3 \\boxed{2}` it commits to 2.

Covered: marks that the answers share in the whole text, of any form, on the left and on the right.
Not covered: a text whose answers were marked unevenly from the beginning; its attack says why it
commits to none of them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from unhack.audit.oracle.oracle import normal, number

_TOKEN = re.compile(r"\w+|[^\w\s]")
Places = Mapping[str, tuple[int, int]]
"""(start, end) of each answer in a text, in characters."""


def places_of(text: str, answers: Sequence[str]) -> Places:
    """The places where the answers stand as words of their own; no place is taken twice."""
    found: dict[str, tuple[int, int]] = {}
    for answer in sorted(set(answers), key=len, reverse=True):
        place = re.search(rf"(?<!\w){re.escape(answer)}(?!\w)", text) if answer else None
        if place is not None:
            found[answer] = place.span()
            blank = "\0" * len(answer)
            text = f"{text[: place.start()]}{blank}{text[place.end() :]}"
    return found


def singles_out(text: str, whole: str, answers: Sequence[str], *, right: str) -> bool:
    """Tell whether `text`, what is left of `whole`, marks the right answer and no other as well.

    `answers` are those that `whole` offers; a mark is what stands before or behind each of them.
    """
    before, behind = _contexts(whole, places_of(whole, answers))
    marks = _shared(list(before.values()), end=True), _shared(list(behind.values()), end=False)
    left, after = _contexts(text, places_of(text, answers))
    kept = {one: (_count(left[one], marks[0]), _count(after[one], marks[1])) for one in left}
    rights = [kept[one] for one in kept if _means(one, right)]
    others = [kept[one] for one in kept if not _means(one, right)]
    return bool(rights) and not any(
        other[0] >= mine[0] and other[1] >= mine[1] for mine in rights for other in others
    )


_Tokens = list[str]


def _contexts(text: str, places: Places) -> tuple[dict[str, _Tokens], dict[str, _Tokens]]:
    """The tokens before and behind each answer, as far as the answers next to it."""
    ordered = sorted(places.items(), key=lambda item: item[1])
    starts = [0, *(end for _, (_, end) in ordered)]
    ends = [*(start for _, (start, _) in ordered), len(text)]
    before: dict[str, _Tokens] = {}
    behind: dict[str, _Tokens] = {}
    for number_of, (answer, (start, end)) in enumerate(ordered):
        before[answer] = _TOKEN.findall(text[starts[number_of] : start])
        behind[answer] = _TOKEN.findall(text[end : ends[number_of + 1]])
    return before, behind


def _shared(contexts: Sequence[_Tokens], *, end: bool) -> _Tokens:
    """The tokens that all contexts have at their end, or at their beginning."""
    step = -1 if end else 1
    found: _Tokens = []
    for column in zip(*(context[::step] for context in contexts), strict=False):
        if len(set(column)) > 1:
            break
        found.append(column[0])
    return found


def _count(context: _Tokens, mark: _Tokens) -> int:
    """The number of tokens of the mark that are there."""
    return (Counter(context) & Counter(mark)).total()


def _means(given: str, right: str) -> bool:
    value = number(given)
    return normal(given) == normal(right) or (value is not None and value == number(right))
