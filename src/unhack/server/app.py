"""The ASGI app: every endpoint behind its guard, errors as values, one service."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unhack.core.errors import UnhackError
from unhack.server.guard import KeyFromPath, guarded
from unhack.server.http import problems
from unhack.server.http.api_route import ApiRoute
from unhack.server.pages.routes import ROUTES as PAGES
from unhack.server.routes import state
from unhack.server.service import Service

ROUTES: tuple[ApiRoute, ...] = (*state.ROUTES, *PAGES)
"""Every route of the server."""


def make_app(service: Service) -> Starlette:
    """The app of a service, which it closes when it ends."""

    @asynccontextmanager
    async def live(_: Starlette) -> AsyncGenerator[None]:
        yield
        service.close()

    app = Starlette(
        routes=[
            Route(
                each.path, guarded(each), methods=[each.method], name=f"{each.method} {each.path}"
            )
            for each in ROUTES
        ],
        middleware=[Middleware(KeyFromPath)],
        exception_handlers={
            problems.RequestRefused: problems.on_refused,
            UnhackError: problems.on_known,
            HTTPException: _on_http,
            Exception: problems.on_unknown,
        },
        lifespan=live,
    )
    app.state.service = service
    return app


async def _on_http(_: Request, error: Exception) -> Response:
    """Answer what Starlette refuses by itself: unknown paths and methods."""
    assert isinstance(error, HTTPException)
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "refused")
    headers = dict(error.headers or {})
    return problems.problem(error.status_code, code, str(error.detail), headers=headers)
