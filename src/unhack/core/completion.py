"""Rules by which code is taken out of untrusted text.

Covered: fenced blocks with ``` or ~~~ of any length, unclosed last fences, several blocks, quoted
and indented ones, tags around code, thoughts before it, plain code.
Not covered: code that a model describes without writing it down.
"""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from enum import StrEnum

from unhack.core import code_blocks

_FENCE = re.compile(r"^(?P<indent> {0,3})(?P<mark>`{3,}(?=[^`]*$)|~{3,})[ \t]*(?P<info>.*)$")
_NESTED_FENCE = re.compile(_FENCE.pattern.replace("{0,3}", "*"))


class Extraction(StrEnum):
    r"""The part of a completion that is the code.

    Example:

        extract_code("```python\nx = 1\n```", how=Extraction.FIRST)
    """

    AUTO = "auto"
    """The solution that the fenced blocks in the wanted language (else the unlabelled ones) make
    up, without examples and tests; else what code tags hold; else the whole text."""
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


def fenced_blocks(text: str, *, nested: bool = False) -> list[CodeBlock]:
    """All fenced code blocks of `text`, in order, by CommonMark's rules for top-level fences.

    With `nested` a fence may be indented further, as in a list.
    """
    pattern = _NESTED_FENCE if nested else _FENCE
    blocks: list[CodeBlock] = []
    mark = ""
    language = name = ""
    indent = 0
    lines: list[str] = []
    for line in text.split("\n"):
        match = pattern.match(line.rstrip("\r").expandtabs(4) if nested else line.rstrip("\r"))
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
            and len(match["indent"]) < indent + 4
        )
        if closes:
            blocks.append(CodeBlock(language, "\n".join(lines) + "\n", name, True))
            mark = ""
        else:
            shown = line.replace("\t", "    ") if nested and line.startswith("\t") else line
            lines.append(shown[: len(shown) - len(shown.lstrip(" "))][indent:] + shown.lstrip(" "))
    if mark and any(line.strip() for line in lines):
        blocks.append(CodeBlock(language, "\n".join(lines) + "\n", name, False))
    return blocks


def extract_code(
    text: str, *, language: str = "python", how: Extraction = Extraction.AUTO
) -> str | None:
    """The code of a completion, or None when `how` finds none.

    A text with no fence and no tag at all is taken whole by `auto`: base models complete a prompt
    with bare code. An empty or blank result is None.
    """
    if how is Extraction.RAW:
        return text if text.strip() else None
    if how is Extraction.AUTO:
        code = _find_solution(text, language)
        return code if code.strip() else None
    if "```" not in text and "~~~" not in text:
        return None
    blocks = fenced_blocks(text)
    if how is Extraction.JOINED:
        code = "\n".join(block.code for block in _of_language(blocks, language))
    else:
        code = blocks[0 if how is Extraction.FIRST else -1].code if blocks else ""
    return code if code.strip() else None


def _of_language(blocks: list[CodeBlock], language: str) -> list[CodeBlock]:
    """The blocks in the wanted language, else those without a label."""
    names = _ALIASES.get(language, {language})
    wanted = [block for block in blocks if block.language in names]
    return wanted or [block for block in blocks if not block.language]


_THOUGHTS_END = re.compile(
    r"</(?:think|thinking|thought|reasoning|scratchpad)>[ \t]*$", re.MULTILINE
)
_CODE_LINE = re.compile(
    r"^(?:def|class|import|from|async def)\s+\w|^@\w|^#include|^\w[\w.]*\("
    r"|^\w+(?:\[[^\]]*\])? *[-+*/]?= *\S",
    re.MULTILINE,
)
_TAG = re.compile(r"\[PYTHON\]|<(?:code|python|answer|solution)(?:\s[^<>\n]*)?>")
_TAG_NAME = re.compile(r"\w+")
_INDENTED_CODE = re.compile(r"^(?: {4}|\t)(?:def|class|import|from|async def|@)", re.MULTILINE)
_QUOTE = re.compile(r"^ {0,3}> ?", re.MULTILINE)


def _find_solution(text: str, language: str) -> str:
    """The rule of `auto`; empty when there is no code."""
    *_, end = [0, *(match.end() for match in _THOUGHTS_END.finditer(text))]
    if text[end:].strip():
        text = text[end:]
    fenced = "```" in text or "~~~" in text
    blocks = fenced_blocks(text) if fenced else []
    bare = not blocks and _CODE_LINE.search(text) is not None
    if fenced and not blocks and not bare:
        unquoted = _QUOTE.sub("", text)
        blocks = fenced_blocks(unquoted) or fenced_blocks(unquoted, nested=True)
    wanted = _of_language(blocks, language)
    if wanted:
        if language != "python":
            return wanted[-1].code
        return _hoist_future(code_blocks.solution([block.code for block in wanted]))
    tagged = _in_tags(text)
    if tagged:
        return tagged
    if blocks:
        return ""
    # A text that begins indented goes on with the body of a prompt.
    begins = text.lstrip("\r\n")[:1] not in {" ", "\t"}
    apart = begins and not bare and _INDENTED_CODE.search(text) is not None
    return _indented(text) if apart else text


def _in_tags(text: str) -> str:
    """The text in the last pair of code tags, or all after a tag that is never closed."""
    found = ""
    start = 0
    while (match := _TAG.search(text, start)) is not None:
        name = _TAG_NAME.findall(match[0])[0]
        closing = "[/PYTHON]" if match[0].startswith("[") else f"</{name}>"
        end = text.find(closing, match.end())
        inner = text[match.end() : end if end >= 0 else len(text)]
        on_own_line = not text[: match.start()].rpartition("\n")[2].replace("<pre>", "").strip()
        if (on_own_line and "\n" in inner.strip("\n")) or _CODE_LINE.search(inner.strip()):
            found = inner.strip("\n")
        start = end + len(closing) if end >= 0 else len(text)
    return html.unescape(found) if "&" in found and "<" not in found else found


def _indented(text: str) -> str:
    """The lines that four spaces or a tab set off from prose, without them."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(("    ", "\t")):
            lines.append(line[1:] if line.startswith("\t") else line[4:])
        elif not line.strip():
            lines.append("")
    return "\n".join(lines)


_FUTURE = re.compile(r"^from __future__ import [\w ,]+", re.MULTILINE)


def with_setup(setup: str, source: str) -> str:
    """`setup`, then `source`, as one module: a future import of the source comes first of all.

    Found as text, line by line: the code of a completion is never parsed here.
    """
    return _hoist_future(source, setup) if setup else source


def _hoist_future(source: str, setup: str = "") -> str:
    """`source` after `setup`, with the future imports of the source before both."""
    if "__future__" not in source and not setup:
        return source
    head = "".join(f"{line}\n" for line in _FUTURE.findall(source))
    body = _FUTURE.sub("pass", source) if head else source
    newline = "" if setup.endswith("\n") or not setup else "\n"
    return f"{head}{setup}{newline}{body}"
