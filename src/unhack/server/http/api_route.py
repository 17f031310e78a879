"""A route: everything that the app, its guards, the API description and the tests know of a
route stands in one value.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from unhack.server.access.caller import Grant
from unhack.server.http.problems import RequestRefused

Handler = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One method of one path."""

    method: str
    path: str
    """As Starlette writes it: `/v1/batches/{batch_id}`."""
    handler: Handler
    summary: str
    """One sentence for the API description."""
    scope: Grant | None
    """The scope that a key needs; None where every valid key will do, or none is asked for."""
    open: bool = False
    """True for the few routes that want no key: ping, health, readiness."""
    body: type[BaseModel] | None = None
    reply: type[BaseModel] | None = None
    """The model of the JSON of a 2xx reply; None where `media` says what it is."""
    status: int = 200
    media: str = "application/json"
    query: tuple[tuple[str, str | Mapping[str, Any], str], ...] = field(default=())
    """(name, JSON schema or its type, sentence) of each query parameter."""
    described: bool = True
    """False for pages, which the API description leaves out."""
    refused: Callable[[Request, RequestRefused], Response] | None = None
    """For pages alone, whose key may come in a cookie: the reply to who may not come in, a form in
    place of JSON."""
