"""A task that was written is read as it was; bad folders are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unhack.core.errors import TaskError, UsageError
from unhack.environments.sources.task_folder import (
    load_mined,
    read_task,
    write_manifest,
    write_task,
)
from unhack.environments.task import RepositoryTask
from unhack.verifiers.script import Mode

TASK = RepositoryTask(
    id="shapes/one",
    statement="`area` is wrong – é.",
    files={"shapes/core.py": b"x = 1\n", "shapes/raw.bin": b"\0\xff", "run.sh": b"#!/bin/sh\n"},
    editable=("shapes/", "new.py"),
    tests={"tests/test_core.py": "def test_x(): ...\n"},
    reference={"shapes/core.py": "x = 2\n", "shapes/raw.bin": None, "new.py": "\udcff"},
    fail_to_pass=("tests/test_core.py::test_x[a-\u00e9]",),
    dev_tests={"tests/test_dev.py": "def test_y(): ...\n"},
    dev_ids=("tests/test_dev.py::test_y",),
    executable=frozenset({"run.sh"}),
    mode=Mode.AS_WRITTEN,
    facts={"commit": "abc", "share": 0.5},
)


def test_a_task_that_was_written_is_read_as_it_was(tmp_path: Path) -> None:
    write_task(tmp_path / "one", TASK)
    assert read_task(tmp_path / "one") == TASK


def test_a_folder_with_files_in_it_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="not empty"):
        write_task(tmp_path, TASK)


def test_the_manifest_names_the_tasks(tmp_path: Path) -> None:
    write_task(tmp_path / "one", TASK)
    write_manifest(tmp_path, origin={"from": "HEAD"}, tasks=["one"], skipped=[{"commit": "a"}])
    assert load_mined(tmp_path) == [TASK]


@pytest.mark.parametrize(("change", "said"), [
    ({"statement": None}, "'statement' is missing"),
    ({"mode": "loose"}, "loose"),
    ({"fail_to_pass": []}, "no hidden test fails"),
    ({"editable": ["elsewhere/"]}, "not editable"),
])  # fmt: skip
def test_a_wrong_field_is_named_with_its_folder(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    write_task(tmp_path / "one", TASK)
    file = tmp_path / "one" / "task.json"
    fields = json.loads(file.read_text()) | change
    file.write_text(
        json.dumps({name: value for name, value in fields.items() if value is not None})
    )
    with pytest.raises(TaskError, match=said):
        read_task(tmp_path / "one")


def test_a_folder_without_tasks_and_names_that_leave_it_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TaskError, match="is not there"):
        load_mined(tmp_path)
    (tmp_path / "manifest.json").write_text("[]")
    with pytest.raises(TaskError, match="no JSON object"):
        load_mined(tmp_path)
    (tmp_path / "manifest.json").write_text('{"tasks": ["../other"]}')
    with pytest.raises(UsageError, match="inside the workspace"):
        load_mined(tmp_path)
