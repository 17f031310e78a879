"""Turns of an agent's output: what it said, did and got, whatever it printed."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.agents.events.turns import MAX_TURNS, TranscriptTurn, read_turns


def lines(*events: object) -> bytes:
    return b"\n".join(json.dumps(event).encode() for event in events)


def test_claude_says_does_and_gets() -> None:
    said = {"type": "assistant", "message": {"content": [
        {"type": "text", "text": "I look."},
        {"type": "tool_use", "name": "Bash", "input": {"command": "ls"}},
    ]}}  # fmt: skip
    part = {"type": "tool_result", "content": [{"type": "text", "text": "STATEMENT.md"}]}
    got = {"type": "user", "message": {"content": [part]}}
    turns = read_turns(lines(said, got, {"type": "result", "result": "done"}))
    assert [turn.who for turn in turns] == ["says", "does", "gets", "ends"]
    assert turns[1].text == 'Bash: {"command": "ls"}'
    assert turns[2].text == "STATEMENT.md"


def test_codex_thinks_runs_and_says() -> None:
    items = [
        {"type": "reasoning", "text": "hm"},
        {"type": "command_execution", "command": "ls", "aggregated_output": "a\nb"},
        {"type": "agent_message", "text": "done"},
    ]
    turns = read_turns(lines(*({"type": "item.completed", "item": item} for item in items)))
    assert [(turn.who, turn.text) for turn in turns] == [
        ("thinks", "hm"), ("does", "ls"), ("gets", "a\nb"), ("says", "done"),
    ]  # fmt: skip


def test_plain_lines_are_one_turn() -> None:
    assert read_turns(b"one\ntwo\n") == [TranscriptTurn("prints", "one\ntwo")]


@pytest.mark.parametrize("data", [b"", b"\n\n", b"null", b"[[[]]]", b'{"type": 3}', b"\xff\xfe"])
def test_what_holds_nothing_is_no_fault(data: bytes) -> None:
    assert len(read_turns(data)) <= 1


def test_turns_are_bounded() -> None:
    events = [{"type": "assistant", "message": {"content": "x" * 9000}}] * (MAX_TURNS + 9)
    turns = read_turns(lines(*events))
    assert len(turns) == MAX_TURNS
    assert max(len(turn.text) for turn in turns) <= 6000


_KEYS = ["type", "message", "content", "item", "text", "result"]
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_KEYS), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.lists(_json, max_size=4))
def test_no_event_makes_it_fail(events: list[object]) -> None:
    assert all(turn.text for turn in read_turns(lines(*events)))
