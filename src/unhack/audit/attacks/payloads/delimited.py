"""The frame of a right completion: what stands around the part that a parser takes out of it.

Covered: code fences, tags, backticks, slashes, boxes, a label at the beginning of the last line.
Not covered: frames that have no signs; there the whole completion is the part.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_FRAMES = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        r"```[\w+-]*\n(.*?)\n?```",
        r"<(?P<tag>[A-Za-z_]\w*)>(?P<part>[^<>]*)</(?P=tag)>",
        r"\\boxed\{([^{}]*)\}",
        r"(?<![\w`])`([^`\n]+)`(?![\w`])",
        r"(?<![\w/:])/(\S.*\S|\S)/(?![\w/])",
        r"(?:^|\n)[A-Z][\w ]{0,30}[:=] *([^\n]+)\Z",
    )
)


@dataclass(frozen=True, slots=True)
class Delimited:
    """The text before, in and behind a delimited part."""

    before: str
    inside: str
    after: str

    def write(self, text: str) -> str:
        """The completion with another part in the frame."""
        return f"{self.before}{text}{self.after}"


def delimited_part(texts: Sequence[str]) -> Delimited:
    """The last delimited part of the first completion that has one, by the surest kind of signs;
    all of the first completion, or nothing at all, where none has."""
    for text in texts:
        for frame in _FRAMES:
            found = list(frame.finditer(text))
            if found:
                last = found[-1]
                start, end = last.span("part" if "part" in frame.groupindex else 1)
                return Delimited(text[:start], text[start:end], text[end:])
    return Delimited("", texts[0] if texts else "", "")
