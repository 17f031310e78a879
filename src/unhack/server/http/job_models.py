"""Audits and tournaments as a client orders them, and jobs as it sees them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from unhack.server.http.request_model import AS_WHOLE, RequestModel

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
ENDED: frozenset[str] = frozenset({"done", "failed", "cancelled"})
"""States that do not change any more."""
Name = Annotated[str, Field(min_length=1, max_length=200)]
Seed = Annotated[int, Field(ge=0, lt=1 << 63), AS_WHOLE]


class RewardSource(RequestModel):
    """A reward function and the rows that it is audited on; it runs in the sandbox alone."""

    source: str = Field(min_length=1, max_length=1 << 18)
    """Python text of one module that needs no file beside it."""
    entry: str | None = Field(default=None, pattern=r"^[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$")
    """`function` or `Class.method`; null takes the likely one."""
    signature: str | None = Field(default=None, max_length=40)
    """The framework whose signature it has; null finds out."""
    rows: list[dict[str, Any]] = Field(default=[], max_length=2000)
    """Rows with a `prompt` and an `answer` or right completions; none takes simple sums."""


class AuditOrder(RequestModel):
    """An audit of a task or of a reward function, one of the two."""

    task: Name | None = None
    """The name of a task that unhack brings along, such as `strings/knit-rows`."""
    reward: RewardSource | None = None
    tiers: list[Annotated[int, Field(ge=1, le=4), AS_WHOLE]] = Field(
        default=[1, 2, 3, 4], min_length=1, max_length=4
    )
    calls: Annotated[int, Field(ge=1, le=100_000), AS_WHOLE] = 4000
    """Most runs of the verifier."""
    seconds: float = Field(default=120.0, gt=0, le=3600)
    seed: Seed = 0
    thorough: bool = False
    stop_at_first: bool = False


class TournamentOrder(RequestModel):
    """A tournament between agents that come with unhack."""

    contest: Name
    """A contest that is installed beside the server, as `unhack tournament contests` lists them."""
    agents: list[Name] = Field(min_length=1, max_length=16)
    """`baseline`, `search`, `cheater`, `null` or `identity`; the first and third take `:NAME`."""
    rounds: Annotated[int, Field(ge=1, le=100), AS_WHOLE] = 1
    options: dict[Name, Annotated[str, Field(max_length=200)]] = Field(default={}, max_length=20)
    """Options of the contest; those that name files of the server are refused."""
    impossible: Annotated[int, Field(ge=0, le=100), AS_WHOLE] = 0
    seeding: Literal["champion", "own_best", "none"] = "champion"
    time_limit_s: float = Field(default=600.0, gt=0, le=3600)
    """Seconds of one agent in one round."""
    seed: Seed | None = None


class JobProgress(BaseModel):
    """The progress of a job that runs."""

    stage: str
    done: int
    total: int
    note: str = ""


class JobReply(BaseModel):
    """A job."""

    id: str
    kind: Literal["audit", "tournament"]
    state: JobState
    created_at: float
    """Seconds since 1970 UTC, as the other times."""
    started_at: float | None = None
    finished_at: float | None = None
    progress: JobProgress | None = None
    """Null unless it runs."""
    error: str | None = None
    page: str | None = None
    """The path of its HTML report, where there is one."""
    result: dict[str, Any] | None = None
    """The report; null in lists and before the end."""


class JobList(BaseModel):
    """Jobs of a tenant, the newest first."""

    jobs: list[JobReply]
    more: bool
    """True where older ones were left out; ask again with `before`."""
