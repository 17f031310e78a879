"""`/v1/tasks`: the tasks that a request may name."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from unhack.core.errors import UsageError
from unhack.server.http.api_route import ApiRoute
from unhack.server.http.problems import RequestRefused
from unhack.server.routes.batch_models import TaskList, TaskReply
from unhack.server.scoring.catalogue import Catalogue
from unhack.server.service import service_of
from unhack.tasks.directory import TaskFolder


async def _list(request: Request) -> Response:
    folders = service_of(request).names.catalogue.folders
    return JSONResponse({"tasks": [_line(name, folder) for name, folder in folders.items()]})


async def _show(request: Request) -> Response:
    catalogue = service_of(request).names.catalogue
    name = request.path_params["task_id"]
    try:
        return JSONResponse(await asyncio.to_thread(_described, catalogue, name))
    except UsageError as error:
        raise RequestRefused(404, "not_found", str(error)) from None


def _described(catalogue: Catalogue, name: str) -> dict[str, Any]:
    """The fields of a task. Raises UsageError for an unknown one."""
    folder = catalogue.folders.get(name)
    rows = catalogue.rows(name) if folder else 1
    task = catalogue.find(name) if rows == 1 else None
    if folder is None:
        folder = catalogue.folders[name.rpartition("#")[0]]
    return {**_line(name, folder), "rows": rows, "prompt": task.prompt if task else None}


def _line(name: str, folder: TaskFolder) -> dict[str, Any]:
    settings = folder.settings
    return {
        "id": name,
        "kind": settings.kind.value,
        "title": settings.title,
        "difficulty": settings.difficulty.value if settings.difficulty else None,
        "tags": list(settings.tags),
    }


ROUTES = (
    ApiRoute("GET", "/v1/tasks", _list, "List the tasks.", None, reply=TaskList),
    ApiRoute("GET", "/v1/tasks/{task_id:path}", _show, "Show a task.", None, reply=TaskReply),
)
