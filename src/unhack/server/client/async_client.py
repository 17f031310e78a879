"""A client of `unhack serve` on asyncio.

    async with AsyncClient("http://127.0.0.1:8000", key) as client:
        (await client.score("strings/knit-rows", completion)).reward

`client.Client` has the same methods without `await`. Needs httpx and nothing else of the server's
packages.

Covered: every route; replies as models; errors as `ServiceError` with the server's words; 429, 503
and 507 asked again after `Retry-After`; a connection that broke, where that does nothing twice.
Not covered: streams that broke; ask for the stored verdicts, or for the job.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Self
from urllib.parse import quote

import httpx

from unhack.server.client.calls import (
    AnyCompletion,
    AnyTask,
    Reply,
    ServerCall,
    TextReply,
    delete,
    get,
    part,
    post,
)
from unhack.server.client.exchange import (
    AsyncTransport,
    Transport,
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

TIMEOUT_S = 600.0
TRIES = 5
_BATCHES, _EPISODES = "/v1/batches", "/v1/episodes"


class AsyncClient:
    """A client of one server and one key, on one event loop.

    Example:

        async with AsyncClient("http://localhost:8000", key) as client:
            reply = await client.score("strings/knit-rows", completion)
    """

    def __init__(self, url: str, key: str, *, timeout_s: float = TIMEOUT_S, tries: int = TRIES,
                 http: httpx.AsyncClient | None = None) -> None:  # fmt: skip
        """`tries` times a call is sent in all; `http` is a client of one's own."""
        self._transport: Transport = AsyncTransport(http or httpx.AsyncClient(timeout=timeout_s))
        self._base, self._tries = url.rstrip("/"), tries
        self._headers = {"Authorization": f"Bearer {key}"}

    @classmethod
    def over(cls, transport: Transport, url: str, key: str, *, tries: int) -> Self:
        """A client over other connections, as `Client` has them."""
        made = cls.__new__(cls)
        made._transport, made._base, made._tries = transport, url.rstrip("/"), tries
        made._headers = {"Authorization": f"Bearer {key}"}
        return made

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def send(self, call: ServerCall[Reply]) -> Reply:
        """The reply to a call. Raises ServiceError."""
        asked, tried = self._asked(call), 0
        while True:
            tried += 1
            reply, failed = None, None
            try:
                reply = await self._transport.request(call.method, self._base + call.path, **asked)
            except httpx.TransportError as error:
                failed = error
            wait = wait_before(call, reply, tried=tried, tries=self._tries)
            if wait is not None:
                await self._transport.sleep(wait)
            elif reply is not None:
                return read(call, reply)
            else:
                assert failed is not None
                raise unreachable(failed) from failed

    async def _lines(self, call: ServerCall[Any]) -> AsyncGenerator[str]:
        """The lines of a reply as they come. Raises ServiceError."""
        address = self._base + call.path
        try:
            async with aclosing(
                self._transport.lines(call.method, address, **self._asked(call))
            ) as lines:
                async for line in lines:
                    yield line
        except httpx.TransportError as error:
            raise unreachable(error) from error

    def _asked(self, call: ServerCall[Any]) -> dict[str, Any]:
        headers = {**self._headers, **call.headers}
        return {"content": call.content(), "params": dict(call.query), "headers": headers}

    # Scoring.

    async def score(
        self, task: AnyTask, completion: AnyCompletion, *, deadline_s: float | None = None
    ) -> ScoreReply:
        """The verdict of one completion; `deadline_s` seconds are granted."""
        body = {"task": task, "completion": completion, "deadline_s": deadline_s}
        return await self.send(post("/v1/score", ScoreReply, body, once=True))

    async def score_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchSummary:
        """The batch of many completions of one task, judged. `options`: `group_size`, `estimator`,
        `deadline_s`."""
        body = {"task": task, "completions": list(completions), **options}
        return await self.send(post(_BATCHES, BatchSummary, body, once=True))

    async def begin_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> BatchState:
        """As `score_batch`, without waiting: the batch is stored when this returns."""
        body = {"task": task, "completions": list(completions), **options, "wait": False}
        return await self.send(post(_BATCHES, BatchState, body, once=True))

    async def stream_batch(
        self, task: AnyTask, completions: Sequence[AnyCompletion], **options: Any
    ) -> AsyncGenerator[dict[str, Any]]:
        """The verdicts of a batch as they come (`index`, `reward`, `verdict`), then `summary`."""
        body = {"task": task, "completions": list(completions), **options, "stream": True}
        async with aclosing(self._lines(post(_BATCHES, BatchSummary, body, once=True))) as lines:
            async for line in lines:
                yield line_of(line)

    async def batch(self, batch_id: str) -> BatchSummary:
        """A batch as it stands."""
        return await self.send(get(f"{_BATCHES}/{part(batch_id)}", BatchSummary))

    async def cancel_batch(self, batch_id: str) -> BatchSummary:
        """End a batch."""
        return await self.send(delete(f"{_BATCHES}/{part(batch_id)}", BatchSummary))

    async def batches(self, *, limit: int = 50, before: float | None = None) -> BatchList:
        """Batches, the newest first."""
        return await self.send(get(_BATCHES, BatchList, limit=limit, before=before))

    async def verdicts(self, batch_id: str) -> AsyncGenerator[dict[str, Any]]:
        """The stored verdicts of a batch."""
        async with aclosing(
            self._lines(get(f"{_BATCHES}/{part(batch_id)}/verdicts", TextReply))
        ) as lines:
            async for line in lines:
                yield line_of(line)

    async def item(self, batch_id: str, index: int) -> ItemReply:
        """One item of a batch, with its completion and stored outputs."""
        return await self.send(get(f"{_BATCHES}/{part(batch_id)}/items/{index:d}", ItemReply))

    async def tasks(self) -> TaskList:
        """The tasks that a request may name."""
        return await self.send(get("/v1/tasks", TaskList))

    async def task(self, task_id: str) -> TaskReply:
        """A task with its prompt."""
        return await self.send(get(f"/v1/tasks/{quote(task_id, safe='/')}", TaskReply))

    # Jobs.

    async def order(self, order: AuditOrder | TournamentOrder) -> JobReply:
        """Order an audit or a tournament; the job is stored when this returns."""
        path = "/v1/audits" if isinstance(order, AuditOrder) else "/v1/tournaments"
        return await self.send(post(path, JobReply, order, once=True))

    async def job(self, job_id: str) -> JobReply:
        """A job as it stands."""
        return await self.send(get(f"/v1/jobs/{part(job_id)}", JobReply))

    async def cancel_job(self, job_id: str) -> JobReply:
        """End a job."""
        return await self.send(delete(f"/v1/jobs/{part(job_id)}", JobReply))

    async def jobs(
        self, *, limit: int = 20, before: float | None = None, kind: str | None = None
    ) -> JobList:
        """Jobs, the newest first."""
        return await self.send(get("/v1/jobs", JobList, limit=limit, before=before, kind=kind))

    async def job_page(self, job_id: str) -> str:
        """The HTML report of a job that is done."""
        return await self.text(f"/v1/jobs/{part(job_id)}/page")

    async def follow_job(self, job_id: str) -> AsyncGenerator[JobReply]:
        """A job whenever it has changed, to its end; without its result."""
        call = get(f"/v1/jobs/{part(job_id)}/events", TextReply)
        async with aclosing(self._lines(call)) as lines:
            async for line in lines:
                if line.startswith("data: "):
                    yield JobReply.model_validate_json(line.removeprefix("data: "))

    async def wait_for_job(self, job_id: str, *, pause_s: float = 1.0) -> JobReply:
        """A job at its end, with its result."""
        while True:
            found = await self.job(job_id)
            if found.state in ENDED:
                return found
            await self._transport.sleep(pause_s)

    # Environments.

    async def environments(self) -> EnvironmentList:
        """The suites that can be played."""
        return await self.send(get("/v1/environments", EnvironmentList))

    async def environment(self, suite: str) -> EnvironmentTasks:
        """The tasks of a suite."""
        return await self.send(get(f"/v1/environments/{part(suite)}", EnvironmentTasks))

    async def open_episode(
        self, suite: str, *, task: str | None = None, seed: int | None = None, tries: int = 1
    ) -> EpisodeReply:
        """A new episode of a task, or of one that is drawn."""
        order = EpisodeOrder(task=task, seed=seed, tries=tries)
        path = f"/v1/environments/{part(suite)}/episodes"
        return await self.send(post(path, EpisodeReply, order))

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
        return await self.send(
            post(f"{_EPISODES}/{part(episode_id)}/actions", EpisodeReply, action)
        )

    async def episode(self, episode_id: str) -> EpisodeReply:
        """An episode as it stands."""
        return await self.send(get(f"{_EPISODES}/{part(episode_id)}", EpisodeReply))

    async def episodes(self) -> EpisodeList:
        """Your episodes."""
        return await self.send(get(_EPISODES, EpisodeList))

    async def close_episode(self, episode_id: str) -> EpisodeReply:
        """Close an episode."""
        return await self.send(delete(f"{_EPISODES}/{part(episode_id)}", EpisodeReply))

    # The routes of others, and of the machinery.

    async def run_code(self, run: FusionRun) -> FusionReply:
        """Run a program, as SandboxFusion does."""
        return await self.send(post("/run_code", FusionReply, run))

    async def submit(self, submission: FusionSubmit) -> FusionVerdict:
        """Judge a completion, as SandboxFusion does."""
        return await self.send(post("/submit", FusionVerdict, submission))

    async def reward(self, call: OpenRLHFCall) -> OpenRLHFReply:
        """Rewards, as OpenRLHF asks for them."""
        return await self.send(post("/openrlhf/reward", OpenRLHFReply, call))

    async def text(self, path: str) -> str:
        """The text of another route: `/v1/ping`, `/v1/health`, `/v1/ready`, `/metrics`,
        `/v1/openapi.json`."""
        return (await self.send(get(path, TextReply))).text
