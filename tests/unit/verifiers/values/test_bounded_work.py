"""Reading, comparing and showing a hostile value costs steps in proportion to its bytes.

Counted, never timed: opcodes and calls of built-in functions. `benchmarks/host_work.py` measures
what happens within those calls, and the seconds.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unhack.core import plain
from unhack.verifiers.values.compare import Compare, matches
from unhack.verifiers.values.shown import value_text

MOST_STEPS = 200
"""Steps for each byte of a value, as SECURITY.md states."""
_CONSTANT = 5_000
_LEAVES = [
    "1", "-0.5", '"a"', "null", "true", "[]", "{}", '{"$float":"nan"}', '{"$int":"0xff"}',
    '{"$bytes":"AAAA"}', '{"$complex":[0.5,0.5]}', '{"$opaque":"a.B"}', '{"$tuple":[]}',
    '{"$std":["decimal.Decimal","1.5"]}', '{"$std":["fractions.Fraction",[1,2]]}',
    '{"$std":["range",[0,9,1]]}', '{"$std":["datetime.timedelta",[1,2,3]]}', "9223372036854775807",
]  # fmt: skip
_AROUND = [
    "[%s]", "[1,%s]", '{"a":%s}', '{"$tuple":[%s]}', '{"$set":[%s]}', '{"$frozenset":[%s]}',
    '{"$dict":[[%s,1]]}', '{"$dict":[[1,%s]]}', '{"$as":["a.B",%s]}',
    '{"$std":["collections.deque",[null,[%s]]]}', '{"$std":["collections.UserList",[%s]]}',
    '{"$std":["collections.OrderedDict",{"a":%s}]}', '{"$std":["dict_keys",[%s]]}',
    '{"$std":["types.SimpleNamespace",{"a":%s}]}',
]  # fmt: skip


def _value(around: list[str], depth: int, leaf: str, times: int) -> str:
    for at in range(depth):
        leaf = around[at % len(around)].replace("%s", leaf)
    return f"[{','.join([leaf] * times)}]"


def _nested(around: list[str], depth: int, leaf: str, size: int) -> str:
    one = _value(around, depth, leaf, 1)
    return _value(around, depth, leaf, max(1, size // len(one)))


_VALUES = st.builds(
    _nested,
    st.lists(st.sampled_from(_AROUND), min_size=1, max_size=3),
    st.integers(0, 99),
    st.sampled_from(_LEAVES),
    st.just(2_000),
)


def _steps(work: Callable[[], Any]) -> int:
    taken = 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal taken
        frame.f_trace_lines, frame.f_trace_opcodes = False, True
        taken += event == "opcode"
        return trace

    def profile(frame: FrameType, event: str, _: object) -> None:
        nonlocal taken
        taken += event == "c_call"

    before = sys.gettrace(), sys.getprofile()
    sys.settrace(trace)
    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.settrace(before[0])
        sys.setprofile(before[1])
    return taken


def _judge(text: str, compare: Compare, *, equal: bool = True) -> None:
    with contextlib.suppress(plain.PlainDataError):
        value, expected = plain.loads(text), plain.loads(text)
        matches(value, expected if equal else [*expected[:-1], "another"], compare=compare)
        value_text(value)


@pytest.mark.slow
@pytest.mark.parametrize("compare", Compare)
@settings(max_examples=25, deadline=None)
@given(_VALUES, st.booleans())
def test_no_value_takes_more_steps_than_the_bound(compare: Compare, text: str, equal: bool) -> None:
    assert _steps(lambda: _judge(text, compare, equal=equal)) <= MOST_STEPS * len(text) + _CONSTANT


@pytest.mark.parametrize("compare", Compare)
@pytest.mark.parametrize("around", _AROUND)
def test_a_value_of_any_depth_takes_them(compare: Compare, around: str) -> None:
    for leaf in ("1", "[]"):
        text = _nested([around], 95, leaf, 3_000)
        taken = _steps(lambda text=text: _judge(text, compare))
        assert 0 < taken <= MOST_STEPS * len(text) + _CONSTANT


def test_the_count_sees_work_that_is_not_in_proportion() -> None:
    value = plain.loads(_nested(["[%s]"], 95, "1", 800))

    def at_every_depth(item: Any) -> None:
        plain.to_builtins(item)
        if type(item) is list:
            at_every_depth(cast("list[Any]", item)[0])

    assert _steps(lambda: at_every_depth(value)) > MOST_STEPS * 800
