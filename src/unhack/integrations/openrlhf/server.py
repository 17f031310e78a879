"""OpenRLHF's remote reward protocol over HTTP, for trainers on machines that cannot isolate.

    pip install '.[openrlhf]'
    uvicorn --factory unhack.integrations.openrlhf.server:application --port 5000
    --reward.remote_url http://HOST:5000/

Covered: bodies of bounded size; what is wrong with a request is 400 with words that name the field;
what could not be scored is 503, which OpenRLHF asks again four times.
Not covered: access control; let only trainers reach it. `unhack serve` answers the same call at
`/openrlhf/reward`, behind keys.
Source: OpenRLHF 0.11.2, `_fetch_rewards_via_http`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, cast

from unhack.core.errors import UnhackError, UsageError
from unhack.core.optional_dependencies import require
from unhack.core.verdict import Verdict
from unhack.integrations.openrlhf.reward import labelled_task, read_calls, told
from unhack.integrations.rows import named_task
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.task import Task

MAX_BODY = 32 << 20
"""Bytes of a request."""
ScoreOne = Callable[[Task, str], Awaitable[Verdict]]
"""Judges one completion."""
_FIELDS = ("query", "prompts", "labels")


def application() -> Any:
    """The ASGI application; any path will do. Raises UsageError without starlette."""
    require("openrlhf", "starlette", purpose="the server")
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import JSONResponse
    from starlette.routing import Route

    async def answer(request: Request) -> JSONResponse:
        body = bytearray()
        async for chunk in request.stream():
            body += chunk
            if len(body) > MAX_BODY:
                words = f"the body is longer than {MAX_BODY:,} bytes"
                return JSONResponse({"error": words}, 413)
        try:
            return JSONResponse(await answer_call(_read(bytes(body))))
        except UsageError as error:
            return JSONResponse({"error": str(error)}, 400)
        except UnhackError as error:
            return JSONResponse({"error": str(error)}, 503)

    return Starlette(routes=[Route("/{path:path}", answer, methods=["POST"])])


def _read(body: bytes) -> dict[str, Any]:
    """The call of a body. Raises UsageError."""
    try:
        asked: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is no JSON: {error}") from None
    if not isinstance(asked, dict):
        raise UsageError("the body is no JSON object with query, prompts and labels")
    given = cast("dict[str, Any]", asked)
    missing = [name for name in _FIELDS if name not in given]
    if missing:
        raise UsageError(f"the body has no {missing[0]!r}; it needs {', '.join(_FIELDS)}")
    return given


async def answer_call(
    given: Mapping[str, Any],
    *,
    find: Callable[[str], Task] | None = None,
    score: ScoreOne | None = None,
) -> dict[str, Any]:
    """The answer to a call of `query`, `prompts` and `labels`. `find` makes the task of a label,
    by default `named_task`; `score` judges a completion, by default the process's own judge.

    Raises UsageError for what is wrong with the call, UnhackError for what could not be scored.
    """
    made = partial(labelled_task, find=find or named_task)
    pairs = read_calls(*(given[name] for name in _FIELDS), find=made)
    score = score or shared_scheduler().judge
    return told(await asyncio.gather(*(score(task, text) for task, text in pairs)))
