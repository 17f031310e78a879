"""`unhack env replay`: a recorded run is played again, and shown beside its record."""

from __future__ import annotations

import asyncio

from rich.text import Text

from unhack.cli import terminal
from unhack.cli.env import screen
from unhack.cli.env.order import EnvReplayOrder
from unhack.cli.verdict_table import plain_table
from unhack.environments.players.replay import ReplayedRun, replay
from unhack.environments.report.atif import read_trajectory
from unhack.environments.suites import find_one_task

_UNDECIDED = 4


def replay_file(order: EnvReplayOrder) -> int:
    """Play a file again, print what came of it, and give the exit code. Raises UsageError."""
    run, task = read_trajectory(order.trajectory), find_one_task(order.task)
    played = asyncio.run(replay(task, run, workdir=order.workdir))
    if order.as_json:
        terminal.write_json(played.to_json())
    else:
        _show(played)
    outcome = played.finished.outcome
    if played.gaps or outcome is None or not outcome.scored:
        return _UNDECIDED
    return 0 if played.finished.solved else 1


def _show(played: ReplayedRun) -> None:
    table = plain_table({"step": "right", "actions": "", "observation": "", "first line": "fold"})
    for step in played.steps:
        word, before, now = step.likeness(exact=played.run.ours)
        names = [one if isinstance(one, str) else one[0] for one in step.actions]
        if names or step.passed_over:
            passed = [f"({name})" for name in step.passed_over]
            lines = f"recorded {before!r}\nnow      {now!r}" if now or before else ""
            number = str(step.recorded.number)
            table.add_row(number, Text(", ".join([*names, *passed])), Text(word), Text(lines))
    console = terminal.results()
    console.print(table, screen.episode_table([played.finished]))
    for number, reason in played.gaps:
        console.print(Text(f"step {number} was not played: {reason}"))
    if played.gaps:
        console.print("The verdict is of what was played, not of the recorded run.")
