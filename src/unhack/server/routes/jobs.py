"""Audits and tournaments as jobs: ordered, listed, followed, cancelled, their reports.

Covered: a job is stored before it is acknowledged (202); the same `Idempotency-Key` with the same
body is the same job; another tenant's job is unknown.
Not covered: keeping a stream of events beyond the end of the server; ask again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query
from pydantic import BeforeValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, PathPart, key_in, needs
from unhack.server.http.bodies import number_in
from unhack.server.http.events import Events
from unhack.server.http.idempotency import key_of
from unhack.server.http.job_models import (
    ENDED,
    AuditOrder,
    JobList,
    JobReply,
    TournamentOrder,
)
from unhack.server.http.problems import RequestRefused
from unhack.server.jobs.job_store import NewJob
from unhack.server.service import Service, caller_of, service_of

_BEAT_S, _QUIET_S = 0.5, 15.0
"""Seconds between looks at a job, and after which a stream says that it is alive."""
_PAUSE_S = 2.0
"""Before a database that did not answer is asked again."""
_ID = re.compile(r"[0-9a-f]{32}")
_MOST = 100
_LATEST = 1e12
_KINDS = ("audit", "tournament")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'"


def _known_kind(kind: Any) -> str:
    if kind in _KINDS:
        return str(kind)
    told = {"kind": repr(str(kind)[:40]), "known": ", ".join(_KINDS)}
    raise PydanticCustomError("kind", "{kind} is not one of {known}", told)


_Limit = Annotated[
    int,
    Field(ge=1, le=_MOST),
    number_in(1, _MOST, whole=True),
    Query(description="Most jobs of a reply."),
]
_Before = Annotated[
    float,
    Field(ge=0, le=_LATEST),
    number_in(0, _LATEST),
    Query(description="Only jobs made before, in seconds since 1970."),
]
_Kind = Annotated[
    str | None,
    BeforeValidator(_known_kind),
    WithJsonSchema({"type": "string", "enum": list(_KINDS)}),
    Query(description="Only jobs of this kind."),
]
_EVENT = {
    "type": "object",
    "properties": {"event": {"type": "string"}, "data": {"type": "string"}},
}
_READ = needs(Grant.READ)
router = APIRouter(route_class=ApiRoute)


async def _order(request: Request, kind: str, order: AuditOrder | TournamentOrder) -> Response:
    service, caller = service_of(request), caller_of(request)
    text = json.dumps(order.model_dump(mode="json"), sort_keys=True)
    job = NewJob(
        caller.tenant_id,
        kind,
        text,
        hashlib.sha256(f"{kind}\n{text}".encode()).hexdigest(),
        key_of(request),
    )
    await service.jobs.looks.acquire(caller.tenant_id)
    try:
        job_id = await run_in_threadpool(service.jobs.order, job, order)
    finally:
        service.jobs.looks.release(caller.tenant_id)
    row = await run_in_threadpool(service.jobs.store.find, job_id, caller.tenant_id)
    headers = {"Location": f"jobs/{job_id}"}  # relative: a proxy's prefix, and `/k/KEY`, stay
    return JSONResponse(_reply(request, row), 202, headers)


@router.post(
    "/v1/audits", response_model=JobReply, status_code=202, dependencies=needs(Grant.AUDIT)
)
async def audit(request: Request, body: AuditOrder) -> Response:
    """Order an audit of a task or a reward function."""
    return await _order(request, "audit", body)


@router.post(
    "/v1/tournaments",
    response_model=JobReply,
    status_code=202,
    dependencies=needs(Grant.TOURNAMENT),
)
async def tournament(request: Request, body: TournamentOrder) -> Response:
    """Order a tournament."""
    return await _order(request, "tournament", body)


@router.get("/v1/jobs", response_model=JobList, dependencies=_READ)
async def jobs(
    request: Request, limit: _Limit = 20, before: _Before = _LATEST, kind: _Kind = None
) -> Response:
    """List your jobs, the newest first."""
    store, tenant = service_of(request).jobs.store, caller_of(request).tenant_id
    rows = await run_in_threadpool(store.listed, tenant, most=limit + 1, before=before, kind=kind)
    listed = [_reply(request, row) for row in rows[:limit]]
    return JSONResponse({"jobs": listed, "more": len(rows) > limit})


@router.get("/v1/jobs/{job_id}", response_model=JobReply, dependencies=_READ)
async def job(request: Request, job_id: PathPart) -> Response:
    """Show a job."""
    return JSONResponse(_reply(request, await _found(request, job_id)))


@router.delete("/v1/jobs/{job_id}", response_model=JobReply, dependencies=needs())
async def cancel(request: Request, job_id: PathPart) -> Response:
    """Cancel a job; harmless when it has ended."""
    row = await _found(request, job_id, whole=False)
    needed = Grant(row["kind"])
    if needed not in caller_of(request).scopes:
        raise RequestRefused(403, "forbidden", f"this key lacks the scope {needed.value!r}")
    await run_in_threadpool(service_of(request).jobs.cancel, row["id"])
    whole = Grant.READ in caller_of(request).scopes
    return JSONResponse(_reply(request, await _found(request, job_id, whole=whole)))


@router.get("/v1/jobs/{job_id}/page", response_class=HTMLResponse, dependencies=_READ)
async def page(request: Request, job_id: PathPart) -> Response:
    """Show a job's report as an HTML page."""
    row = await _found(request, job_id, whole=False)
    jobs = service_of(request).jobs
    page = await run_in_threadpool(jobs.page, row["id"], row["tenant_id"])
    if page is None or row["state"] != "done":
        raise RequestRefused(404, "not_found", f"the job is {row['state']} and has no page")
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page, headers=headers)


@router.get(
    "/v1/jobs/{job_id}/events",
    response_class=Events,
    status_code=200,
    responses={200: {"content": {Events.media_type: {"schema": _EVENT}}}},
    dependencies=_READ,
)
async def events(request: Request, job_id: PathPart) -> Response:
    """Follow a job by server-sent events."""
    await _found(request, job_id, whole=False)
    service = service_of(request)
    close = service.limits.open_stream(caller_of(request).tenant_id)
    return Events(_news(request, service, job_id), close=close)


async def _news(request: Request, service: Service, job_id: str) -> AsyncGenerator[str]:
    """`progress` whenever the job has changed, `end` at its end; then the stream is over."""
    last, quiet = "", 0.0
    while not service.connection_gate.closed.is_set():
        try:
            if await service.callers.find(key_in(request)) is None:
                return  # it was revoked
            found = await _found(request, job_id, whole=False)
        except OperationalError:  # the database does not answer; the stream outlives that
            yield ": the database does not answer\n\n"
            await asyncio.sleep(_PAUSE_S)
            continue
        reply = _reply(request, found)
        text = json.dumps(reply)
        ended = reply["state"] in ENDED
        if text != last or ended:
            last, quiet = text, 0.0
            yield f"event: {'end' if ended else 'progress'}\ndata: {text}\n\n"
        elif quiet >= _QUIET_S:
            quiet = 0.0
            yield ": still here\n\n"
        if ended:
            return
        await asyncio.sleep(_BEAT_S)
        quiet += _BEAT_S


async def _found(request: Request, job_id: str, *, whole: bool = True) -> sa.RowMapping:
    """The job of the path. Raises RequestRefused (404) where the tenant has none of that id."""
    if not _ID.fullmatch(job_id):
        raise _unknown()
    store, tenant = service_of(request).jobs.store, caller_of(request).tenant_id
    row = await run_in_threadpool(store.find, job_id, tenant, whole=whole)
    if row is None:
        raise _unknown()
    return row


def _unknown() -> RequestRefused:
    return RequestRefused(404, "not_found", "no job of yours has this id")


def _reply(request: Request, row: sa.RowMapping | None) -> dict[str, Any]:
    assert row is not None
    running = row["state"] == "running"
    progress = service_of(request).jobs.progress(row["id"]) if running else None
    result = row.get("result")
    page = f"/v1/jobs/{row['id']}/page" if row["state"] == "done" else None
    reply = JobReply.model_validate({**row, "progress": progress, "page": page, "result": None})
    return reply.model_dump(mode="json") | {"result": json.loads(result) if result else None}
