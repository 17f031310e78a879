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
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import OperationalError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse

from unhack.server.access.caller import Grant
from unhack.server.guard import key_in
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.bodies import query_number, read_model
from unhack.server.http.job_models import (
    ENDED,
    AuditOrder,
    JobList,
    JobReply,
    TournamentOrder,
)
from unhack.server.http.problems import RequestRefused
from unhack.server.jobs.job_store import NewJob
from unhack.server.scoring.once import key_of
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


async def _order(request: Request, kind: str, model: type[Any]) -> Response:
    service, caller = service_of(request), caller_of(request)
    order = await read_model(request, model)
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


async def _audit(request: Request) -> Response:
    return await _order(request, "audit", AuditOrder)


async def _tournament(request: Request) -> Response:
    return await _order(request, "tournament", TournamentOrder)


async def _list(request: Request) -> Response:
    most = int(query_number(request, "limit", default=20, least=1, most=_MOST))
    before = query_number(request, "before", default=_LATEST, least=0, most=_LATEST)
    kind = _kind(request)
    store, tenant = service_of(request).jobs.store, caller_of(request).tenant_id
    rows = await run_in_threadpool(store.listed, tenant, most=most + 1, before=before, kind=kind)
    jobs = [_reply(request, row) for row in rows[:most]]
    return JSONResponse({"jobs": jobs, "more": len(rows) > most})


async def _show(request: Request) -> Response:
    return JSONResponse(_reply(request, await _found(request)))


async def _cancel(request: Request) -> Response:
    row = await _found(request, whole=False)
    needed = Grant(row["kind"])
    if needed not in caller_of(request).scopes:
        raise RequestRefused(403, "forbidden", f"this key lacks the scope {needed.value!r}")
    await run_in_threadpool(service_of(request).jobs.cancel, row["id"])
    whole = Grant.READ in caller_of(request).scopes
    return JSONResponse(_reply(request, await _found(request, whole=whole)))


async def _page(request: Request) -> Response:
    row = await _found(request, whole=False)
    jobs = service_of(request).jobs
    page = await run_in_threadpool(jobs.page, row["id"], row["tenant_id"])
    if page is None or row["state"] != "done":
        raise RequestRefused(404, "not_found", f"the job is {row['state']} and has no page")
    headers = {"Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff"}
    return HTMLResponse(page, headers=headers)


async def _events(request: Request) -> Response:
    await _found(request, whole=False)
    service_of(request).limits.check_streams(caller_of(request).tenant_id)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(_stream(request), headers=headers, media_type="text/event-stream")


async def _stream(request: Request) -> AsyncGenerator[str]:
    """`progress` whenever the job has changed, `end` at its end; then the stream is over."""
    service = service_of(request)
    with service.limits.stream(caller_of(request).tenant_id):
        async for event in _news(request, service):
            yield event


async def _news(request: Request, service: Service) -> AsyncGenerator[str]:
    last, quiet = "", 0.0
    while not service.door.shut.is_set():
        try:
            if await service.callers.find(key_in(request)) is None:
                return  # it was revoked
            found = await _found(request, whole=False)
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


async def _found(request: Request, *, whole: bool = True) -> sa.RowMapping:
    """The job of the path. Raises RequestRefused (404) where the tenant has none of that id."""
    job_id = str(request.path_params["job_id"])
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
    reply = JobReply(
        id=row["id"],
        kind=row["kind"],
        state=row["state"],
        created_at=row["created_at"],
        started_at=row["started_at"],
        finished_at=row["finished_at"],
        progress=progress,
        error=row["error"],
        page=f"/v1/jobs/{row['id']}/page" if row["state"] == "done" else None,
    )
    return reply.model_dump(mode="json") | {"result": json.loads(result) if result else None}


def _kind(request: Request) -> str | None:
    """The parameter `kind`. Raises RequestRefused (422)."""
    kind = request.query_params.get("kind")
    if kind is not None and kind not in _KINDS:
        words = f"kind: {kind[:40]!r} is none of {', '.join(_KINDS)}"
        raise RequestRefused(422, "invalid", words, field="kind")
    return kind


_QUERY = (
    ("limit", {"type": "integer", "minimum": 1, "maximum": _MOST}, "Most jobs of a reply."),
    (
        "before",
        {"type": "number", "minimum": 0, "maximum": _LATEST},
        "Only jobs made before, in seconds since 1970.",
    ),
    ("kind", {"type": "string", "enum": list(_KINDS)}, "Only jobs of this kind."),
)

ROUTES = (
    ApiRoute(
        "POST", "/v1/audits", _audit, "Order an audit of a task or a reward function.",
        Grant.AUDIT, body=AuditOrder, reply=JobReply, status=202,
    ),
    ApiRoute(
        "POST", "/v1/tournaments", _tournament, "Order a tournament.",
        Grant.TOURNAMENT, body=TournamentOrder, reply=JobReply, status=202,
    ),
    ApiRoute(
        "GET", "/v1/jobs", _list, "List your jobs, the newest first.", Grant.READ, reply=JobList,
        query=_QUERY,
    ),
    ApiRoute("GET", "/v1/jobs/{job_id}", _show, "Show a job.", Grant.READ, reply=JobReply),
    ApiRoute(
        "DELETE", "/v1/jobs/{job_id}", _cancel, "Cancel a job; harmless when it has ended.", None,
        reply=JobReply,
    ),
    ApiRoute(
        "GET", "/v1/jobs/{job_id}/events", _events, "Follow a job by server-sent events.",
        Grant.READ, media="text/event-stream",
    ),
    ApiRoute(
        "GET", "/v1/jobs/{job_id}/page", _page, "Show a job's report as an HTML page.",
        Grant.READ, media="text/html",
    ),
)  # fmt: skip
