"""Fenced blocks of code in untrusted text.

Covered: the fences of CommonMark, quoted and in lists too, and those that models write beside its
rules (see `fenced_blocks`). Each line is visited once.
Not covered: which of the blocks is meant; see `completion`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from unhack.core.lines import BoundedPattern, without_end, without_prose


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


CODE_LINE = BoundedPattern(
    r"^(?:def|class|import|from|async def)\s+\w|^@\w|^#include|^\w[\w.]*\("
    r"|^\w+(?:\[[^\]]*\])?(?:, *\w+)* *[-+*/]?= *\S"
)
"""The beginning of a line that is code."""
_LABELS = {
    "python": ("python", "py", "ipython", "jupyter", "pycon", "sage"),
    "c": ("c", "c99", "c11", "c17", "ansi-c"),
    "cpp": ("cpp", "c++", "cc", "cxx"),
}
_LIKE_LABEL = {"python": ("python", "py3"), "cpp": ("cpp", "c++")}
"""Beginnings of labels: `python3.11`, `c++17`."""
_FILE_ENDS = {"python": ".py", "c": ".c", "cpp": ".cpp"}
UNSPECIFIC = frozenset({
    "text", "txt", "plaintext", "plain", "code", "none", "raw", "markdown", "md", "answer",
    "solution", "program", "script",
})  # fmt: skip
"""Labels that say nothing about the language."""
_CONTAINERS = ("markdown", "md")
INVISIBLE = "\ufeff\u200b\u2060"
NEAR = 200
"""Characters before and after a mark that are looked at."""


def fenced_blocks(text: str, *, nested: bool = False) -> list[CodeBlock]:
    """All fenced code blocks of `text`, in order, by CommonMark's rules for top-level fences.

    Taken as well: a fence of a known language behind other text, as in `Answer: ```python`; one
    that closes at the end of a line of code, or with tokens, tags or words behind it, when no other
    does; the blocks within a markdown block that has no name; code before a first fence that only
    closes. With `nested` a fence may be indented further, as in a list.
    """
    reader = _FenceReader(text, nested)
    for start, end in _fence_lines(text):
        reader.take(start, end)
    return reader.finish()


def _fence_lines(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of each line that holds three backticks or tildes."""
    at = 0
    marks = [text.find("```"), text.find("~~~")]
    while any(mark >= 0 for mark in marks):
        mark = min(mark for mark in marks if mark >= 0)
        start = text.rfind("\n", at, mark) + 1 or at
        end = text.find("\n", mark)
        end = len(text) if end < 0 else end
        yield start, end
        at = end + 1
        for place, found in enumerate(marks):
            if 0 <= found < at:
                marks[place] = text.find("```" if place == 0 else "~~~", at)


@dataclass(slots=True)
class _Open:
    """A fence that is open."""

    mark: str
    indent: int
    language: str
    name: str
    start: int
    """Start of its content in the text."""
    end: int = -1
    """End of its content where a loose mark may have closed it, or -1."""
    marked: bool = False
    """True once a line with a mark belongs to its content."""


class _FenceReader:
    """The blocks of a text, from its lines with fence marks in order."""

    def __init__(self, text: str, nested: bool) -> None:
        self._text, self._nested = text, nested
        self._blocks: list[CodeBlock] = []
        self._open: _Open | None = None
        self._outer: _Open | None = None  # a markdown block around others
        self._inner = 0  # blocks found before it

    def take(self, start: int, end: int) -> None:
        """Read the line at `text[start:end]`."""
        line = self._text[start:end].rstrip("\r")
        fence = _read_fence(line.expandtabs(4) if self._nested else line, nested=self._nested)
        if self._open is None:
            self._begin(line, fence, start, end)
        else:
            self._go_on(self._open, line, fence, start, end)

    def _begin(self, line: str, fence: tuple[int, str, str] | None, start: int, end: int) -> None:
        if fence is None:
            self._open = _open_behind(line, end)
            return
        indent, mark, info = fence
        if not info and self._outer is not None and _closes(mark, self._outer.mark):
            if len(self._blocks) == self._inner:
                self._add(self._outer, start, closed=True)
            self._outer = None
            return
        if not info and not self._blocks and _is_open_code(self._text, start):
            self._blocks.append(CodeBlock("", self._text[:start], "", True))
            return
        opened = _Open(mark, indent, *_read_info(info), end + 1)
        if opened.language in _CONTAINERS and not opened.name and self._outer is None:
            self._outer, self._inner = opened, len(self._blocks)
        else:
            self._open = opened

    def _go_on(
        self, opened: _Open, line: str, fence: tuple[int, str, str] | None, start: int, end: int
    ) -> None:
        """Read a line with a mark while a fence is open."""
        marked, opened.marked = opened.marked, True
        closing = fence is not None and _closes(fence[1], opened.mark)
        if closing and fence is not None and fence[0] < opened.indent + 4:
            if not fence[2] or _is_marks(fence[2]):
                self._add(opened, start, closed=True)
                self._open = None
            elif _is_language(_read_info(fence[2])[0]):
                blank = not (marked or self._text[opened.start : start].strip())
                if blank or opened.end >= 0:
                    self._cut(opened)
                    self._open = _Open(fence[1], fence[0], *_read_info(fence[2]), end + 1)
                else:
                    opened.end = start
            elif opened.end < 0 and " " in fence[2]:
                opened.end = start
            return
        behind = _open_behind(line, end) if opened.end >= 0 else None
        if behind is not None:
            self._cut(opened)
            self._open = behind
        elif opened.end < 0 and fence is None:
            place = _loose_end(line, opened.mark)
            opened.end = start + place if place >= 0 else -1

    def _cut(self, opened: _Open) -> None:
        """Close a block where a loose mark stands."""
        if opened.end >= 0:
            self._add(opened, opened.end, closed=True)

    def _add(self, opened: _Open, end: int, *, closed: bool) -> None:
        code = self._text[opened.start : end]
        if self._nested or opened.indent:
            code = "\n".join(self._outdented(line, opened.indent) for line in code.split("\n"))
        code = code if code[-1:] == "\n" and closed else code + "\n"
        self._blocks.append(CodeBlock(opened.language, code, opened.name, closed))

    def _outdented(self, line: str, indent: int) -> str:
        shown = line.replace("\t", "    ") if self._nested and line[:1] == "\t" else line
        bare = shown.lstrip(" ")
        return shown[: len(shown) - len(bare)][indent:] + bare

    def finish(self) -> list[CodeBlock]:
        """The blocks; the last fence may be open."""
        last = self._open or self._outer
        if last is not None and (self._open or len(self._blocks) == self._inner):
            end = last.end if last.end >= 0 else len(self._text)
            if self._text[last.start : end].strip():
                self._add(last, end, closed=last.end >= 0)
        return self._blocks


def _read_fence(line: str, *, nested: bool) -> tuple[int, str, str] | None:
    """(indent, mark, info) of a line that begins with a fence mark, else None."""
    bare = line.lstrip(INVISIBLE).lstrip(" ")
    indent = len(line.lstrip(INVISIBLE)) - len(bare)
    char = bare[:1]
    if char not in ("`", "~") or (indent > 3 and not nested):
        return None
    info = bare.lstrip(char)
    mark = bare[: len(bare) - len(info)]
    if len(mark) < 3 or (char == "`" and "`" in info):
        return None
    return indent, mark, info.strip(f" \t\xa0{INVISIBLE}")


def _closes(mark: str, opened: str) -> bool:
    return mark[0] == opened[0] and len(mark) >= len(opened)


def _read_info(info: str) -> tuple[str, str]:
    """Language and name in an info string."""
    language, name = [*info[:NEAR].split(None, 1), "", ""][:2]
    language, colon, file = language.partition(":")
    if colon and not name:
        name = file
    elif not name and language.endswith(".py"):
        name = language
    return language.lower().strip("{}."), name.strip()


def _is_language(label: str) -> bool:
    return any(is_label(label, language) for language in _LABELS)


def is_label(label: str, language: str) -> bool:
    """True when a label names the language, or a file in it."""
    return (
        label in _LABELS.get(language, (language,))
        or label.startswith(_LIKE_LABEL.get(language, ("\0",)))
        or (language in _FILE_ENDS and label.endswith(_FILE_ENDS[language]))
    )


def _open_behind(line: str, end: int) -> _Open | None:
    """The fence of a known language that opens behind other text at the end of a line."""
    place = line.rfind("```", max(0, len(line) - NEAR))
    before, info = line[max(0, place - NEAR) : max(0, place)], line[place + 3 :].strip()
    inline = before.endswith("`") or (before.count("```") % 2 and not _is_marks(before))
    if not before.strip(" \t>") or inline or " " in info or not _is_language(_read_info(info)[0]):
        return None
    in_list = before.strip() in ("-", "*", "+") or before.strip().rstrip(".)").isdecimal()
    return _Open("```", place if in_list else 0, *_read_info(info), end + 1)


def _loose_end(line: str, opened: str) -> int:
    """The place of a closing mark behind code at the end of a line, or -1."""
    bare = without_end(line)
    place = len(bare.rstrip(opened[0]))
    alone = len(bare) - place == len(opened) and bare.count(opened) == 1
    return place if alone and line[:place].strip() else -1


def _is_marks(text: str) -> bool:
    """True for tokens, tags and punctuation: what may stand behind a fence that closes."""
    if text[:1] in "<[" and text[-1:] in ">]" and len(text) <= NEAR:
        return " " not in text
    return len(text) <= 8 and not any(char.isalnum() or char == "_" for char in text)


def _is_open_code(text: str, end: int) -> bool:
    """True when a text begins with code whose opening fence stood in the prompt."""
    before = text[:end]
    return bool(before.strip()) and CODE_LINE.is_in(before) and (without_prose(before) == [before])
