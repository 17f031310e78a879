"""The description of the API, at the API."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.server.http.api_route import ApiRoute
from unhack.server.http.openapi import describe


async def _describe(request: Request) -> Response:
    return JSONResponse(describe(request.app.state.routes))


ROUTES = (
    ApiRoute(
        "GET", "/v1/openapi.json", _describe, "Describe this API as OpenAPI 3.1.", None, open=True
    ),
)
