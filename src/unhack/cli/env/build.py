"""`unhack env build`: the images of a suite, one by one, and what was not built and why."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.text import Text

from unhack.cli import terminal
from unhack.cli.env.order import EnvBuildOrder
from unhack.cli.verdict_table import plain_table
from unhack.core.errors import SandboxError, TaskError, UsageError
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.sources.loaders.harbor import HarborTask
from unhack.environments.suites import find_tasks
from unhack.sandbox.images import build
from unhack.sandbox.images.store import ImageStore

_UNSCORED = "built, but no grade can be believed"
_SHOWN = 160
_LEAST_S = 1800.0
"""A build may take this long, whatever its task says of a faster machine."""


@dataclass(frozen=True, slots=True)
class _Built:
    task: str
    kind: str
    """Empty for a task that can be played."""
    detail: str
    seconds: float

    def fields(self) -> dict[str, Any]:
        return {
            "task": self.task, "built": not self.kind or self.kind == _UNSCORED,
            "reason": self.kind, "detail": self.detail, "seconds": round(self.seconds, 1),
        }  # fmt: skip


def build_suite(order: EnvBuildOrder) -> bool:
    """Build everything that can be built, and list the rest by reason; False where some was not.

    Raises UsageError where nothing has an image."""
    found: list[_Built] = []
    tasks: list[HarborTask] = []
    for loaded in _each(find_tasks(order.suite)):
        if isinstance(loaded, TaskError):
            found.append(_Built(order.suite, "the folder cannot be read", str(loaded), 0.0))
        elif isinstance(loaded, HarborTask) and loaded.image:
            tasks.append(loaded)
    tasks = tasks[: order.limit]
    if not tasks and not found:
        raise UsageError(f"{order.suite}: no task there needs an image")
    builder = order.image_builder(
        images=order.images, network=order.network, cache_gib=order.cache_gib
    )
    with terminal.progress("images built", total=len(tasks)) as advance:
        for task in tasks:
            found.append(_built(task, builder, check=order.check))
            if order.as_json:
                terminal.write_json(found[-1].fields())
            advance()
    if not order.as_json:
        _show(found)
    return not any(one.kind for one in found)


def _built(task: HarborTask, builder: build.ImageBuilder, *, check: bool) -> _Built:
    started = time.monotonic()
    kind = detail = ""
    try:
        for wanted in filter(None, (task.image, task.judge_image)):
            builder.make(wanted.source, timeout_s=max(wanted.build_s, _LEAST_S))
        if check:
            detail = asyncio.run(_checked(task, builder.store))
            kind = _UNSCORED if detail else ""
    except build.BuildError as error:
        kind, detail = error.kind.value, error.detail
    except (SandboxError, TaskError) as error:
        kind, detail = "its image cannot be read or run", str(error)
    return _Built(task.id, kind, detail, time.monotonic() - started)


def _each(tasks: Iterator[EpisodeTask]) -> Iterator[EpisodeTask | TaskError]:
    """The tasks, and in place of one whose folder is broken what is wrong with it."""
    while True:
        try:
            yield next(tasks)
        except StopIteration:
            return
        except TaskError as error:
            yield error


async def _checked(task: HarborTask, store: ImageStore) -> str:
    async with RepositoryWorkshop(slots=1, images=store) as workshop:
        return await workshop.check(task)


def _show(found: list[_Built]) -> None:
    counts = Counter(one.kind for one in found)
    for kind, count in sorted(counts.items(), key=lambda item: -item[1]):
        if not kind:
            continue
        table = plain_table({"task": "whole", "detail": ""})
        for one in found:
            if one.kind == kind:
                table.add_row(Text(one.task, "bold"), Text(one.detail[:_SHOWN]))
        terminal.results().print(f"\n{kind}: {count}", table)
    fine, seconds = counts[""], sum(one.seconds for one in found)
    terminal.results().print(f"\n{fine} of {len(found)} tasks can be played ({seconds:,.0f} s)")
