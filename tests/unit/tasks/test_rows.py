"""`cases.jsonl`: rows, tags, and errors with lines."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unhack.core import plain
from unhack.core.errors import TaskError
from unhack.tasks.rows import (
    RowError,
    TextRow,
    call_of,
    function_case,
    read_rows,
    stdin_of,
    stdio_case,
    text_row,
)
from unhack.verifiers.function import Case
from unhack.verifiers.stdio import StdioCase


def rows_of(folder: Path, text: str, parse=function_case):
    path = folder / "cases.jsonl"
    path.write_text(text)
    return read_rows(path, parse)


def test_tags_become_values(tmp_path: Path):
    [case] = rows_of(
        tmp_path,
        '{"args": [{"$tuple": [1, {"$float": "nan"}]}], "kwargs": {"b": {"$bytes": "AAE="}}, '
        '"expected": {"$dict": [[1, {"$set": [2]}]]}}\n',
    )
    assert case.args[0][0] == 1
    assert math.isnan(case.args[0][1])
    assert case.kwargs == {"b": b"\0\1"}
    assert case.expected == {1: {2}}


def test_blank_lines_count_for_the_line_number_only(tmp_path: Path):
    assert len(rows_of(tmp_path, '\n{"args": [], "expected": 1}\n\n')) == 1
    with pytest.raises(TaskError, match=r"cases\.jsonl:3: "):
        rows_of(tmp_path, '\n\n{"args": []}\n')


@pytest.mark.parametrize(
    ("line", "parse", "expected"),
    [
        (
            '{"args": [1], "expected": 2',
            function_case,
            "not JSON: Expecting ',' delim.* (column 28)",
        ),
        (
            '{"args": [1], "expect": 2}',
            function_case,
            "unknown key 'expect'; did you mean expected",
        ),
        ('{"args": [1]}', function_case, "needs `expected`, or `raises`"),
        ('{"args": [], "expected": 1, "raises": "E"}', function_case, "exclude each other"),
        ('{"args": [], "raises": 3}', function_case, "`raises` must be the name of an exception"),
        ('{"args": [], "raises": "not a name"}', function_case, "`raises` must be the name"),
        (
            '{"args": {"a": 1}, "expected": 1}',
            function_case,
            "`args` must be a list, not an object",
        ),
        ('{"args": [], "kwargs": [], "expected": 1}', function_case, "`kwargs` must be an object"),
        ('{"expected": 1}', function_case, "needs `args`"),
        ("[1, 2]", function_case, "a case is a JSON object, not a list"),
        ('{"args": [{"$tuples": []}], "expected": 1}', function_case, "unknown tag '$tuples'"),
        ('{"args": [NaN], "expected": 1}', function_case, "not plain data: bare NaN"),
        ('{"stdin": "1"}', stdio_case, "needs `stdout`"),
        ('{"stdin": 1, "stdout": "2"}', stdio_case, "`stdin` must be a string, not a whole number"),
        (
            '{"stdin": "\\ud800", "stdout": ""}',
            stdio_case,
            "`stdin` holds half of a surrogate pair",
        ),
        ('{"stdin": "", "stdout": "", "x": 1}', stdio_case, "unknown key 'x'"),
        ('{"prompt": "p"}', text_row, "needs `answer`"),
        ('{"prompt": " ", "answer": "1"}', text_row, "`prompt` is empty"),
        ('{"prompt": "p", "answer": 1}', text_row, "`answer` must be a string, not a whole number"),
    ],
)
def test_a_wrong_row_is_reported_with_its_line(tmp_path: Path, line, parse, expected):
    good = {
        function_case: '{"args": [], "expected": null}',
        stdio_case: '{"stdin": "", "stdout": ""}',
        text_row: '{"prompt": "p", "answer": "a"}',
    }[parse]
    with pytest.raises(TaskError) as caught:
        rows_of(tmp_path, f"{good}\n{line}\n", parse)
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/cases.jsonl:2: ")
    start, _, end = expected.partition(".*")
    assert start in message
    assert end in message


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_cases_is_an_error(tmp_path: Path, text: str):
    with pytest.raises(TaskError, match="holds no case"):
        rows_of(tmp_path, text)


def test_every_kind_of_row_becomes_its_value():
    assert function_case({"args": [1, 2], "expected": 3}) == Case((1, 2), {}, 3)
    assert function_case({"kwargs": {"a": 1}, "raises": "E"}) == Case((), {"a": 1}, None, "E")
    assert stdio_case({"stdin": "1", "stdout": "2"}) == StdioCase("1", "2")
    assert text_row({"prompt": "p", "answer": ""}) == TextRow("p", "")
    assert stdin_of({"stdin": "x"}) == "x"
    assert call_of({"args": (1,)}) == ((1,), {})


def test_keyword_names_must_be_strings():
    with pytest.raises(RowError, match="keys of `kwargs`"):
        call_of({"args": [], "kwargs": {1: 2}})


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(args=st.lists(_VALUES, max_size=3), expected=_VALUES)
def test_a_case_that_is_written_down_is_read_back_the_same(tmp_path: Path, args, expected):
    line = plain.dumps({"args": args, "expected": expected})
    [case] = rows_of(tmp_path, line + "\n")
    assert case == Case(tuple(args), {}, expected)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(
    line=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), min_size=1)
    | st.builds(lambda value: plain.encode_json(plain.encode_tags(value)), _VALUES),
    parse=st.sampled_from([function_case, stdio_case, text_row]),
)
def test_whatever_stands_in_the_file_the_error_names_it(tmp_path: Path, line: str, parse):
    path = tmp_path / "cases.jsonl"
    path.write_bytes(line.encode())
    message, rows = "", ()
    try:
        rows = read_rows(path, parse)
    except TaskError as error:
        message = str(error)
    assert rows or message.startswith((f"{path}:1: ", f"{path}: holds no case"))
