"""Health and readiness, which want no key, and the metrics, which do."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.server.access.caller import Grant
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.problems import RequestRefused
from unhack.server.observing.metrics import MEDIA
from unhack.server.service import Service, service_of


async def _health(_: Request) -> Response:
    return JSONResponse({"status": "ok"})


async def _ready(request: Request) -> Response:
    service = service_of(request)
    service.door.check()
    if not await asyncio.to_thread(_answers, service):
        raise RequestRefused(
            503, "database", "the database does not answer", headers={"Retry-After": "5"}
        )
    return JSONResponse({"status": "ready"})


def _answers(service: Service) -> bool:
    try:
        service.database.read(lambda connection: connection.execute(sa.text("SELECT 1")).scalar())
    except SQLAlchemyError:
        return False
    return not service.database.is_taken


async def _metrics(request: Request) -> Response:
    return Response(service_of(request).metrics.text(), media_type=MEDIA)


ROUTES = (
    ApiRoute("GET", "/v1/health", _health, "True while the process answers.", None, open=True),
    ApiRoute("GET", "/v1/ready", _ready, "True while new work is taken.", None, open=True),
    ApiRoute(
        "GET", "/metrics", _metrics, "Figures for Prometheus.", Grant.METRICS, media="text/plain"
    ),
)
