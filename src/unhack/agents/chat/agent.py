"""A chat model as an agent: each turn is one request, paid for before it goes out.

    meter = make_meter(endpoint, cost_limit_usd=2.0)
    agent = ChatAgent(endpoint, meter)
    turn = await agent.act(messages, tools)

Before a request goes out, the most that it may cost is reserved in the meter, which any number of
agents and episodes may share: the cap holds however many turns are under way. An answer that says
what it used is charged that, any other what was reserved; every retry is a request of its own.

Covered: a cap in USD, or in tokens where no prices are known; retries that wait as the server asks;
answers that never end; a turn that is cancelled, which is charged as it was reserved; the key in no
error and no log.
Not covered: streaming; what two processes spend.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from unhack.agents.chat.dialect import read_json, read_turn, write_request
from unhack.agents.chat.messages import AgentTurn, ChatMessage, ToolSpec
from unhack.agents.language_models.endpoint import Endpoint
from unhack.agents.language_models.replies import (
    UNREAD,
    WORTH_RETRYING,
    ModelError,
    Trouble,
    asked_wait_s,
    retry_pause_s,
    trouble_of_status,
)
from unhack.agents.metering.meter import CostDecision, CostMeter, CostReservation
from unhack.agents.metering.prices import Prices, TokenCounts, load_prices
from unhack.agents.metering.requests import ModelRequest
from unhack.agents.proxy import dialects
from unhack.agents.proxy.asking import read_request
from unhack.agents.proxy.dialects import Dialect
from unhack.core.optional_dependencies import require

if TYPE_CHECKING:
    import httpx

_A_TOKEN = 1e6
"""The price of a million tokens where the cap counts tokens: one for each."""
_TURN_S = 0.02
"""Between two looks at the others under way."""
_MAX_BODY = 64 << 20
_SHOWN = 300
_SHORTEST_SECRET = 8
"""Shorter keys are placeholders, and pieces of words."""
_NEW_NAME, _OLD_NAME = "max_completion_tokens", "max_tokens"


def make_meter(
    endpoint: Endpoint,
    *,
    cost_limit_usd: float = 1.0,
    token_limit: int = 300_000,
    log: Path | None = None,
) -> CostMeter:
    """The account of an endpoint: in USD by its own prices or those of the package's table, and
    where neither knows the model in tokens, `token_limit` of them. `log` takes a line of JSON for
    each answer."""
    name = endpoint.model
    if endpoint.prices is not None:
        given, taken = endpoint.prices
        prices = Prices("", {name: (given, taken, given, given)})
        return CostMeter(prices, cost_limit_usd, log)
    table = load_prices()
    if table.listed(name):
        return CostMeter(table, cost_limit_usd, log)
    prices = Prices("", {name: (_A_TOKEN, _A_TOKEN, _A_TOKEN, _A_TOKEN)})
    return CostMeter(prices, float(token_limit), log)


class ChatAgent:
    """A model that acts by calling tools. It holds no conversation: one agent may play many
    episodes at once, on one event loop.

    Example:

        agent = ChatAgent(endpoint, make_meter(endpoint, cost_limit_usd=2.0))
        player = ActingPlayer(agent)
    """

    def __init__(self, endpoint: Endpoint, meter: CostMeter) -> None:
        """Raises UsageError when httpx is not installed."""
        require("llm", "httpx", purpose="a chat agent")
        self.endpoint, self.meter = endpoint, meter
        self._dialect = Dialect(endpoint.protocol)
        self._limit_name = _NEW_NAME if self._dialect is Dialect.OPENAI else _OLD_NAME

    @property
    def name(self) -> str:
        """The model's name."""
        return self.endpoint.model

    async def act(self, messages: Sequence[ChatMessage], tools: Sequence[ToolSpec]) -> AgentTurn:
        """The model's next turn.

        Raises ModelError with its reason when there is none (`Trouble.SPENT`: the cap leaves too
        little), UsageError for a conversation or a tool that no provider would take.
        """
        body = write_request(self._dialect, self.endpoint.model, messages, tools=tools)
        for retry in range(self.endpoint.retries + 1):
            try:
                return await self._try(body)
            except ModelError as error:
                if retry == self.endpoint.retries or error.reason not in WORTH_RETRYING:
                    raise
                await asyncio.sleep(retry_pause_s(error, retry))
        raise AssertionError("a try returns or raises")

    async def _try(self, body: dict[str, Any]) -> AgentTurn:
        """One request, charged whatever becomes of it. Raises ModelError."""
        body = {**body, self._limit_name: self.endpoint.max_output_tokens}
        asked = read_request(self._dialect, self.endpoint.model, body, self.meter.prices)
        reservation = await self._admitted(asked)
        used, told, reason = reservation.reserved, False, "cancelled"
        try:
            answer = await self._send(body)
            counted = dialects.usage(answer)
            told = counted is not None and counted != TokenCounts()
            used = counted if counted is not None and told else used
            turn = read_turn(self._dialect, answer, used)
            reason = ""
            return turn
        except ModelError as error:
            reason = str(error)
            if error.reason in UNREAD or not error.reached:
                used = TokenCounts()
            raise
        finally:
            self.meter.finish(reservation, used, told=told, trouble=reason)

    async def _admitted(self, asked: ModelRequest) -> CostReservation:
        while True:
            found = self.meter.admit(asked)
            if found.reservation is not None:
                return found.reservation
            if found.decision is CostDecision.NEVER:
                left, limit = max(0.0, found.left_usd), self.meter.limit_usd
                raise ModelError(
                    Trouble.SPENT,
                    f"the next request may cost {found.needs_usd:.6g}, and {left:.6g} of the cap "
                    f"of {limit:.6g} are left; raise the cap or lower max_output_tokens",
                    reached=False,
                )
            await asyncio.sleep(_TURN_S)

    async def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request. Raises ModelError."""
        # An optional extra: whoever has no chat model need not have it.
        import httpx

        data, headers = json.dumps(body).encode(), self._headers()
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout_s),
                httpx.AsyncClient(timeout=self.endpoint.timeout_s) as client,
                client.stream("POST", self._url(), content=data, headers=headers) as response,
            ):
                text = await self._body_of(response)
        except TimeoutError:
            seconds = f"no answer within {self.endpoint.timeout_s:g} s"
            raise ModelError(Trouble.TIMEOUT, seconds) from None
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as error:
            raise self._error(Trouble.UNREACHABLE, error, reached=False) from None
        except httpx.TimeoutException as error:
            raise self._error(Trouble.TIMEOUT, error) from None
        except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
            raise self._error(Trouble.UNREACHABLE, error) from None
        status = response.status_code
        if status in (400, 422) and _NEW_NAME in body and _NEW_NAME in text:
            # older servers know the limit of output by its older name only
            self._limit_name = _OLD_NAME
            most = body[_NEW_NAME]
            older = {name: held for name, held in body.items() if name != _NEW_NAME}
            return await self._send({**older, _OLD_NAME: most})
        if status >= 400:
            raise ModelError(
                trouble_of_status(status),
                f"{status} from {self._url()}: {self._shown(text)}",
                wait_s=asked_wait_s(response.headers),
            )
        try:
            found = read_json(text)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise ModelError(Trouble.MALFORMED, f"no JSON object: {self._shown(text)}")
        return cast("dict[str, Any]", found)

    async def _body_of(self, response: httpx.Response) -> str:
        data = bytearray()
        async for part in response.aiter_bytes():
            data += part
            if len(data) > _MAX_BODY:
                raise ModelError(Trouble.MALFORMED, f"an answer of more than {_MAX_BODY} bytes")
        return data.decode("utf-8", "replace")

    def _url(self) -> str:
        path = "/v1/messages" if self._dialect is Dialect.ANTHROPIC else "/chat/completions"
        return self.endpoint.base_url.rstrip("/") + path

    def _headers(self) -> dict[str, str]:
        found = dialects.headers(self._dialect, self.endpoint.key) if self.endpoint.key else {}
        if self._dialect is Dialect.ANTHROPIC:
            found["anthropic-version"] = "2023-06-01"
        return {**found, "content-type": "application/json"}

    def _shown(self, text: str) -> str:
        key = self.endpoint.key
        hidden = text.replace(key, "[key]") if len(key) >= _SHORTEST_SECRET else text
        return " ".join(hidden.split())[:_SHOWN]

    def _error(self, reason: Trouble, error: Exception, *, reached: bool = True) -> ModelError:
        said = f"{self._url()}: {type(error).__name__}: {self._shown(str(error))}"
        return ModelError(reason, said, reached=reached)
