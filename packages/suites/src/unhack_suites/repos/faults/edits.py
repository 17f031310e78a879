"""Edits of source text: a span replaced, the rest of the file left as its author laid it out.

Covered: ASCII sources, which all generated ones are (columns count bytes in `ast`).
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

Function = ast.FunctionDef


@dataclass(frozen=True, slots=True)
class SourceEdit:
    """One replacement."""

    path: str
    start: int
    end: int
    text: str
    operator: str
    """The kind of slip."""
    function: str = ""
    """The function that it stands in, dotted; empty for the module's own lines."""
    line: int = 0
    silent: bool = False
    """The slip is of a kind that raises nothing by itself: a default, a key, a shared object."""
    crosses: bool = False
    """The slip is at a border between files: a signature, a registry, a shared constant."""

    @property
    def place(self) -> str:
        """File and function."""
        return f"{self.path}:{self.function}"


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """A parsed file."""

    path: str
    text: str
    tree: ast.Module
    starts: tuple[int, ...]
    """The offset of each line."""

    def at(self, line: int, column: int) -> int:
        """The offset of a position of `ast`."""
        return self.starts[line - 1] + column

    def span(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> tuple[int, int]:
        """Start and end of a node."""
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self.at(node.lineno, node.col_offset),
            self.at(node.end_lineno, node.end_col_offset),
        )

    def code(self, node: ast.expr | ast.stmt | ast.arg | ast.keyword) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]


@functools.lru_cache(maxsize=512)
def read(path: str, text: str) -> ParsedFile:
    """Parse a file. Raises SyntaxError."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return ParsedFile(path, text, ast.parse(text, path), tuple(starts))


def apply(text: str, edits: Iterable[SourceEdit]) -> str:
    """The text with edits made; they must not overlap."""
    for edit in sorted(edits, key=lambda one: one.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def apply_all(files: dict[str, str], edits: Iterable[SourceEdit]) -> dict[str, str]:
    """The files with edits made in each."""
    found = dict(files)
    todo = list(edits)
    for path in {edit.path for edit in todo}:
        found[path] = apply(files[path], [edit for edit in todo if edit.path == path])
    return found


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, Function]]:
    """Every function with its dotted name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            name = f"{prefix}{node.name}"
            if isinstance(node, ast.FunctionDef):
                yield name, node
            yield from functions(node, f"{name}.")


def statement_lines(source: ParsedFile, node: ast.stmt) -> tuple[int, int]:
    """The span of whole lines that a statement takes."""
    assert node.end_lineno is not None
    return source.starts[node.lineno - 1], source.starts[node.end_lineno]
