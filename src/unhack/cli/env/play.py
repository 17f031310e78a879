"""`unhack env play`: a person plays one task in the terminal."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator

from unhack.cli import terminal
from unhack.environments.actions import KINDS
from unhack.environments.environment import EpisodeTask, RepositoryWorkshop
from unhack.environments.steps.rewards import StepRewards

_ARGUMENT = {
    "read": "path", "list": "path", "search": "text", "run": "command", "shell": "command",
}  # fmt: skip
_BODY = {"write": "text", "patch": "patch"}
_END = "."


def play_here(task: EpisodeTask, *, progress: float) -> None:
    """Read actions from standard input until the episode ends or the input does."""
    asyncio.run(_play(task, progress))


async def _play(task: EpisodeTask, progress: float) -> None:
    async with RepositoryWorkshop(slots=1, rewards=StepRewards(progress=progress)) as workshop:
        episode = workshop.begin(task)
        terminal.write_text(f"{task.id}\n\n{episode.opening().text}\n")
        if episode.parts.unpaid:
            terminal.remarks().print(episode.parts.unpaid)
        terminal.remarks().print(f"Actions: {', '.join(KINDS)}. `submit` ends the episode.")
        for action in actions(_lines()):
            result = await episode.step(action)
            terminal.write_text(result.observation.text)
            files = f"files {result.state_id[:8]}"
            terminal.remarks().print(
                f"[turn {len(episode.turns)}, reward {result.reward:+.3f}, {files}]"
            )
            if result.outcome is not None:
                terminal.write_text(
                    f"{result.outcome.status.value}: {_reason(result.outcome.reason)}"
                )
                return
        terminal.remarks().print("The input ended before the episode did; nothing was judged.")


def _reason(text: str) -> str:
    return text or "nothing is missing"


def _lines() -> Iterator[str]:
    while True:
        if sys.stdin.isatty():
            sys.stderr.write("> ")
            sys.stderr.flush()
        line = sys.stdin.readline()
        if not line:
            return
        yield line.rstrip("\n")


def actions(lines: Iterator[str]) -> Iterator[tuple[str, object]]:
    """The actions of the lines that a person types; a line that is none is passed on as it is, and
    the episode says what is wrong with it."""
    for line in lines:
        text = line.strip()
        if not text:
            continue
        if text.startswith("{"):
            yield _tool_call(text)
            continue
        name, _, rest = text.partition(" ")
        arguments: dict[str, object] = {}
        if name in _BODY:
            body: list[str] = []
            for following in lines:
                if following == _END:
                    break
                body.append(following)
            arguments[_BODY[name]] = "\n".join(body) + "\n"
            if name == "write":
                arguments["path"] = rest
        elif name == "test":
            arguments["paths"] = rest.split()
        elif rest and name in _ARGUMENT:
            arguments[_ARGUMENT[name]] = rest
        yield name, arguments


def _tool_call(text: str) -> tuple[str, object]:
    try:
        call = json.loads(text)
    except ValueError:
        return text, {}
    return str(call.get("name", "")), call.get("arguments", {})
