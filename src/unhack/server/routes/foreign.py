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

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from unhack.core.errors import SandboxError, SandboxUnavailableError, UnhackError, UsageError
from unhack.core.verdict import Verdict
from unhack.integrations.openrlhf.server import answer_call
from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, needs
from unhack.server.foreign.fusion_judging import judge_submission
from unhack.server.foreign.fusion_models import FusionReply, FusionRun, FusionSubmit, FusionVerdict
from unhack.server.foreign.fusion_runs import RunJob, run_code
from unhack.server.foreign.openrlhf_models import OpenRLHFCall, OpenRLHFReply
from unhack.server.http.bodies import check_length
from unhack.server.http.disconnect_watch import until_disconnect
from unhack.server.http.problems import FieldError, RequestRefused, of_field
from unhack.server.scoring.scoring import ScoreOrder
from unhack.server.service import caller_of, service_of
from unhack.tasks.task import Task

_SCORE = needs(Grant.SCORE)
router = APIRouter(route_class=ApiRoute)


@router.post("/run_code", dependencies=_SCORE)
async def fusion_run(request: Request, body: FusionRun) -> FusionReply:
    """Run a program, as SandboxFusion does."""
    check_length(body.code, field="code")
    with _counted(request) as run:
        return await until_disconnect(request, run_code(body, run))


@router.post("/submit", dependencies=_SCORE)
async def fusion_submit(request: Request, body: FusionSubmit) -> FusionVerdict:
    """Judge a completion, as SandboxFusion does."""
    check_length(body.completion, field="completion")
    with _counted(request) as run:
        return await until_disconnect(request, judge_submission(body, run))


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


@router.get("/v1/ping", response_class=PlainTextResponse)
@router.post("/v1/ping", response_class=PlainTextResponse)
async def ping() -> str:
    """Answer pong."""
    return "pong"


@router.post("/openrlhf/reward", response_model=OpenRLHFReply, dependencies=_SCORE)
async def openrlhf_reward(request: Request, call: OpenRLHFCall) -> Response:
    """Reward completions, as OpenRLHF asks for it."""
    service, caller = service_of(request), caller_of(request)
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
        raise RequestRefused(503, "unscored", words, retry_s=5) from None
