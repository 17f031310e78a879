"""The server of one attempt: model requests of the agent go out through it, and its checks come in.

    with Proxy(account, check=check) as proxy:
        proxy.serve(listener)             # a listening socket inside the agent's network

The agent holds a random token that opens nothing but this server, and this server only from inside
the agent's network. The provider's key stays in this process.

Covered: keys; answers passed on as they come, without a buffer; tokens and cost, also of answers
that the agent hangs up on; the cost limit, with the provider's own form of error; paths that are
not metered; hosted tools and documents by address (see `dialects`); one check at a time; requests
that wait for others under way, in order. Its own failures are kept, and reach no terminal.
Not covered: what the agent and its model say to each other; a provider that under-reports tokens.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
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
from starlette.types import ASGIApp, Receive, Scope, Send

from unhack.agents.metering.meter import Admission, CostDecision, CostMeter
from unhack.agents.metering.requests import ModelRequest
from unhack.agents.proxy import dialects
from unhack.agents.proxy.asking import read_request, write_limit
from unhack.agents.proxy.bill import Bill, object_of
from unhack.agents.proxy.dialects import Dialect, Provider
from unhack.core.errors import SandboxError, UsageError

_MAX_BODY = 64 << 20
_PASSED_ON = ("content-type", "accept", "user-agent", "anthropic-version", "anthropic-beta",
              "x-app", "originator", "session_id", "x-goog-api-client")  # fmt: skip
_PASSED_BACK = ("content-type", "request-id", "x-request-id", "retry-after", "retry-after-ms",
                "x-should-retry")  # fmt: skip
_QUERY = ("beta", "alt")
_START_S = 20.0
_TURN_S = 0.05
_MAX_FAILURES = 20
_NOT_REACHED = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)
_LIMITS = httpx.Limits(max_connections=None)
_QUIET = logging.CRITICAL + 1
"""No line of the server's own log: it would go to the terminal."""


class _GoneError(Exception):
    """The agent hung up while its request waited."""


@dataclass(frozen=True, slots=True)
class Account:
    """The token, meter and providers of one attempt."""

    token: str
    """The agent's; it opens this server and nothing else."""
    meter: CostMeter
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
        self._line = asyncio.Lock()
        self.failures: list[str] = []
        """Of the server itself, in words."""

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
            self._guarded(Starlette(routes=routes)),
            log_config=None,
            log_level=_QUIET,
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
        """Hang up on everybody, and charge what was under way. Harmless when closed."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(_START_S)
        self._server = self._thread = None
        self.account.meter.settle_rest()

    def _guarded(self, app: ASGIApp) -> ASGIApp:
        """`app`, whose failures are kept here."""

        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                await app(scope, receive, send)
            except (_GoneError, asyncio.CancelledError):
                return
            except Exception as error:
                self._failed(error)

        return answer

    def _failed(self, error: BaseException) -> None:
        if len(self.failures) < _MAX_FAILURES:
            self.failures.append(f"{type(error).__name__}: {error}"[:400])

    def _run(self, listener: socket.socket) -> None:
        asyncio.run(self._main(listener))

    async def _main(self, listener: socket.socket) -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda loop, told: self._failed(told.get("exception") or RuntimeError(told["message"]))
        )
        timeout = httpx.Timeout(600.0, connect=30.0, pool=None)
        async with httpx.AsyncClient(timeout=timeout, limits=_LIMITS) as client:
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
            body = object_of(raw)
            reason = "" if body else "the request is no JSON object, or too large"
            reason = reason or _outside(body)
            if reason:
                return _refuse(provider.dialect, "request", reason)
        if not metered:
            return await self._relay(request, provider, path, body)
        try:
            bill = await self._open_bill(request, provider, path, body)
        except UsageError as error:
            return _refuse(provider.dialect, "request", str(error))
        if isinstance(bill, Admission):
            return _refuse(provider.dialect, "cost", _too_dear(bill, self.account.meter))
        return await self._relay(request, provider, path, body, bill)

    async def _open_bill(
        self, request: Request, provider: Provider, path: str, body: dialects.Document
    ) -> Bill | Admission:
        """Have the cost of a request reserved, once there is room; or why there never is.

        Raises UsageError for a request that makes no sense.
        """
        dialect, meter = provider.dialect, self.account.meter
        changed = dialects.keep_inside(dialect, body)
        model = dialects.model_of(dialect, path, body)
        asked = await run_in_threadpool(read_request, dialect, model, body, meter.prices)
        found = await self._admitted(request, asked)
        reservation = found.reservation
        if reservation is None:
            return found
        if reservation.output != asked.output:
            write_limit(dialect, provider.name, body, reservation.output)
            changed.append(f"output limit {asked.output} -> {reservation.output}")
        return Bill(meter, reservation, sent_bytes=len(json.dumps(body)), changed=changed)

    async def _admitted(self, request: Request, asked: ModelRequest) -> Admission:
        """The turn of a request; requests take theirs in the order in which they came."""
        meter = self.account.meter
        async with self._line:
            while True:
                found = meter.admit(asked)
                if found.decision is not CostDecision.WAIT:
                    return found
                if await request.is_disconnected():
                    raise _GoneError
                await asyncio.sleep(_TURN_S)

    async def _relay(
        self,
        request: Request,
        provider: Provider,
        path: str,
        body: dialects.Document,
        bill: Bill | None = None,
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
                bill.close(0, reached=not isinstance(failure, _NOT_REACHED))
            if not isinstance(failure, httpx.HTTPError):
                raise
            said = f"{type(failure).__name__} on the way to the provider"
            return _refuse(provider.dialect, "upstream", said)
        back = {name: answer.headers[name] for name in _PASSED_BACK if name in answer.headers}
        stream = _pass_on(answer, bill)
        return StreamingResponse(stream, status_code=answer.status_code, headers=back)


async def _pass_on(answer: httpx.Response, bill: Bill | None) -> AsyncGenerator[bytes]:
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


def _too_dear(found: Admission, meter: CostMeter) -> str:
    limit, left = meter.limit_usd, max(0.0, found.left_usd)
    return (
        f"the cost limit of this attempt is {limit:.4g} USD, of which {left:.4g} are left; this "
        f"request may cost {found.needs_usd:.4g} at the least: ask for fewer output tokens, or "
        "send less"
    )


def _outside(body: dialects.Document) -> str:
    address = dialects.address_in(body)
    return f"documents by address are not open to agents: {address[:200]}" if address else ""


def _refuse(dialect: Dialect, kind: str, message: str) -> Response:
    status, body = dialects.error(dialect, kind, message)
    return JSONResponse(body, status, headers={"x-should-retry": "false"})
