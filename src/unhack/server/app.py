"""The ASGI app: every endpoint behind its key, errors as values, one service."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import OperationalError
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match

from unhack.core.errors import UnhackError
from unhack.server.api_route import ApiRoute, KeyFromPath
from unhack.server.http.framing import OneFrame
from unhack.server.http.problems import RequestRefused, refusal_of
from unhack.server.pages import (
    audits,
    overview,
    run_events,
    sign_in,
    tournaments,
    training_runs,
    verdicts,
)
from unhack.server.pages import batches as batch_pages
from unhack.server.pages.frame import ROOM
from unhack.server.request_log import RequestLog
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

_MODULES = (state, score, batches, tasks, foreign, jobs, environments, openapi)
_PAGES = (sign_in, overview, batch_pages, verdicts, audits, tournaments, training_runs, run_events)
_ROUTERS = (*(module.router for module in (*_MODULES, *_PAGES)), verdicts.score_router)
ROUTES = tuple(each for router in _ROUTERS for each in router.routes if isinstance(each, ApiRoute))
"""Every route of the server."""
_ERRORS = (RequestRefused, UnhackError, OperationalError, HTTPException, RequestValidationError)


def make_app(service: Service) -> FastAPI:
    """The app of a service, which it closes when it ends."""

    @asynccontextmanager
    async def live(_: FastAPI) -> AsyncGenerator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        routes=list(ROUTES),
        middleware=[
            Middleware(KeyFromPath),
            Middleware(RequestLog, service=service),
            Middleware(OneFrame),
        ],
        exception_handlers=dict.fromkeys(_ERRORS, _on_error),
        lifespan=live,
        openapi_url=None,
        # Spans hold addresses, and an address may hold a key.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.service = service
    app.state.room = service.room
    return app


async def _on_error(request: Request, error: Exception) -> Response:
    """Answer an error by a value; unknown paths and methods among pages by a page."""
    refused = refusal_of(error)
    if refused.status == 405:  # a route tells its own method alone
        here = [each for each in ROUTES if each.matches(request.scope)[0] is not Match.NONE]
        methods = {each.method for each in here}
        methods |= {"HEAD"} if "GET" in methods else set()
        refused.headers["Allow"] = ", ".join(sorted(methods))
    if isinstance(error, HTTPException) and request.url.path.startswith(f"{ROOM}/"):
        refused.message = "there is no page at this address"
        return sign_in.refusal(request, refused)
    return refused.reply()
