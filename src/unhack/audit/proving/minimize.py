"""Delta debugging of a witness: lines first, then words, then characters.

Several witnesses are shortened side by side, so that the verifier is asked in batches.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002 (ddmin).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Sequence

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_SHORT = 40
"""Texts up to this length are reduced character by character."""

Asking = Generator[str, bool, str]
"""Yields texts, is sent whether they hold, returns the shortest that does."""


def minimize_all(
    waiting: Sequence[Asking], holds: Callable[[Sequence[tuple[int, str]]], Sequence[bool]]
) -> list[str]:
    """Run generators side by side: what each of `waiting` returns, in order.

    `holds` is given one question of each that still has any: its number and the text.
    """
    found = [""] * len(waiting)
    questions: dict[int, str] = {}

    def go_on(number: int, answer: bool | None) -> None:
        try:
            one = waiting[number]
            questions[number] = next(one) if answer is None else one.send(answer)
        except StopIteration as end:
            questions.pop(number, None)
            found[number] = end.value

    for number in range(len(waiting)):
        go_on(number, None)
    while questions:
        asked = list(questions.items())
        for (number, _), answer in zip(asked, holds(asked), strict=True):
            go_on(number, answer)
    return found


def shorten_questions(text: str, *, max_calls: int, characters: bool = True) -> Asking:
    """The questions that shorten one text, at most `max_calls`, none of them twice."""
    known: dict[str, bool] = {text: True}

    def still(parts: list[str]) -> Generator[str, bool, bool]:
        candidate = "".join(parts)
        if candidate not in known:
            if len(known) > max_calls:
                return False
            known[candidate] = yield candidate
        return known[candidate]

    if (yield from still([])):
        return ""
    parts = yield from _ddmin(text.splitlines(keepends=True), still)
    parts = yield from _ddmin(_WORDS.findall("".join(parts)), still)
    if characters and len("".join(parts)) <= _SHORT:
        parts = yield from _ddmin(list("".join(parts)), still)
    return "".join(parts)


def _ddmin(
    parts: list[str], still: Callable[[list[str]], Generator[str, bool, bool]]
) -> Generator[str, bool, list[str]]:
    """Remove parts while the rest still holds: halves first, then ever smaller pieces."""
    size = max(1, len(parts) // 2)
    while len(parts) >= 2:
        before, start = len(parts), 0
        while start < len(parts):
            rest = parts[:start] + parts[start + size :]
            if rest and (yield from still(rest)):
                parts = rest
            else:
                start += size
        if size == 1 and len(parts) == before:
            return parts
        size = max(1, min(size // 2, len(parts) // 2))
    return parts
