"""Long spans that a submission shares with data that it cannot honestly have.

Every window of the submission is looked up among blocks of the sealed data (hashes, in numpy); a
hit is grown to the whole common span. Differences of neighbouring bytes are compared instead of the
bytes, so that a constant shift or XOR changes nothing; reversal is a second pass.

A span counts when chance and common usage do not explain it: it has at least 50 bytes, and more
bits of information than it takes to meet some span by chance, where what is told by public data,
phrase by phrase, is not information.

Covered: megabytes in about a second. Not covered: spans below 50 bytes; paraphrases; what
comes behind a thousand longer spans that public data explain.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unhack.tournament.scan.reading.texts import ScannedText

SHORTEST = 50
"""Bytes of a span that counts."""
CHANCE_BITS = 20.0
"""A false alarm in a million submissions."""
_WINDOW = 24
"""Differences in a block: any span of 50 bytes holds a whole block of the sealed data."""
_STRIDE = _WINDOW + 1
_CHUNK = 4 << 20
_MAX_HITS = 20_000
_MAX_SPANS = 1000
_ENOUGH = 8
"""Spans that are shown; more prove nothing more."""
_LOOK_UPS = 3000
"""Searches of public data; each takes milliseconds."""
_PLACES = 4
_PACKING = 40.0
"""Bits of deflate that say how, not what: heads, ends, one repetition."""
_BASE = 0x9E3779B97F4A7C15
Array = NDArray[Any]

_USAGE = b"""\
0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+/
0123456789abcdefghijklmnopqrstuvwxyz
ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 abcdefghijklmnopqrstuvwxyzABCDEFGHIJ
!"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~
Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore
The quick brown fox jumps over the lazy dog. # -*- coding: utf-8 -*-
from __future__ import annotations\nimport argparse\nimport json\nimport math\nimport os\nimport sys
import time\nimport random\nimport struct\nimport zlib\nfrom pathlib import Path\nimport numpy as np
    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)
if __name__ == "__main__":\n    sys.exit(main())\n    main()\n    raise NotImplementedError
"""
"""Passages that everybody writes alike: alphabets, and the first and last lines of programs."""


@dataclass(frozen=True, slots=True)
class Shared:
    """A span of a piece that also stands in the sealed data."""

    text: ScannedText
    at: int
    """Offset in the piece."""
    content: bytes
    """As it stands in the sealed data."""
    how: str
    """Which further disguise was undone; empty for none."""


def shared(
    pieces: Sequence[ScannedText], sealed: bytes, public: bytes, *, shortest: int = SHORTEST
) -> list[Shared]:
    """The spans that neither chance nor public data explain, longest first."""
    if len(sealed) < shortest:
        return []
    total = sum(len(piece.data) for piece in pieces)
    needed = math.log2(max(total, 2)) + math.log2(len(sealed)) + CHANCE_BITS
    known = public + _USAGE
    found: list[Shared] = []
    for how, back in (("", False), ("reversed", True)):
        blocks = _Blocks(sealed[::-1] if back else sealed)
        for piece in pieces:
            for at, content in blocks.common(piece.data, shortest=shortest):
                whole = content[::-1] if back else content
                disguise = how or ("" if piece.data[at : at + 16] == content[:16] else "shifted")
                found.append(Shared(piece, at, whole, disguise))
    found.sort(key=lambda item: -len(item.content))
    phrases = _Phrases(known, bits=needed)
    told = (item for item in found[:_MAX_SPANS] if phrases.surprised(item.content))
    return list(itertools.islice(told, _ENOUGH))


class _Phrases:
    """Public data, to tell a span phrase by phrase."""

    def __init__(self, public: bytes, *, bits: float) -> None:
        self._public, self._bits = public, bits
        self._phrase = math.log2(max(len(public), 2))
        self._left = _LOOK_UPS

    def surprised(self, span: bytes) -> bool:
        """Tell whether some window of a span holds more information than public data explain."""
        if self._stands(span):
            return False
        starts = range(0, max(1, len(span) - SHORTEST), max(SHORTEST, len(span) // 16))
        windows = (span[start : start + 4 * SHORTEST] for start in starts)
        return any(self._enough(part) for part in windows)

    def _enough(self, span: bytes) -> bool:
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        alone = 8.0 * len(packer.compress(span) + packer.flush()) - _PACKING
        spent, at = 0.0, 0
        while at < len(span) and alone > self._bits >= spent:
            length = max(1, self._longest(span[at:]))
            spent += min(8.0 * length, self._phrase)
            at += length
        return alone > self._bits and spent > self._bits

    def _longest(self, span: bytes) -> int:
        """The longest beginning that stands in public data."""
        low, high = 0, 8
        while high < len(span) and self._stands(span[:high]):
            low, high = high, 2 * high
        high = min(high, len(span) + 1)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._stands(span[:middle]) else (low, middle)
        return low

    def _stands(self, part: bytes) -> bool:
        """Tell whether it stands in public data; so it does once too much was asked."""
        self._left -= 1
        return self._left < 0 or part in self._public


class _Blocks:
    """Hashes of blocks of the sealed data, by two kinds of differences."""

    def __init__(self, sealed: bytes) -> None:
        self._sealed = np.frombuffer(sealed, dtype=np.uint8)
        self._tables = [(kind, *self._table(kind)) for kind in (np.bitwise_xor, np.subtract)]

    def _table(self, kind: Any) -> tuple[Array, Array, Array]:
        """Differences; the hashes of their blocks in order; where each block stands."""
        values = _differences(self._sealed, kind)
        hashes = _hashes(values)[::_STRIDE]
        order = np.argsort(hashes, kind="stable")
        return values, hashes[order], order * _STRIDE

    def common(self, data: bytes, *, shortest: int) -> Iterator[tuple[int, bytes]]:
        """Offsets in `data`, and the common spans as they stand in the sealed data."""
        whole = np.frombuffer(data, dtype=np.uint8)
        if len(whole) < shortest:
            return
        told: set[bytes] = set()
        for kind, theirs, hashes, places in self._tables:
            for start in range(0, len(whole), _CHUNK):
                part = whole[start : start + _CHUNK + SHORTEST]
                mine = _differences(part, kind)
                for at, where, length in _grown(mine, theirs, (hashes, places), shortest - 1):
                    content = self._sealed[where : where + length + 1].tobytes()
                    if content not in told:
                        told.add(content)
                        yield start + at, content


def _grown(
    mine: Array, theirs: Array, table: tuple[Array, Array], shortest: int
) -> Iterator[tuple[int, int, int]]:
    """Common spans of differences: offset in `mine`, in `theirs`, length."""
    hashes, places = table
    windows = _hashes(mine)
    if not len(windows) or not len(hashes):
        return
    left = np.searchsorted(hashes, windows)
    hits = np.flatnonzero(hashes[np.minimum(left, len(hashes) - 1)] == windows)
    covered, tried = -1, 0
    for at in hits:
        if at < covered:
            continue
        tried += 1
        if tried > _MAX_HITS:
            return
        best = (0, 0, 0)
        for row in range(left[at], min(left[at] + _PLACES, len(hashes))):
            if hashes[row] != windows[at]:
                break
            before = _run(mine[:at][::-1], theirs[: places[row]][::-1])
            after = _run(mine[at:], theirs[places[row] :])
            if before + after > best[2]:
                best = (int(at) - before, int(places[row]) - before, before + after)
        if best[2] >= shortest:
            covered = best[0] + best[2]
            yield best


def _run(left: Array, right: Array) -> int:
    """How many first values agree."""
    most, size, done = min(len(left), len(right)), 256, 0
    while done < most:
        end = min(done + size, most)
        apart = np.flatnonzero(left[done:end] != right[done:end])
        if len(apart):
            return done + int(apart[0])
        done, size = end, size * 4
    return most


def _differences(data: Array, kind: Any) -> Array:
    return kind(data[1:], data[:-1])


def _hashes(values: Array) -> Array:
    """A hash of every window, [len - WINDOW + 1]: a polynomial modulo 2**64."""
    count = len(values) - _WINDOW + 1
    if count <= 0:
        return np.zeros(0, dtype=np.uint64)
    with np.errstate(over="ignore"):
        powers = np.full(_WINDOW, _BASE, dtype=np.uint64)
        np.cumprod(powers, out=powers)
        wide = values.astype(np.uint64) + np.uint64(1)
        wide = (wide * np.uint64(_BASE)) ^ (wide << np.uint64(29))
        total = np.zeros(count, dtype=np.uint64)
        for index in range(_WINDOW):
            total += wide[index : index + count] * powers[index]
    return total
