"""The guard before every route: a key from a header or from the path, then its scope.

    Authorization: Bearer KEY        X-API-Key: KEY        /k/KEY/run_code

Pages take it from a cookie too, which a form sets (`pages.sign_in`).

A key in the path is cut out before anything else sees the path, so that no log holds it.
"""

from __future__ import annotations

from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from unhack.server.access.caller import Caller
from unhack.server.http.api_route import ApiRoute, Handler
from unhack.server.http.body_room import HeldRoom
from unhack.server.http.problems import RequestRefused, database_refusal
from unhack.server.service import service_of

_IN_PATH = "/k/"
COOKIE = "unhack_key"
"""The cookie of a browser that signed in; routes of pages alone look at it."""
_READING = ("GET", "DELETE")
"""Methods that begin no work: served to the end."""


class KeyFromPath:
    """ASGI middleware: `/k/KEY/rest` becomes `/rest` with the key kept aside."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] == "http" and scope["path"].startswith(_IN_PATH):
            key, slash, rest = scope["path"][len(_IN_PATH) :].partition("/")
            path = slash + rest or "/"
            scope = {**scope, "path": path, "raw_path": path.encode(), "unhack.key": key}
        await self._app(scope, receive, send)


def key_in(request: Request) -> str:
    """The key that a request carries; empty where there is none."""
    in_path = request.scope.get("unhack.key")
    if in_path:
        return str(in_path)
    word, _, key = request.headers.get("authorization", "").partition(" ")
    if word.lower() == "bearer":
        return key.strip()
    return request.headers.get("x-api-key", "")


def guarded(endpoint: ApiRoute) -> Handler:
    """The endpoint's handler, behind its key, its scope, its tenant's limit and the door."""

    async def handle(request: Request) -> Response:
        try:
            if not endpoint.open:
                await _admit(request, endpoint)
        except (RequestRefused, OperationalError) as error:
            return _refused(request, endpoint, error)
        try:
            return await endpoint.handler(request)
        except OperationalError as error:
            return _refused(request, endpoint, error)
        finally:
            held = getattr(request.state, "held", None)
            if isinstance(held, HeldRoom):
                held.close()

    return handle


def _refused(request: Request, endpoint: ApiRoute, error: Exception) -> Response:
    """The page of a refusal; for what is no page, the error goes on to its handler."""
    if endpoint.refused is None:
        raise error
    told = error if isinstance(error, RequestRefused) else database_refusal(error)
    return endpoint.refused(request, told)


async def _admit(request: Request, endpoint: ApiRoute) -> None:
    """Let a request in, or raise RequestRefused (401, 403, 429, 503)."""
    service = service_of(request)
    caller = await _admitted(request, endpoint)
    service.limits.count_request(caller.tenant_id, key=caller.key_id, most=caller.requests_limit)
    if endpoint.method not in _READING:
        service.door.check()


async def _admitted(request: Request, endpoint: ApiRoute) -> Caller:
    """The owner of the request's key, who is noted for the log also where the request is refused.

    Raises RequestRefused (401, 403).
    """
    key = key_in(request)
    if not key and endpoint.refused is not None:
        key = request.cookies.get(COOKIE, "")
    caller = await service_of(request).callers.find(key)
    if caller is None:
        raise RequestRefused(
            401,
            "unauthorized",
            "no valid key; send one as `Authorization: Bearer KEY`",
            headers={"WWW-Authenticate": "Bearer"},
        )
    request.state.caller = caller
    if endpoint.scope is not None and endpoint.scope not in caller.scopes:
        raise RequestRefused(403, "forbidden", f"this key lacks the scope {endpoint.scope.value!r}")
    return caller
