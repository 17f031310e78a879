"""The server of one seat: model requests of the agent go out through it, and its checks come in.

    with Proxy(account, check=check) as proxy:
        proxy.serve(listener)             # a listening socket inside the agent's network

The agent holds a random token that opens nothing but this server, and this server only from inside
the agent's network. The provider's key stays in this process.

Covered: keys; answers passed on as they come, without a buffer; tokens and cost, also of answers
that the agent hangs up on; the cost limit, with the provider's own form of error; paths that are
not metered; hosted tools and documents by address (see `dialects`); one check at a time.
Not covered: what the agent and its model say to each other; a provider that under-reports tokens.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import socket
import threading
from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from unhack.core.errors import SandboxError
from unhack.tournament.agents.proxy import dialects
from unhack.tournament.agents.proxy.dialects import Dialect, Provider
from unhack.tournament.agents.proxy.meter import ProxyMeter, TokenCounts, estimate

_MAX_BODY = 64 << 20
_MAX_LINE = 8 << 20
_PASSED_ON = ("content-type", "accept", "user-agent", "anthropic-version", "anthropic-beta",
              "x-app", "originator", "session_id", "x-goog-api-client")  # fmt: skip
_PASSED_BACK = ("content-type", "request-id", "x-request-id", "retry-after", "retry-after-ms",
                "x-should-retry")  # fmt: skip
_QUERY = ("beta", "alt")
_START_S = 20.0


@dataclass(frozen=True, slots=True)
class Account:
    """The token, meter and providers of one seat."""

    token: str
    """The agent's; it opens this server and nothing else."""
    meter: ProxyMeter
    providers: Mapping[str, Provider]
    keys: Mapping[str, str]
    """Key by provider name."""


class Proxy:
    """The server; it runs on a thread of its own until the block ends."""

    def __init__(self, account: Account, *, check: Callable[[], dict[str, Any]]) -> None:
        self.account = account
        self.checks = 0
        """Checks that were asked for."""
        self._check = check
        self._one_check = threading.Lock()
        self._thread: threading.Thread | None = None
        self._server: uvicorn.Server | None = None
        self._client: httpx.AsyncClient | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def serve(self, listener: socket.socket) -> None:
        """Answer what connects to `listener`, from now on. Raises SandboxError."""
        routes = [
            Route("/check", self._answer_check, methods=["POST"]),
            Route("/{provider}/{path:path}", self._forward, methods=["GET", "POST", "HEAD"]),
            Route("/{provider}", self._look, methods=["GET", "HEAD"]),
        ]
        config = uvicorn.Config(
            Starlette(routes=routes),
            log_config=None,
            access_log=False,
            lifespan="off",
            ws="none",
            http="h11",
            timeout_graceful_shutdown=1,
        )
        self._server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self._run, args=(listener,), daemon=True)
        self._thread.start()
        waited = 0.0
        while not self._server.started and waited < _START_S and self._thread.is_alive():
            self._thread.join(0.01)
            waited += 0.01
        if not self._server.started:
            raise SandboxError("the proxy did not start")

    def close(self) -> None:
        """Hang up on everybody."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_START_S)
        self._server = self._thread = None

    def _run(self, listener: socket.socket) -> None:
        asyncio.run(self._main(listener))

    async def _main(self, listener: socket.socket) -> None:
        timeout = httpx.Timeout(600.0, connect=30.0)
        async with httpx.AsyncClient(timeout=timeout) as client:
            self._client = client
            assert self._server is not None
            await self._server.serve(sockets=[listener])

    def _knows(self, request: Request) -> bool:
        sent = dialects.tokens_sent(request.headers)
        return any(hmac.compare_digest(one.encode(), self.account.token.encode()) for one in sent)

    async def _look(self, request: Request) -> Response:
        """Some clients try their base address first."""
        return Response(status_code=200)

    async def _answer_check(self, request: Request) -> Response:
        if not self._knows(request):
            return JSONResponse({"error": "wrong token"}, 401)
        return JSONResponse(await run_in_threadpool(self._check_once))

    def _check_once(self) -> dict[str, Any]:
        with self._one_check:
            self.checks += 1
            return self._check()

    async def _forward(self, request: Request) -> Response:
        provider = self.account.providers.get(request.path_params["provider"])
        if provider is None:
            return JSONResponse({"error": "no such provider"}, 404)
        path = cast("str", request.path_params["path"])
        metered = dialects.is_metered(provider.dialect, path) and request.method == "POST"
        if not self._knows(request):
            return _refuse(provider.dialect, "auth", "wrong token")
        if not metered and not dialects.is_free(provider.dialect, path):
            return _refuse(provider.dialect, "path", f"{path} is not open to agents")
        body: dialects.Document = {}
        raw = b""
        if request.method == "POST":
            raw = await _body(request)
            body = _object(raw)
            reason = "" if body else "the request is no JSON object, or too large"
            reason = reason or _outside(body)
            if reason:
                return _refuse(provider.dialect, "request", reason)
        if not metered:
            return await self._relay(request, provider, path, body)
        model = dialects.model_of(provider.dialect, path, body)
        ticket = self.account.meter.start(model, sent_bytes=len(raw))
        if ticket is None:
            return _refuse(provider.dialect, "cost", "the cost limit of this round is reached")
        taken = dialects.keep_inside(provider.dialect, body)
        bill = _Bill(self.account.meter, ticket, model, len(raw), taken)
        return await self._relay(request, provider, path, body, bill)

    async def _relay(
        self,
        request: Request,
        provider: Provider,
        path: str,
        body: dialects.Document,
        bill: _Bill | None = None,
    ) -> Response:
        """Pass a request on, and the answer back as it comes."""
        assert self._client is not None
        sent = {name: request.headers[name] for name in _PASSED_ON if name in request.headers}
        sent |= {"accept-encoding": "identity"}
        sent |= dialects.headers(provider.dialect, self.account.keys[provider.name])
        query = {name: value for name, value in request.query_params.items() if name in _QUERY}
        outgoing = self._client.build_request(
            request.method,
            f"{provider.url.rstrip('/')}/{path}",
            params=query,
            headers=sent,
            content=json.dumps(body).encode() if request.method == "POST" else None,
        )
        try:
            answer = await self._client.send(outgoing, stream=True)
        except BaseException as failure:
            if bill is not None:
                bill.close(0, reached=not isinstance(failure, httpx.ConnectError))
            if not isinstance(failure, httpx.HTTPError):
                raise
            said = f"{type(failure).__name__} on the way to the provider"
            return _refuse(provider.dialect, "upstream", said)
        back = {name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers}
        stream = _pass_on(answer, bill)
        return StreamingResponse(stream, status_code=answer.status_code, headers=back)


class _Bill:
    """The cost of one request, from what its answer tells."""

    def __init__(
        self, meter: ProxyMeter, ticket: int, model: str, sent_bytes: int, taken: list[str]
    ) -> None:
        self._meter, self._ticket, self._model = meter, ticket, model
        self._sent_bytes, self._taken = sent_bytes, taken
        self._received = 0
        self._told = TokenCounts()
        self._complete = False
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
            if line.startswith(b"data:"):
                self._look(_object(line[5:]))

    def close(self, status: int, *, reached: bool = True) -> None:
        """The answer has ended, by itself or not. Status 0: there was none."""
        if self._streamed and self._line.startswith(b"data:"):
            self._look(_object(self._line[5:]))
        if self._streamed is False:
            for document in _objects(self._line):
                self._look(document)
                self._complete = True
        tokens = self._told
        if status == 0:
            guess = estimate(sent_bytes=self._sent_bytes if reached else 0, received_bytes=0)
            tokens = tokens.merged(guess)
        elif status >= 400:
            tokens = TokenCounts()
        elif not self._complete or tokens == TokenCounts():
            known = tokens.input + tokens.cache_read + tokens.cache_write
            sent = 0 if known else self._sent_bytes
            tokens = tokens.merged(estimate(sent_bytes=sent, received_bytes=self._received))
        self._meter.finish(
            self._ticket,
            self._model,
            tokens,
            status=status,
            complete=self._complete,
            taken_out=self._taken,
        )

    def _look(self, document: dialects.Document) -> None:
        told = dialects.usage(document)
        if told is not None:
            self._told = self._told.merged(told)
            if "usageMetadata" in document or "prompt_tokens" in (document.get("usage") or {}):
                self._complete = True
        if dialects.is_last(document):
            self._complete = True


async def _pass_on(answer: httpx.Response, bill: _Bill | None) -> AsyncGenerator[bytes]:
    try:
        async for data in answer.aiter_bytes():
            if bill is not None:
                bill.feed(data)
            yield data
    except httpx.HTTPError:
        return  # the answer is short; the client sees that
    finally:
        if bill is not None:
            bill.close(answer.status_code)
        await asyncio.shield(answer.aclose())


async def _body(request: Request) -> bytes:
    data = bytearray()
    async for part in request.stream():
        data += part
        if len(data) > _MAX_BODY:
            return b""
    return bytes(data)


def _object(raw: bytes | bytearray) -> dialects.Document:
    """A JSON object; empty for anything else."""
    try:
        value = json.loads(raw)
    except ValueError:
        return {}
    return cast("dialects.Document", value) if isinstance(value, dict) else {}


def _objects(raw: bytes | bytearray) -> list[dialects.Document]:
    """A JSON object, or those of a list."""
    try:
        value: Any = json.loads(raw)
    except ValueError:
        return []
    items = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dialects.Document", item) for item in items if isinstance(item, dict)]


def _outside(body: dialects.Document) -> str:
    address = dialects.address_in(body)
    return f"documents by address are not open to agents: {address[:200]}" if address else ""


def _refuse(dialect: Dialect, kind: str, message: str) -> Response:
    status, body = dialects.error(dialect, kind, message)
    return JSONResponse(body, status, headers={"x-should-retry": "false"})
