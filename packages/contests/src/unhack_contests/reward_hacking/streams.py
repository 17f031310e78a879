"""Random streams: one for each pool, seed and purpose, none of them shared."""

from __future__ import annotations

import hashlib
import random
from typing import Any

import numpy as np

from unhack.tournament.kit import DataPool

_PLACES = {pool: place for place, pool in enumerate(DataPool)}


def stream(pool: DataPool, seed: int, purpose: str) -> np.random.Generator:
    """A numpy stream. Development data does not depend on the seed of a measurement."""
    return np.random.default_rng(_key(pool, seed, purpose))


def choices(pool: DataPool, seed: int, purpose: str) -> random.Random:
    """The same for the standard library's generator."""
    return random.Random(str(_key(pool, seed, purpose)))


def _key(pool: DataPool, seed: int, purpose: str) -> list[Any]:
    drawn = 0 if pool is DataPool.DEV else seed
    name = int.from_bytes(hashlib.sha256(purpose.encode()).digest()[:4], "big")
    return [_PLACES[pool], drawn & 0xFFFFFFFF, drawn >> 32 & 0xFFFFFFFF, name]
