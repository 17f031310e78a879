"""Ping, health and readiness: the routes that want no key."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.server.http.api_route import ApiRoute


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


ROUTES = (
    ApiRoute("GET", "/v1/health", _health, "True while the process answers.", None, open=True),
)
