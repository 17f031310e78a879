"""The cost of one request, from what its answer tells while it passes by.

Covered: streams and whole answers of every interface; counts that come in pieces; answers that were
cut, by the agent or on the way: they cost what was reserved, because nobody saw what they cost;
answers without any count: charged by their length.
Not covered: a provider that under-reports tokens.
"""

from __future__ import annotations

import json
from typing import Any, cast

from unhack.agents.metering.meter import CostMeter, CostReservation, TokenCounts, estimate
from unhack.agents.proxy import dialects

_MAX_LINE = 8 << 20


class Bill:
    """Open until the answer has ended."""

    def __init__(
        self, meter: CostMeter, reservation: CostReservation, *, sent_bytes: int, changed: list[str]
    ) -> None:
        """`changed`: what the proxy changed of the request, for the log."""
        self._meter, self._reservation = meter, reservation
        self._sent_bytes, self._changed = sent_bytes, changed
        self._received = 0
        self._told = TokenCounts()
        self._ended = False
        self._line = bytearray()
        self._streamed: bool | None = None

    def feed(self, data: bytes) -> None:
        """Some more of the answer."""
        self._received += len(data)
        self._line += data
        if self._streamed is None and self._line.strip():
            self._streamed = bytes(self._line).lstrip()[:1] not in (b"{", b"[")
        if not self._streamed:
            return
        *lines, rest = self._line.split(b"\n")
        self._line = bytearray(rest[-_MAX_LINE:])
        for line in lines:
            self._look_at_line(bytes(line))

    def close(self, status: int, *, reached: bool = True) -> None:
        """The answer has ended, by itself or not. Status 0: there was none."""
        if self._streamed:
            self._look_at_line(bytes(self._line))
        if self._streamed is False:
            for document in objects(self._line):
                self._look(document)
                self._ended = True
        free = status >= 400 or not reached
        told = self._ended and self._told != TokenCounts()
        self._meter.finish(
            self._reservation,
            TokenCounts() if free else self._tokens(),
            told=told and not free,
            status=status,
            complete=self._ended,
            changed=self._changed,
        )

    def _tokens(self) -> TokenCounts:
        told, most = self._told, self._reservation.reserved
        known = told.input + told.cache_read + told.cache_write
        if self._ended and known and told.output:
            return told
        if self._ended:
            sent = 0 if known else self._sent_bytes
            return told.merged(estimate(sent_bytes=sent, received_bytes=self._received))
        return told.merged(TokenCounts(0, most.output) if known else most)

    def _look_at_line(self, line: bytes) -> None:
        if line.startswith(b"data:"):
            self._ended = self._ended or line[5:].strip() == b"[DONE]"
            self._look(object_of(line[5:]))

    def _look(self, document: dialects.Document) -> None:
        told = dialects.usage(document)
        if told is not None:
            self._told = self._told.merged(told)
        if dialects.is_last(document):
            self._ended = True


def object_of(raw: bytes | bytearray) -> dialects.Document:
    """A JSON object; empty for anything else."""
    try:
        value = json.loads(raw)
    except (ValueError, RecursionError):
        return {}
    return cast("dialects.Document", value) if isinstance(value, dict) else {}


def objects(raw: bytes | bytearray) -> list[dialects.Document]:
    """A JSON object, or those of a list."""
    try:
        value: Any = json.loads(raw)
    except (ValueError, RecursionError):
        return []
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dialects.Document", item) for item in items if isinstance(item, dict)]
