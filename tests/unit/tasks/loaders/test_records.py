"""Rows of data sets, and complaints that name file and line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from unhack.core.errors import TaskError
from unhack.tasks.loaders.records import DataSetRow, read_records

ROWS = [{"id": 1, "text": "a"}, {"id": 2, "text": "é"}]


def lines(rows: list[dict[str, object]]) -> bytes:
    return "\n".join(json.dumps(row) for row in rows).encode() + b"\n\n"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("rows.jsonl", lines(ROWS)),
        ("rows.jsonl.gz", gzip.compress(lines(ROWS))),
        ("rows.json", json.dumps(ROWS).encode()),
        ("rows.json.gz", gzip.compress(json.dumps(ROWS).encode())),
    ],
    ids=["jsonl", "jsonl.gz", "json", "json.gz"],
)
def test_every_layout_gives_the_same_rows(tmp_path: Path, name: str, data: bytes):
    path = tmp_path / name
    path.write_bytes(data)
    found = list(read_records(path))
    assert [record.fields for record in found] == ROWS
    assert [record.line for record in found] == [1, 2]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("r.jsonl", b'{"a": 1}\n{"a": ', "r.jsonl:2: not JSON"),
        ("r.jsonl", b"[1]\n", "r.jsonl:1: a row is an object, not a list"),
        ("r.jsonl", b"\n", "r.jsonl: holds no row"),
        ("r.jsonl", b"\xff", "not UTF-8"),
        ("r.jsonl.gz", b"plain", "cannot be read"),
        ("r.json", b'{"a": 1}', "one list of objects"),
        ("r.json", b"[]", "holds no row"),
        ("r.json", b'[\n{"a": 1},\n]', "r.json:3: not JSON"),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, data: bytes, message: str):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(TaskError) as caught:
        list(read_records(path))
    assert message in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path):
    with pytest.raises(TaskError, match="missing"):
        list(read_records(tmp_path / "none.jsonl"))


def test_a_missing_field_is_answered_with_the_nearest_one():
    record = DataSetRow(Path("d.jsonl"), 7, {"promt": "x", "n": 1})
    with pytest.raises(TaskError) as caught:
        record.text("prompt")
    assert str(caught.value) == "d.jsonl:7: the row has no `prompt`; did you mean promt?"


def test_a_field_of_the_wrong_type_is_refused():
    record = DataSetRow(Path("d.jsonl"), 7, {"prompt": 1, "tests": ["a", 2]})
    with pytest.raises(
        TaskError, match=r"d\.jsonl:7: `prompt` must be a string, not a whole number"
    ):
        record.text("prompt")
    with pytest.raises(TaskError, match="must hold strings, not a whole number"):
        record.texts("tests")
    with pytest.raises(TaskError, match="must be a list, not a whole number"):
        record.items("prompt")


def test_the_first_name_that_a_row_has_counts():
    record = DataSetRow(Path("d.jsonl"), 1, {"prompt": "b", "none": None})
    assert record.text("text", "prompt") == "b"
    assert record.text_or("default", "none") == "default"
    assert record.first("missing") is None
