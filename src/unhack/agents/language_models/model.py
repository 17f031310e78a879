"""A language model that is asked within a cap, which all who share it share.

Before a request goes out, the most that it may cost is reserved: all tokens of its text and of the
longest answer. What would pass the cap beside what others under way may cost waits for them, and is
refused where they cannot leave it room. An answer that says what it used is charged that, any other
what was reserved; a failure of the server counts as an answer, and every retry is a request.

Covered: a cap in USD, or in tokens where no prices are known; threads; retries; a transcript that
an interrupted audit goes on from, its costs included.
Not covered: what two processes spend in one folder at the same time.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from unhack.agents.language_models.client import EndpointClient
from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.replies import (
    UNREAD,
    WORTH_RETRYING,
    ModelError,
    Reply,
    Trouble,
    read_text,
    read_transcript,
    read_usage,
    retry_pause_s,
)
from unhack.agents.metering.meter import (
    Admission,
    CostDecision,
    CostMeter,
    CostReservation,
    Prices,
    TokenCounts,
)
from unhack.agents.metering.requests import (
    PART_TOKENS,
    ModelRequest,
    RequestPart,
    tokens_of,
)
from unhack.core.hashing import content_hash
from unhack.store.errors import storing
from unhack.store.files import append_whole

_FILE = "transcript.jsonl"
_A_TOKEN = 1e6
"""The price of a million tokens where the cap counts tokens: one for each."""
_TURN_S = 0.02
"""Between two looks at the others under way."""


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: str
    """`user` or `assistant`."""
    text: str


class Model:
    """Asks an endpoint, counts what it costs, and keeps every exchange.

    May be asked from any thread; all who ask it share its cap.

    Example:

        model = Model(endpoint, cost_limit_usd=0.5)
        reply = model.ask("You are terse.", [Message("user", "Say hello.")])
        reply.text, model.cost_usd
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        cost_limit_usd: float = 1.0,
        token_limit: int = 300_000,
        folder: Path | None = None,
    ) -> None:
        """`token_limit` counts where the endpoint has no prices. What `transcript.jsonl` of
        `folder` has is not asked again, but it counts.

        Raises UsageError when the client is not installed, StoreError where the transcript cannot
        be read.
        """
        self.endpoint = endpoint
        self._client = EndpointClient(endpoint)
        given, taken = endpoint.prices or (_A_TOKEN, _A_TOKEN)
        prices = Prices("", {endpoint.model: (given, taken, given, given)})
        limit = float(token_limit) if endpoint.prices is None else cost_limit_usd
        self._meter = CostMeter(prices, limit)
        self._path = None if folder is None else folder / _FILE
        self._turns: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._known: dict[str, Reply] = {}
        if self._path is not None:
            self._known, used = read_transcript(self._path)
            self._meter.add_earlier(endpoint.model, TokenCounts(*used))

    @property
    def name(self) -> str:
        """The endpoint's name of it."""
        return self.endpoint.model

    @property
    def input_tokens(self) -> int:
        """The tokens that were sent, or may have been."""
        return self._meter.tokens().input

    @property
    def output_tokens(self) -> int:
        """The tokens that came back, or may have."""
        return self._meter.tokens().output

    @property
    def cost_usd(self) -> float | None:
        """The cost so far; None without prices."""
        return None if self.endpoint.prices is None else self._meter.spent_usd

    def ask(self, system: str, messages: Sequence[Message], *, within_s: float = math.inf) -> Reply:
        """The model's reply. Waits at most `within_s` seconds, retries included.

        Raises ModelError with its reason when there is none, StoreError where the transcript cannot
        be written.
        """
        turns = [
            {"role": message.role, "content": _encodable(message.text)} for message in messages
        ]
        system = _encodable(system)
        base = content_hash(self.endpoint.protocol, self.endpoint.model, system, json.dumps(turns))
        with self._lock:
            self._turns[base] += 1
            key = f"{base}/{self._turns[base]}"
        if key in self._known:
            return self._known[key]
        hidden = self._client.without_key
        request = {
            "key": key,
            "model": self.endpoint.model,
            "system": hidden(system),
            "messages": [{**turn, "content": hidden(turn["content"])} for turn in turns],
        }
        until = time.monotonic() + within_s
        for tries_left in range(self.endpoint.retries, -1, -1):
            try:
                return self._try(request, system, turns, until)
            except ModelError as error:
                if (
                    not tries_left
                    or error.reason not in WORTH_RETRYING
                    or time.monotonic() >= until
                ):
                    raise
                pause = retry_pause_s(error, self.endpoint.retries - tries_left)
                time.sleep(max(0.0, min(pause, until - time.monotonic())))
        raise AssertionError("a try returns or raises")

    def _try(
        self, request: dict[str, Any], system: str, turns: list[dict[str, str]], until: float
    ) -> Reply:
        """One request, charged and noted whatever becomes of it. Raises ModelError."""
        started = time.monotonic()
        said: dict[str, Any] = {}
        used = TokenCounts()
        try:
            reservation = self._admitted(self._most(system, turns), until)
            used = reservation.reserved
            told = False
            try:
                left = min(self.endpoint.timeout_s, until - time.monotonic())
                body = self._client.send(system, turns, within_s=left)
                text = self._client.without_key(body.decode("utf-8", "replace"))
                usage = read_usage(text)
                told = usage is not None
                used = TokenCounts(*usage) if usage is not None else used
                reply = Reply(read_text(text, self.endpoint.protocol), used.input, used.output)
                said["reply"] = reply.text
            except ModelError as error:
                if error.reason in UNREAD or not error.reached:
                    used = TokenCounts()
                raise
            finally:
                self._meter.finish(reservation, used, told=told)
        except ModelError as error:
            said["error"] = str(error)
            raise
        finally:
            said |= {"input_tokens": used.input, "output_tokens": used.output}
            usd = None if self.endpoint.prices is None else self._price(used)
            took = round(time.monotonic() - started, 3)
            self._note({**request, **said, "usd": usd, "seconds": took})
        return reply

    def _most(self, system: str, turns: list[dict[str, str]]) -> ModelRequest:
        """The most that a request may use."""
        texts = [system, *(turn["content"] for turn in turns)]
        parts = [RequestPart(content_hash(text), tokens_of(text) + PART_TOKENS) for text in texts]
        most = self.endpoint.max_output_tokens
        return ModelRequest(self.endpoint.model, tuple(parts), most, most, most)

    def _admitted(self, request: ModelRequest, until: float) -> CostReservation:
        """The reservation of a request, once there is room for it. Raises ModelError."""
        while True:
            found = self._meter.admit(request)
            if found.reservation is not None:
                return found.reservation
            if found.decision is CostDecision.NEVER:
                raise ModelError(Trouble.SPENT, self._spent(found), reached=False)
            if time.monotonic() >= until:
                text = "the requests under way leave no room for another in time"
                raise ModelError(Trouble.TIMEOUT, text, reached=False)
            time.sleep(_TURN_S)

    def _spent(self, found: Admission) -> str:
        cap = self._meter.limit_usd
        used, needs = cap - found.left_usd, found.needs_usd
        if self.endpoint.prices is None:
            text = f"{used:.0f} tokens used, the next request may take {needs:.0f}"
            return f"{text}, the cap is {cap:.0f}"
        text = f"{used:.4f} USD used, the next request may cost {needs:.4f}"
        return f"{text}, the cap is {cap:g}"

    def _price(self, used: TokenCounts) -> float:
        return self._meter.prices.cost_usd(self.endpoint.model, used)

    def _note(self, entry: dict[str, Any]) -> None:
        if self._path is None:
            return
        with self._lock, storing(self._path.parent):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            append_whole(self._path, f"{json.dumps(entry)}\n".encode("ascii"), sync=False)


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
