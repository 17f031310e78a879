"""Edits of a finished tournament's folder, each of which `show` has to see without judging."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.tournament.hill import played

from unhack.store.errors import StoreError
from unhack.tournament.record.archive import read_record


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tournament") / "run"
    played(path)
    return path


def _submission(path: Path) -> Path:
    found = next(item for item in sorted((path / "submissions").rglob("*")) if item.is_file())
    found.parent.chmod(0o755)
    found.chmod(0o644)
    return found


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def _fitness(path: Path) -> None:
    with sqlite3.connect(path / "state.sqlite") as base:
        changed = base.execute(
            "UPDATE value SET json = replace(json, '\"fitness\": 0.', '\"fitness\": 0.9') "
            "WHERE key LIKE 'entry/%'"
        )
        assert changed.rowcount
    base.close()


def _add(file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("more")


def _attempt(path: Path) -> Path:
    return sorted((path / "transcripts").glob("*/*/attempt-1"))[0]


EDITS: dict[str, Callable[[Path], object]] = {
    "a byte of a submission": lambda path: _flip(_submission(path)),
    "a submission's file removed": lambda path: _submission(path).unlink(),
    "a file added to a submission": lambda path: _add(_submission(path).parent / "extra.py"),
    "a submission removed": lambda path: shutil.rmtree(_submission(path).parent),
    "a fitness in the database": _fitness,
    "a file added to a transcript": lambda path: _add(_attempt(path) / "more.txt"),
    "the last line of the log": lambda path: (path / "events.jsonl").write_bytes(
        (path / "events.jsonl").read_bytes().rsplit(b"\n", 2)[0] + b"\n"
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_of_a_finished_tournament_is_seen(
    finished: Path, tmp_path: Path, edit: str
) -> None:
    path = tmp_path / "run"
    shutil.copytree(finished, path, symlinks=True)
    read_record(path)
    EDITS[edit](path)
    with pytest.raises(StoreError, match=r"changed|missing|added|cut|not the one"):
        read_record(path)


def test_a_head_that_was_noted_down_is_looked_for(finished: Path) -> None:
    head = read_record(finished).head
    assert read_record(finished, head=head[:16]).head == head
    with pytest.raises(StoreError, match="no event of the record has the head"):
        read_record(finished, head="0" * 64)
