"""A client of `unhack serve` on asyncio.

    async with AsyncClient("http://127.0.0.1:8000", key) as client:
        (await client.score("strings/knit-rows", completion)).reward

See `client.Client`, which has the same methods.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
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


class AsyncClient:
    """A client of one server and one key, on one event loop."""

    def __init__(self, url: str, key: str, *, timeout_s: float = _TIMEOUT_S, tries: int = _TRIES,
                 http: httpx.AsyncClient | None = None) -> None:  # fmt: skip
        """`tries` times a call is sent in all; `http` is a client of one's own."""
        self._tries = tries
        self._http = http or httpx.AsyncClient(timeout=timeout_s)
        self._base = url.rstrip("/")
        self._headers = {"Authorization": f"Bearer {key}"}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, call: ServerCall[Reply]) -> Reply:
        """The reply to a call. Raises ServiceError."""
        tried = 0
        while True:
            tried += 1
            reply, failed = None, None
            try:
                reply = await self._http.request(
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
                await asyncio.sleep(wait)
            elif reply is not None:
                return read(call, reply)
            else:
                assert failed is not None
                raise unreachable(failed) from failed

    async def _lines(self, call: ServerCall[Any]) -> AsyncIterator[str]:
        """The lines of a reply as they come. Raises ServiceError."""
        request = self._http.build_request(
            call.method,
            self._base + call.path,
            content=content_of(call),
            headers={**self._headers, **call.headers},
        )
        try:
            reply = await self._http.send(request, stream=True)
            try:
                if not reply.is_success:
                    await reply.aread()
                    check(reply)
                async for line in reply.aiter_lines():
                    yield line
            finally:
                await reply.aclose()
        except httpx.TransportError as error:
            raise unreachable(error) from error

    # Scoring.

    async def score(
        self, task: AnyTask, completion: AnyCompletion, *, deadline_s: float | None = None
    ) -> ScoreReply:
        """The verdict of one completion; `deadline_s` seconds are granted."""
        return await self.send(Calls.score(task, completion, deadline_s))

    async def score_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchSummary:
        """The batch of many completions of one task, judged. `options`: `group_size`, `estimator`,
        `deadline_s`."""
        return await self.send(
            Calls.batch({"task": task, "completions": list(completions), **options})
        )

    async def begin_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchState:
        """As `score_batch`, without waiting: the batch is stored when this returns."""
        body = {"task": task, "completions": list(completions), **options, "wait": False}
        return await self.send(Calls.begun_batch(body))

    async def stream_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> AsyncIterator[dict[str, Any]]:
        """The verdicts of a batch as they come (`index`, `reward`, `verdict`), then `summary`."""
        body = {"task": task, "completions": list(completions), **options, "stream": True}
        async for line in self._lines(Calls.batch(body)):
            yield line_of(line)

    async def batch(self, batch_id: str) -> BatchSummary:
        """A batch as it stands."""
        return await self.send(Calls.one_batch("GET", batch_id))

    async def cancel_batch(self, batch_id: str) -> BatchSummary:
        """End a batch."""
        return await self.send(Calls.one_batch("DELETE", batch_id))

    async def batches(self, *, limit: int = 50, before: float | None = None) -> BatchList:
        """Batches, the newest first."""
        return await self.send(Calls.batches(limit, before))

    async def verdicts(self, batch_id: str) -> AsyncIterator[dict[str, Any]]:
        """The stored verdicts of a batch."""
        async for line in self._lines(Calls.text(f"/v1/batches/{batch_id}/verdicts")):
            yield line_of(line)

    async def item(self, batch_id: str, index: int) -> ItemReply:
        """One item of a batch, with its completion and stored outputs."""
        return await self.send(Calls.item(batch_id, index))

    async def tasks(self) -> TaskList:
        """The tasks that a request may name."""
        return await self.send(Calls.tasks())

    async def task(self, task_id: str) -> TaskReply:
        """A task with its prompt."""
        return await self.send(Calls.task(task_id))

    # Jobs.

    async def order(self, order: AuditOrder | TournamentOrder) -> JobReply:
        """Order an audit or a tournament; the job is stored when this returns."""
        return await self.send(Calls.job(order))

    async def job(self, job_id: str) -> JobReply:
        """A job as it stands."""
        return await self.send(Calls.one_job("GET", job_id))

    async def cancel_job(self, job_id: str) -> JobReply:
        """End a job."""
        return await self.send(Calls.one_job("DELETE", job_id))

    async def jobs(
        self, *, limit: int = 20, before: float | None = None, kind: str | None = None
    ) -> JobList:
        """Jobs, the newest first."""
        return await self.send(Calls.jobs(limit, before, kind))

    async def job_page(self, job_id: str) -> str:
        """The HTML report of a job that is done."""
        return (await self.send(Calls.job_page(job_id))).text

    async def follow_job(self, job_id: str) -> AsyncIterator[JobReply]:
        """A job whenever it has changed, to its end; without its result."""
        async for line in self._lines(Calls.text(f"/v1/jobs/{job_id}/events")):
            if line.startswith("data: "):
                yield JobReply.model_validate_json(line.removeprefix("data: "))

    async def wait_for_job(self, job_id: str, *, pause_s: float = 1.0) -> JobReply:
        """A job at its end, with its result."""
        while True:
            found = await self.job(job_id)
            if found.state in ENDED:
                return found
            await asyncio.sleep(pause_s)

    # Environments.

    async def environments(self) -> EnvironmentList:
        """The suites that can be played."""
        return await self.send(Calls.environments())

    async def environment(self, suite: str) -> EnvironmentTasks:
        """The tasks of a suite."""
        return await self.send(Calls.environment(suite))

    async def open_episode(
        self, suite: str, *, task: str | None = None, seed: int | None = None, tries: int = 1
    ) -> EpisodeReply:
        """A new episode of a task, or of one that is drawn."""
        return await self.send(
            Calls.open_episode(suite, EpisodeOrder(task=task, seed=seed, tries=tries))
        )

    async def act(
        self,
        episode_id: str,
        reply: str | None = None,
        *,
        name: str | None = None,
        arguments: dict[str, Any] | None = None,
    ) -> EpisodeReply:
        """Carry out an action: a `reply`, or a tool call."""
        action = EpisodeAction(reply=reply, name=name, arguments=arguments or {})
        return await self.send(Calls.act(episode_id, action))

    async def episode(self, episode_id: str) -> EpisodeReply:
        """An episode as it stands."""
        return await self.send(Calls.one_episode("GET", episode_id))

    async def episodes(self) -> EpisodeList:
        """Your episodes."""
        return await self.send(Calls.episodes())

    async def close_episode(self, episode_id: str) -> EpisodeReply:
        """Close an episode."""
        return await self.send(Calls.one_episode("DELETE", episode_id))

    # The routes of others, and of the machinery.

    async def run_code(self, run: FusionRun) -> FusionReply:
        """Run a program, as SandboxFusion does."""
        return await self.send(Calls.run_code(run))

    async def submit(self, submission: FusionSubmit) -> FusionVerdict:
        """Judge a completion, as SandboxFusion does."""
        return await self.send(Calls.submit(submission))

    async def reward(self, call: OpenRLHFCall) -> OpenRLHFReply:
        """Rewards, as OpenRLHF asks for them."""
        return await self.send(Calls.reward(call))

    async def text(self, path: str) -> str:
        """The text of another route: `/v1/ping`, `/v1/health`, `/v1/ready`, `/metrics`,
        `/v1/openapi.json`."""
        return (await self.send(Calls.text(path))).text
