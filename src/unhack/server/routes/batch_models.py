"""Bodies of scoring, as the API description shows them."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, cast

from pydantic import Field

from unhack.server.http.request_model import CompletionText, RequestModel
from unhack.server.scoring.deadlines import LONGEST_S
from unhack.server.scoring.inline import InlineTask

_SOME = Field(min_length=1, fail_fast=True)
"""The first wrong one is told; a million complaints would fill the memory."""
_TaskName = Annotated[str, Field(min_length=1, max_length=300)]
AnyTask = _TaskName | InlineTask
"""The id of a task, or a task as a value."""
AnyCompletion = CompletionText | Annotated[list[dict[str, Any]], Field(fail_fast=True)]
"""A text, or the messages of a chat, of which the last of the assistant counts."""
Deadline = Annotated[float, Field(gt=0, le=LONGEST_S)]
"""Seconds from now."""


def without_completions(body: Any) -> Any:
    """A body of scoring without its completions, of which any text is judged."""
    if not isinstance(body, dict):
        return body
    left = {**cast("dict[str, Any]", body), "completion": None, "completions": None}
    items = left.get("items")
    if isinstance(items, list):
        left["items"] = [
            {**cast("dict[str, Any]", item), "completion": None} if isinstance(item, dict) else item
            for item in cast("list[Any]", items)
        ]
    return left


class ScoreBody(RequestModel):
    """One completion."""

    strict_part: ClassVar = staticmethod(without_completions)

    task: AnyTask
    completion: AnyCompletion
    deadline_s: Deadline | None = None


class BatchItem(RequestModel):
    """One completion of a batch."""

    task: AnyTask
    completion: AnyCompletion


class BatchBody(RequestModel):
    """Many completions: of one task (`task`, `completions`), or each with its own (`items`)."""

    strict_part: ClassVar = staticmethod(without_completions)

    task: AnyTask | None = None
    completions: Annotated[list[AnyCompletion], _SOME] | None = None
    items: Annotated[list[BatchItem], _SOME] | None = None
    group_size: Annotated[int, Field(ge=1)] | None = None
    """Completions of one group; without it, runs of one task are groups."""
    estimator: Literal["grpo", "dr_grpo", "rloo", "maxrl", "batch_std"] = "grpo"
    stream: bool = False
    """True for NDJSON: verdicts as they come."""
    wait: bool = True
    """False for an id at once."""
    deadline_s: Deadline | None = None
