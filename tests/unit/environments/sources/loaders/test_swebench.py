"""Rows on local clones become tasks; a row that cannot be judged exactly is refused by name."""

from __future__ import annotations

import asyncio
import difflib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.environments.sources.mining.repositories import FIX_TESTS, FIXED, START, Project

from unhack.core.errors import TaskError
from unhack.environments.agreement import DisagreementError, agreed
from unhack.environments.sources.loaders.swebench import load_swebench

FAILING = ["tests/test_core.py::test_area"]
PASSING = ["tests/test_core.py::test_two"]


def diff(path: str, after: str) -> str:
    lines = (text.splitlines(keepends=True) for text in (START[path], after))
    return f"diff --git a/{path} b/{path}\n" + "".join(
        difflib.unified_diff(*lines, f"a/{path}", f"b/{path}")
    )


@pytest.fixture
def clones(tmp_path: Path) -> Path:
    Project(tmp_path / "clones" / "shapes").commit({**START, "build/lib/shapes/core.py": FIXED})
    return tmp_path / "clones"


@pytest.fixture
def row(clones: Path) -> dict[str, Any]:
    base = Project.head(clones / "shapes")
    return {
        "instance_id": "acme__shapes-1",
        "repo": "acme/shapes",
        "base_commit": base,
        "patch": diff("shapes/core.py", FIXED),
        "test_patch": diff("tests/test_core.py", FIX_TESTS),
        "problem_statement": "The area is a sum.",
        "FAIL_TO_PASS": json.dumps(FAILING),
        "PASS_TO_PASS": PASSING,
        "version": "1.0",
    }


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    return path


def test_a_row_becomes_a_task(row: dict[str, Any], clones: Path, tmp_path: Path) -> None:
    loaded = load_swebench(written(tmp_path, row), clones=clones)
    [task] = loaded.tasks
    assert loaded.refused == ()
    assert {path: data.decode() for path, data in task.files.items()} == START
    assert task.reference == {"shapes/core.py": FIXED}
    assert task.tests == {"tests/test_core.py": FIX_TESTS}
    assert (task.fail_to_pass, task.pass_to_pass) == (tuple(FAILING), tuple(PASSING))
    assert (task.id, task.statement) == ("acme__shapes-1", "The area is a sum.")
    assert task.editable == ("shapes/",)


def test_json_lists_and_other_names_of_clones_are_read(
    row: dict[str, Any], clones: Path, tmp_path: Path
) -> None:
    (clones / "shapes").rename(clones / "acme__shapes")
    path = tmp_path / "rows.json"
    path.write_text(json.dumps([row]))
    assert len(load_swebench(path, clones=clones).tasks) == 1


def test_a_listed_test_outside_the_test_patch_is_the_judges_too(
    row: dict[str, Any], clones: Path, tmp_path: Path
) -> None:
    new = "--- /dev/null\n+++ b/tests/test_new.py\n@@ -0,0 +1,2 @@\n+def test_new():\n+    pass\n"
    row |= {"test_patch": new, "FAIL_TO_PASS": ["tests/test_new.py::test_new"]}
    [task] = load_swebench(written(tmp_path, row), clones=clones).tasks
    assert set(task.tests) == {"tests/test_new.py", "tests/test_core.py"}


@pytest.mark.parametrize(("change", "said"), [
    ({"patch": None}, "the field patch is missing"),
    ({"repo": "other/name"}, "no clone of other/name"),
    ({"repo": "../shapes"}, "not written as owner/name"),
    ({"base_commit": "0" * 40}, "no commit"),
    ({"patch": "nothing"}, "patch: no unified diff"),
    ({"patch": diff("README.md", "x\n").replace("-Shapes.", "-Other.")}, "does not fit"),
    ({"patch": "diff --git a/x b/y\nrename from x\nrename to y\n"}, "not supported"),
    ({"FAIL_TO_PASS": "test_area"}, "neither a list nor the JSON"),
    ({"FAIL_TO_PASS": ["test_area (tests.Core)"]}, "no id of pytest"),
    ({"FAIL_TO_PASS": ["tests/test_core.py::test_area[a b"]}, "was cut off"),
    ({"FAIL_TO_PASS": ["tests/test_far.py::test_x"]}, "in a file that is not there"),
    ({"FAIL_TO_PASS": FAILING + PASSING}, "is both"),
    ({"FAIL_TO_PASS": []}, "no hidden test fails"),
])  # fmt: skip
def test_a_bad_row_is_refused_with_its_reason_and_the_others_are_loaded(
    row: dict[str, Any], clones: Path, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    bad = {**row, "instance_id": "bad", **change}
    loaded = load_swebench(written(tmp_path, bad, row, row), clones=clones)
    assert [task.id for task in loaded.tasks] == ["acme__shapes-1"]
    assert [one.where for one in loaded.refused] == ["bad", "acme__shapes-1"]
    assert said in loaded.refused[0].reason
    assert "stands twice" in loaded.refused[1].reason


def test_a_file_that_holds_no_rows_is_named(tmp_path: Path, clones: Path) -> None:
    path = tmp_path / "rows.jsonl"
    for text, said in (("{} x", "line 1"), ("[1]", "row 1 is no object")):
        path.write_text(text)
        with pytest.raises(TaskError, match=said):
            load_swebench(path, clones=clones)
    with pytest.raises(TaskError, match="cannot be read"):
        load_swebench(tmp_path / "none", clones=clones)


@pytest.mark.slow
def test_the_judge_agrees_with_a_right_row_and_not_with_a_wrong_one(
    row: dict[str, Any], clones: Path, tmp_path: Path
) -> None:
    wrong = {**row, "instance_id": "wrong", "FAIL_TO_PASS": PASSING, "PASS_TO_PASS": []}
    partly = {**row, "instance_id": "partly", "FAIL_TO_PASS": FAILING + PASSING,
              "PASS_TO_PASS": []}  # fmt: skip
    tasks = load_swebench(written(tmp_path, row, wrong, partly), clones=clones).tasks
    assert asyncio.run(agreed(tasks[0])).facts["not_judged"] == 0
    with pytest.raises(DisagreementError, match="can tell none"):
        asyncio.run(agreed(tasks[1]))
    kept = asyncio.run(agreed(tasks[2]))
    assert (kept.fail_to_pass, kept.facts["not_judged"]) == (tuple(FAILING), 1)
