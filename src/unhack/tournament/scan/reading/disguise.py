"""Undoes the usual disguises of data: encodings, compression, archives, wide numbers, escapes.

Covered: base64 (both alphabets), base85, hexadecimal, zlib, raw deflate, gzip, bzip2, LZMA, zip
members, text as 16, 32 or 64-bit numbers, backslash escapes; up to three on top of each other.
Reversal, single-byte XOR and constant shifts are undone where spans are compared (`spans`).
Not covered: ciphers with longer keys, steganography, and more than the budget of bytes.
"""

from __future__ import annotations

import base64
import binascii
import bz2
import contextlib
import io
import lzma
import zipfile
import zlib
from collections.abc import Callable, Iterator

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
