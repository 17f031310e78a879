"""`/v1/batches`: many completions, streamed, waited for or fetched later."""

from __future__ import annotations

import asyncio
import json
import re
from functools import partial
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, PathPart, needs
from unhack.server.http.bodies import Deferred, keep_room, number_in
from unhack.server.http.idempotency import check_same, digest_of, key_of
from unhack.server.http.problems import RequestRefused
from unhack.server.http.score_replies import BatchList, BatchSummary, ItemReply
from unhack.server.routes.batch_models import (
    AnyCompletion,
    BatchBody,
    BatchItem,
)
from unhack.server.routes.score import completion_text
from unhack.server.scoring import replies
from unhack.server.scoring.batch_store import ACCEPTED, CANCELLED, NewBatch, NewItem
from unhack.server.scoring.deadlines import deadline_of
from unhack.server.scoring.scoring import new_id
from unhack.server.service import Service, caller_of, service_of

_NDJSON = "application/x-ndjson"
_ID = re.compile(r"[0-9a-f]{32}")
_POSITION = re.compile(r"[0-9]{1,9}")
_ID_HEADER = "Unhack-Batch"
_READ = needs(Grant.READ)
_Limit = Annotated[
    int,
    Field(ge=1, le=500),
    number_in(1, 500, whole=True),
    Query(description="Most batches; 50 if not given."),
]
_Before = Annotated[
    float,
    Field(ge=0, le=1e12),
    number_in(0, 1e12),
    Query(description="Only batches made before this time (`created_at`)."),
]
router = APIRouter(route_class=ApiRoute)


class Lines(StreamingResponse):
    """JSON values, one a line."""

    media_type = _NDJSON


@router.post("/v1/batches", response_model=BatchSummary, dependencies=needs(Grant.SCORE))
async def create(request: Request, body: BatchBody) -> Response:
    """Judge many completions."""
    service, caller = service_of(request), caller_of(request)
    key, digest = key_of(request), digest_of(request, await request.body())
    async with service.idempotency.hold(caller.tenant_id, key):
        found = None
        if key is not None:
            found = await asyncio.to_thread(service.store.find_by_key, caller.tenant_id, key)
        if found is not None:
            check_same(found["body_digest"], digest)
            batch_id = str(found["id"])
        else:
            count = len(body.completions or body.items or ())
            service.limits.check_size(count, most=caller.items_limit)
            listed = await _items(service, caller.tenant_id, body)
            _check_groups(listed, body.group_size)
            batch = NewBatch(
                new_id(),
                caller.tenant_id,
                "batches",
                len(listed),
                group_size=body.group_size,
                estimator=body.estimator,
                deadline_at=deadline_of(request, body.deadline_s),
                idempotency_key=key,
                body_digest=digest if key else None,
            )
            await service.scoring.accept(batch, listed, most_open=caller.items_limit)
            batch_id = batch.id
    stream = body.stream or _NDJSON in request.headers.get("accept", "")
    keep_room(request)
    answer = partial(_answer, service, caller.tenant_id, batch_id, stream=stream, wait=body.wait)
    return Deferred(answer)


async def _items(service: Service, tenant_id: int, body: BatchBody) -> list[NewItem]:
    """The items of a body. Raises RequestRefused (422)."""
    if (body.items is None) == (body.completions is None):
        raise _invalid("items", "give `items`, or `task` and `completions`")
    if body.completions is not None:
        if body.task is None:
            raise _invalid("task", "`completions` need the task that all of them answer")
        name = await service.names.name(tenant_id, body.task)
        return await asyncio.to_thread(_items_of_one, name, body.completions)
    if body.task is not None:
        raise _invalid("task", "each of `items` has a task of its own")
    names: dict[Any, str] = {}
    found: list[NewItem] = []
    for index, item in enumerate(body.items or ()):
        name = await _name(service, tenant_id, item, names, index)
        text = completion_text(item.completion, field=f"items.{index}.completion")
        found.append(NewItem(name, text))
    return found


def _items_of_one(name: str, completions: list[AnyCompletion]) -> list[NewItem]:
    """The items of one task. Raises RequestRefused (422)."""
    return [
        NewItem(name, completion_text(each, field=f"completions.{index}"))
        for index, each in enumerate(completions)
    ]


async def _name(
    service: Service, tenant_id: int, item: BatchItem, names: dict[Any, str], index: int
) -> str:
    key = item.task if isinstance(item.task, str) else item.task.model_dump_json()
    if key not in names:
        field = f"items.{index}.task"
        names[key] = await service.names.name(tenant_id, item.task, field=field)
    return names[key]


def _check_groups(listed: list[NewItem], size: int | None) -> None:
    if size is None:
        return
    if len(listed) % size:
        raise _invalid("group_size", f"{len(listed)} completions make no whole groups of {size}")
    for start in range(0, len(listed), size):
        if len({item.task for item in listed[start : start + size]}) > 1:
            raise _invalid("group_size", f"items {start} to {start + size - 1} mix tasks")


async def _answer(
    service: Service, tenant_id: int, batch_id: str, *, stream: bool, wait: bool
) -> Response:
    headers = {_ID_HEADER: batch_id}
    if stream:
        lines = replies.lines_until_end(service.scoring, tenant_id, batch_id)
        return Lines(lines, headers=headers)
    if wait:
        await _wait(service, batch_id)
    row = await asyncio.to_thread(service.store.find, tenant_id, batch_id)
    assert row is not None
    if not wait:
        judged = await asyncio.to_thread(service.store.count_judged, batch_id)
        return JSONResponse(replies.state_of(row, judged), 202, headers)
    if row["state"] == ACCEPTED:
        words = f"the server ends; batch {batch_id} goes on at its next start"
        raise RequestRefused(503, "draining", words, retry_s=10, headers=headers)
    return StreamingResponse(
        replies.whole(service.store, row), media_type="application/json", headers=headers
    )


async def _wait(service: Service, batch_id: str) -> None:
    """Wait until the batch has ended, or will not go on in this process."""
    run = service.scoring.run_of(batch_id)
    if run is None:
        return
    queue = run.watch()
    try:
        while await queue.get() is not None:
            pass
    finally:
        run.unwatch(queue)


@router.get("/v1/batches", response_model=BatchList, dependencies=_READ)
async def batches(request: Request, limit: _Limit = 50, before: _Before = 1e12) -> Response:
    """List the batches of the key's tenant."""
    store, tenant = service_of(request).store, caller_of(request).tenant_id
    found = await asyncio.to_thread(store.listed, tenant, before=before, most=limit)
    return JSONResponse({"batches": [replies.state_of(row, judged) for row, judged in found]})


@router.get("/v1/batches/{batch_id}", response_model=BatchSummary, dependencies=_READ)
async def batch(request: Request, batch_id: PathPart) -> Response:
    """Show a batch and its rewards."""
    row = await _find(request, batch_id)
    return JSONResponse(await asyncio.to_thread(replies.summary_of, service_of(request).store, row))


@router.get("/v1/batches/{batch_id}/verdicts", response_class=Lines, dependencies=_READ)
async def verdicts(request: Request, batch_id: PathPart) -> Response:
    """Show the verdicts of a batch, one a line."""
    row = await _find(request, batch_id)
    return Lines(replies.stored_lines(service_of(request).store, row["id"]))


@router.get("/v1/batches/{batch_id}/items/{position}", response_model=ItemReply, dependencies=_READ)
async def item(request: Request, batch_id: PathPart, position: PathPart) -> Response:
    """Show an item with its completion and outputs."""
    service, batch = service_of(request), await _find(request, batch_id)
    row = None
    if _POSITION.fullmatch(position):
        row = await asyncio.to_thread(service.store.find_item, batch["id"], int(position))
    if row is None:
        raise RequestRefused(404, "not_found", "the batch has no item of this position")
    task = json.loads(row["task"])
    reply = ItemReply(
        index=row["position"],
        task=task if isinstance(task, str) else f"inline/{task['inline'][:12]}",
        completion=row["completion"],
        same_as=row["same_as"],
        reward=row["reward"],
        verdict=json.loads(row["verdict"] or "null"),
        outputs=json.loads(row["outputs"] or "[]"),
    )
    # In ASCII: UTF-8 cannot say half of a surrogate pair, which a completion may hold.
    return Response(json.dumps(reply.model_dump(mode="json")), media_type="application/json")


@router.delete(
    "/v1/batches/{batch_id}", response_model=BatchSummary, dependencies=needs(Grant.SCORE)
)
async def cancel(request: Request, batch_id: PathPart) -> Response:
    """Cancel a batch."""
    service, row = service_of(request), await _find(request, batch_id)
    run = service.scoring.run_of(row["id"])
    if run is not None:
        await run.cancel()
    elif row["state"] == ACCEPTED:
        await asyncio.wrap_future(service.store.finish(row["id"], CANCELLED))
    return await batch(request, batch_id)


async def _find(request: Request, batch_id: str) -> sa.RowMapping:
    """The batch of the path. Raises RequestRefused (404), alike for unknown and others' ids."""
    found = None
    if _ID.fullmatch(batch_id):
        store = service_of(request).store
        found = await asyncio.to_thread(store.find, caller_of(request).tenant_id, batch_id)
    if found is None:
        raise RequestRefused(404, "not_found", "you have no batch of this id")
    return found


def _invalid(field: str, message: str) -> RequestRefused:
    return RequestRefused(422, "invalid", f"{field}: {message}", field=field)
