"""Every number that chance decides, out of one secret.

A seed is HMAC-SHA256 of the secret of the run folder over what it is for, so that the same secret
gives the same tournament, and no seed tells anything about another.
"""

from __future__ import annotations

import hashlib
import hmac
import random

_BITS = 62
"""Fits a signed 64-bit integer."""


def derive(secret: bytes, *purpose: str | int) -> int:
    """The seed of one purpose, from 0 to 2^62 - 1."""
    text = "\x1f".join(f"{len(str(part))}:{part}" for part in purpose)
    digest = hmac.new(secret, text.encode(), hashlib.sha256).digest()
    return int.from_bytes(digest[:8], "big") >> (64 - _BITS)


def secret_of_seed(seed: int) -> bytes:
    """The secret of a tournament that is to be repeatable."""
    return hashlib.sha256(f"unhack tournament {seed}".encode()).digest()


def chosen_rounds(secret: bytes, *, rounds: int, count: int) -> tuple[int, ...]:
    """Which `count` of the rounds are impossible, in order. The first is spared if it can be."""
    draw = random.Random(derive(secret, "impossible"))
    free = range(2 if count < rounds else 1, rounds + 1)
    return tuple(sorted(draw.sample(free, count)))
