"""The description of the API, at the API."""

from __future__ import annotations

import json

from starlette.requests import Request
from starlette.responses import Response

from unhack.server.http.api_route import ApiRoute
from unhack.server.http.openapi import describe


async def _describe(request: Request) -> Response:
    kept = request.app.state
    text = getattr(kept, "description", None)
    if text is None:  # made once: who asks for it needs no key
        text = kept.description = json.dumps(describe(kept.routes))
    return Response(text, media_type="application/json")


ROUTES = (
    ApiRoute(
        "GET", "/v1/openapi.json", _describe, "Describe this API as OpenAPI 3.1.", None, open=True
    ),
)
