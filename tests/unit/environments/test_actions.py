"""Actions: a tool call is an action or a refusal with words, never anything else."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.environments.actions import (
    KINDS,
    TOOLS,
    Action,
    ReadFile,
    RefusedActionError,
    RunTests,
    WriteFile,
    arguments_of,
    name_of,
    parse_action,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
FIELDS = ["path", "text", "start", "lines", "depth", "regex", "patch", "command", "paths", "old",
          "new", "insert_line"]  # fmt: skip


@pytest.mark.slow
@given(st.sampled_from(sorted(KINDS)), st.dictionaries(st.sampled_from(FIELDS), JSON) | JSON)
def test_whatever_a_model_sends_is_an_action_or_refused(name: str, arguments: object) -> None:
    with contextlib.suppress(RefusedActionError):
        action = parse_action(name, arguments)
        assert parse_action(name_of(action), arguments_of(action)) == action


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("delete", {}, "there is no action"),
        ("read", {}, "needs 'path'"),
        ("read", ["a"], "must be an object"),
        ("read", {"path": 1}, "must be of type string"),
        ("read", {"path": "a", "start": True}, "must be of type integer"),
        ("read", {"path": "a", "mode": "r"}, "takes no 'mode'"),
        ("write", {"path": "a\0b", "text": ""}, "NUL"),
        ("write", {"path": "a", "text": "x" * (1 << 20) + "y"}, "longer than"),
        ("write", {"path": "a", "text": "\ud800"}, "no Unicode"),
        ("edit", {"old": "a", "new": "b"}, "needs 'path'"),
        ("edit", {"path": "a", "insert_line": "1"}, "must be of type integer"),
        ("shell", {"cmd": "ls"}, "needs 'command'"),
        ("test", {"paths": "tests"}, "list of strings"),
        ("test", {"paths": ["a", 1]}, "list of strings"),
    ],
)
def test_a_refusal_says_what_is_wrong(name: str, arguments: Any, words: str) -> None:
    with pytest.raises(RefusedActionError, match=words):
        parse_action(name, arguments)


def test_the_tools_describe_every_action_with_its_arguments() -> None:
    assert [tool["name"] for tool in TOOLS] == list(KINDS)
    for tool in TOOLS:
        assert tool["description"]
        for shape in tool["parameters"]["properties"].values():
            assert shape["description"]
    write = next(tool for tool in TOOLS if tool["name"] == "write")
    assert write["parameters"]["required"] == ["path", "text"]


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        (ReadFile("a"), {"path": "a"}),
        (ReadFile("a", start=3), {"path": "a", "start": 3}),
        (WriteFile("a", ""), {"path": "a", "text": ""}),
        (RunTests(("t.py",)), {"paths": ["t.py"]}),
        (RunTests(), {}),
    ],
)
def test_arguments_at_their_defaults_are_left_out(
    action: Action, arguments: dict[str, Any]
) -> None:
    assert arguments_of(action) == arguments
