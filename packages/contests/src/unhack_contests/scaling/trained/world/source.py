"""The text of a world: tokens of a drawn process whose code length is known.

A component gives the next token by a mixture of four laws: how common a token is, what follows the
last one, what follows the last two, and a repetition of the token `lag` places before. Rows of the
tables are Dirichlet draws, so the process has many rare contexts and few common ones, and a model
learns them one after the other.

Covered: the probability of every token given those before is known exactly, so `code_length` is the
entropy of the text for whoever knows component and tables; no model has a smaller expected loss.
Not covered: resemblance to any language.

Source: Shannon 1948 (conditional entropy).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
_LEAST = 1e-3
"""Added to every Dirichlet parameter: no context makes a token impossible."""


@dataclass(frozen=True, slots=True)
class TokenSource:
    """One component of a text."""

    common: Array
    """(V,): probabilities of tokens"""
    after_one: Array
    """(V, V)"""
    after_two: Array
    """(V * V, V)"""
    weights: tuple[float, float, float]
    """Of the three tables."""
    repeat: float
    lag: int


def draw_source(draw: np.random.Generator, *, vocabulary: int) -> TokenSource:
    """A component with drawn tables, weights and lag."""
    rank = np.arange(1, vocabulary + 1) ** -draw.uniform(0.7, 1.2)
    common = (rank / rank.sum())[draw.permutation(vocabulary)]
    sharp = vocabulary * draw.uniform(0.06, 0.2, size=2)
    rows = [draw.dirichlet(sharp[0] * common + _LEAST) for _ in range(vocabulary)]
    pairs = [draw.dirichlet(sharp[1] * common + _LEAST) for _ in range(vocabulary**2)]
    second = draw.uniform(0.25, 0.65)
    weights = (0.03, 0.97 * (1 - second), 0.97 * second)
    return TokenSource(
        common, np.stack(rows), np.stack(pairs), weights,
        float(draw.uniform(0.05, 0.3)), int(draw.integers(3, 7)),
    )  # fmt: skip


def write_tokens(
    source: TokenSource, draw: np.random.Generator, *, rows: int, length: int
) -> NDArray[np.uint8]:
    """(rows, length): documents, each begun by `lag` uniform tokens."""
    size = len(source.common)
    tables = [_steps(part) for part in (source.common[None], source.after_one, source.after_two)]
    limits: Array = np.cumsum(source.weights)
    found = np.zeros((rows, length), np.int64)
    found[:, : source.lag] = draw.integers(0, size, (rows, source.lag))
    for at in range(source.lag, length):
        last, before = found[:, at - 1], found[:, at - 2]
        table = _between(limits, draw.random(rows) * limits[-1])
        place = draw.random(rows)
        contexts = (np.zeros(rows, np.int64), last, before * size + last)
        drawn = [
            _picked(flat, context, place, size)
            for flat, context in zip(tables, contexts, strict=True)
        ]
        fresh = np.choose(np.minimum(table, 2), drawn)
        again = draw.random(rows) < source.repeat
        found[:, at] = np.where(again, found[:, at - source.lag], fresh)
    return found.astype(np.uint8)


def code_length(source: TokenSource, tokens: NDArray[np.uint8]) -> float:
    """Mean nats of the tokens after the first `lag` of each row, under the process itself."""
    text = tokens.astype(np.int64)
    size, lag = len(source.common), source.lag
    now, last, before = text[:, lag:], text[:, lag - 1 : -1], text[:, lag - 2 : -2]
    first, second, third = source.weights
    chance = first * source.common[now]
    chance = chance + second * source.after_one[last, now]
    chance = chance + third * source.after_two[before * size + last, now]
    chance = (1 - source.repeat) * chance + source.repeat * (now == text[:, :-lag])
    return float(-np.log(chance).mean())


def _steps(table: Array) -> Array:
    """Row after row, cumulative; row r covers (r, r + 1]."""
    sums = np.cumsum(table, axis=1)
    return (sums / sums[:, -1:] + np.arange(len(table))[:, None]).ravel()


def _between(limits: Array, places: Array) -> Array:
    return np.searchsorted(limits, places)


def _picked(flat: Array, context: Array, place: Array, size: int) -> Array:
    found = _between(flat, context + place) - context * size
    return np.clip(found, 0, size - 1)
