"""Every route of the server as a call: what is sent, and the model of what comes back.

Covered: idempotency keys for what must not be done twice, so that it may be sent again.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from unhack.server.foreign.fusion_models import FusionReply, FusionRun, FusionSubmit, FusionVerdict
from unhack.server.foreign.openrlhf_models import OpenRLHFCall, OpenRLHFReply
from unhack.server.http.episode_models import (
    EnvironmentList,
    EnvironmentTasks,
    EpisodeAction,
    EpisodeList,
    EpisodeOrder,
    EpisodeReply,
)
from unhack.server.http.job_models import AuditOrder, JobList, JobReply, TournamentOrder
from unhack.server.http.score_replies import (
    BatchList,
    BatchState,
    BatchSummary,
    ItemReply,
    ScoreReply,
    TaskList,
    TaskReply,
)

Reply = TypeVar("Reply", bound=BaseModel)
AnyTask = str | Mapping[str, Any]
"""The id of a task, or a task as a value."""
AnyCompletion = str | Sequence[Mapping[str, Any]]
"""A text, or the messages of a chat."""


@dataclass(frozen=True, slots=True)
class ServerCall(Generic[Reply]):
    """One request."""

    method: str
    path: str
    reply: type[Reply]
    body: Any = None
    query: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def repeatable(self) -> bool:
        """True where sending it twice does it once."""
        return self.method != "POST" or "Idempotency-Key" in self.headers


class TextReply(BaseModel):
    """A reply that is no JSON."""

    text: str


class Calls:
    """The calls by route."""

    @staticmethod
    def score(
        task: AnyTask, completion: AnyCompletion, deadline_s: float | None
    ) -> ServerCall[ScoreReply]:
        """`POST /v1/score`."""
        body = {"task": task, "completion": completion, "deadline_s": deadline_s}
        return ServerCall("POST", "/v1/score", ScoreReply, body, headers=_once())

    @staticmethod
    def batch(body: Mapping[str, Any]) -> ServerCall[BatchSummary]:
        """`POST /v1/batches`."""
        return ServerCall("POST", "/v1/batches", BatchSummary, dict(body), headers=_once())

    @staticmethod
    def begun_batch(body: Mapping[str, Any]) -> ServerCall[BatchState]:
        """`POST /v1/batches` that does not wait."""
        return ServerCall("POST", "/v1/batches", BatchState, dict(body), headers=_once())

    @staticmethod
    def batches(limit: int, before: float | None) -> ServerCall[BatchList]:
        """`GET /v1/batches`."""
        return ServerCall("GET", "/v1/batches", BatchList, query=_given(limit=limit, before=before))

    @staticmethod
    def one_batch(method: str, batch_id: str) -> ServerCall[BatchSummary]:
        """`GET` or `DELETE /v1/batches/{id}`."""
        return ServerCall(method, f"/v1/batches/{_part(batch_id)}", BatchSummary)

    @staticmethod
    def item(batch_id: str, index: int) -> ServerCall[ItemReply]:
        """`GET /v1/batches/{id}/items/{position}`."""
        return ServerCall("GET", f"/v1/batches/{_part(batch_id)}/items/{index:d}", ItemReply)

    @staticmethod
    def tasks() -> ServerCall[TaskList]:
        """`GET /v1/tasks`."""
        return ServerCall("GET", "/v1/tasks", TaskList)

    @staticmethod
    def task(task_id: str) -> ServerCall[TaskReply]:
        """`GET /v1/tasks/{id}`."""
        return ServerCall("GET", f"/v1/tasks/{quote(task_id, safe='/')}", TaskReply)

    @staticmethod
    def job(order: AuditOrder | TournamentOrder) -> ServerCall[JobReply]:
        """`POST /v1/audits` or `/v1/tournaments`."""
        path = "/v1/audits" if isinstance(order, AuditOrder) else "/v1/tournaments"
        return ServerCall("POST", path, JobReply, order.model_dump(mode="json"), headers=_once())

    @staticmethod
    def jobs(limit: int, before: float | None, kind: str | None) -> ServerCall[JobList]:
        """`GET /v1/jobs`."""
        query = _given(limit=limit, before=before, kind=kind)
        return ServerCall("GET", "/v1/jobs", JobList, query=query)

    @staticmethod
    def one_job(method: str, job_id: str) -> ServerCall[JobReply]:
        """`GET` or `DELETE /v1/jobs/{id}`."""
        return ServerCall(method, f"/v1/jobs/{_part(job_id)}", JobReply)

    @staticmethod
    def job_page(job_id: str) -> ServerCall[TextReply]:
        """`GET /v1/jobs/{id}/page`."""
        return ServerCall("GET", f"/v1/jobs/{_part(job_id)}/page", TextReply)

    @staticmethod
    def environments() -> ServerCall[EnvironmentList]:
        """`GET /v1/environments`."""
        return ServerCall("GET", "/v1/environments", EnvironmentList)

    @staticmethod
    def environment(suite: str) -> ServerCall[EnvironmentTasks]:
        """`GET /v1/environments/{suite}`."""
        return ServerCall("GET", f"/v1/environments/{_part(suite)}", EnvironmentTasks)

    @staticmethod
    def open_episode(suite: str, order: EpisodeOrder) -> ServerCall[EpisodeReply]:
        """`POST /v1/environments/{suite}/episodes`."""
        path = f"/v1/environments/{_part(suite)}/episodes"
        return ServerCall("POST", path, EpisodeReply, order.model_dump(mode="json"))

    @staticmethod
    def episodes() -> ServerCall[EpisodeList]:
        """`GET /v1/episodes`."""
        return ServerCall("GET", "/v1/episodes", EpisodeList)

    @staticmethod
    def one_episode(method: str, episode_id: str) -> ServerCall[EpisodeReply]:
        """`GET` or `DELETE /v1/episodes/{id}`."""
        return ServerCall(method, f"/v1/episodes/{_part(episode_id)}", EpisodeReply)

    @staticmethod
    def act(episode_id: str, action: EpisodeAction) -> ServerCall[EpisodeReply]:
        """`POST /v1/episodes/{id}/actions`."""
        path = f"/v1/episodes/{_part(episode_id)}/actions"
        return ServerCall("POST", path, EpisodeReply, action.model_dump(mode="json"))

    @staticmethod
    def run_code(run: FusionRun) -> ServerCall[FusionReply]:
        """`POST /run_code`."""
        return ServerCall(
            "POST", "/run_code", FusionReply, run.model_dump(mode="json", by_alias=True)
        )

    @staticmethod
    def submit(submission: FusionSubmit) -> ServerCall[FusionVerdict]:
        """`POST /submit`."""
        return ServerCall("POST", "/submit", FusionVerdict, submission.model_dump(mode="json"))

    @staticmethod
    def reward(call: OpenRLHFCall) -> ServerCall[OpenRLHFReply]:
        """`POST /openrlhf/reward`."""
        return ServerCall("POST", "/openrlhf/reward", OpenRLHFReply, call.model_dump(mode="json"))

    @staticmethod
    def text(path: str) -> ServerCall[TextReply]:
        """`GET` of ping, health, readiness, metrics, the API's description."""
        return ServerCall("GET", path, TextReply)


def _once() -> dict[str, str]:
    return {"Idempotency-Key": uuid.uuid4().hex}


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _part(text: str) -> str:
    return quote(text, safe="")
