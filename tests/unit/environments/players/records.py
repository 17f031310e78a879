"""Recorded runs as harnesses write them, small and made here: one for each way to record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TASK = "Write Hello into hello.txt."


def call(number: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"tool_call_id": number, "function_name": name, "arguments": arguments}


def step(
    *calls: Mapping[str, Any], results: list[dict[str, Any]] | None = None, **more: Any
) -> dict[str, Any]:
    """One step of an agent, without its number."""
    found: dict[str, Any] = {"source": "agent", "message": "", **more}
    if calls:
        found["tool_calls"] = list(calls)
    if results is not None:
        found["observation"] = {"results": results}
    return found


def answer(text: str, number: str | None = None) -> dict[str, Any]:
    return {"content": text} if number is None else {"source_call_id": number, "content": text}


def record(name: str, *steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A trajectory; its steps are numbered, a user's goes before them."""
    every = [{"source": "user", "message": TASK}, *steps]
    return {
        "schema_version": "ATIF-v1.6",
        "session_id": "s",
        "agent": {"name": name, "version": "1"},
        "steps": [{"step_id": number, **one} for number, one in enumerate(every, 1)],
        **more,
    }


def saved(top: Path, trajectory: Mapping[str, Any]) -> Path:
    place = top / "trajectory.json"
    place.write_text(json.dumps(trajectory))
    return place


TERMINAL = record(
    "terminus-2",
    step(
        call("c1", "bash_command", keystrokes="mkdir -p d && cd d\n", duration=0.1),
        call("c2", "bash_command", keystrokes="name=Hello\n", duration=0.1),
        results=[answer("New Terminal Output:\nroot@x:/app# mkdir -p d && cd d\nroot@x:/app/d#\n")],
    ),
    step(call("c1", "bash_command", keystrokes="", duration=5), results=[answer("root@x:/app/d#")]),
    step(
        call("c1", "bash_command", keystrokes='echo "$name" > ../hello.txt; cat ../hello.txt\n'),
        results=[answer('root@x:/app/d# echo "$name" > ../hello.txt; cat ../hello.txt\nHello\n')],
    ),
    step(call("e1", "mark_task_complete"), results=[answer("Are you sure?")]),
    step(call("e2", "mark_task_complete"), results=[answer("")]),
)
"""Keys typed into a terminal that lasts; results name no call."""
EDITOR = record(
    "openhands",
    step(
        call("a", "str_replace_editor", command="create", path="/app/hello.txt",
             file_text="Hallo\n", view_range=None, security_risk="LOW"),
        results=[answer("File created successfully at: /app/hello.txt", "a")],
    ),
    step(
        call("b", "str_replace_editor", command="str_replace", path="/app/hello.txt",
             old_str="Hallo", new_str="Hello"),
        call("c", "str_replace_editor", command="view", path="/app", security_risk="LOW"),
        results=[answer("Here's the result of ls:\nextra.txt\nhello.txt", "c"),
                 answer("The file /app/hello.txt has been edited.", "b")],
    ),
    step(
        call("d", "execute_bash", command="export X=Hello; cat hello.txt", is_input="false"),
        results=[answer("Hello\n[Command finished with exit code 0]", "d")],
    ),
    step(call("t", "think", thought="fine"), results=[answer("Your thought is logged.", "t")]),
    step(call("f", "finish", message="Done")),
)  # fmt: skip
"""Tools with commands of their own, several calls in one step, results in another order."""
SCRIPTS = record(
    "mini-swe-agent",
    step(
        call("x", "bash", command="cd /tmp && echo Hello > /app/hello.txt"),
        results=[answer("<returncode>0</returncode>\n<output>\n</output>", "x")],
    ),
    step(
        call("y", "bash", command="pwd"),
        results=[answer("<returncode>0</returncode>\n<output>\n/app\n</output>", "y")],
    ),
    step(call("z", "bash", command="echo COMPLETE_TASK"), results=[answer("COMPLETE_TASK", "z")]),
)
"""A new shell for every call; the run has no call at its end."""
