"""The most that a request to a model may use.

Input is bounded by its text: byte-level tokenizers make at most one token of a byte, and fewer of
ordinary words.

Covered: requests of text, however it is split into parts.
Not covered: what a provider adds of its own; the meter learns that from the first answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PART_TOKENS = 12
"""Around each message or tool."""
_PIECES = re.compile(r"[A-Za-z]+|\s+|[^\x00-\x7f]+|[^A-Za-z\s]")
_CONSONANTS = re.compile(r"[b-df-hj-np-tv-xz]{4}")


@dataclass(frozen=True, slots=True)
class RequestPart:
    """One message, tool or field."""

    hash: str
    tokens: int
    """At most."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The most that a request may use."""

    model: str
    parts: tuple[RequestPart, ...]
    output: int
    """Tokens of one answer: the request's own limit, or the model's maximum."""
    lowered: int
    """The most that may be set as a limit where `output` does not fit; its own limit stays."""
    least: int
    """The fewest that may be set."""
    answers: int = 1
    beside: int = 0
    """Output tokens that may be charged besides (predicted outputs)."""


def tokens_of(text: str) -> int:
    """The most tokens that a byte-level tokenizer may make of a text, about.

    Words that look like words count a token for two letters, everything else one for each byte.
    """
    return sum(map(_tokens_of_piece, _PIECES.findall(text)))


def _tokens_of_piece(piece: str) -> int:
    if piece.isspace():
        return 0 if piece == " " else 1 + len(piece) // 4
    if not piece.isascii():
        return len(piece.encode("utf-8", "surrogatepass"))
    if len(piece) <= 1:
        return 1
    plain = piece.islower() or piece.istitle()
    if plain and len(piece) < 30 and not _CONSONANTS.search(piece.lower()):
        return (len(piece) + 1) // 2
    return len(piece)
