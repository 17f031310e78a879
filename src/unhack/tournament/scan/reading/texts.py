"""All data that stand in a submission: files and constants of programs, also undisguised.

Undoes the usual disguises of data: encodings, compression, archives, wide numbers, escapes.

Covered: base64 (both alphabets), base85, hexadecimal, zlib, raw deflate, gzip, bzip2, LZMA, zip
members, text as 16, 32 or 64-bit numbers, backslash escapes; up to three on top of each other.
Reversal, single-byte XOR and constant shifts are undone where spans are compared (`spans`).
Not covered: ciphers with longer keys, steganography, and more than the budget of bytes.
"""

from __future__ import annotations

import ast
import base64
import binascii
import bz2
import contextlib
import io
import lzma
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass

from unhack.tournament.scan.reading.folding import HOLE
from unhack.tournament.scan.reading.source import PythonSource

_MAX_DEPTH = 3
_BUDGET = 24 << 20
"""Bytes that undoing may make of one submission."""
_ONE = 8 << 20
_MIN_BYTES = 32
_MAX_STREAMS = 32
_BASE64 = bytes(
    c for c in range(256) if not (chr(c).isascii() and (chr(c).isalnum() or c in b"+/=-_"))
)
_TO_SPACE = bytes.maketrans(_BASE64, b" " * len(_BASE64))
_ZLIB = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


class DecodingBudget:
    """How many bytes may still be made."""

    def __init__(self, left: int = _BUDGET) -> None:
        self.left = left

    def take(self, data: bytes) -> bool:
        """Count the bytes if there is room for them, and tell whether there was."""
        if len(data) > self.left:
            return False
        self.left -= len(data)
        return True


def undone(
    data: bytes, *, budget: DecodingBudget, depth: int = _MAX_DEPTH, how: str = ""
) -> Iterator[tuple[str, bytes]]:
    """The data without its disguises: (`base64, zlib`, content)."""
    if depth == 0 or len(data) < _MIN_BYTES:
        return
    for name, plain in _layers(data):
        if len(plain) >= _MIN_BYTES and plain != data and budget.take(plain):
            whole = f"{how}, {name}" if how else name
            yield whole, plain
            yield from undone(plain, budget=budget, depth=depth - 1, how=whole)


def _layers(data: bytes) -> Iterator[tuple[str, bytes]]:
    yield from _encoded(data)
    yield from _compressed(data)
    yield from _wide(data)
    if data.count(b"\\x") > len(data) // 16 or data.count(b"\\u") > len(data) // 24:
        with contextlib.suppress(UnicodeError):
            yield "escapes", data.decode("unicode_escape").encode("latin-1", "replace")


def _encoded(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Runs of the base64 alphabet that are long and look like no words."""
    packed = data.translate(_TO_SPACE)
    runs = [run for run in packed.split() if len(run) >= _MIN_BYTES]
    wrapped = [run for run in packed.split() if len(run) in (60, 64, 70, 72, 76)]
    if len(wrapped) > 1:
        runs.append(b"".join(packed.split()))
    for run in runs:
        if len(run) % 2 == 0 and not run.strip(b"0123456789abcdefABCDEF"):
            with contextlib.suppress(binascii.Error):
                yield "hexadecimal", binascii.unhexlify(run)
        whole = run.rstrip(b"=").translate(bytes.maketrans(b"-_", b"+/"))
        with contextlib.suppress(binascii.Error):
            yield "base64", base64.b64decode(whole[: len(whole) // 4 * 4 + _rest(whole)] + b"==")
    stripped = data.strip()
    if b" " not in stripped and b"\n" not in stripped and len(stripped) >= 40:
        for name, decode in (("base85", base64.b85decode), ("ascii85", base64.a85decode)):
            with contextlib.suppress(ValueError, OverflowError):
                yield name, decode(stripped)


def _rest(run: bytes) -> int:
    rest = len(run) % 4
    return 0 if rest == 1 else rest


def _compressed(data: bytes) -> Iterator[tuple[str, bytes]]:
    if data.startswith(b"PK\x03\x04"):
        yield from _members(data)
    tries: list[tuple[str, Callable[[bytes], bytes]]] = []
    if data.startswith(b"\x1f\x8b"):
        tries.append(("gzip", lambda part: zlib.decompressobj(31).decompress(part, _ONE)))
    if data.startswith(b"BZh"):
        tries.append(("bzip2", lambda part: bz2.BZ2Decompressor().decompress(part, _ONE)))
    if data.startswith((b"\xfd7zXZ\x00", b"\x5d\x00\x00")):
        tries.append(("lzma", lambda part: lzma.LZMADecompressor().decompress(part, _ONE)))
    tries.append(("deflate", lambda part: zlib.decompressobj(-15).decompress(part, _ONE)))
    for name, work in tries:
        with contextlib.suppress(zlib.error, OSError, lzma.LZMAError, EOFError, ValueError):
            plain = work(data)
            if name != "deflate" or len(plain) > len(data) // 2:
                yield name, plain
    for start in _streams(data):
        with contextlib.suppress(zlib.error):
            yield "zlib", zlib.decompressobj().decompress(data[start:], _ONE)


def _streams(data: bytes) -> list[int]:
    """Offsets at which zlib streams may begin."""
    found: list[int] = []
    for head in _ZLIB:
        start = data.find(head)
        while start >= 0 and len(found) < _MAX_STREAMS:
            found.append(start)
            start = data.find(head, start + 1)
    return sorted(found)


def _members(data: bytes) -> Iterator[tuple[str, bytes]]:
    with contextlib.suppress(zipfile.BadZipFile, OSError, RuntimeError, ValueError, EOFError):
        archive = zipfile.ZipFile(io.BytesIO(data))
        for member in archive.infolist()[:256]:
            if member.file_size <= _ONE:
                with archive.open(member) as file:
                    yield f"zip member {member.filename[:40]}", file.read(_ONE)


def _wide(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Bytes that are stored as wider numbers: all lanes but one are almost all zero."""
    for width in (2, 4, 8):
        if len(data) < width * _MIN_BYTES:
            return
        lanes = [data[offset::width] for offset in range(width)]
        zeros = [lane.count(0) / len(lane) for lane in lanes]
        full = [index for index, share in enumerate(zeros) if share < 0.5]
        if len(full) == 1 and all(zeros[i] > 0.9 for i in range(width) if i != full[0]):
            yield f"{8 * width}-bit numbers", lanes[full[0]]
            return


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
