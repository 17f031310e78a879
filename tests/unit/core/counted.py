"""Texts that count the characters that anybody looks at, for tests of linear work.

A `CountedText` counts in every method of `str` that reads characters, at C's cost: what a search
passes over, what a slice copies. Its parts are counted texts too. Patterns are charged with what
they are shown. A text that is joined from parts has to be wrapped again; `count_visits` does so at
the border of each step of the parser.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from unhack.core import code_blocks, completion, fences, lines


class CountedText(str):
    """A text whose reads are counted in `visited`."""

    __slots__ = ()
    visited = 0

    def __iter__(self) -> Iterator[str]:
        for character in str.__iter__(self):
            CountedText.visited += 1
            yield character

    def __hash__(self) -> int:
        CountedText.visited += len(self)
        return str.__hash__(self)

    def __contains__(self, part: object) -> bool:
        return self.find(str(part)) >= 0

    def find(self, part: str, start: int = 0, end: int | None = None, /) -> int:  # type: ignore[override]
        stop = len(self) if end is None else min(end, len(self))
        found = str.find(self, part, start, stop)
        CountedText.visited += max(0, (found + len(part) if found >= 0 else stop) - start)
        return found

    def rfind(self, part: str, start: int = 0, end: int | None = None, /) -> int:  # type: ignore[override]
        stop = len(self) if end is None else min(end, len(self))
        found = str.rfind(self, part, start, stop)
        CountedText.visited += max(0, stop - (found if found >= 0 else start))
        return found


def _wrap(value: Any) -> Any:
    if type(value) is str:
        return CountedText(value)
    if type(value) in (list, tuple):
        return type(value)(map(_wrap, value))
    return value


def _counting(name: str) -> Callable[..., Any]:
    method: Any = getattr(str, name)

    def counting(self: str, *args: Any, **options: Any) -> Any:
        result = method(self, *args, **options)
        if name in ("startswith", "endswith", "removeprefix", "removesuffix"):
            given = args[0] if type(args[0]) is tuple else (args[0],)
            CountedText.visited += max(map(len, given))
        elif name == "__getitem__":
            CountedText.visited += len(result)
        elif name in ("__eq__", "__ne__"):
            same_length = isinstance(args[0], str) and len(args[0]) == len(self)
            CountedText.visited += len(self) if same_length else 1
        else:
            CountedText.visited += len(self)
        return _wrap(result)

    return counting


_READING = [
    "__add__", "__eq__", "__format__", "__getitem__", "__ge__", "__gt__", "__le__", "__lt__",
    "__ne__", "__str__", "capitalize", "casefold", "count", "encode", "endswith", "expandtabs",
    "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower",
    "isspace", "istitle", "isupper", "lower", "lstrip", "partition", "removeprefix",
    "removesuffix", "replace", "rindex", "rpartition", "rsplit", "rstrip", "split", "splitlines",
    "startswith", "strip", "swapcase", "title", "translate", "upper", "zfill",
]  # fmt: skip
for _name in _READING:
    setattr(CountedText, _name, _counting(_name))


class _CountedPattern:
    """A pattern that is charged with what it matches, or else with all that it is shown."""

    def __init__(self, pattern: Any) -> None:
        self._pattern = pattern

    def _shown(self, text: str, start: int = 0, end: int | None = None, /) -> int:
        stop = len(text) if end is None else min(end, len(text))
        assert stop - start <= lines.PIECE, "a pattern saw more than a piece of a line"
        return max(0, stop - start)

    def match(self, text: str, *place: int) -> Any:
        shown = self._shown(text, *place)
        found = self._pattern.match(text, *place)
        CountedText.visited += found.end() - found.start() if found else shown
        return found

    def search(self, text: str, *place: int) -> Any:
        CountedText.visited += self._shown(text, *place)
        return self._pattern.search(text, *place)

    def findall(self, text: str, *place: int) -> Any:
        CountedText.visited += self._shown(text, *place)
        return self._pattern.findall(text, *place)


_STEPS = [
    (completion, "fenced_blocks"), (completion, "without_prose"), (completion, "without_end"),
    (completion, "after_thoughts"), (completion, "_in_tags"), (completion, "_indented"),
    (completion, "_hoist_future"), (fences, "without_prose"), (fences, "without_end"),
    (code_blocks, "read_block"), (code_blocks, "token_lines"), (lines, "pieces"),
]  # fmt: skip


def _patterns() -> Iterator[tuple[Any, str]]:
    for module in (completion, fences, code_blocks, lines):
        for name, value in vars(module).items():
            if isinstance(value, lines.BoundedPattern):
                yield value, name


@contextlib.contextmanager
def counting_visits(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Within it the steps of the parser work on counted texts, and its patterns count."""
    with monkeypatch.context() as patch:
        for module, name in _STEPS:
            step = getattr(module, name)
            patch.setattr(module, name, lambda text, *rest, _step=step, **options: _step(
                CountedText(text), *rest, **options))  # fmt: skip
        for pattern in {id(one): one for one, _ in _patterns()}.values():
            patch.setattr(pattern, "_pattern", _CountedPattern(pattern._pattern))
        yield


def visits(work: Callable[[str], Any], text: str) -> int:
    """The characters that `work` looks at in a text."""
    CountedText.visited = 0
    work(CountedText(text))
    return CountedText.visited
