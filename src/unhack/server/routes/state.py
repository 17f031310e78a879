"""Health and readiness, which want no key, and the metrics, which do."""

from __future__ import annotations

import asyncio

import sqlalchemy as sa
from fastapi import APIRouter
from sqlalchemy.exc import SQLAlchemyError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, needs
from unhack.server.http.problems import RequestRefused
from unhack.server.observing.metrics import MEDIA
from unhack.server.service import Service, service_of

router = APIRouter(route_class=ApiRoute)


@router.get("/v1/health")
async def health() -> dict[str, str]:
    """True while the process answers."""
    return {"status": "ok"}


@router.get("/v1/ready")
async def ready(request: Request) -> dict[str, str]:
    """True while new work is taken."""
    service = service_of(request)
    service.connection_gate.check_open()
    if not await asyncio.to_thread(_answers, service):
        raise RequestRefused(503, "database", "the database does not answer", retry_s=5)
    if await asyncio.to_thread(lambda: service.database.disk_error):
        raise RequestRefused(503, "disk", "the disk of the server's data is full", retry_s=30)
    return {"status": "ready"}


def _answers(service: Service) -> bool:
    try:
        service.database.scalar(sa.select(1))
    except SQLAlchemyError:
        return False
    return not service.database.is_taken


@router.get("/metrics", response_class=PlainTextResponse, dependencies=needs(Grant.METRICS))
async def metrics(request: Request) -> Response:
    """Figures for Prometheus."""
    return Response(service_of(request).metrics.text(), media_type=MEDIA)
