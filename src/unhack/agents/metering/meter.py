"""The cost of language models: tokens counted, priced, and held against a limit.

A request is let through only when the most that it may cost fits beside what was counted and what
other requests under way may still cost: it is reserved before it goes out and settled to the real
cost when its answer has ended. So the sum never passes the limit, however many requests are sent
at once. A request waits while others under way may still leave it room.

Covered: each model at its own price, models without one as the dearest; an answer whose end was not
seen is charged as it was reserved, so that hanging up saves nothing; costs of an earlier run; a
provider that counts more than was sent (a prompt of its own) or gives more than was asked for: the
first request of a model goes alone, and what its answer shows is added to the requests after it.
Not covered: surcharges that the price table does not have; a provider that starts to break the
limit of a request later.
"""

from __future__ import annotations

import json
import math
import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from unhack.agents.metering.prices import Prices, TokenCounts, load_prices
from unhack.agents.metering.requests import ModelRequest

__all__ = [
    "Admission",
    "CostDecision",
    "CostMeter",
    "CostReservation",
    "Prices",
    "TokenCounts",
    "estimate",
    "load_prices",
]  # fmt: skip
_BYTES_A_TOKEN = 3.0
"""Fewer than the about four of English text: an estimate that errs on the dear side."""
_ROUNDING_USD = 1e-12


def estimate(*, sent_bytes: int, received_bytes: int) -> TokenCounts:
    """Tokens of a request and an answer whose count never came."""
    return TokenCounts(
        input=math.ceil(sent_bytes / _BYTES_A_TOKEN),
        output=math.ceil(received_bytes / _BYTES_A_TOKEN),
    )


class CostDecision(StrEnum):
    """The fate of a request."""

    GO = "go"
    WAIT = "wait"
    """Others under way hold what it needs."""
    NEVER = "never"
    """It does not fit, whatever they cost."""


@dataclass(frozen=True, slots=True)
class CostReservation:
    """A request that was let through."""

    number: int
    request: ModelRequest
    output: int
    """Tokens that each of its answers may have."""
    reserved: TokenCounts
    """The most that it may use."""
    usd: float


@dataclass(frozen=True, slots=True)
class Admission:
    """The answer to a request for money."""

    decision: CostDecision
    reservation: CostReservation | None = None
    needs_usd: float = 0.0
    """The most that the request may cost, at the fewest tokens that are worth asking for."""
    left_usd: float = 0.0
    """Of the limit, less what was counted."""


@dataclass(slots=True)
class _Shown:
    """The ways of one price, from its answers."""

    sent: frozenset[str] = frozenset()
    """Parts of the last request that was counted, by hash."""
    counted: int = 0
    """Tokens that the provider counted for them."""
    beyond: int = 0
    """Tokens that it counted beyond the most that a request could have."""
    overrun: float = 1.0
    """Tokens that it gave for each that was allowed, where that is more than one."""


@dataclass(slots=True, eq=False)
class CostMeter:
    """The account of all who share one limit. Every method may be called from any thread.

    Example:

        meter = CostMeter(load_prices(), limit_usd=5.0, log=Path("costs.jsonl"))
        meter.spent_usd, meter.tokens().output
    """

    prices: Prices
    limit_usd: float
    log: Path | None = None
    """Takes one line of JSON for each answer, as they come."""
    by_model: dict[str, TokenCounts] = field(default_factory=dict[str, TokenCounts])
    spent_usd: float = 0.0
    requests: int = 0
    refused_at: float = 0.0
    """When (monotonic) a request was refused for its cost, with none let through since; else 0."""
    refused_usd: float = 0.0
    """The most that the request which was refused last may have cost."""
    _open: dict[int, CostReservation] = field(default_factory=dict[int, CostReservation])
    _shown: dict[str, _Shown] = field(default_factory=dict[str, _Shown])
    _next: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def reserved_usd(self) -> float:
        """The most that the requests under way may still cost."""
        with self._lock:
            return math.fsum(reservation.usd for reservation in self._open.values())

    def admit(self, request: ModelRequest) -> Admission:
        """Reserve for a request, or say that it has to wait, or that it can never be."""
        with self._lock:
            found = self._decide(request)
            if found.decision is CostDecision.NEVER:
                self.refused_at = self.refused_at or time.monotonic()
                self.refused_usd = found.needs_usd
            if found.reservation is not None:
                self.refused_at = 0.0
                self._next += 1
                self._open[found.reservation.number] = found.reservation
            return found

    def _decide(self, request: ModelRequest) -> Admission:
        if self.limit_usd == math.inf:
            return self._through(request, request.output)
        shown = self._shown.get(self.prices.listed(request.model))
        left = self.limit_usd - self.spent_usd
        least = self._most(request, request.least).usd
        if least > left + _ROUNDING_USD:
            return Admission(CostDecision.NEVER, needs_usd=least, left_usd=left)
        new = [
            reservation
            for reservation in self._open.values()
            if not self._known(reservation.request)
        ]
        if new or (shown is None and self._open):
            return Admission(CostDecision.WAIT, needs_usd=least, left_usd=left)
        free = left - math.fsum(reservation.usd for reservation in self._open.values())
        if self._most(request, request.output).usd <= free + _ROUNDING_USD:
            return self._through(request, request.output)
        if self._open:
            return Admission(CostDecision.WAIT, needs_usd=least, left_usd=left)
        return self._through(request, self._fitting(request, left))

    def _known(self, request: ModelRequest) -> bool:
        return self.prices.listed(request.model) in self._shown

    def _fitting(self, request: ModelRequest, left: float) -> int:
        """The most tokens, from `least` on, that `left` dollars pay for."""
        low, high = request.least, request.lowered
        while low < high:
            middle = (low + high + 1) // 2
            if self._most(request, middle).usd <= left + _ROUNDING_USD:
                low = middle
            else:
                high = middle - 1
        return low

    def _through(self, request: ModelRequest, output: int) -> Admission:
        reservation = self._most(request, output)
        left = self.limit_usd - self.spent_usd
        return Admission(CostDecision.GO, reservation, needs_usd=reservation.usd, left_usd=left)

    def _most(self, request: ModelRequest, output: int) -> CostReservation:
        """The most that a request may use and cost with so many tokens in each answer."""
        shown = self._shown.get(self.prices.listed(request.model), _Shown())
        known = sum(part.tokens for part in request.parts if part.hash in shown.sent)
        fresh = sum(part.tokens for part in request.parts if part.hash not in shown.sent)
        given = min(known, shown.counted) + fresh + shown.beyond
        wanted = math.ceil((output * request.answers + request.beside) * shown.overrun)
        price = self.prices.of(request.model)
        kinds = TokenCounts(given, wanted) if price[0] >= price[3] else TokenCounts(
            0, wanted, 0, given
        )  # fmt: skip
        usd = self.prices.cost_usd(request.model, kinds)
        return CostReservation(self._next + 1, request, output, kinds, usd)

    def finish(
        self,
        reservation: CostReservation,
        tokens: TokenCounts,
        *,
        told: bool = True,
        **details: Any,
    ) -> None:
        """The answer of a request has ended; `told` where the provider counted it to the end.
        `details` go to the log. Harmless when it was finished before."""
        model = reservation.request.model
        cost = self.prices.cost_usd(model, tokens)
        with self._lock:
            if self._open.pop(reservation.number, None) is None:
                return
            self.requests += 1
            self._charge(model, tokens)
            if told:
                self._learn(reservation, tokens)
            if self.log is not None:
                line = {
                    "model": model,
                    "input": tokens.input,
                    "output": tokens.output,
                    "cache_read": tokens.cache_read,
                    "cache_write": tokens.cache_write,
                    "cost_usd": round(cost, 9),
                    "reserved_usd": round(reservation.usd, 9),
                    **details,
                }
                with self.log.open("a") as file:
                    file.write(json.dumps(line) + "\n")

    def add_earlier(self, model: str, tokens: TokenCounts) -> None:
        """Charge what an earlier run used, under the same limit."""
        with self._lock:
            self._charge(model, tokens)

    def _charge(self, model: str, tokens: TokenCounts) -> None:
        self.spent_usd += self.prices.cost_usd(model, tokens)
        self.by_model[model] = self.by_model.get(model, TokenCounts()).plus(tokens)

    def _learn(self, reservation: CostReservation, tokens: TokenCounts) -> None:
        request = reservation.request
        shown = self._shown.setdefault(self.prices.listed(request.model), _Shown())
        counted = tokens.input + tokens.cache_read + tokens.cache_write
        most = sum(part.tokens for part in request.parts)
        shown.beyond = max(shown.beyond, counted - most)
        shown.sent, shown.counted = frozenset(part.hash for part in request.parts), counted
        allowed = reservation.output * request.answers + request.beside
        if allowed:
            shown.overrun = max(shown.overrun, tokens.output / allowed)

    def settle_rest(self) -> None:
        """Charge what is still under way as it was reserved: nobody will see its end."""
        with self._lock:
            rest = list(self._open.values())
        for reservation in rest:
            self.finish(reservation, reservation.reserved, told=False, complete=False)

    def tokens(self) -> TokenCounts:
        """The sum over all models."""
        with self._lock:
            total = TokenCounts()
            for tokens in self.by_model.values():
                total = total.plus(tokens)
            return total
