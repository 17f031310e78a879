"""Fresh program text without end: the shapes of real source files, every name and word drawn anew.

A source file is cut into blocks, a block into pieces: what stays (layout, punctuation, keywords,
builtins, the commonest words) and what is drawn (all other words, in code and in prose, and
numbers of two digits or more). Within one text the same word becomes the same word. Four in five
drawn words come from a list by their rank, one in five is made of syllables; so two texts of
different seeds share a shape at most, and no long span.

Covered: the text of a seed and pool is the same everywhere where the library's sources are.
Not covered: that it compiles.
"""

from __future__ import annotations

import builtins
import hashlib
import itertools
import keyword
import random
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from unhack.models import corpus
from unhack.models.corpus import CorpusPart

BLOCK = 1200
"""Characters of a block, at least."""
_KEPT_WORDS = 60
_COINED = 0.2
_FLAT = 20.0
_SYLLABLE_LIST = """
ba be bi bo ca ce co cu da de di do fa fe fi go ga ha he ho ja jo ka ke ki la le li lo ma me mi
mo na ne no pa pe po qui ra re ri ro sa se si so ta te ti to va ve vi wa xe ya za zo
"""
_SYLLABLES = _SYLLABLE_LIST.split()
_ENDS = ("", "", "n", "r", "s", "t", "x", "ng", "rd", "st")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]{2,}")
_ATOM = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


@dataclass(frozen=True, slots=True)
class Slot:
    """A place whose text is drawn."""

    key: str
    """The word that stands there, in lower case, or its digits; the same key, the same word."""
    style: str
    """`lower`, `upper` or `title`."""


Piece = str | Slot
Block = tuple[Piece, ...]


@lru_cache(maxsize=1)
def _list_names() -> tuple[str, ...]:
    """Words of source files, the commonest first."""
    return tuple(resources.files("unhack.models").joinpath("words.txt").read_text().split())


@lru_cache(maxsize=1)
def _kept() -> frozenset[str]:
    return frozenset((*keyword.kwlist, *dir(builtins), *_list_names()[:_KEPT_WORDS]))


@lru_cache(maxsize=1)
def _words() -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Words to draw, and the sums of their weights."""
    words = tuple(word for word in _list_names() if word not in _kept())
    weights = itertools.accumulate(1.0 / (rank + _FLAT) for rank in range(len(words)))
    return words, tuple(weights)


@lru_cache(maxsize=512)
def blocks(name: str) -> tuple[Block, ...]:
    """The blocks of a library file. Each is at least `BLOCK` characters long but the last, which is
    left out where it is shorter."""
    found: list[Block] = []
    pieces: list[Piece] = []
    length = 0
    for line in corpus.text(name).splitlines(keepends=True):
        pieces += _pieces(line)
        length += len(line)
        if length >= BLOCK:
            found.append(_join(pieces))
            pieces, length = [], 0
    return tuple(found)


def _pieces(line: str) -> list[Piece]:
    found: list[Piece] = []
    at = 0
    for match in _NAME.finditer(line):
        found.append(line[at : match.start()])
        found += _parts(match.group())
        at = match.end()
    found.append(line[at:])
    return found


def _parts(name: str) -> list[Piece]:
    if name.isdigit():
        return [Slot(name, "lower")]
    if name in _kept():
        return [name]
    found: list[Piece] = []
    at = 0
    for match in _ATOM.finditer(name):
        atom, lower = match.group(), match.group().lower()
        if len(atom) < 3 or lower in _kept():
            continue
        found.append(name[at : match.start()])
        style = "lower" if atom.islower() else "upper" if atom.isupper() else "title"
        found.append(Slot(lower, style))
        at = match.end()
    found.append(name[at:])
    return found


def _join(pieces: list[Piece]) -> Block:
    """Neighbouring texts as one."""
    found: list[Piece] = []
    for fixed, group in itertools.groupby(pieces, key=lambda piece: isinstance(piece, str)):
        if fixed:
            text = "".join(piece for piece in group if isinstance(piece, str))
            found += [text] if text else []
        else:
            found += list(group)
    return tuple(found)


def fill(block: Block, *, rng: random.Random) -> str:
    """A text of this shape with words drawn by `rng`."""
    return "".join(part for part, _ in fill_parts(block, rng=rng))


def fill_parts(block: Block, *, rng: random.Random) -> list[tuple[str, bool]]:
    """The parts of such a text, and of each whether it was drawn."""
    keys = list(dict.fromkeys(piece.key for piece in block if isinstance(piece, Slot)))
    words, weights = _words()
    drawn = rng.choices(words, cum_weights=weights, k=len(keys))
    chosen = {
        key: _number(key, rng) if key.isdigit() else word if rng.random() >= _COINED else _coin(rng)
        for key, word in zip(keys, drawn, strict=True)
    }
    return [
        (piece, False) if isinstance(piece, str) else (_style(chosen[piece.key], piece.style), True)
        for piece in block
    ]


def make_rng(*parts: object) -> random.Random:
    """A generator that follows from these values alone; other values give an unrelated one."""
    text = "\x1f".join(map(str, parts)).encode()
    return random.Random(int.from_bytes(hashlib.sha256(text).digest(), "big"))


def stream(part: CorpusPart, *, seed: int, size: int) -> bytes:
    """`size` bytes: filled blocks of one part, drawn with replacement, one after the other."""
    rng = make_rng("stream", part, seed)
    every = [block for name in corpus.names(part) for block in blocks(name)]
    found = bytearray()
    while len(found) < size:
        found += fill(rng.choice(every), rng=rng).encode("utf-8", "replace")
    return bytes(found[:size])


def _number(digits: str, rng: random.Random) -> str:
    return str(rng.randrange(10 ** (len(digits) - 1), 10 ** len(digits)))


def _coin(rng: random.Random) -> str:
    return "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 2, 3)))) + rng.choice(_ENDS)


def _style(word: str, style: str) -> str:
    match style:
        case "upper":
            return word.upper()
        case "title":
            return word.capitalize()
        case _:
            return word
