from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unhack.cli.score.completions import CompletionRow, TaskChooser, read_completions
from unhack.core.errors import UsageError
from unhack.tasks.suite import find_tasks


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_rows_keep_their_order_ids_and_line_numbers(tmp_path: Path) -> None:
    name = write(
        tmp_path / "a.jsonl",
        '{"completion": "x", "id": "one"}\n\n{"completion": "", "id": 2, "row": 3, "extra": []}',
    )
    first, second = read_completions([name])
    assert first == CompletionRow("x", f"{name}:1", id="one")
    assert second == CompletionRow("", f"{name}:3", id=2, row=3)


def test_a_plain_file_is_one_completion_whatever_it_holds(tmp_path: Path) -> None:
    text = '{"completion": "not a row"}\n{"completion": "here"}\n'
    name = write(tmp_path / "solution.py", text)
    assert read_completions([name]) == [CompletionRow(text, name, id=name)]


def test_several_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", '{"completion": "1"}\n{"completion": "2"}\n')
    plain = write(tmp_path / "b.txt", "3")
    assert [row.completion for row in read_completions([plain, rows])] == ["3", "1", "2"]


def test_a_byte_order_mark_is_no_part_of_the_first_row(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"completion": "x"}\n')
    assert read_completions([str(path)])[0].completion == "x"


@pytest.mark.slow
@given(texts=st.lists(st.text(st.characters(codec=None)), min_size=1), ascii_only=st.booleans())
def test_any_text_survives_the_way_through_a_row(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], ascii_only: bool
) -> None:
    lone = any("\ud800" <= char <= "\udfff" for text in texts for char in text)
    path = tmp_path_factory.mktemp("rows") / "a.jsonl"
    lines = [json.dumps({"completion": t}, ensure_ascii=ascii_only or lone) for t in texts]
    path.write_bytes("\n".join(lines).encode())
    assert [row.completion for row in read_completions([str(path)])] == texts


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ("[1]", "not a list"),
        ('{"completions": "x"}', "is 'completions' meant?"),
        ('{"text": "x", "label": 1}', "it has text, label"),
        ('{"completion": ["x"]}', '"completion" must be a string, not a list'),
        ('{"completion": null}', '"completion" must be a string, not null'),
        ('{"completion": "x", "id": true}', '"id" must be a string or a whole number, not true'),
        ('{"completion": "x", "row": 1.0}', '"row" must be a whole number, not a number'),
        ('{"completion": "x", "task": 7}', '"task" must be a string, not a whole number'),
    ],
)
def test_a_wrong_row_is_named_by_file_and_line(tmp_path: Path, line: str, complaint: str) -> None:
    name = write(tmp_path / "a.jsonl", '{"completion": "fine"}\n\n' + line + "\n")
    with pytest.raises(UsageError) as caught:
        read_completions([name])
    assert str(caught.value).startswith(f"{name}:3: ")
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_is_not_utf_8_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b'{"completion": "x"}\n{"completion": "\xff"}\n')
    with pytest.raises(UsageError, match=r"a\.jsonl:2: this is not UTF-8"):
        read_completions([str(path)])


def test_a_missing_file_brings_the_nearest_name(tmp_path: Path) -> None:
    write(tmp_path / "samples.jsonl", "")
    with pytest.raises(UsageError, match=r"No such file.*did you mean samples\.jsonl\?"):
        read_completions([str(tmp_path / "sample.jsonl")])


def test_a_file_without_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no completion"):
        read_completions([write(tmp_path / "a.jsonl", "\n \n")])


def test_a_json_file_is_not_taken_for_one_completion(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"name the file \.jsonl"):
        read_completions([write(tmp_path / "a.json", "[]")])


@pytest.fixture(scope="module")
def choose() -> Callable[..., str]:
    def call(name: str, **fields: Any) -> str:
        return (
            TaskChooser(name, find_tasks(name)).choose(CompletionRow("", "f.jsonl:9", **fields)).id
        )

    return call


def test_a_single_task_needs_no_name(choose: Callable[..., str]) -> None:
    assert choose("parsing/seat-ranges") == "parsing/seat-ranges"
    assert choose("parsing/seat-ranges", task="parsing/seat-ranges") == "parsing/seat-ranges"
    assert choose("parsing/seat-ranges", row=0) == "parsing/seat-ranges"


@pytest.mark.parametrize("name", ["knit-rows", "strings/knit-rows"])
def test_a_row_names_its_task_within_a_suite(choose: Callable[..., str], name: str) -> None:
    assert choose("strings", task=name) == "strings/knit-rows"


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "bag-draw", "row": 3},
        {"task": "math/bag-draw", "row": 3},
        {"task": "math/bag-draw#3"},
    ],
)
def test_a_row_names_its_problem_within_a_suite(
    choose: Callable[..., str], fields: dict[str, Any]
) -> None:
    assert choose("math", **fields) == "math/bag-draw#3"


def test_a_row_number_is_enough_for_one_text_task(choose: Callable[..., str]) -> None:
    assert choose("math/bag-draw", row=3) == "math/bag-draw#3"
    assert choose("math/bag-draw#3") == "math/bag-draw#3"


@pytest.mark.parametrize(
    ("name", "fields", "complaint"),
    [
        ("strings", {}, 'the row needs "task"'),
        ("strings", {"row": 1}, 'the row needs "task"'),
        ("strings", {"task": "knit-row"}, "did you mean strings/knit-rows"),
        ("parsing/seat-ranges", {"task": "strings/knit-rows"}, "unknown task"),
        ("math/bag-draw", {}, 'the row needs "row"'),
        ("math/bag-draw", {"row": 10_000}, '"row" is 10000, but math/bag-draw has rows 0 to'),
        ("math/bag-draw", {"row": -1}, '"row" is -1'),
    ],
)
def test_a_row_that_names_no_problem_is_refused_with_its_place(
    choose: Callable[..., str], name: str, fields: dict[str, Any], complaint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        choose(name, **fields)
    assert str(caught.value).startswith("f.jsonl:9: ")
    assert complaint in str(caught.value)
