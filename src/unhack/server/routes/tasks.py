"""`/v1/tasks`: the tasks that a request may name."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request

from unhack.core.errors import UsageError
from unhack.server.api_route import ApiRoute, PathPart, needs
from unhack.server.http.problems import RequestRefused
from unhack.server.http.score_replies import TaskLine, TaskList, TaskReply
from unhack.server.scoring.catalogue import Catalogue
from unhack.server.service import service_of
from unhack.tasks.directory import TaskFolder

router = APIRouter(route_class=ApiRoute, dependencies=needs())


@router.get("/v1/tasks")
async def tasks(request: Request) -> TaskList:
    """List the tasks."""
    folders = service_of(request).names.catalogue.folders
    lines = [TaskLine(**_line(name, folder)) for name, folder in folders.items()]
    return TaskList(tasks=lines)


@router.get("/v1/tasks/{task_id:path}")
async def task(request: Request, task_id: PathPart) -> TaskReply:
    """Show a task."""
    catalogue = service_of(request).names.catalogue
    try:
        return await asyncio.to_thread(_described, catalogue, task_id)
    except UsageError as error:
        raise RequestRefused(404, "not_found", str(error)) from None


def _described(catalogue: Catalogue, name: str) -> TaskReply:
    """The fields of a task. Raises UsageError for an unknown one."""
    folder = catalogue.folders.get(name)
    rows = catalogue.rows(name) if folder else 1
    task = catalogue.find(name) if rows == 1 else None
    if folder is None:
        folder = catalogue.folders[name.rpartition("#")[0]]
    return TaskReply(**_line(name, folder), rows=rows, prompt=task.prompt if task else None)


def _line(name: str, folder: TaskFolder) -> dict[str, Any]:
    settings = folder.settings
    return {
        "id": name,
        "kind": settings.kind.value,
        "title": settings.title,
        "difficulty": settings.difficulty.value if settings.difficulty else None,
        "tags": list(settings.tags),
    }
