"""Repository tasks and episodes as tables, for people, and as fields, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from unhack.cli.verdict_table import plain_table
from unhack.environments.environment import EpisodeTask
from unhack.environments.episode_pool import FinishedEpisode
from unhack.environments.sources.loaders.harbor import HarborTask
from unhack.environments.task import RepositoryTask

_SHOWN = 70


def as_fields(task: EpisodeTask) -> dict[str, Any]:
    """One task as plain values; neither hidden tests nor the reference."""
    if isinstance(task, HarborTask):
        return {
            "id": task.id,
            "statement": task.statement,
            "files": sorted(task.files),
            "editable": list(task.artifacts),
            "workdir": task.workdir,
            "mode": "graded apart" if task.image is None else "graded in its image",
        }
    return {
        "id": task.id,
        "statement": task.statement,
        "files": sorted(task.files),
        "editable": list(task.editable),
        "fail_to_pass": len(task.fail_to_pass),
        "pass_to_pass": len(task.pass_to_pass),
        "dev_tests": len(task.dev_ids),
        "mode": task.mode.value,
        "facts": dict(task.facts),
    }


def task_table(tasks: Sequence[EpisodeTask]) -> RenderableType:
    """Tasks, a line each."""
    table = plain_table({"id": "whole", "files": "right", "tests": "right", "statement": "whole"})
    for task in tasks:
        first = next(iter(task.statement.strip().splitlines()), "")
        table.add_row(
            Text(task.id, "bold"),
            str(len(task.files)),
            "" if isinstance(task, HarborTask) else str(_hidden(task)),
            Text(first),
        )
    return table


def _hidden(task: RepositoryTask) -> int:
    return len(task.fail_to_pass) + len(task.pass_to_pass)


def episode_table(played: Sequence[FinishedEpisode]) -> RenderableType:
    """Episodes, a line each."""
    table = plain_table(
        {"task": "", "outcome": "", "reward": "right", "turns": "right", "reason": ""}
    )
    for one in played:
        status = one.outcome.status.value if one.outcome is not None else "error"
        reason = one.error or (one.outcome.reason if one.outcome is not None else "")
        word = Text("solved", "green") if one.solved else Text(status, "red")
        shown = reason.splitlines()[0][:_SHOWN] if reason else ""
        turns = str(len(one.turns))
        table.add_row(Text(one.task.id, "bold"), word, f"{one.reward:.3f}", turns, Text(shown))
    return table


def summary(played: Sequence[FinishedEpisode]) -> str:
    """How many were solved, and what became of the others."""
    solved = sum(one.solved for one in played)
    unscored = sum(one.outcome is not None and not one.outcome.scored for one in played)
    errors = sum(bool(one.error) for one in played)
    text = f"{solved} of {len(played)} solved"
    if unscored:
        text += f"; {unscored} unscored, which the machinery caused"
    if errors:
        text += f"; {errors} ended by an error of the agent"
    unpaid = [one.unpaid for one in played if one.unpaid]
    return "\n".join([f"{text}.", *dict.fromkeys(unpaid)])
