"""Delta debugging of a witness: lines first, then words, then characters.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002 (ddmin).
"""

from __future__ import annotations

import re
from collections.abc import Callable

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_SHORT = 40
"""Texts up to this length are reduced character by character."""


def minimize(text: str, holds: Callable[[str], bool], *, most_calls: int) -> str:
    """The shortest text found for which `holds` is still true; it is true for `text`.

    `holds` is asked at most `most_calls` times, and never twice for the same text.
    """
    asked: dict[str, bool] = {text: True}

    def still(parts: list[str]) -> bool:
        candidate = "".join(parts)
        if candidate not in asked:
            if len(asked) > most_calls:
                return False
            asked[candidate] = holds(candidate)
        return asked[candidate]

    if still([]):
        return ""
    parts = _ddmin(text.splitlines(keepends=True), still)
    parts = _ddmin(_WORDS.findall("".join(parts)), still)
    if len("".join(parts)) <= _SHORT:
        parts = _ddmin(list("".join(parts)), still)
    return "".join(parts)


def _ddmin(parts: list[str], still: Callable[[list[str]], bool]) -> list[str]:
    """Remove parts while the rest still holds."""
    pieces = 2
    while len(parts) >= 2:
        size = max(1, len(parts) // pieces)
        for start in range(0, len(parts), size):
            rest = parts[:start] + parts[start + size :]
            if rest and still(rest):
                parts = rest
                pieces = max(pieces - 1, 2)
                break
        else:
            if size == 1:
                return parts
            pieces = min(len(parts), pieces * 2)
    return parts
