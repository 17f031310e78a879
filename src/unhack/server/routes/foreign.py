"""The routes of other people's clients, which come to unhack by changing one URL.

    SandboxFusion    POST /run_code    POST /submit    GET, POST /v1/ping
    OpenRLHF         POST /openrlhf/reward

Covered: keys in the path (`/k/KEY/run_code`), for clients that cannot send a header; what
SandboxFusion's routes run is stored nowhere, and ends when its client hangs up.
Not covered: SandboxFusion's Jupyter and data set routes; they are unknown paths.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Generator
from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from unhack.core.errors import SandboxError, SandboxUnavailableError, UnhackError, UsageError
from unhack.core.verdict import Verdict
from unhack.integrations.openrlhf.server import answer_call
from unhack.server.access.caller import Grant
from unhack.server.foreign.fusion_judging import judge_submission
from unhack.server.foreign.fusion_models import FusionReply, FusionRun, FusionSubmit, FusionVerdict
from unhack.server.foreign.fusion_runs import RunJob, run_code
from unhack.server.foreign.openrlhf_models import (
    OpenRLHFCall,
    OpenRLHFReply,
    without_queries,
)
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.bodies import check_length, read_model
from unhack.server.http.presence import while_present
from unhack.server.http.problems import FieldError, RequestRefused, of_field
from unhack.server.scoring.scoring import ScoreOrder
from unhack.server.service import caller_of, service_of
from unhack.tasks.task import Task


async def _run_code(request: Request) -> Response:
    asked = await read_model(request, FusionRun)
    check_length(asked.code, field="code")
    with _counted(request) as run:
        reply = await while_present(request, run_code(asked, run))
    return JSONResponse(reply.model_dump(mode="json"))


async def _submit(request: Request) -> Response:
    asked = await read_model(request, FusionSubmit)
    check_length(asked.completion, field="completion")
    with _counted(request) as run:
        verdict = await while_present(request, judge_submission(asked, run))
    return JSONResponse(verdict.model_dump(mode="json"))


@contextlib.contextmanager
def _counted(request: Request) -> Generator[RunJob]:
    """Count one open completion of the caller, as `/v1/score` does; how its jobs are run, in its
    tenant's turn. Raises RequestRefused (429)."""
    service, caller = service_of(request), caller_of(request)
    service.limits.take(caller.tenant_id, 1, most=caller.items_limit)
    try:
        yield partial(service.scoring.run, caller.tenant_id)
    finally:
        service.limits.give_back(caller.tenant_id)


async def _ping(_: Request) -> Response:
    return PlainTextResponse("pong")


async def _reward(request: Request) -> Response:
    service, caller = service_of(request), caller_of(request)
    call = await read_model(request, OpenRLHFCall, strict=without_queries)
    for number, query in enumerate(call.query):
        check_length(query, field=f"query.{number}")
    for field, listed in (("prompts", call.prompts), ("labels", call.labels)):
        if len(listed) != len(call.query):
            raise FieldError(field, f"{len(listed)} of them for {len(call.query)} queries")
    named: dict[int, tuple[Task, str]] = {}

    def find(label: str) -> Task:
        with of_field("labels"):
            task = service.names.catalogue.find(label)
        named[id(task)] = (task, json.dumps(label))
        return task

    async def score(task: Task, completion: str) -> Verdict:
        order = ScoreOrder(
            caller.tenant_id,
            task,
            named[id(task)][1],
            completion,
            "openrlhf",
            most_open=caller.items_limit,
        )
        return (await service.scoring.score(order))[1]

    try:
        return JSONResponse(await answer_call(call.model_dump(), find=find, score=score))
    except (UsageError, SandboxError, SandboxUnavailableError):
        raise
    except UnhackError:
        words = "a completion could not be scored, which is not a 0; ask again"
        raise RequestRefused(503, "unscored", words, headers={"Retry-After": "5"}) from None


ROUTES = (
    ApiRoute(
        "POST", "/run_code", _run_code, "Run a program, as SandboxFusion does.", Grant.SCORE,
        body=FusionRun, reply=FusionReply,
    ),
    ApiRoute(
        "POST", "/submit", _submit, "Judge a completion, as SandboxFusion does.", Grant.SCORE,
        body=FusionSubmit, reply=FusionVerdict,
    ),
    ApiRoute(
        "GET", "/v1/ping", _ping, "Answer pong.", None, open=True, media="text/plain",
    ),
    ApiRoute(
        "POST", "/v1/ping", _ping, "Answer pong.", None, open=True, media="text/plain",
    ),
    ApiRoute(
        "POST", "/openrlhf/reward", _reward, "Reward completions, as OpenRLHF asks for it.",
        Grant.SCORE, body=OpenRLHFCall, reply=OpenRLHFReply,
    ),
)  # fmt: skip
