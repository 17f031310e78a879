"""Environments: suites, their tasks, episodes that are opened, acted in and closed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.core.errors import UnknownNameError
from unhack.server.access.caller import Grant
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.bodies import check_length, read_model
from unhack.server.http.episode_models import (
    EnvironmentList,
    EnvironmentReply,
    EnvironmentTasks,
    EpisodeAction,
    EpisodeList,
    EpisodeOrder,
    EpisodeReply,
)
from unhack.server.http.problems import RequestRefused, of_field
from unhack.server.jobs import episode_book
from unhack.server.service import caller_of, service_of

T = TypeVar("T")


async def _list(_: Request) -> Response:
    found = [
        EnvironmentReply(name=name, actions=actions)
        for name, actions in sorted(episode_book.suites().items())
    ]
    return JSONResponse(EnvironmentList(environments=found).model_dump(mode="json"))


async def _tasks(request: Request) -> Response:
    suite = _suite(request)
    names = await _blocking(request, partial(episode_book.task_names, suite))
    return JSONResponse(EnvironmentTasks(name=suite, tasks=list(names)).model_dump(mode="json"))


async def _open(request: Request) -> Response:
    service, tenant = service_of(request), caller_of(request).tenant_id
    asked = await read_model(request, EpisodeOrder)
    suite = _suite(request)
    begin = partial(
        service.episodes.open, tenant, suite, task=asked.task, seed=asked.seed, tries=asked.tries
    )
    with of_field("task"):
        reply = await _blocking(request, begin)
    # Relative: the prefix of a proxy, and `/k/KEY`, stay.
    headers = {"Location": f"../../episodes/{reply.id}"}
    return JSONResponse(reply.model_dump(mode="json"), 201, headers)


async def _act(request: Request) -> Response:
    service, tenant = service_of(request), caller_of(request).tenant_id
    asked = await read_model(request, EpisodeAction)
    service.episodes.show(tenant, _id(request))  # an unknown one is told before what is wrong
    if (asked.reply is None) == (asked.name is None):
        raise RequestRefused(
            400, "invalid", "reply: give it, or name and arguments, one of the two", field="reply"
        )
    reply = asked.reply
    if reply is not None:
        check_length(reply, field="reply")
    else:
        reply = json.dumps({"name": asked.name, "arguments": asked.arguments})
    told = await _blocking(request, partial(service.episodes.act, tenant, _id(request), reply))
    return JSONResponse(told.model_dump(mode="json"))


async def _show(request: Request) -> Response:
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    return JSONResponse(book.show(tenant, _id(request)).model_dump(mode="json"))


async def _open_ones(request: Request) -> Response:
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    return JSONResponse(EpisodeList(episodes=book.listed(tenant)).model_dump(mode="json"))


async def _close(request: Request) -> Response:
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    return JSONResponse(book.close_one(tenant, _id(request)).model_dump(mode="json"))


def _id(request: Request) -> str:
    return str(request.path_params["episode_id"])


def _suite(request: Request) -> str:
    """The suite of the path. Raises RequestRefused (404)."""
    name, valid = str(request.path_params["suite"]), episode_book.suites()
    if name not in valid:
        words = str(UnknownNameError("environment", name, valid=valid))
        raise RequestRefused(404, "not_found", words)
    return name


async def _blocking(request: Request, act: Callable[[], T]) -> T:
    """The result of what blocks, on the threads of episodes: those of others stay free."""
    book, tenant = service_of(request).episodes, caller_of(request).tenant_id
    await book.slots.acquire(tenant)
    try:
        return await asyncio.get_running_loop().run_in_executor(book.threads, act)
    finally:
        book.slots.release(tenant)


ROUTES = (
    ApiRoute(
        "GET", "/v1/environments", _list, "List the suites that can be played.",
        Grant.ENVIRONMENTS, reply=EnvironmentList,
    ),
    ApiRoute(
        "GET", "/v1/environments/{suite}", _tasks, "List the tasks of a suite.",
        Grant.ENVIRONMENTS, reply=EnvironmentTasks,
    ),
    ApiRoute(
        "POST", "/v1/environments/{suite}/episodes", _open, "Open an episode.",
        Grant.ENVIRONMENTS, body=EpisodeOrder, reply=EpisodeReply, status=201,
    ),
    ApiRoute(
        "GET", "/v1/episodes", _open_ones, "List your episodes.", Grant.ENVIRONMENTS,
        reply=EpisodeList,
    ),
    ApiRoute(
        "GET", "/v1/episodes/{episode_id}", _show, "Show an episode, with its verdict at its end.",
        Grant.ENVIRONMENTS, reply=EpisodeReply,
    ),
    ApiRoute(
        "POST", "/v1/episodes/{episode_id}/actions", _act, "Carry out one action.",
        Grant.ENVIRONMENTS, body=EpisodeAction, reply=EpisodeReply,
    ),
    ApiRoute(
        "DELETE", "/v1/episodes/{episode_id}", _close, "Close an episode.",
        Grant.ENVIRONMENTS, reply=EpisodeReply,
    ),
)  # fmt: skip
