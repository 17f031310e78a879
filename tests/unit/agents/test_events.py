"""What command-line agents print adds up to turns, tools, tokens and cost; noise adds nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.agents.events.formats import PARSERS
from unhack.agents.events.tally import EventTally, read_line

CLAUDE = """
{"type":"system","subtype":"init","model":"m"}
{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"x"}],"usage":{"input_tokens":5,"output_tokens":1}}}
{"type":"assistant","message":{"id":"a","content":[{"type":"tool_use","name":"Bash"}],"usage":{"input_tokens":5,"output_tokens":1}}}
{"type":"user","message":{"content":[{"type":"tool_result"}]}}
{"type":"assistant","message":{"id":"b","content":[],"usage":{"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":3}}}
"""
CLAUDE_RESULT = (
    '{"type":"result","is_error":false,"num_turns":2,"total_cost_usd":0.25,'
    '"usage":{"input_tokens":10,"cache_read_input_tokens":20,"output_tokens":30}}'
)
CODEX = """
{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"i","type":"command_execution"}}
{"type":"item.completed","item":{"id":"i","type":"command_execution","exit_code":0}}
{"type":"item.completed","item":{"id":"j","type":"agent_message","text":"x"}}
{"type":"turn.completed","usage":{"input_tokens":2000,"cached_input_tokens":0,"output_tokens":200}}
"""
CURSOR = """
{"type":"system","subtype":"init","session_id":"s","model":"Composer"}
{"type":"user","message":{"role":"user","content":[{"type":"text","text":"x"}]}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x"}]}}
{"type":"tool_call","subtype":"started","call_id":"c","tool_call":{"shellToolCall":{}}}
{"type":"tool_call","subtype":"completed","call_id":"c","tool_call":{"shellToolCall":{}}}
{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"y"}]}}
{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"result":"y","usage":{"inputTokens":4,"outputTokens":6}}
"""
GEMINI = """
{"type":"init","model":"gemini-2.5-pro"}
{"type":"message","role":"user","content":"x"}
{"type":"message","role":"assistant","content":"a","delta":true}
{"type":"message","role":"assistant","content":"b","delta":true}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"1","parameters":{}}
{"type":"tool_result","tool_id":"1","status":"success"}
{"type":"message","role":"assistant","content":"done","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":2000,"output_tokens":200,"tool_calls":1}}
"""
OPENCODE = """
{"type":"step_start","part":{"type":"step-start"}}
{"type":"tool_use","part":{"type":"tool","tool":"bash"}}
{"type":"step_finish","part":{"tokens":{"input":1000,"output":90,"reasoning":10,"cache":{"read":5,"write":0}},"cost":0.5}}
{"type":"step_start","part":{}}
{"type":"step_finish","part":{"tokens":{"input":1000,"output":100},"cost":0.25}}
"""


def tally_of(name: str, text: str) -> EventTally:
    tally = EventTally()
    for line in text.splitlines():
        read_line(line.encode(), PARSERS[name], tally)
    return tally


def sums(tally: EventTally) -> tuple[int, int, int, int, float]:
    return (
        tally.turns,
        tally.tool_calls,
        tally.input_tokens,
        tally.output_tokens,
        tally.cost_usd,
    )


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("claude", CLAUDE, (2, 1, 15, 3, 0.0)),
        ("claude", CLAUDE + CLAUDE_RESULT, (2, 1, 30, 30, 0.25)),
        ("qwen", CLAUDE + CLAUDE_RESULT, (2, 1, 30, 30, 0.25)),
        ("codex", CODEX, (1, 1, 2000, 200, 0.0)),
        ("cursor", CURSOR, (2, 1, 4, 6, 0.0)),
        ("gemini", GEMINI, (2, 1, 2000, 200, 0.0)),
        ("opencode", OPENCODE, (2, 1, 2005, 200, 0.75)),
        ("text", CLAUDE, (0, 0, 0, 0, 0.0)),
    ],
)
def test_a_stream_adds_up(name: str, text: str, expected: tuple[int, int, int, int, float]) -> None:
    assert sums(tally_of(name, text)) == expected


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("claude", '{"type":"result","is_error":true,"result":"no money"}'),
        ("codex", '{"type":"turn.failed","error":{"message":"no money"}}'),
        ("cursor", '{"type":"result","subtype":"error","is_error":true,"result":"no money"}'),
        ("gemini", '{"type":"result","status":"error","error":{"message":"no money"}}'),
        ("opencode", '{"type":"error","error":{"name":"E","data":{"message":"no money"}}}'),
    ],
)
def test_an_error_of_an_agent_is_kept(name: str, line: str) -> None:
    assert tally_of(name, line).error == "no money"


def test_a_list_of_events_counts_as_its_events() -> None:
    events = [json.loads(line) for line in CLAUDE.split("\n") if line]
    assert sums(tally_of("qwen", json.dumps(events))) == sums(tally_of("qwen", CLAUDE))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.sampled_from(["usage", "message", "content", "part", "type", "item",
                                       "stats", "tokens", "error", "input_tokens", "cost"]),
                      inner, max_size=4),
    max_leaves=10,
)  # fmt: skip
_kinds = st.sampled_from(["assistant", "result", "item.completed", "turn.completed", "tool_call",
                          "message", "step_finish", "error", "turn.failed"])  # fmt: skip


@pytest.mark.slow
@given(kind=_kinds, rest=st.dictionaries(st.text(max_size=8), _json, max_size=3), body=_json)
def test_no_event_breaks_a_parser_or_counts_below_zero(
    kind: str, rest: dict[str, object], body: object
) -> None:
    assert PARSERS
    for name in PARSERS:
        tally = EventTally()
        event = {**rest, "type": kind, "message": body, "usage": body, "part": body, "item": body}
        read_line(json.dumps(event).encode(), PARSERS[name], tally)
        read_line(b"\xff{nonsense", PARSERS[name], tally)
        assert all(value >= 0 for value in sums(tally))
