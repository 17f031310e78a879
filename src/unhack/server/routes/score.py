"""`POST /v1/score`: one completion, its verdict when it is stored."""

from __future__ import annotations

import asyncio
import json
from functools import partial

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UsageError
from unhack.integrations.rows import text_of
from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, needs
from unhack.server.http.bodies import Deferred, check_length, has_surrogate, keep_room
from unhack.server.http.idempotency import check_same, digest_of, key_of
from unhack.server.http.problems import RequestRefused
from unhack.server.http.score_replies import ScoreReply
from unhack.server.routes.batch_models import AnyCompletion, ScoreBody
from unhack.server.scoring.batch_store import verdict_text
from unhack.server.scoring.deadlines import deadline_of
from unhack.server.scoring.scoring import ScoreOrder
from unhack.server.service import Service, caller_of, service_of
from unhack.verifiers.reward import reward_of

router = APIRouter(route_class=ApiRoute)


@router.post("/v1/score", response_model=ScoreReply, dependencies=needs(Grant.SCORE))
async def score(request: Request, body: ScoreBody) -> Response:
    """Judge one completion."""
    service, caller = service_of(request), caller_of(request)
    key, raw = key_of(request), await request.body()
    deadline_at = deadline_of(request, body.deadline_s)
    completion = completion_text(body.completion, field="completion")
    name = await service.names.name(caller.tenant_id, body.task)
    order = ScoreOrder(
        caller.tenant_id,
        await service.names.at_hand(caller.tenant_id, name),
        name,
        completion,
        "score",
        deadline_at=deadline_at,
        idempotency_key=key,
        body_digest=digest_of(request, raw) if key else None,
        most_open=caller.items_limit,
    )
    keep_room(request, 4 * len(completion))
    return Deferred(partial(_judge_once, service, order))


async def _judge_once(service: Service, order: ScoreOrder) -> Response:
    """The verdict; of an idempotency key that came before, the stored one."""
    tenant_id, key, store = order.tenant_id, order.idempotency_key, service.store
    async with service.idempotency.hold(tenant_id, key):
        if key is not None:
            found = await asyncio.to_thread(store.find_by_key, tenant_id, key)
            if found is not None:
                check_same(found["body_digest"], order.body_digest)
                [judged] = await asyncio.to_thread(store.judged, found["id"], -1, 1)
                return _reply(found["id"], judged.reward, judged.verdict)
        try:
            batch_id, verdict = await service.scoring.score(order)
        except TimeoutError:
            words = "no verdict by the deadline; give it more time, or use a batch"
            raise RequestRefused(504, "deadline", words) from None
    return _reply(batch_id, reward_of(verdict), verdict_text(verdict))


def completion_text(completion: AnyCompletion, *, field: str) -> str:
    """The text that is judged. Raises RequestRefused (422) that names the field."""
    try:
        text = text_of(completion, name=field)
    except UsageError as error:
        raise RequestRefused(422, "invalid", str(error), field=field) from None
    if has_surrogate(text):  # halves of two parts of a message that meet are one character
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    check_length(text, field=field)
    return text


def _reply(batch_id: str, reward: float | None, verdict: str) -> Response:
    text = f'{{"batch": "{batch_id}", "reward": {json.dumps(reward)}, "verdict": {verdict}}}'
    return Response(text, media_type="application/json")
