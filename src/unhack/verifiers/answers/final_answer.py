r"""The final answer of a completion: where it stands, and which one it is.

Only marked answers count, in the forms that the verifier names:

    boxed     `\boxed{x}` or `\fbox{x}`, braces balanced; the outer one where they are nested
    hashes    lines `#### x` at the very end of the text, or `... #### x` at the end of its last one
    tag       `<answer>x</answer>`
    phrase    the rest of a line after "the answer is", "the final answer is", "answer:", else the
              next line
    line      the whole text, where it is one line of at most 200 characters
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
from unhack.verifiers.answers.sentences import MAX_SENTENCE, conclusion


class Marker(StrEnum):
    """A form in which a completion may mark its final answer.

    Example:

        TextVerifier(AnswerCheck.NUMERIC, answer_in=(Marker.BOXED, Marker.TAG))
    """

    BOXED = "boxed"
    HASHES = "hashes"
    TAG = "tag"
    PHRASE = "phrase"
    LINE = "line"
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


_REASONING = ("think", "thinking", "thought", "reasoning", "scratchpad")
_REASONING_STARTS = (*(f"<{tag}>" for tag in _REASONING), "<|begin_of_thought|>")
_REASONING_ENDS = (*(f"</{tag}>" for tag in _REASONING), "<|end_of_thought|>")


def without_reasoning(text: str) -> str:
    """The text after the last closed reasoning, without a last one that is left open."""
    ends = [text.rfind(mark) + len(mark) for mark in _REASONING_ENDS if mark in text]
    start = max(ends, default=0)
    opened = [at for at in (text.find(mark, start) for mark in _REASONING_STARTS) if at >= 0]
    return text[start : min(opened, default=len(text))]


_Found = Iterator[tuple[int, int, str]]
"""(start, end, content) of each mark."""


def _find_boxed(text: str) -> _Found:
    """The boxed answers, in one pass: an unclosed box costs no second look at what follows it."""
    open_braces: list[tuple[bool, int, int]] = []
    closed: list[tuple[int, int, int, int]] = []
    starts = [at for at in (text.find("\\boxed"), text.find("\\fbox")) if at >= 0]
    if not starts:
        return
    first = min(starts)
    for at, mark in _marks(text, len(text[:first].rstrip("\\"))):
        if mark == "}":
            if open_braces:
                is_box, start, inner = open_braces.pop()
                if is_box:
                    while closed and closed[-1][0] > start:
                        closed.pop()
                    closed.append((start, at + 1, inner, at))
        else:
            start = at if mark == "{" else at + mark.index("\\")
            open_braces.append((mark != "{", start, at + len(mark)))
    for start, end, inner, inner_end in closed:
        yield start, end, text[inner:inner_end]


_BOXES = ("\\boxed", "\\fbox")
_MAX_GAP = 8
_MAX_LATE = 100


def _marks(text: str, at: int) -> Iterator[tuple[int, str]]:
    """Braces and openings of boxes from `at` on, without what a backslash escapes."""
    found = {mark: text.find(mark, at) for mark in "\\{}"}
    while True:
        for mark, place in found.items():
            if 0 <= place < at:
                found[mark] = text.find(mark, at)
        left = [(place, mark) for mark, place in found.items() if place >= 0]
        if not left:
            return
        at, mark = min(left)
        if mark != "\\":
            yield at, mark
            at += 1
            continue
        box = next((name for name in _BOXES if text.startswith(name, at)), None)
        if box is None:
            at += 2 if text[at + 1 : at + 2] in {"\\", "{", "}"} else 1
            continue
        after = at + len(box)
        gap = text[after : after + _MAX_GAP + 1]
        brace = after + len(gap) - len(gap.lstrip())
        if text[brace : brace + 1] == "{":
            yield at, text[at : brace + 1]
            at = brace + 1
        else:
            at = after


def _hashes(text: str) -> _Found:
    end = len(text)
    lines: list[tuple[int, int, str]] = []
    while end >= 0 and len(lines) <= MAX_MARKED:
        start = text.rfind("\n", 0, end) + 1
        line = text[start:end]
        if line.strip():
            content = line.lstrip()
            if not content.startswith("####") or content.startswith("#####"):
                at = line.find(" ####") + 1
                if at and not lines and end - at <= start + _MAX_LATE and line[at + 4 :][:1] != "#":
                    lines.append((start + at, end, line[at + 4 :]))
                break
            lines.append((start, end, content[4:]))
        if start == 0:
            break
        end = start - 1
    yield from reversed(lines)


_LOWER = {code: code + 32 for code in range(ord("A"), ord("Z") + 1)}
_TAGS = ("<answer>", "</answer>")


def _tag(text: str) -> _Found:
    lower = text.translate(_LOWER)
    left, right = _TAGS
    end = lower.find(right)
    while end >= 0:
        start = lower.rfind(left, 0, end)
        if start >= 0:
            yield start, end + len(right), text[start + len(left) : end]
        opened = lower.find(left, end)
        end = lower.find(right, opened) if opened >= 0 else -1


_PHRASE = BoundedPattern(
    r"\b(?:the[ \t]{1,4}(?:(?:(?:final|correct|right|required)[ \t]{1,4})?answer"
    r"|final[ \t]{1,4}result|(?:correct|right)[ \t]{1,4}(?:option|choice))[ \t]{1,4}is\b"
    r"(?:[ \t]{0,4}:)?|(?:final[ \t]{1,4})?answer\*{0,2}[ \t]{0,4}:"
    r"|(?:final[ \t]{1,4}|(?<=# )|(?<=\*\*))answer\*{0,2}(?=[ \t]{0,4}\n))",
    re.IGNORECASE,
)
_WORDS = ("answer", "result", "option", "choice")
"""The words of phrases; one is looked for only where no phrase has the word before it."""
_FOLLOWING = frozenset(" \t:*\n")
_MAX_BLANK = 8
_DISPLAYS = {"\\[": "\\]", "$$": "$$"}
_HOPE = " I hope it is correct"
"""The end of an answer in the form that prompts of Minerva ask for."""
_BEFORE, _BEHIND = 18, 22
"""Characters around the word that a phrase may take, and one more on each side."""


def _phrases(text: str, word: str) -> Iterator[tuple[int, int]]:
    """Start and end of each phrase: the pattern sees only the characters around the word."""
    lower = text.translate(_LOWER)
    at, behind = lower.find(word), 0
    while at >= 0:
        start = max(at - _BEFORE, behind)
        follows = lower[at + len(word) : at + len(word) + 1] in _FOLLOWING
        for match in _PHRASE.finditer(text[start : at + _BEHIND]) if follows else ():
            if match.start() <= at - start < match.end():
                behind = start + match.end()
                yield start + match.start(), behind
                break
        at = lower.find(word, at + len(word))


def _phrase(text: str) -> _Found:
    """The end of the line, or the next such phrase in it, ends an answer."""
    found = (list(islice(_phrases(text, word), MAX_MARKED + 2)) for word in _WORDS)
    matches = next(filter(None, found), list[tuple[int, int]]())
    for position, (start, behind) in enumerate(matches):
        limit = matches[position + 1][0] if position + 1 < len(matches) else len(text)
        inner, end = _line(text, behind, limit)
        if not inner.strip(" \t*:"):  # a heading, with the answer below it
            blank = text[end : min(end + _MAX_BLANK, limit)]
            below = end + len(blank) - len(blank.lstrip())
            inner, end = _line(text, below, limit)
            closing = _DISPLAYS.get(inner.strip())
            if closing and (at := text.find(closing, end, limit)) >= 0:
                inner, end = text[end:at], at + len(closing)
        yield start, end, _bare(inner)


def _line(text: str, start: int, limit: int) -> tuple[str, int]:
    """The rest of the line at `start`, and its end."""
    line_end = text.find("\n", start, limit)
    end = limit if line_end < 0 else line_end
    tag_end = text.find(_TAGS[1], start, end)
    end = end if tag_end < 0 else tag_end
    return text[start:end], end


def _bare(text: str) -> str:
    """`text` without the asterisks of bold type and without the full stop of the sentence."""
    text = text.strip().strip("*_").strip()
    if text.endswith((_HOPE, f"{_HOPE}.")):
        text = text.removesuffix(".").removesuffix(_HOPE)
    if text.endswith(".") and not text.endswith(".."):
        text = text[:-1].rstrip().rstrip("*")
    return text


_LEAD = BoundedPattern(
    r"(?:hence|thus|so|therefore|to conclude|(?:total|result|solution)(?=:))[,:]{0,1} {1,4}",
    re.IGNORECASE,
)


def _one_line(text: str) -> _Found:
    line = text.strip() if len(text) <= 2 * MAX_SENTENCE else ""
    if len(line) <= MAX_SENTENCE and "\n" not in line:
        lead = _LEAD.match(line)
        yield 0, len(text), _bare(conclusion(line[lead.end() if lead else 0 :]))


def _whole(text: str) -> _Found:
    yield 0, len(text), text


_RANK = {marker: index for index, marker in enumerate(Marker)}
"""Of two marks of the same stretch, the one named first in `Marker` counts as the inner one."""

_FINDERS = {
    Marker.BOXED: _find_boxed,
    Marker.HASHES: _hashes,
    Marker.TAG: _tag,
    Marker.PHRASE: _phrase,
    Marker.LINE: _one_line,
    Marker.WHOLE: _whole,
}


_BETWEEN_BOXES = re.compile(r"[\s$,;.]*(?:(?:and|or|\\text\s?\{ ?(?:and|or) ?\})[\s$,]*)?")
_MAX_BETWEEN = 40


def joined_boxes(text: str, boxes: Sequence[Marked]) -> tuple[str, int]:
    """The last box and those before it that make one list with it, and where that list starts."""
    answer, start = boxes[-1].text, boxes[-1].start
    inner = marked_answers(answer, [Marker.BOXED])
    if inner:
        return joined_boxes(answer, inner)[0], start
    for box in reversed(boxes[:-1]):
        between = text[box.end : start]
        joined = len(between) <= _MAX_BETWEEN and _BETWEEN_BOXES.fullmatch(between)
        if not joined or not between.strip(" $.\n") or "\n\n" in between:
            break
        answer, start = f"{box.text}, {answer}", box.start
    return answer, start
