"""`POST /v1/score`: one completion, its verdict when it is stored."""

from __future__ import annotations

import asyncio
import json
import re

from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UsageError
from unhack.integrations.rows import text_of
from unhack.server.access.caller import Grant
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.bodies import check_length, keep_room, read_body, read_whole
from unhack.server.http.problems import RequestRefused
from unhack.server.http.score_replies import ScoreReply
from unhack.server.routes.batch_models import AnyCompletion, ScoreBody, without_completions
from unhack.server.scoring.batch_store import verdict_text
from unhack.server.scoring.deadlines import deadline_of
from unhack.server.scoring.once import check_same, digest_of, key_of
from unhack.server.scoring.scoring import ScoreOrder
from unhack.server.service import caller_of, service_of
from unhack.verifiers.reward import reward_of

_SURROGATE = re.compile("[\ud800-\udfff]")


async def _score(request: Request) -> Response:
    service, caller = service_of(request), caller_of(request)
    raw = await read_body(request)
    body = await read_whole(request, raw, ScoreBody, strict=without_completions)
    key, digest = key_of(request), digest_of(request, raw)
    deadline_at = deadline_of(request, body.deadline_s)
    completion = completion_text(body.completion, field="completion")
    async with service.once.hold(caller.tenant_id, key):
        if key is not None:
            found = await asyncio.to_thread(service.store.find_by_key, caller.tenant_id, key)
            if found is not None:
                check_same(found["body_digest"], digest)
                [judged] = await asyncio.to_thread(service.store.judged, found["id"], -1, 1)
                return _reply(found["id"], judged.reward, judged.verdict)
        name = await service.names.name(caller.tenant_id, body.task)
        order = ScoreOrder(
            caller.tenant_id,
            await service.names.at_hand(caller.tenant_id, name),
            name,
            completion,
            "score",
            deadline_at=deadline_at,
            idempotency_key=key,
            body_digest=digest if key else None,
            most_open=caller.items_limit,
        )
        keep_room(request, 4 * len(completion))
        del raw, body
        try:
            batch_id, verdict = await service.scoring.score(order)
        except TimeoutError:
            raise RequestRefused(
                504, "deadline", "no verdict by the deadline; give it more time, or use a batch"
            ) from None
    return _reply(batch_id, reward_of(verdict), verdict_text(verdict))


def completion_text(completion: AnyCompletion, *, field: str) -> str:
    """The text that is judged. Raises RequestRefused (422) that names the field."""
    try:
        text = text_of(completion, name=field)
    except UsageError as error:
        raise RequestRefused(422, "invalid", str(error), field=field) from None
    if _SURROGATE.search(text):  # halves of two parts of a message that meet are one character
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    check_length(text, field=field)
    return text


def _reply(batch_id: str, reward: float | None, verdict: str) -> Response:
    text = f'{{"batch": "{batch_id}", "reward": {json.dumps(reward)}, "verdict": {verdict}}}'
    return Response(text, media_type="application/json")


ROUTES = (
    ApiRoute(
        "POST",
        "/v1/score",
        _score,
        "Judge one completion.",
        Grant.SCORE,
        body=ScoreBody,
        reply=ScoreReply,
    ),
)
