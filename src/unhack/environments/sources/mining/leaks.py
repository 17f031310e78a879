"""Shared runs of words: the sign that a text was copied from another.

Covered: eight words in a row, whatever stands between them, so that layout and quoting hide
nothing.
Not covered: a text that says the same in other words.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping

WIDTH = 8
"""Words in a row that are called copied."""
_WORD = re.compile(r"\w+")


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """All runs of `WIDTH` words of a text."""
    words = _WORD.findall(text)
    return frozenset(tuple(words[at : at + WIDTH]) for at in range(len(words) - WIDTH + 1))


def shingles_of(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    """The runs of words of several texts, none of them over a border."""
    return frozenset(one for text in texts for one in shingles(text))


def added_shingles(before: str, after: str) -> frozenset[tuple[str, ...]]:
    """The runs of words in the lines that a change brings, each block of lines by itself."""
    return shingles_of(added_blocks(before, after)) - shingles(before)


def added_blocks(before: str, after: str) -> list[str]:
    """The blocks of lines that a change brings."""
    old, new = before.splitlines(), after.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    codes = matcher.get_opcodes()
    return ["\n".join(new[start:end]) for tag, _, _, start, end in codes if tag != "equal"]


def copied_share(
    files: Mapping[str, bytes], reference: Mapping[str, str | None]
) -> tuple[float, str]:
    """The largest share of what a reference adds that stands in one file of the start state, and
    the path of that file."""
    added: set[tuple[str, ...]] = set()
    for path, text in reference.items():
        old = files.get(path, b"").decode(errors="replace")
        added |= added_shingles(old, text or "")
    worst, where = 0.0, ""
    if added:
        for path, data in files.items():
            share = len(added & shingles(data.decode(errors="replace"))) / len(added)
            if share > worst:
                worst, where = share, path
    return worst, where
