"""Rules by which code is taken out of untrusted text.

Covered: fenced blocks with ``` or ~~~ of any length, unclosed last fences, several blocks, plain
code.
Not covered: code that a model describes without writing it down.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>.*)$")


class Extraction(StrEnum):
    """The part of a completion that is the code."""

    AUTO = "auto"
    """The last fenced block in the wanted language (else the last unlabelled one); without any
    fence the whole text."""
    LAST = "last"
    """The last fenced block, whatever its label; nothing when there is none."""
    FIRST = "first"
    """The first fenced block, whatever its label; nothing when there is none."""
    JOINED = "joined"
    """All fenced blocks in the wanted language, joined in order; nothing when there is none."""
    RAW = "raw"
    """The whole text, untouched."""


@dataclass(frozen=True, slots=True)
class CodeBlock:
    """One fenced block."""

    language: str
    """The first word of the info string, lower case; empty when there is none."""
    code: str
    name: str
    """The second word of the info string: a file name, or empty."""
    closed: bool
    """False for a last fence that the text never closes."""


_ALIASES = {
    "python": {"python", "py", "python3", "py3", "pycon"},
    "c": {"c"},
    "cpp": {"cpp", "c++", "cc", "cxx"},
}


def fenced_blocks(text: str) -> list[CodeBlock]:
    """All fenced code blocks of `text`, in order (CommonMark's rules for top-level fences)."""
    blocks: list[CodeBlock] = []
    mark = ""
    language = name = ""
    indent = 0
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.match(line.rstrip("\r"))
        if not mark:
            if match:
                mark = match["mark"]
                language, name = [*match["info"].split(None, 1), "", ""][:2]
                language, name = language.lower().strip("{}."), name.strip()
                indent = len(match["indent"])
                lines = []
            continue
        closes = (
            match
            and match["mark"][0] == mark[0]
            and len(match["mark"]) >= len(mark)
            and not match["info"].strip()
        )
        if closes:
            blocks.append(CodeBlock(language, "\n".join(lines) + "\n", name, True))
            mark = ""
        else:
            lines.append(line[: len(line) - len(line.lstrip(" "))][indent:] + line.lstrip(" "))
    if mark and any(line.strip() for line in lines):
        blocks.append(CodeBlock(language, "\n".join(lines) + "\n", name, False))
    return blocks


def extract_code(
    text: str, *, language: str = "python", how: Extraction = Extraction.AUTO
) -> str | None:
    """The code of a completion, or None when `how` finds none.

    A text with no fence at all is taken whole by `auto`: base models complete a prompt with bare
    code. An empty or blank result is None.
    """
    if how is Extraction.RAW:
        return text if text.strip() else None
    if "```" not in text and "~~~" not in text:
        whole = text if how is Extraction.AUTO else ""
        return whole if whole.strip() else None
    blocks = fenced_blocks(text)
    names = _ALIASES.get(language, {language})
    wanted = [block for block in blocks if block.language in names]
    unlabelled = [block for block in blocks if not block.language]
    if how is Extraction.JOINED:
        code = "\n".join(block.code for block in wanted or unlabelled)
    elif how is Extraction.FIRST:
        code = blocks[0].code if blocks else ""
    elif how is Extraction.LAST:
        code = blocks[-1].code if blocks else ""
    elif wanted or unlabelled:
        code = (wanted or unlabelled)[-1].code
    else:
        code = "" if blocks else text
    return code if code.strip() else None


_FUTURE = re.compile(r"^from __future__ import [\w ,]+", re.MULTILINE)


def with_setup(setup: str, source: str) -> str:
    """`setup`, then `source`, as one module: a future import of the source comes first of all.

    Found as text, line by line: the code of a completion is never parsed here.
    """
    if not setup:
        return source
    head = "".join(f"{line}\n" for line in _FUTURE.findall(source))
    body = _FUTURE.sub("pass", source) if head else source
    newline = "" if setup.endswith("\n") else "\n"
    return f"{head}{setup}{newline}{body}"
