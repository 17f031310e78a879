"""Environments and their episodes as a client sees them."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, Field

from unhack.server.http.request_model import AS_WHOLE, RequestModel


class EnvironmentReply(BaseModel):
    """A suite of tasks that can be played."""

    name: str
    actions: bool
    """True where an episode is played by tool calls; else a reply answers."""


class EnvironmentList(BaseModel):
    """The suites."""

    environments: list[EnvironmentReply]


class EnvironmentTasks(BaseModel):
    """The tasks of a suite."""

    name: str
    tasks: list[str]


class EpisodeOrder(RequestModel):
    """An episode to open."""

    task: str | None = Field(default=None, min_length=1, max_length=200)
    """Id of a task of the suite; null draws one."""
    seed: Annotated[int, Field(ge=0, lt=1 << 63), AS_WHOLE] | None = None
    """Of the draw."""
    tries: Annotated[int, Field(ge=1, le=100), AS_WHOLE] = 1
    """Replies before the end, where a reply answers."""


class EpisodeAction(RequestModel):
    """One action: a reply, or a tool call."""

    reply: str | None = None
    """The text of a completion, or of a tool call in JSON."""
    name: str | None = Field(default=None, min_length=1, max_length=100)
    """The tool."""
    arguments: dict[str, Any] = Field(default={})


class EpisodeReply(BaseModel):
    """An episode."""

    id: str
    environment: str
    task: str
    observation: str
    """The text that the policy reads next."""
    turns: int
    """Actions so far."""
    reward: float | None
    """0 before the end; null at an end that could not be scored."""
    ended: bool
    verdict: dict[str, Any] | None = None
    """At the end."""


class EpisodeList(BaseModel):
    """The open episodes of a tenant."""

    episodes: list[EpisodeReply]
