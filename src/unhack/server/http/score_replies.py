"""Replies of scoring. Clients read them too, so nothing of the server is imported here."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from unhack.server.http.request_model import CompletionText


class VerdictLine(BaseModel):
    """The verdict of one completion of a batch."""

    index: int
    reward: float | None
    """In [0, 1]; null where it could not be scored, which is not a 0."""
    verdict: dict[str, Any] | None
    """Null where the batch ended before it was judged."""
    missed: str | None = None
    """The reason why it was not judged."""


class ScoreReply(BaseModel):
    """The verdict of one completion."""

    batch: str
    reward: float | None
    """In [0, 1]; null where it could not be scored, which is not a 0."""
    verdict: dict[str, Any]


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
    verdicts: list[VerdictLine] | None = None
    """In the reply to the request that made the batch, where it waited."""


class CaseOutput(BaseModel):
    """The output of one case."""

    case: int
    """Its number, from 0."""
    output: str
    skipped: int
    """Characters of a text, or items of a list, left out before `output`; they are as expected."""


class ItemReply(BaseModel):
    """One completion of a batch, with what is stored of it."""

    index: int
    task: str
    """Its id, or `inline/` and the beginning of its hash."""
    completion: CompletionText
    same_as: int | None
    """The first item with the same task and completion, which was judged for both."""
    reward: float | None
    verdict: dict[str, Any] | None
    """Null while it is not judged."""
    outputs: list[CaseOutput]
    """Of the first and of failing cases, as many as 4 KiB hold."""


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
