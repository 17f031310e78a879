"""The description of the API as OpenAPI 3.1: FastAPI's, with the errors of each route."""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.responses import Response

from unhack.server.api_route import ApiRoute

router = APIRouter(route_class=ApiRoute)


@router.get("/v1/openapi.json", response_model=dict[str, Any])
async def openapi(request: Request) -> Response:
    """Describe this API as OpenAPI 3.1."""
    kept = request.app.state
    text = getattr(kept, "description", None)
    if text is None:  # made once: who asks for it needs no key
        text = kept.description = json.dumps(describe(request.app))
    return Response(text, media_type="application/json")


_ERROR = {"$ref": "#/components/schemas/Problem"}
_PROBLEM: dict[str, Any] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {
                "code": {"type": "string", "description": "Stable; for programs."},
                "message": {"type": "string", "description": "One sentence; for people."},
                "field": {"type": "string", "description": "The field that is wrong."},
            },
        }
    },
}
_WORDS = {
    400: "The request cannot be carried out; the message says why.",
    401: "There is no valid key.",
    403: "The key lacks the scope.",
    404: "There is nothing of this name or id, or it is another tenant's.",
    409: "It does not fit the state of things.",
    413: "The body is too long.",
    422: "A field or parameter is wrong; `field` names it.",
    429: "Too much at once; ask again after `Retry-After` seconds.",
    500: "unhack failed.",
    501: "The server lacks a package for it.",
    503: "The sandbox is not available; ask again after `Retry-After` seconds.",
    504: "The deadline of the request is over.",
    507: "The server's disk is full; ask again after `Retry-After` seconds.",
}


def describe(app: FastAPI) -> dict[str, Any]:
    """FastAPI's document with this API's errors and ids of operations."""
    document = get_openapi(
        title="unhack",
        version=version("unhack"),
        description="Verifiable rewards: scoring, audits, tournaments, environments.",
        routes=app.routes,
    )
    slugs = {
        each.path_format: re.sub(r"\W+", "_", each.path).strip("_")
        for each in app.routes
        if isinstance(each, APIRoute)
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["operationId"] = f"{method}_{slugs[path]}"
            operation["summary"] = summary = operation.pop("description")
            for reply in operation["responses"].values():
                reply["description"] = summary
            security = operation.setdefault("security", [])
            for scope in security[0]["bearer"] if security else ():
                operation["description"] = f"Wants a key with the scope `{scope}`."
            operation["responses"].pop("422", None)  # FastAPI's own model of an error
            for status in _errors(operation):
                content = {"application/json": {"schema": _ERROR}}
                told = {"description": _WORDS[status], "content": content}
                operation["responses"][str(status)] = told
    schemas = document["components"]["schemas"]
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    schemas["Problem"] = _PROBLEM
    return document


def _errors(operation: dict[str, Any]) -> list[int]:
    places = {each["in"] for each in operation.get("parameters", ())}
    statuses = {500, 503}
    if operation["security"]:
        statuses |= {401, 403, 429}
    if "requestBody" in operation:
        statuses |= {400, 409, 413, 422, 501, 504, 507}
    if "path" in places:
        statuses |= {404}
    if "query" in places:
        statuses |= {422}
    return sorted(statuses)
