"""Rows of data sets, and complaints that name file and line."""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

import pytest

from unhack.core.errors import TaskError, UsageError
from unhack.tasks.loaders.records import DataSetRow, is_data_set, read_records

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


def test_tables_give_the_same_rows(tmp_path: Path):
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [{**row, "tests": {"input": ["1", "2"], "deep": [{"a": 1.5}]}} for row in ROWS]
    table = arrow.Table.from_pylist(rows)
    parquet.write_table(table, tmp_path / "train-00000-of-00001.parquet")
    saved = tmp_path / "saved"
    saved.mkdir()
    for number in (0, 1):
        name = str(saved / f"data-0000{number}-of-00002.arrow")
        with arrow.OSFile(name, "wb") as file, arrow.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table.slice(number, 1))
    names = [{"filename": path.name} for path in sorted(saved.iterdir())]
    (saved / "state.json").write_text(json.dumps({"_data_files": names}))
    (saved / "dataset_info.json").write_text("{}")
    for path in (tmp_path, tmp_path / "train-00000-of-00001.parquet", saved):
        assert is_data_set(path)
        assert [record.fields for record in read_records(path)] == rows


def test_a_broken_table_and_a_folder_of_splits_are_named(tmp_path: Path):
    pytest.importorskip("pyarrow")
    (tmp_path / "train").mkdir()
    (tmp_path / "dataset_dict.json").write_text('{"splits": ["train"]}')
    with pytest.raises(TaskError, match="name one of its folders: train"):
        list(read_records(tmp_path))
    for name in ("a.parquet", "a.arrow"):
        (tmp_path / name).write_bytes(b"no table")
        with pytest.raises(TaskError, match=f"{name}: cannot be read"):
            list(read_records(tmp_path / name))


def test_without_pyarrow_the_way_to_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install '\.\[parquet\]'"):
        list(read_records(tmp_path / "a.parquet"))


def test_columns_are_mapped_and_a_missing_one_is_named(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(lines(ROWS))
    [first, _] = read_records(path, columns={"prompt": "text"})
    assert first.text("prompt") == "a"
    with pytest.raises(TaskError, match=r"rows\.jsonl:1: .* no column 'txt'; it has id, text"):
        list(read_records(path, columns={"prompt": "txt"}))


def test_integers_of_any_length_are_read(tmp_path: Path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"n": ' + "7" * 5000 + "}")
    [row] = read_records(path)
    assert row.fields["n"] % 10**9 == 777_777_777
    assert row.decode("n", "-" + "7" * 5000) == -row.fields["n"]
