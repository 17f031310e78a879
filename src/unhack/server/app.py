"""The ASGI app: every endpoint behind its guard, errors as values, one service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from sqlalchemy.exc import OperationalError
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from unhack.core.errors import UnhackError
from unhack.server.database.database import DatabaseTakenError
from unhack.server.guard import KeyFromPath, guarded
from unhack.server.http import problems
from unhack.server.http.api_route import ApiRoute, Handler
from unhack.server.http.framing import OneFrame
from unhack.server.pages.frame import ROOM
from unhack.server.pages.routes import ROUTES as PAGES
from unhack.server.pages.sign_in import refusal
from unhack.server.routes import (
    batches,
    environments,
    foreign,
    jobs,
    openapi,
    score,
    state,
    tasks,
)
from unhack.server.service import Service
from unhack.server.watch import RequestWatch

ROUTES: tuple[ApiRoute, ...] = (
    *state.ROUTES,
    *score.ROUTES,
    *batches.ROUTES,
    *tasks.ROUTES,
    *foreign.ROUTES,
    *jobs.ROUTES,
    *environments.ROUTES,
    *openapi.ROUTES,
    *PAGES,
)
"""Every route of the server."""


def make_app(service: Service) -> Starlette:
    """The app of a service, which it closes when it ends."""

    @asynccontextmanager
    async def live(_: Starlette) -> AsyncGenerator[None]:
        await service.start()
        yield
        await service.stop()

    app = Starlette(
        routes=_by_path(ROUTES),
        middleware=[
            Middleware(KeyFromPath),
            Middleware(RequestWatch, service=service),
            Middleware(OneFrame),
        ],
        exception_handlers={
            problems.RequestRefused: problems.on_refused,
            UnhackError: problems.on_known,
            OperationalError: problems.on_database,
            DatabaseTakenError: problems.on_database,
            HTTPException: _on_http,
        },
        lifespan=live,
    )
    app.state.service = service
    app.state.routes = ROUTES
    app.state.room = service.room
    return app


def _by_path(routes: Sequence[ApiRoute]) -> list[Route]:
    """One route for each path, so that a wrong method is told all the right ones."""
    groups: dict[str, dict[str, Handler]] = {}
    for each in routes:
        groups.setdefault(each.path, {})[each.method] = guarded(each)

    def chooser(handlers: dict[str, Handler]) -> Handler:
        async def choose(request: Request) -> Response:
            method = "GET" if request.method == "HEAD" else request.method
            return await handlers[method](request)

        return choose

    return [
        Route(path, chooser(handlers), methods=list(handlers), name=path)
        for path, handlers in groups.items()
    ]


async def _on_http(request: Request, error: Exception) -> Response:
    """Answer what Starlette refuses by itself: unknown paths and methods; by a page among pages."""
    assert isinstance(error, HTTPException)
    codes = {404: "not_found", 405: "method_not_allowed"}
    code = codes.get(error.status_code, "refused")
    headers = dict(error.headers or {})
    if request.url.path.startswith(f"{ROOM}/"):
        words = "there is no page at this address"
        refused = problems.RequestRefused(error.status_code, code, words, headers=headers)
        return refusal(request, refused)
    return problems.problem(error.status_code, code, str(error.detail), headers=headers)
