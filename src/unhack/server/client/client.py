"""A client of `unhack serve`.

    with Client("http://127.0.0.1:8000", key) as client:
        client.score("strings/knit-rows", completion).reward

`async_client.AsyncClient` has the same methods for asyncio. Needs httpx and nothing else of the
server's packages.

Covered: every route; replies as models; errors as `ServiceError` with the server's words; 429 and
503 asked again after `Retry-After`; a connection that broke, where the call cannot be done twice.
Not covered: streams that broke; ask for the stored verdicts, or for the job.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any, Self

import httpx

from unhack.server.client.calls import AnyCompletion, AnyTask, Calls, Reply, ServerCall
from unhack.server.client.exchange import (
    check,
    content_of,
    line_of,
    read,
    unreachable,
    wait_before,
)
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
from unhack.server.http.job_models import (
    ENDED,
    AuditOrder,
    JobList,
    JobReply,
    TournamentOrder,
)
from unhack.server.http.score_replies import (
    BatchList,
    BatchState,
    BatchSummary,
    ItemReply,
    ScoreReply,
    TaskList,
    TaskReply,
)

_TIMEOUT_S = 600.0
_TRIES = 5


class Client:
    """A client of one server and one key. Threads may share it."""

    def __init__(self, url: str, key: str, *, timeout_s: float = _TIMEOUT_S, tries: int = _TRIES,
                 http: httpx.Client | None = None) -> None:  # fmt: skip
        """`tries` times a call is sent in all; `http` is a client of one's own."""
        self._tries = tries
        self._http = http or httpx.Client(timeout=timeout_s)
        self._base = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, call: ServerCall[Reply]) -> Reply:
        """The reply to a call. Raises ServiceError."""
        tried = 0
        while True:
            tried += 1
            reply, failed = None, None
            try:
                reply = self._http.request(
                    call.method,
                    self._base + call.path,
                    content=content_of(call),
                    params=dict(call.query),
                    headers={**self._headers, **call.headers},
                )
            except httpx.TransportError as error:
                failed = error
            wait = wait_before(call, reply, tried=tried, tries=self._tries)
            if wait is not None:
                time.sleep(wait)
            elif reply is not None:
                return read(call, reply)
            else:
                assert failed is not None
                raise unreachable(failed) from failed

    def _lines(self, call: ServerCall[Any]) -> Iterator[str]:
        """The lines of a reply as they come. Raises ServiceError."""
        request = self._http.build_request(
            call.method,
            self._base + call.path,
            content=content_of(call),
            headers={**self._headers, **call.headers},
        )
        try:
            reply = self._http.send(request, stream=True)
            try:
                if not reply.is_success:
                    reply.read()
                    check(reply)
                yield from reply.iter_lines()
            finally:
                reply.close()
        except httpx.TransportError as error:
            raise unreachable(error) from error

    # Scoring.

    def score(
        self, task: AnyTask, completion: AnyCompletion, *, deadline_s: float | None = None
    ) -> ScoreReply:
        """The verdict of one completion; `deadline_s` seconds are granted."""
        return self.send(Calls.score(task, completion, deadline_s))

    def score_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchSummary:
        """The batch of many completions of one task, judged. `options`: `group_size`, `estimator`,
        `deadline_s`."""
        return self.send(Calls.batch({"task": task, "completions": list(completions), **options}))

    def begin_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchState:
        """As `score_batch`, without waiting: the batch is stored when this returns."""
        body = {"task": task, "completions": list(completions), **options, "wait": False}
        return self.send(Calls.begun_batch(body))

    def stream_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> Iterator[dict[str, Any]]:
        """The verdicts of a batch as they come (`index`, `reward`, `verdict`), then `summary`."""
        body = {"task": task, "completions": list(completions), **options, "stream": True}
        yield from map(line_of, self._lines(Calls.batch(body)))

    def batch(self, batch_id: str) -> BatchSummary:
        """A batch as it stands."""
        return self.send(Calls.one_batch("GET", batch_id))

    def cancel_batch(self, batch_id: str) -> BatchSummary:
        """End a batch."""
        return self.send(Calls.one_batch("DELETE", batch_id))

    def batches(self, *, limit: int = 50, before: float | None = None) -> BatchList:
        """Batches, the newest first."""
        return self.send(Calls.batches(limit, before))

    def verdicts(self, batch_id: str) -> Iterator[dict[str, Any]]:
        """The stored verdicts of a batch."""
        yield from map(line_of, self._lines(Calls.text(f"/v1/batches/{batch_id}/verdicts")))

    def item(self, batch_id: str, index: int) -> ItemReply:
        """One item of a batch, with its completion and stored outputs."""
        return self.send(Calls.item(batch_id, index))

    def tasks(self) -> TaskList:
        """The tasks that a request may name."""
        return self.send(Calls.tasks())

    def task(self, task_id: str) -> TaskReply:
        """A task with its prompt."""
        return self.send(Calls.task(task_id))

    # Jobs.

    def order(self, order: AuditOrder | TournamentOrder) -> JobReply:
        """Order an audit or a tournament; the job is stored when this returns."""
        return self.send(Calls.job(order))

    def job(self, job_id: str) -> JobReply:
        """A job as it stands."""
        return self.send(Calls.one_job("GET", job_id))

    def cancel_job(self, job_id: str) -> JobReply:
        """End a job."""
        return self.send(Calls.one_job("DELETE", job_id))

    def jobs(
        self, *, limit: int = 20, before: float | None = None, kind: str | None = None
    ) -> JobList:
        """Jobs, the newest first."""
        return self.send(Calls.jobs(limit, before, kind))

    def job_page(self, job_id: str) -> str:
        """The HTML report of a job that is done."""
        return self.send(Calls.job_page(job_id)).text

    def follow_job(self, job_id: str) -> Iterator[JobReply]:
        """A job whenever it has changed, to its end; without its result."""
        for line in self._lines(Calls.text(f"/v1/jobs/{job_id}/events")):
            if line.startswith("data: "):
                yield JobReply.model_validate_json(line.removeprefix("data: "))

    def wait_for_job(self, job_id: str, *, pause_s: float = 1.0) -> JobReply:
        """A job at its end, with its result."""
        while True:
            found = self.job(job_id)
            if found.state in ENDED:
                return found
            time.sleep(pause_s)

    # Environments.

    def environments(self) -> EnvironmentList:
        """The suites that can be played."""
        return self.send(Calls.environments())

    def environment(self, suite: str) -> EnvironmentTasks:
        """The tasks of a suite."""
        return self.send(Calls.environment(suite))

    def open_episode(
        self, suite: str, *, task: str | None = None, seed: int | None = None, tries: int = 1
    ) -> EpisodeReply:
        """A new episode of a task, or of one that is drawn."""
        return self.send(Calls.open_episode(suite, EpisodeOrder(task=task, seed=seed, tries=tries)))

    def act(
        self,
        episode_id: str,
        reply: str | None = None,
        *,
        name: str | None = None,
        arguments: dict[str, Any] | None = None,
    ) -> EpisodeReply:
        """Carry out an action: a `reply`, or a tool call."""
        action = EpisodeAction(reply=reply, name=name, arguments=arguments or {})
        return self.send(Calls.act(episode_id, action))

    def episode(self, episode_id: str) -> EpisodeReply:
        """An episode as it stands."""
        return self.send(Calls.one_episode("GET", episode_id))

    def episodes(self) -> EpisodeList:
        """Your episodes."""
        return self.send(Calls.episodes())

    def close_episode(self, episode_id: str) -> EpisodeReply:
        """Close an episode."""
        return self.send(Calls.one_episode("DELETE", episode_id))

    # The routes of others, and of the machinery.

    def run_code(self, run: FusionRun) -> FusionReply:
        """Run a program, as SandboxFusion does."""
        return self.send(Calls.run_code(run))

    def submit(self, submission: FusionSubmit) -> FusionVerdict:
        """Judge a completion, as SandboxFusion does."""
        return self.send(Calls.submit(submission))

    def reward(self, call: OpenRLHFCall) -> OpenRLHFReply:
        """Rewards, as OpenRLHF asks for them."""
        return self.send(Calls.reward(call))

    def text(self, path: str) -> str:
        """The text of another route: `/v1/ping`, `/v1/health`, `/v1/ready`, `/metrics`,
        `/v1/openapi.json`."""
        return self.send(Calls.text(path)).text
