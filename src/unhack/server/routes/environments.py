"""Environments: suites, their tasks, episodes that are opened, acted in and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import Response

from unhack.core.errors import UnknownNameError
from unhack.server.access.caller import Grant
from unhack.server.api_route import ApiRoute, PathPart, needs
from unhack.server.http.bodies import check_length
from unhack.server.http.episode_models import (
    EnvironmentList,
    EnvironmentReply,
    EnvironmentTasks,
    EpisodeAction,
    EpisodeList,
    EpisodeOrder,
    EpisodeReply,
)
from unhack.server.http.problems import RequestRefused, invalid, of_field
from unhack.server.jobs import episode_book
from unhack.server.service import caller_of, service_of

T = TypeVar("T")


router = APIRouter(route_class=ApiRoute, dependencies=needs(Grant.ENVIRONMENTS))


@router.get("/v1/environments")
async def environments() -> EnvironmentList:
    """List the suites that can be played."""
    found = [
        EnvironmentReply(name=name, actions=actions)
        for name, actions in sorted(episode_book.suites().items())
    ]
    return EnvironmentList(environments=found)


@router.get("/v1/environments/{suite}")
async def environment(request: Request, suite: PathPart) -> EnvironmentTasks:
    """List the tasks of a suite."""
    _check_suite(suite)
    names = await _blocking(request, partial(episode_book.task_names, suite))
    return EnvironmentTasks(name=suite, tasks=list(names))


@router.post("/v1/environments/{suite}/episodes", status_code=201)
async def open_episode(
    request: Request, response: Response, suite: PathPart, body: EpisodeOrder
) -> EpisodeReply:
    """Open an episode."""
    service, tenant = service_of(request), caller_of(request).tenant_id
    _check_suite(suite)
    begin = partial(
        service.episodes.open, tenant, suite, task=body.task, seed=body.seed, tries=body.tries
    )
    with of_field("task"):
        reply = await _blocking(request, begin)
    # Relative: the prefix of a proxy, and `/k/KEY`, stay.
    response.headers["Location"] = f"../../episodes/{reply.id}"
    return reply


@router.get("/v1/episodes")
async def episodes(request: Request) -> EpisodeList:
    """List your episodes."""
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    return EpisodeList(episodes=book.listed(tenant))


@router.get("/v1/episodes/{episode_id}")
async def episode(request: Request, episode_id: PathPart) -> EpisodeReply:
    """Show an episode, with its verdict at its end."""
    return service_of(request).episodes.show(caller_of(request).tenant_id, episode_id)


@router.post("/v1/episodes/{episode_id}/actions")
async def act(request: Request, episode_id: PathPart, body: EpisodeAction) -> EpisodeReply:
    """Carry out one action."""
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    book.show(tenant, episode_id)  # an unknown one is told before what is wrong
    if (body.reply is None) == (body.name is None):
        raise invalid("reply", "give it, or name and arguments, one of the two", status=400)
    reply = body.reply
    if reply is not None:
        check_length(reply, field="reply")
    else:
        reply = json.dumps({"name": body.name, "arguments": body.arguments})
    return await _blocking(request, partial(book.act, tenant, episode_id, reply))


@router.delete("/v1/episodes/{episode_id}")
async def close_episode(request: Request, episode_id: PathPart) -> EpisodeReply:
    """Close an episode."""
    return service_of(request).episodes.close_one(caller_of(request).tenant_id, episode_id)


def _check_suite(name: str) -> None:
    """Raise RequestRefused (404) for an unknown suite."""
    valid = episode_book.suites()
    if name not in valid:
        words = str(UnknownNameError("environment", name, valid=valid))
        raise RequestRefused(404, "not_found", words)


async def _blocking(request: Request, act: Callable[[], T]) -> T:
    """The result of what blocks, on the threads of episodes: those of others stay free."""
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    await book.slots.acquire(tenant)
    try:
        return await asyncio.get_running_loop().run_in_executor(book.threads, act)
    finally:
        book.slots.release(tenant)
