"""OpenRLHF's remote reward call, as its trainer writes and reads it.

Source: OpenRLHF 0.11.2, `_fetch_rewards_via_http`.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, cast

from pydantic import BaseModel, Field

from unhack.server.http.request_model import CompletionText


def without_queries(body: Any) -> Any:
    """A call without its queries, of which any text is judged."""
    return {**cast("dict[str, Any]", body), "query": None} if isinstance(body, dict) else body


class OpenRLHFCall(BaseModel):
    """Prompts with what the policy went on with; a label names a task."""

    strict_part: ClassVar = staticmethod(without_queries)

    query: Annotated[list[CompletionText], Field(fail_fast=True)]
    """Each prompt and its completion, as one text."""
    prompts: Annotated[list[str], Field(fail_fast=True)]
    labels: list[Any]
    """Names of tasks that unhack brings along, such as `strings/knit-rows`."""


class OpenRLHFReply(BaseModel):
    """One value for each query."""

    rewards: list[float]
    scores: list[float]
    extra_logs: dict[str, list[float]]
