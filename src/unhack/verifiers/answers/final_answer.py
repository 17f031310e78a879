r"""The final answer of a completion: where it stands, and which one it is.

Only marked answers count, in the forms that the verifier names:

    boxed     `\boxed{x}` or `\fbox{x}`, braces balanced; the outer one where they are nested
    hashes    lines `#### x` at the very end of the text, nothing but such lines after them
    tag       `<answer>x</answer>`
    phrase    the rest of a line after "the answer is", "the final answer is", "answer:"
    whole     the whole text

A marked answer that holds another (`The answer is \boxed{x}.`) is dropped for the inner one. A
blank answer is none. Nothing else is ever searched: not the first number, not the last.

Covered: everything runs in time linear in the text, whatever the text.
Not covered: a form the model was never told to use; the prompt must name it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from unhack.core.lines import BoundedPattern


class Marker(StrEnum):
    """A form in which a completion may mark its final answer.

    Example:

        TextVerifier(AnswerCheck.NUMERIC, answer_in=(Marker.BOXED, Marker.TAG))
    """

    BOXED = "boxed"
    HASHES = "hashes"
    TAG = "tag"
    PHRASE = "phrase"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Marked:
    """One marked answer."""

    text: str
    """Without surrounding whitespace; never blank."""
    marker: Marker
    start: int
    """Start of the mark in the text, in characters."""
    end: int
    """End of the mark, exclusive."""


MAX_MARKED = 1000
"""Marked answers of one form that are looked at; a text with more is no answer to anything."""


def marked_answers(text: str, markers: Sequence[Marker]) -> list[Marked]:
    """The marked answers of `text`, in order; the last one is the final answer.

    Of a text with more than `MAX_MARKED` in one form, only so many that this can be told.
    """
    found: list[Marked] = []
    for marker in dict.fromkeys(markers):
        for start, end, inner in islice(_FINDERS[marker](text), MAX_MARKED + 1):
            stripped = inner.strip()
            if stripped:
                found.append(Marked(stripped, marker, start, end))
    found.sort(key=lambda item: (item.start, -item.end, -_RANK[item.marker]))
    return [
        item
        for position, item in enumerate(found)
        if position + 1 == len(found) or found[position + 1].start >= item.end
    ]


def write_answer(answer: str, marker: Marker) -> str:
    """A completion that gives `answer` (a single line) in the form of `marker`."""
    if marker is Marker.BOXED:
        return f"\\boxed{{{answer}}}"
    if marker is Marker.HASHES:
        return f"#### {answer}"
    if marker is Marker.TAG:
        return f"<answer>{answer}</answer>"
    if marker is Marker.PHRASE:
        return f"The answer is {answer}"
    return answer


_Found = Iterator[tuple[int, int, str]]
"""(start, end, content) of each mark."""

_BRACES = BoundedPattern(r"\\(?:boxed|fbox)\s{0,8}\{|\\[\\{}]|[{}]")


def _find_boxed(text: str) -> _Found:
    """The boxed answers, in one pass: an unclosed box costs no second look at what follows it."""
    open_braces: list[tuple[bool, int, int]] = []
    closed: list[tuple[int, int, int, int]] = []
    starts = [at for at in (text.find("\\boxed"), text.find("\\fbox")) if at >= 0]
    if not starts:
        return
    first = min(starts)
    backslashes = first - len(text[:first].rstrip("\\"))
    for match in _BRACES.finditer(text, first - backslashes):
        token = match[0]
        if token[-1] == "{" and len(token) != 2:
            open_braces.append((len(token) > 2, match.start(), match.end()))
        elif token == "}" and open_braces:
            is_box, start, inner = open_braces.pop()
            if is_box:
                while closed and closed[-1][0] > start:
                    closed.pop()
                closed.append((start, match.end(), inner, match.start()))
    for start, end, inner, inner_end in closed:
        yield start, end, text[inner:inner_end]


def _hashes(text: str) -> _Found:
    end = len(text)
    lines: list[tuple[int, int, str]] = []
    while end >= 0 and len(lines) <= MAX_MARKED:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end]
        if line.strip():
            content = line.lstrip()
            if not content.startswith("####") or content.startswith("#####"):
                break
            lines.append((start, end, content[4:]))
        if start == 0:
            break
        end = start - 1
    yield from reversed(lines)


_TAG = BoundedPattern(r"<(/?)answer>", re.IGNORECASE)


def _tag(text: str) -> _Found:
    opened: re.Match[str] | None = None
    for match in _TAG.finditer(text):
        if not match[1]:
            opened = match
        elif opened is not None:
            yield opened.start(), match.end(), text[opened.end() : match.start()]
            opened = None


_PHRASE = BoundedPattern(
    r"\b(?:the[ \t]{1,4}(?:final[ \t]{1,4})?answer[ \t]{1,4}is\b(?:[ \t]{0,4}:)?"
    r"|(?:final[ \t]{1,4})?answer\*{0,2}[ \t]{0,4}:)",
    re.IGNORECASE,
)


def _phrase(text: str) -> _Found:
    """The end of the line, or the next such phrase in it, ends an answer."""
    matches = list(_PHRASE.finditer(text))
    for position, match in enumerate(matches):
        limit = matches[position + 1].start() if position + 1 < len(matches) else len(text)
        line_end = text.find("\n", match.end(), limit)
        end = limit if line_end < 0 else line_end
        yield match.start(), end, _bare(text[match.end() : end])


def _bare(text: str) -> str:
    """`text` without the asterisks of bold type and without the full stop of the sentence."""
    text = text.strip().strip("*").strip()
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip().rstrip("*")
    return text


def _whole(text: str) -> _Found:
    yield 0, len(text), text


_RANK = {marker: index for index, marker in enumerate(Marker)}
"""Of two marks of the same stretch, the one named first in `Marker` counts as the inner one."""

_FINDERS = {
    Marker.BOXED: _find_boxed,
    Marker.HASHES: _hashes,
    Marker.TAG: _tag,
    Marker.PHRASE: _phrase,
    Marker.WHOLE: _whole,
}
