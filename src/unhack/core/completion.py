"""Rules by which code is taken out of untrusted text.

Covered: fenced blocks with ``` or ~~~ of any length, unclosed last fences, several blocks, quoted
and indented ones, a markdown fence around them; fences that begin or end within a line; labels as
models write them; tags around code, thoughts before it, tokens that end a turn; plain code, with
sentences before and after it. Each line is visited a fixed number of times; no regular expression
sees more than a piece of one; a text of more than `MAX_CHARS` characters holds no code.
Not covered: code that a model describes without writing it down, or wraps into JSON or a diff.
"""

from __future__ import annotations

import string
from enum import StrEnum

from unhack.core import code_blocks
from unhack.core.fences import (
    CODE_LINE,
    INVISIBLE,
    NEAR,
    UNSPECIFIC,
    CodeBlock,
    fenced_blocks,
    is_label,
)
from unhack.core.lines import BoundedPattern, without_end, without_prose

MAX_CHARS = 1 << 20
"""Longest completion that code is looked for in, in characters."""


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


def extract_code(
    text: str, *, language: str = "python", how: Extraction = Extraction.AUTO
) -> str | None:
    """The code of a completion, or None when `how` finds none.

    A text with no fence and no tag at all is taken whole by `auto`, but for sentences around the
    code: base models complete a prompt with bare code. An empty or blank result is None, and so is
    that of a text of more than `MAX_CHARS` characters.
    """
    if len(text) > MAX_CHARS:
        return None
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
    wanted = [block for block in blocks if is_label(block.language, language)]
    return wanted or [block for block in blocks if not block.language]


_THOUGHTS_ENDS = (
    "</think>", "</thinking>", "</thought>", "</thoughts>", "</reasoning>", "</scratchpad>",
    "</analysis>", "</seed:think>", "[/THINK]", "◁/think▷", "<|end_of_thought|>",
    "<|channel|>final<|message|>", "<|begin_of_solution|>",
)  # fmt: skip


_CLOSE = 40
"""Characters on either side of such a tag that are looked at."""


def after_thoughts(text: str) -> str:
    """The text behind the last tag that ends a model's thoughts; all of it where nothing follows.

    A tag counts at either end of a line, before a fence or another tag, and as the first one of a
    text that its opening tag begins; elsewhere it may stand in code.
    """
    end = max(_last_end(text, tag) for tag in _THOUGHTS_ENDS)
    return text[end:] if text[end:].strip() else text


def _last_end(text: str, tag: str) -> int:
    """The end of the last such tag that counts, or 0."""
    place = text.rfind(tag)
    if place < 0 or tag[:2] == "<|":
        return place + len(tag) if place >= 0 else 0
    begins = text[:NEAR].lstrip().startswith(tag.replace("/", ""))
    first = text.find(tag) if begins else -1
    while place >= 0:
        end = place + len(tag)
        after = text[end : end + _CLOSE].partition("\n")[0].strip(" \t\r")
        before = text[max(0, place - _CLOSE) : place].rpartition("\n")[2].strip(" \t")
        if not (after and before) or after.startswith(("```", "~~~", "<")) or place == first:
            return end
        place = text.rfind(tag, 0, place)
    return 0


_START_TOKEN = BoundedPattern(r"<\|[a-z_]{1,30}\|>")
_TAGS = (
    "code", "python", "answer", "solution", "final_answer", "final_code", "final", "program",
    "response", "artifact", "output",
)  # fmt: skip
_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def _find_solution(text: str, language: str) -> str:
    """The rule of `auto`; empty when there is no code."""
    text = without_end(after_thoughts(text)).lstrip(INVISIBLE)
    start = _START_TOKEN.match(text)
    text = text[start.end() :] if start else text
    fenced = "```" in text or "~~~" in text
    blocks = fenced_blocks(text) if fenced else []
    bare = not blocks and CODE_LINE.is_in(text)
    if fenced and not bare and not _of_language(blocks, language):
        unquoted = "\n".join(map(_unquoted, text.split("\n")))
        for nested in (False, True):
            found = fenced_blocks(unquoted, nested=nested)
            if found and (not blocks or _of_language(found, language)):
                blocks = found
                break
    chosen = _choose(blocks, language)
    if chosen:
        if language != "python":
            return chosen[-1].code
        return _hoist_future(code_blocks.solution([block.code for block in chosen]))
    tagged = _in_tags(text)
    if tagged:
        return tagged
    if blocks:
        return ""
    return _bare_code(text) if language == "python" else text


def _choose(blocks: list[CodeBlock], language: str) -> list[CodeBlock]:
    """The blocks that can be the solution: in the language, without a label, or with a label that
    says nothing, the first kind of which one block does something."""
    named = [block for block in blocks if is_label(block.language, language)]
    bare = [block for block in blocks if not block.language]
    if language != "python":
        return named or bare or [block for block in blocks if block.language in UNSPECIFIC]
    if named and (not bare or code_blocks.works([block.code for block in named])):
        return named
    if named and code_blocks.works([block.code for block in bare]):
        return [
            block for block in blocks if not block.language or is_label(block.language, language)
        ]
    if named:
        return named
    if bare and (len(bare) == len(blocks) or code_blocks.works([block.code for block in bare])):
        return bare
    others = [block for block in blocks if block.language in UNSPECIFIC]
    return [block for block in others if code_blocks.looks_like_code(block.code)] or bare


def _unquoted(line: str) -> str:
    """A line without the mark of a quotation."""
    bare = line.lstrip(" ")
    if not bare.startswith(">") or len(line) - len(bare) > 3:
        return line
    return bare[1:].removeprefix(" ")


def _in_tags(text: str) -> str:
    """The text in the last pair of code tags, or all after a tag that is never closed."""
    lower = text.translate(_LOWER)
    forms = [(f"<{name}", f"</{name}>") for name in _TAGS]
    forms += [(f"[{name}]", f"[/{name}]") for name in ("PYTHON", "CODE", "ANSWER", "SOLUTION")]
    texts = {opening: text if opening[0] == "[" else lower for opening, _ in forms}
    heads = {opening: within.find(opening) for opening, within in texts.items()}
    closings = dict(forms)
    found = ""
    while True:
        opening = min(heads, key=lambda name: (heads[name] < 0, heads[name]))
        place = heads[opening]
        if place < 0:
            break
        start = _end_of_tag(text, place, opening)
        after = place + len(opening)
        if start:
            end = texts[opening].find(closings[opening], start)
            inner = text[start : end if end >= 0 else len(text)]
            before = text[max(0, place - NEAR) : place].rpartition("\n")[2]
            alone = not before.replace("<pre>", "").strip()
            code = opening[0] == "<" and CODE_LINE.is_in(inner.strip())
            if code or (alone and "\n" in inner.strip("\n")):
                found = inner.strip("\n")
            after = end + len(closings[opening]) if end >= 0 else len(text)
        for name, at in heads.items():
            if 0 <= at < after:
                heads[name] = texts[name].find(name, after)
    return _unescaped(found) if "&" in found and "<" not in found else found


def _end_of_tag(text: str, start: int, opening: str) -> int:
    """The end of a tag with its attributes, or 0 where it is none."""
    after = start + len(opening)
    if opening[0] == "[":
        return after
    rest = text[after : after + NEAR]
    end = rest.find(">")
    inner = rest[:end] if end >= 0 else "<"
    broken = "<" in inner or "\n" in inner or (inner and not inner[0].isspace())
    return 0 if broken else after + end + 1


def _unescaped(code: str) -> str:
    for name, char in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("#39", "'"), ("#x27", "'")):
        code = code.replace(f"&{name};", char)
    return code.replace("&nbsp;", " ").replace("&amp;", "&")


_CONTROL = BoundedPattern(r"^(?:for|while|if|with|try)\b.*:\s*(?:#.*)?$")


def _bare_code(text: str) -> str:
    """The code of a text without fences and tags: all of it, or what no sentence interrupts."""
    parts = without_prose(text)
    if parts == [text]:
        return text
    if text.lstrip("\r\n")[:1] in (" ", "\t"):
        return parts[0]  # the body of a function that the prompt began
    kept = [part for part in parts if CODE_LINE.is_in(part) or _CONTROL.is_in(part)]
    if kept:
        return _hoist_future(code_blocks.solution(kept))
    code = _indented(text)
    return code if CODE_LINE.is_in(code) else text


def _indented(text: str) -> str:
    """The lines that four spaces or a tab set off from prose, without them."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith(("    ", "\t")):
            lines.append(line[1:] if line.startswith("\t") else line[4:])
        elif not line.strip():
            lines.append("")
    return "\n".join(lines)


_FUTURE = BoundedPattern(r"from __future__ import [\w ,]+")


def with_setup(setup: str, source: str) -> str:
    """`setup`, then `source`, as one module: a future import of the source comes first of all.

    Found as text, line by line: the code of a completion is never parsed here.
    """
    return _hoist_future(source, setup) if setup else source


def _hoist_future(source: str, setup: str = "") -> str:
    """`source` after `setup`, with the future imports of the source before both."""
    lines = source.split("\n") if "__future__" in source else []
    head = ""
    for place, line in enumerate(lines):
        found = _FUTURE.match(line)
        if found is not None:
            head += f"{found[0]}\n"
            lines[place] = f"pass{line[found.end() :]}"
    newline = "" if setup.endswith("\n") or not setup else "\n"
    return f"{head}{setup}{newline}{chr(10).join(lines) if head else source}"
