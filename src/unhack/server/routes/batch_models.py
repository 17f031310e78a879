"""Bodies and replies of scoring, as the API description shows them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from unhack.server.scoring.deadlines import LONGEST_S
from unhack.server.scoring.inline import InlineTask

_STRICT = ConfigDict(extra="forbid", frozen=True)
_TaskName = Annotated[str, Field(min_length=1, max_length=300)]
AnyTask = _TaskName | InlineTask
"""The id of a task, or a task as a value."""
AnyCompletion = str | list[dict[str, Any]]
"""A text, or the messages of a chat, of which the last of the assistant counts."""
Deadline = Annotated[float, Field(gt=0, le=LONGEST_S)]
"""Seconds from now."""


class ScoreBody(BaseModel):
    """One completion."""

    model_config = _STRICT

    task: AnyTask
    completion: AnyCompletion
    deadline_s: Deadline | None = None


class ScoreReply(BaseModel):
    """The verdict of one completion."""

    batch: str
    reward: float | None
    """In [0, 1]; null where it could not be scored, which is not a 0."""
    verdict: dict[str, Any]


class BatchItem(BaseModel):
    """One completion of a batch."""

    model_config = _STRICT

    task: AnyTask
    completion: AnyCompletion


class BatchBody(BaseModel):
    """Many completions: of one task (`task`, `completions`), or each with its own (`items`)."""

    model_config = _STRICT

    task: AnyTask | None = None
    completions: Annotated[list[AnyCompletion], Field(min_length=1)] | None = None
    items: Annotated[list[BatchItem], Field(min_length=1)] | None = None
    group_size: Annotated[int, Field(ge=1)] | None = None
    """Completions of one group; without it, runs of one task are groups."""
    estimator: Literal["grpo", "dr_grpo", "rloo", "maxrl", "batch_std"] = "grpo"
    stream: bool = False
    """True for NDJSON: verdicts as they come."""
    wait: bool = True
    """False for an id at once."""
    deadline_s: Deadline | None = None


class BatchState(BaseModel):
    """A batch as lists show it."""

    id: str
    state: Literal["accepted", "done", "expired", "failed", "cancelled"]
    origin: str
    count: int
    judged: int
    group_size: int | None
    created_at: float
    deadline_at: float | None
    finished_at: float | None
    error: str | None


class BatchSummary(BatchState):
    """A batch with what a trainer reads."""

    statuses: dict[str, int]
    rewards: list[float | None]
    estimator: str
    advantages: list[float]
    mask: list[bool]
    """False for items to leave out of the loss."""
    groups: int
    all_pass: float
    all_fail: float
    no_signal: float
    mean_reward: float | None


class BatchList(BaseModel):
    """Batches, newest first."""

    batches: list[BatchState]


class TaskLine(BaseModel):
    """A task as lists show it."""

    id: str
    kind: str
    title: str
    difficulty: str | None
    tags: list[str]


class TaskList(BaseModel):
    """The tasks that a request may name."""

    tasks: list[TaskLine]


class TaskReply(TaskLine):
    """A task with its prompt, and never its answers."""

    rows: int
    """Tasks of this id; above 1, name one as `ID#0`."""
    prompt: str | None
    """The text that the policy reads; null where there are several rows."""
