"""The route of every endpoint: a key, its scope, its tenant's limit, then the body as JSON.

    Authorization: Bearer KEY        X-API-Key: KEY        /k/KEY/run_code

Covered: no byte of a body is read for who may not come in. A key in the path is cut out before
anything else sees the path, so that no log holds it.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, cast

from fastapi import Path, Security
from fastapi.params import Security as Needed
from fastapi.routing import APIRoute
from fastapi.security import APIKeyHeader, HTTPBearer
from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from unhack.server.access.caller import Grant
from unhack.server.http.bodies import read_model
from unhack.server.http.body_room import HeldRoom
from unhack.server.http.problems import RequestRefused
from unhack.server.service import service_of

_IN_PATH = "/k/"
_READING = ("GET", "DELETE")
"""Methods that begin no work: served to the end."""
_BEARER = HTTPBearer(scheme_name="bearer", auto_error=False)
_HEADER = APIKeyHeader(name="X-API-Key", scheme_name="header", auto_error=False)
PathPart = Annotated[str, Path(json_schema_extra={"minLength": 1})]
"""A place of a path; its endpoint tells what is wrong with one."""
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


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


def needs(grant: Grant | None = None) -> list[Any]:
    """The dependencies of a route that wants a key, and which scope of it; None for any key.

    FastAPI puts them into the description; `ApiRoute` asks for the key before it reads a body.
    """
    scopes = [] if grant is None else [grant.value]
    return [Security(_BEARER, scopes=scopes), Security(_HEADER, scopes=scopes)]


def key_in(request: Request) -> str:
    """The key that a request carries; empty where there is none."""
    in_path = request.scope.get("unhack.key")
    if in_path:
        return str(in_path)
    word, _, key = request.headers.get("authorization", "").partition(" ")
    if word.lower() == "bearer":
        return key.strip()
    return request.headers.get("x-api-key", "")


class ApiRoute(APIRoute):
    """One method of one path; without dependencies (`needs`) it is open to everybody."""

    @property
    def method(self) -> str:
        """Its one method."""
        return min(self.methods or ())

    @property
    def open(self) -> bool:
        """True for the few routes that want no key: ping, health, readiness."""
        return not any(isinstance(each, Needed) for each in self.dependencies)

    @property
    def grant(self) -> Grant | None:
        """The scope that a key needs; None where every valid key will do, or none is asked for."""
        needed = [each for each in self.dependencies if isinstance(each, Needed)]
        return next((Grant(scope) for each in needed for scope in each.scopes or ()), None)

    @property
    def model(self) -> type[BaseModel] | None:
        """The model of the body."""
        field = self.body_field
        return None if field is None else cast("type[BaseModel]", field.field_info.annotation)

    def key_in(self, request: Request) -> str:
        """The key that a request carries; empty where there is none."""
        return key_in(request)

    def get_route_handler(self) -> Handler:
        """FastAPI's handler, behind the key and with the body read."""
        handler, is_open, grant, model = (
            super().get_route_handler(),
            self.open,
            self.grant,
            self.model,
        )

        async def handle(request: Request) -> Response:
            if not is_open:
                await self._admit(request, grant)
            return await handler(request if model is None else await read_model(request, model))

        return handle

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the room of its body is free at the end of its reply."""
        try:
            await super().handle(scope, receive, send)
        finally:
            held = scope.get("state", {}).get("held")
            if isinstance(held, HeldRoom):
                held.close()

    async def _admit(self, request: Request, grant: Grant | None) -> None:
        """Let a request in, or raise RequestRefused (401, 403, 429, 503). The owner of its key is
        noted for the log also where it is refused."""
        service = service_of(request)
        caller = await service.callers.find(self.key_in(request))
        if caller is None:
            raise RequestRefused(
                401,
                "unauthorized",
                "no valid key; send one as `Authorization: Bearer KEY`",
                headers={"WWW-Authenticate": "Bearer"},
            )
        request.state.caller = caller
        if grant is not None and grant not in caller.scopes:
            raise RequestRefused(403, "forbidden", f"this key lacks the scope {grant.value!r}")
        service.limits.count_request(
            caller.tenant_id, key=caller.key_id, most=caller.requests_limit
        )
        if request.method not in _READING:
            service.connection_gate.check_open()
