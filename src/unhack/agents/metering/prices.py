"""Tokens and their prices, by the exact name of a model.

Covered: names with a date or `-latest` behind them; a path before them; a table of the user's over
that of the package; models that no table has.
Not covered: surcharges for long contexts and discounts; see the head of `prices.toml`.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from unhack.core.errors import UsageError

_TABLE = Path(__file__).with_name("prices.toml")
_MILLION = 1e6
_DATED = re.compile(r"(?P<name>.+?)(?:-latest|[-@]20\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])"
                    r"|-20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))")  # fmt: skip
_PATHS = ("models/", "anthropic/", "openai/", "google/", "qwen/", "dashscope/")
_MOST_OUTPUT = 128_000

FourPrices = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class TokenCounts:
    """Of one answer; the four kinds do not overlap.

    Example:

        tokens = TokenCounts(input=1200, output=300, cache_read=8000)
        load_prices().cost_usd("claude-opus-4-5", tokens)
    """

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
    models: Mapping[str, FourPrices]
    most_output: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that one answer of a model has at most, where that is known."""

    def listed(self, model: str) -> str:
        """The listed name that a model's name stands for; empty for none.

        It stands for itself, and so it does with a date or `-latest` behind it and with a
        provider's path before it (`models/…`, `openai/…`). No other name is near enough.
        """
        path = next((path for path in _PATHS if model.startswith(path)), "")
        name = model.removeprefix(path)
        for known in (model, name):
            if known in self.models:
                return known
        dated = _DATED.fullmatch(name)
        return dated["name"] if dated and dated["name"] in self.models else ""

    def of(self, model: str) -> FourPrices:
        """The price of a model; of one that is not listed, the dearest of each column."""
        name = self.listed(model)
        if name:
            return self.models[name]
        columns = list(zip(*self.models.values(), strict=True))
        return max(columns[0]), max(columns[1]), max(columns[2]), max(columns[3])

    def most_output_of(self, model: str) -> tuple[int, bool]:
        """(tokens that an answer has at most, whether that is known of this model)."""
        name = self.listed(model)
        return self.most_output.get(name, _MOST_OUTPUT), bool(name)

    def cost_usd(self, model: str, tokens: TokenCounts) -> float:
        """The cost of `tokens`."""
        counts = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
        return math.fsum(n * p for n, p in zip(counts, self.of(model), strict=True)) / _MILLION


def load_prices(path: Path | None = None) -> Prices:
    """The table of this package, with another of the same form laid over it. Raises UsageError."""
    shipped = _read(_TABLE)
    if path is None:
        return shipped
    own = _read(path)
    return Prices(
        own.as_of or shipped.as_of,
        {**shipped.models, **own.models},
        {**shipped.most_output, **own.most_output},
    )


def _read(path: Path) -> Prices:
    try:
        read = tomllib.loads(path.read_text())
        table = cast("dict[str, list[float]]", read["models"])
        models = {name: _four(row) for name, row in table.items()}
        most = {name: _whole(value) for name, value in read.get("most_output", {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(
            f"{path} is no price table ({error}): it needs lines such as\n"
            '[models]\n"model-name" = [3.0, 15.0, 0.3, 3.75]\n'
            "with dollars for a million tokens of input, output, cache read, cache write"
        ) from None
    if not models:
        raise UsageError(f"{path} lists no price")
    return Prices(str(read.get("as_of", "")), models, most)


def _four(row: list[float]) -> FourPrices:
    first, second, third, fourth = (float(value) for value in row)
    if not all(value >= 0 and math.isfinite(value) for value in (first, second, third, fourth)):
        raise ValueError("a price is negative or not finite")
    return first, second, third, fourth


def _whole(value: Any) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"most_output: {value!r} is no number of tokens")
    return value
