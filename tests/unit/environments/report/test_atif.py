"""ATIF: what is written follows the format's rules; what is read is checked, and gaps are named."""

from __future__ import annotations

import asyncio
import copy
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.environments.players.records import (
    EDITOR,
    SCRIPTS,
    TERMINAL,
    answer,
    call,
    record,
    saved,
    step,
)
from tests.unit.environments.rectangles import RIGHT, rectangles

from unhack.core.errors import UsageError
from unhack.environments.actions import TOOLS
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.episode import Episode
from unhack.environments.episode_pool import FinishedEpisode, play
from unhack.environments.report.atif import as_trajectory, read_trajectory

FIELDS = {
    "trajectory": {"schema_version", "session_id", "agent", "steps", "final_metrics", "extra"},
    "agent": {"name", "version", "model_name", "tool_definitions", "extra"},
    "step": {"step_id", "source", "message", "tool_calls", "observation", "extra"},
    "call": {"tool_call_id", "function_name", "arguments"},
    "result": {"source_call_id", "content"},
}
"""Of version 1.5, those that are written."""


class Acts:
    """Acts and says what is no action."""

    sent: tuple[Any, ...] = (
        ("write", {"path": "shapes/core.py", "text": RIGHT}),
        ("edit", {"path": "shapes/core.py", "old": "a * b", "new": "b * a"}),
        ("shell", {"command": "cd shapes; printf '\\033[31m\\0\\377'"}),
        ("dance", {"how": "wildly"}),
        ("read", ["no", "object"]),
        ("read", {"path": "\ud800", "start": float("nan")}),
        "words",
        ("submit", {}),
    )

    async def act(self, episode: Episode) -> Any:
        return self.sent[len(episode.turns)]


def played() -> FinishedEpisode:
    async def main() -> FinishedEpisode:
        async with RepositoryWorkshop(slots=1) as workshop:
            return await play(workshop.begin(rectangles()), Acts())

    return asyncio.run(main())


@pytest.mark.slow
@pytest.mark.sample
def test_an_episode_is_written_by_the_rules_of_the_format(tmp_path: Path) -> None:
    found = as_trajectory(played(), agent="chat", model="m")
    strict = json.dumps(found, allow_nan=False, ensure_ascii=False).encode()
    assert json.loads(strict) == found
    assert found.keys() == FIELDS["trajectory"]
    assert found["agent"].keys() == FIELDS["agent"]
    assert len(found["agent"]["tool_definitions"]) == len(TOOLS)
    assert [one["step_id"] for one in found["steps"]] == [*range(1, len(Acts.sent) + 2)]
    for one in found["steps"]:
        assert one.keys() <= FIELDS["step"]
        calls = one.get("tool_calls", [])
        assert all(each.keys() == FIELDS["call"] for each in calls)
        ids = {each["tool_call_id"] for each in calls}
        results = one.get("observation", {"results": []})["results"]
        assert all(each.keys() <= FIELDS["result"] for each in results)
        assert {each.get("source_call_id") for each in results} - {None} == ids
    names = [each["function_name"] for one in found["steps"] for each in one.get("tool_calls", [])]
    assert names == ["write", "edit", "shell", "dance", "submit"]
    assert (found["extra"]["solved"], found["extra"]["outcome"]) == (True, 1.0)
    assert found["steps"][-1]["extra"]["reward"] == 1.0

    again = read_trajectory(saved(tmp_path, found))
    assert (again.agent, again.ours) == ("chat", True)
    assert next(one.calls[0] for one in again.steps if one.calls) == Acts.sent[0]
    assert again.steps[5].said.startswith("('read', ['no', 'object'])")


@pytest.mark.parametrize(
    ("trajectory", "calls"), [(TERMINAL, [0, 2, 1, 1, 1, 1]), (EDITOR, [0, 1, 2, 1, 1, 1]),
                              (SCRIPTS, [0, 1, 1, 1])],
)  # fmt: skip
def test_runs_of_several_harnesses_are_read(
    trajectory: dict[str, Any], calls: list[int], tmp_path: Path
) -> None:
    run = read_trajectory(saved(tmp_path, trajectory))
    assert not run.ours
    assert [len(one.calls) for one in run.steps] == calls
    assert not any(one.gap for one in run.steps)


def test_results_stand_in_the_order_of_their_calls(tmp_path: Path) -> None:
    run = read_trajectory(saved(tmp_path, EDITOR))
    assert run.steps[2].answer == (
        "The file /app/hello.txt has been edited.\nHere's the result of ls:\nextra.txt\nhello.txt"
    )
    parts = [{"type": "text", "text": "seen"}, {"type": "image", "source": {"path": "a.png"}}]
    many = record("x", step(call("a", "Read"), results=[{"source_call_id": "a", "content": parts}]))
    assert read_trajectory(saved(tmp_path, many)).steps[1].answer == "seen\n[image]"


@pytest.mark.parametrize(
    ("one", "why"),
    [
        (step(results=[answer("$ ls")]), "an observation without a tool call"),
        ({"source": "system", "message": "", "observation": {"results": [answer("reset")]}},
         "an observation without a tool call"),
        (step(call("a", "Task"), results=[{"source_call_id": "a", "subagent_trajectory_ref": [
            {"trajectory_path": "sub.json"}]}]), "another agent worked here"),
        (step(call("a", "Bash", command="ls"), is_copied_context=True), "copied from an earlier"),
    ],
)  # fmt: skip
def test_what_stands_in_no_call_is_a_gap(one: dict[str, Any], why: str, tmp_path: Path) -> None:
    run = read_trajectory(saved(tmp_path, record("x", one)))
    assert run.steps[1].gap.startswith(why)


def test_words_and_copied_words_alone_are_no_gap(tmp_path: Path) -> None:
    steps = step(message="Done."), step(message="Before.", is_copied_context=True)
    run = read_trajectory(saved(tmp_path, record("x", *steps, continued_trajectory_ref="b.json")))
    assert [one.gap for one in run.steps] == ["", "", ""]
    assert run.continued_in == "b.json"


def _changed(path: tuple[Any, ...], value: object) -> str:
    found: Any = copy.deepcopy(EDITOR)
    inner = found
    for key in path[:-1]:
        inner = inner[key]
    if value is None:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return json.dumps(found)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no ATIF 1.x trajectory: the file: Invalid JSON"),
        ("[1]", "the file: "),
        ("[" * 100_000, "the file: Invalid JSON: recursion limit"),
        (_changed(("schema_version",), "ATIF-v2.0"), "schema_version: String should match"),
        (_changed(("schema_version",), None), "schema_version: Field required"),
        (_changed(("steps",), []), "steps: List should have at least 1 item"),
        (_changed(("agent",), None), "agent: Field required"),
        (_changed(("steps", 1, "source"), "tool"), "steps.1.source: Input should be"),
        (_changed(("steps", 1, "message"), None), "steps.1.message"),
        (_changed(("steps", 1, "tool_calls", 0, "arguments"), "ls"),
         "steps.1.tool_calls.0.arguments: Input should be"),
        (_changed(("steps", 2, "step_id"), 9), "step 3 has the id 9; ids count from 1"),
        (_changed(("steps", 1, "observation", "results", 0, "source_call_id"), "zz"),
         "a result of step 2 names the call 'zz', which that step does not have"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_trajectory_says_what_is_wrong(
    text: str, words: str, tmp_path: Path
) -> None:
    place = tmp_path / "trajectory.json"
    place.write_text(text)
    with pytest.raises(UsageError) as raised:
        read_trajectory(place)
    assert words in str(raised.value)
    assert str(place) in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_trajectory(tmp_path / "none.json")
    with pytest.raises(UsageError, match="cannot be read"):
        read_trajectory(tmp_path)
