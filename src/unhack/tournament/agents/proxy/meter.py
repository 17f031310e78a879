"""The cost of an agent's model: tokens counted, priced, and held against a limit.

Covered: each model at its own price; a request that is under way counts with what it certainly
costs; an answer that never came to its end is charged by its length, so that hanging up early saves
nothing; models without a price count as the dearest one.
Not covered: an overshoot by the answers under way when the limit is reached, at most one for each
connection.
"""

from __future__ import annotations

import json
import math
import threading
import time
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError

_TABLE = Path(__file__).with_name("prices.toml")
_MILLION = 1e6
_BYTES_A_TOKEN = 3.0
"""Fewer than the about four of English text: an estimate that errs on the dear side."""


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Of one answer; the four kinds do not overlap."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    def merged(self, other: TokenCounts) -> TokenCounts:
        """The larger of each: providers repeat and complete their counts while they stream."""
        return TokenCounts(
            max(self.input, other.input),
            max(self.output, other.output),
            max(self.cache_read, other.cache_read),
            max(self.cache_write, other.cache_write),
        )

    def plus(self, other: TokenCounts) -> TokenCounts:
        """The sum of each."""
        return TokenCounts(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class Prices:
    """Dollars for a million tokens by model: input, output, cache read, cache write."""

    as_of: str
    models: Mapping[str, tuple[float, float, float, float]]

    def of(self, model: str) -> tuple[float, float, float, float]:
        """The price of the longest listed name that `model` starts with, else the dearest of all.

        A path before the name (`models/…`, `openai/…`) does not count.
        """
        name = model.rpartition("/")[2]
        known = [listed for listed in self.models if name.startswith(listed)]
        if known:
            return self.models[max(known, key=len)]
        columns = list(zip(*self.models.values(), strict=True))
        return max(columns[0]), max(columns[1]), max(columns[2]), max(columns[3])

    def cost_usd(self, model: str, tokens: TokenCounts) -> float:
        """The cost of `tokens`."""
        counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
        return math.fsum(n * p for n, p in zip(counts, self.of(model), strict=True)) / _MILLION


def load_prices(path: Path | None = None) -> Prices:
    """The table of this package, or another of the same form. Raises UsageError."""
    try:
        read = tomllib.loads((path or _TABLE).read_text())
        table = cast("dict[str, list[float]]", read["models"])
        models = {name: _four(row) for name, row in table.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{path} is no price table: {error}") from None
    if not models:
        raise UsageError(f"{path} lists no price")
    return Prices(str(read.get("as_of", "")), models)


def _four(row: list[float]) -> tuple[float, float, float, float]:
    first, second, third, fourth = (float(value) for value in row)
    if not all(value >= 0 and math.isfinite(value) for value in (first, second, third, fourth)):
        raise ValueError("a price is negative or not finite")
    return first, second, third, fourth


def estimate(*, sent_bytes: int, received_bytes: int) -> TokenCounts:
    """Tokens of a request and an answer whose count never came."""
    return TokenCounts(
        input=math.ceil(sent_bytes / _BYTES_A_TOKEN),
        output=math.ceil(received_bytes / _BYTES_A_TOKEN),
    )


@dataclass(slots=True, eq=False)
class ProxyMeter:
    """The account of one seat. Every method may be called from any thread."""

    prices: Prices
    limit_usd: float
    log: Path | None = None
    """Takes one line of JSON for each answer, as they come."""
    by_model: dict[str, TokenCounts] = field(default_factory=dict[str, TokenCounts])
    spent_usd: float = 0.0
    requests: int = 0
    refused_at: float = 0.0
    """When (monotonic) a request was first refused for its cost; 0 while none was."""
    _open: dict[int, float] = field(default_factory=dict[int, float])
    _next: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, model: str, *, sent_bytes: int) -> int | None:
        """A ticket for a request, or None where the limit is reached."""
        certain = self.prices.cost_usd(model, TokenCounts(cache_read=sent_bytes // 8))
        with self._lock:
            if self.spent_usd + sum(self._open.values()) >= self.limit_usd:
                self.refused_at = self.refused_at or time.monotonic()
                return None
            self._next += 1
            self._open[self._next] = certain
            return self._next

    def finish(self, ticket: int, model: str, tokens: TokenCounts, **details: Any) -> None:
        """The answer of a request has ended; `details` go to the log."""
        cost = self.prices.cost_usd(model, tokens)
        with self._lock:
            del self._open[ticket]
            self.requests += 1
            self.spent_usd += cost
            self.by_model[model] = self.by_model.get(model, TokenCounts()).plus(tokens)
            if self.log is not None:
                line = {
                    "model": model,
                    "input": tokens.input,
                    "output": tokens.output,
                    "cache_read": tokens.cache_read,
                    "cache_write": tokens.cache_write,
                    "cost_usd": round(cost, 9),
                    **details,
                }
                with self.log.open("a") as file:
                    file.write(json.dumps(line) + "\n")

    def tokens(self) -> TokenCounts:
        """The sum over all models."""
        with self._lock:
            total = TokenCounts()
            for tokens in self.by_model.values():
                total = total.plus(tokens)
            return total
