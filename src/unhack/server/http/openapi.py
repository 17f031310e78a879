"""The description of the API as OpenAPI 3.1, from the routes and their models alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, Literal

from pydantic import BaseModel

from unhack.server.http.api_route import ApiRoute

_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
_REF = "#/components/schemas/{model}"
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
    503: "The sandbox is not available; ask again after `Retry-After` seconds.",
}


def describe(routes: Sequence[ApiRoute]) -> dict[str, Any]:
    """The document. Raises ValueError for two models of one name."""
    schemas: dict[str, Any] = {"Problem": _PROBLEM}
    paths: dict[str, Any] = {}
    for route in routes:
        if route.described:
            path = _PARAMETER.sub(r"{\1}", route.path)
            paths.setdefault(path, {})[route.method.lower()] = _operation(route, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "unhack",
            "version": version("unhack"),
            "description": "Verifiable rewards: scoring, audits, tournaments, environments.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "header": {"type": "apiKey", "in": "header", "name": "X-API-Key"},
            },
        },
    }


def _operation(route: ApiRoute, schemas: dict[str, Any]) -> dict[str, Any]:
    slug = re.sub(r"\W+", "_", route.path).strip("_")
    names = _PARAMETER.findall(route.path)
    found: dict[str, Any] = {
        "operationId": f"{route.method.lower()}_{slug}",
        "summary": route.summary,
        "responses": _responses(route, schemas, names=names),
        "security": [] if route.open else [{"bearer": []}, {"header": []}],
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
        for name in names
    ] + [
        {
            "name": name,
            "in": "query",
            "description": words,
            "schema": {"type": kind} if isinstance(kind, str) else dict(kind),
        }
        for name, kind, words in route.query
    ]
    if parameters:
        found["parameters"] = parameters
    if route.scope is not None:
        found["description"] = f"Wants a key with the scope `{route.scope.value}`."
    if route.body is not None:
        schema = _schema(route.body, schemas, mode="validation")
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return found


def _responses(route: ApiRoute, schemas: dict[str, Any], *, names: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if route.media == "application/json":
        schema = {"type": "object"}
    if route.media == "text/event-stream":
        words = {"type": "string"}
        schema = {"type": "object", "properties": {"event": words, "data": words}}
    if route.reply is not None:
        schema = _schema(route.reply, schemas, mode="serialization")
    found: dict[str, Any] = {
        str(route.status): {
            "description": route.summary,
            "content": {route.media: {"schema": schema}},
        }
    }
    for status in _errors(route, names=names):
        content = {"application/json": {"schema": _ERROR}}
        found[str(status)] = {"description": _WORDS[status], "content": content}
    return found


def _errors(route: ApiRoute, *, names: list[str]) -> list[int]:
    statuses = {500, 503}
    if not route.open:
        statuses |= {401, 403, 429}
    if route.body is not None:
        statuses |= {400, 409, 413, 422}
    if names:
        statuses |= {404}
    if route.query:
        statuses |= {422}
    return sorted(statuses)


def _schema(
    model: type[BaseModel], schemas: dict[str, Any], *, mode: Literal["validation", "serialization"]
) -> dict[str, Any]:
    """A reference to a model's schema, which is put among the others with those that it needs."""
    made = model.model_json_schema(ref_template=_REF, mode=mode)
    needed: dict[str, Any] = made.pop("$defs", {})
    for name, schema in {**needed, model.__name__: made}.items():
        if schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two models are called {name}")
    return {"$ref": f"#/components/schemas/{model.__name__}"}
