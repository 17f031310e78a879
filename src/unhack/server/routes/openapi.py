"""The description of the API, at the API."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from unhack.server.api_route import ApiRoute
from unhack.server.http.openapi import describe

router = APIRouter(route_class=ApiRoute)


@router.get("/v1/openapi.json", response_model=dict[str, Any])
async def openapi(request: Request) -> Response:
    """Describe this API as OpenAPI 3.1."""
    kept = request.app.state
    text = getattr(kept, "description", None)
    if text is None:  # made once: who asks for it needs no key
        text = kept.description = json.dumps(describe(request.app))
    return Response(text, media_type="application/json")
