"""All data that stand in a submission: files and constants of programs, also undisguised."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass

from unhack.tournament.scan.reading.disguise import DecodingBudget, undone
from unhack.tournament.scan.reading.folding import HOLE
from unhack.tournament.scan.reading.source import PythonSource

_SHORTEST = 16
_LIST = 3
"""Texts in one literal that make it a table of texts."""
_SEARCHES = {"count", "find", "index", "startswith", "endswith", "replace", "split", "partition"}


@dataclass(frozen=True, slots=True)
class ScannedText:
    """A piece of data."""

    path: str
    line: int
    """Line on which it begins; 0 for a file as a whole."""
    data: bytes
    how: str = ""
    """Which disguises were undone."""
    made: bool = False
    """It is no literal: an expression makes it, or it is run as a program."""


def texts(files: Mapping[str, bytes], sources: Mapping[str, PythonSource]) -> list[ScannedText]:
    """Everything, each piece once."""
    found: dict[bytes, ScannedText] = {}
    budget = DecodingBudget()
    for path, data in files.items():
        found.setdefault(data, ScannedText(path, 0, data))
        source = sources.get(path)
        for line, constant, made in _constants(source) if source else ():
            if len(constant) >= _SHORTEST:
                found.setdefault(constant, ScannedText(path, line, constant, made=bool(made)))
    for text in list(found.values()):
        for how, plain in undone(text.data, budget=budget):
            found.setdefault(plain, ScannedText(text.path, text.line, plain, how))
    return list(found.values())


def place(text: ScannedText, at: int) -> int:
    """The line of an offset in a piece."""
    return text.line if text.line or text.how else text.data.count(b"\n", 0, at) + 1


def comments(data: bytes) -> list[tuple[int, str]]:
    """Comments of a Python file with their lines; neighbouring lines are one comment."""
    found: list[tuple[int, str]] = []
    with contextlib.suppress(tokenize.TokenError, SyntaxError, UnicodeError, ValueError):
        last = -1
        for token in tokenize.tokenize(io.BytesIO(data).readline):
            if token.type == tokenize.COMMENT:
                text, line = token.string.lstrip("#! ").rstrip(), token.start[0]
                if found and line == last + 1:
                    found[-1] = (found[-1][0], f"{found[-1][1]} {text}")
                else:
                    found.append((line, text))
                last = line
    return found


def strings(source: PythonSource) -> list[tuple[int, str]]:
    """Text constants with their lines, docstrings included; but not those that a program compares
    or searches with: members of a list of three texts and more, patterns, and what is asserted."""
    data = _looked_for(source)
    return [
        (line, text.decode("utf-8", "replace"))
        for line, text, made in _constants(source, but=data)
        if len(text) >= _SHORTEST and made is not None
    ]


def _looked_for(source: PythonSource) -> set[int]:
    """Expressions whose texts are material of the program, and speak to nobody."""
    found: set[int] = set()
    for node in source.nodes:
        parts: list[ast.expr] = []
        match node:
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                parts = items if sum(map(_is_text, items)) >= _LIST else []
            case ast.Dict(keys=keys, values=values):
                texts_in = [item for item in (*keys, *values) if item is not None]
                parts = texts_in if sum(map(_is_text, texts_in)) >= _LIST else []
            case ast.Compare(left=left, comparators=others):
                parts = [left, *others]
            case ast.Call(func=function, args=items):
                searches = source.dotted(function).startswith("re.")
                parts = items if searches or _is_search(function) else []
            case ast.Assert(test=test):
                found |= {id(inner) for inner in ast.walk(test)}
            case _:
                pass
        found |= {id(inner) for part in parts for inner in ast.walk(part)}
    return found


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_search(function: ast.expr) -> bool:
    return isinstance(function, ast.Attribute) and function.attr in _SEARCHES


def _constants(
    source: PythonSource, *, but: Set[int] = frozenset()
) -> Iterator[tuple[int, bytes, bool | None]]:
    """Constant expressions, as large as they can be folded, and whether they are made: None for the
    parts of a list put together. `but`: nodes that are passed by."""
    run = {
        id(argument)
        for node, name in source.calls()
        if name in ("exec", "eval", "compile")
        for argument in node.args[:1]
    }
    waiting: list[ast.AST] = [source.tree]
    while waiting:
        node = waiting.pop()
        if id(node) in but:
            continue
        data = _bytes(source.constants.value(node)) if isinstance(node, ast.expr) else None
        if data is not None:
            made = isinstance(node, ast.Call | ast.BinOp) or id(node) in run
            yield getattr(node, "lineno", 1), data, made
            if isinstance(node, ast.Constant | ast.JoinedStr):
                continue
        parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else []
        pieces = [_bytes(source.constants.value(part)) for part in parts]
        if len(pieces) > 1 and all(piece is not None for piece in pieces):
            for between in (b"", b" ", b"\n"):
                whole = between.join(piece for piece in pieces if piece is not None)
                yield getattr(node, "lineno", 1), whole, None
        waiting += ast.iter_child_nodes(node)


def _bytes(value: object) -> bytes | None:
    """Texts, bytes and lists of small numbers as bytes."""
    if isinstance(value, str):
        return value.replace(HOLE, "\x00").encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if isinstance(value, list) and len(value) >= _SHORTEST:  # pyright: ignore[reportUnknownArgumentType]
        with contextlib.suppress(ValueError, TypeError):
            return bytes(value)  # pyright: ignore[reportUnknownArgumentType]
    return None
