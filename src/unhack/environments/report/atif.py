"""ATIF, Harbor's Agent Trajectory Interchange Format: episodes written as it, recorded runs read.

    as_trajectory(played, agent="chat")               # a JSON object, one step a turn
    run = read_trajectory(Path("trajectory.json"))    # of any harness that writes ATIF 1.x

Written is version 1.5, the lowest that has every field used here, so that the most readers take it.

Covered: every 1.x version, by the fields that a replay needs, with Harbor's rules for them (ids of
steps count from 1, results name calls of their own step); whatever happened without a tool call in
the file is a gap with its reason.
Not covered: tokens, costs and what a model said beside its calls, which no episode holds; pictures;
trajectories of other agents inside this one or in other files, which are gaps.
Source: Harbor 0.26, RFC 0001 and `harbor.models.trajectories`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, cast

from pydantic import BaseModel, Field, ValidationError

from unhack.core.errors import UsageError
from unhack.environments.actions import TOOLS, arguments_of, name_of
from unhack.environments.episode import Turn
from unhack.environments.episode_pool import FinishedEpisode
from unhack.environments.report import transcript

VERSION = "ATIF-v1.5"
_OURS = "unhack"
_MOST_BYTES = 256 << 20


def as_trajectory(played: FinishedEpisode, *, agent: str, model: str = "") -> dict[str, Any]:
    """One episode as an ATIF object. Rewards, state ids and the verdict ride in `extra`."""
    facts = {key: value for key, value in transcript.as_values(played).items() if key != "turns"}
    about: dict[str, Any] = {
        "name": agent,
        "version": version("unhack"),
        "tool_definitions": [{"type": "function", "function": tool} for tool in TOOLS],
        "extra": {"environment": _OURS},
    }
    steps: list[dict[str, Any]] = [
        {"step_id": 1, "source": "user", "message": played.task.statement}
    ]
    steps += [_step(number, turn) for number, turn in enumerate(played.turns, 2)]
    return {
        "schema_version": VERSION,
        "session_id": f"{played.task.id}-{played.index}",
        "agent": {**about, "model_name": model} if model else about,
        "steps": steps,
        "final_metrics": {"total_steps": len(steps)},
        "extra": facts,
    }


def _step(number: int, turn: Turn) -> dict[str, Any]:
    call, answer = _call(turn), {"content": turn.result.observation.text}
    step: dict[str, Any] = {"step_id": number, "source": "agent", "message": ""}
    if call is None:
        step["message"] = repr(turn.said)[:1000].encode(errors="replace").decode()
    else:
        name, arguments = call
        answer["source_call_id"] = f"call_{number}"
        step["tool_calls"] = [
            {"tool_call_id": f"call_{number}", "function_name": name, "arguments": arguments}
        ]
    process = dict(turn.result.process)
    extra = {"reward": turn.result.reward, "state_id": turn.result.state_id, "process": process}
    return {**step, "observation": {"results": [answer]}, "extra": extra}


def _call(turn: Turn) -> tuple[str, Mapping[str, Any]] | None:
    """The call of a turn, a refused one too; None for what JSON has no call for."""
    if turn.action is not None:
        return name_of(turn.action), arguments_of(turn.action)
    try:
        name, arguments = turn.said
        json.dumps([name, arguments], allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError):
        return None
    is_call = isinstance(name, str) and isinstance(arguments, dict)
    return (name, cast("dict[str, Any]", arguments)) if is_call else None


@dataclass(frozen=True, slots=True)
class TrajectoryStep:
    """One step of a recorded run."""

    number: int
    calls: tuple[tuple[str, Mapping[str, Any]], ...]
    """Name and arguments of each tool call."""
    said: str
    answer: str | None
    """The recorded observation, that of all calls together; None where there is none."""
    gap: str = ""
    """The reason why its calls do not stand for all that happened in it."""


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A run of an agent, read from a file.

    Example:

        run = read_trajectory(Path("jobs/…/agent/trajectory.json"))
        run.agent, [step.calls for step in run.steps]
    """

    agent: str
    ours: bool
    """True for an episode of this package: its calls are actions as they stand."""
    steps: tuple[TrajectoryStep, ...]
    continued_in: str = ""
    """The file in which it goes on."""


class _Call(BaseModel):
    tool_call_id: str
    function_name: str
    arguments: dict[str, Any]


class _Result(BaseModel):
    source_call_id: str | None = None
    content: str | list[dict[str, Any]] | None = None
    subagent_trajectory_ref: list[Any] | None = None


class _Answer(BaseModel):
    results: list[_Result]


class _Step(BaseModel):
    step_id: int
    source: Literal["system", "user", "agent"]
    message: str | list[dict[str, Any]]
    tool_calls: list[_Call] | None = None
    observation: _Answer | None = None
    is_copied_context: bool | None = None


class _Agent(BaseModel):
    name: str
    extra: dict[str, Any] | None = None


class _Trajectory(BaseModel):
    schema_version: str = Field(pattern=r"^ATIF-v1\.\d{1,3}$")
    agent: _Agent
    steps: list[_Step] = Field(min_length=1)
    continued_trajectory_ref: str | None = None


def read_trajectory(path: Path) -> RecordedRun:
    """The run in a file. Raises UsageError for a file that is no ATIF 1.x trajectory."""
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"{path} has more than {_MOST_BYTES:,} bytes, which is no trajectory")
    try:
        found = _Trajectory.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"{path} is no ATIF 1.x trajectory: {place}: {first['msg']}") from None
    for number, step in enumerate(found.steps, 1):
        if step.step_id != number:
            raise UsageError(f"{path}: step {number} has the id {step.step_id}; ids count from 1")
    return RecordedRun(
        found.agent.name,
        (found.agent.extra or {}).get("environment") == _OURS,
        tuple(_recorded(path, step) for step in found.steps),
        found.continued_trajectory_ref or "",
    )


def _recorded(path: Path, step: _Step) -> TrajectoryStep:
    calls, results = step.tool_calls or [], step.observation.results if step.observation else []
    order = {call.tool_call_id: at for at, call in enumerate(calls)}
    strange = [one.source_call_id for one in results if one.source_call_id not in (*order, None)]
    if strange:
        words = f"a result of step {step.step_id} names the call {strange[0]!r}"
        raise UsageError(f"{path}: {words}, which that step does not have")
    results = sorted(results, key=lambda one: order.get(one.source_call_id or "", len(order)))
    texts = [_text(one.content) for one in results if one.content is not None]
    gap = ""
    if any(one.subagent_trajectory_ref for one in results):
        gap = "another agent worked here, whose own trajectory is not played"
    elif step.is_copied_context and calls:
        gap = "copied from an earlier trajectory, which is not played"
    elif results and not calls:
        gap = "an observation without a tool call: what was done stands in no call"
    kept = () if step.is_copied_context or step.source != "agent" else calls
    return TrajectoryStep(
        step.step_id,
        tuple((call.function_name, call.arguments) for call in kept),
        _text(step.message),
        "\n".join(texts) if texts else None,
        gap,
    )


def _text(content: str | list[dict[str, Any]]) -> str:
    """The text of a message; a picture is named."""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text") or f"[{part.get('type')}]") for part in content)
