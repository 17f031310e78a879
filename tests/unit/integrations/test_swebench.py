"""Predictions files are written from episodes, read back, and judged by hidden tests."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.environments.environment import RepositoryWorkshop
from unhack.environments.task import RepositoryTask
from unhack.integrations.swebench import (
    Prediction,
    judge_predictions,
    prediction_of,
    read_predictions,
    write_predictions,
)
from unhack.verifiers.script import Mode

RIGHT = "def area(a, b):\n    return a * b\n"
TASK = RepositoryTask(
    id="acme__shapes-1", statement="Multiply.", editable=("shapes/",), mode=Mode.AS_WRITTEN,
    files={"shapes/core.py": b"def area(a, b):\n    return a + b\n", "shapes/__init__.py": b"",
           "tests/test_core.py": b"def test_old():\n    pass\n"},
    tests={"tests/test_core.py": "from shapes.core import area\n\n\ndef test_area():\n"
           "    assert area(2, 3) == 6\n"},
    reference={"shapes/core.py": RIGHT},
    fail_to_pass=("tests/test_core.py::test_area",),
)  # fmt: skip
FIX = """\
--- a/shapes/core.py
+++ b/shapes/core.py
@@ -1,2 +1,2 @@
 def area(a, b):
-    return a + b
+    return a * b
"""
FORGED_TESTS = """\
--- a/tests/test_core.py
+++ b/tests/test_core.py
@@ -1,2 +1,2 @@
-def test_old():
+def test_area():
     pass
"""
OUTSIDE = "--- /dev/null\n+++ b/shapes/../../out.py\n@@ -0,0 +1 @@\n+x = 1\n"
LINK = (
    "diff --git a/shapes/l.py b/shapes/l.py\nnew file mode 120000\n--- /dev/null\n"
    "+++ b/shapes/l.py\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n"
)


def judged(*patches: str | None) -> list[Any]:
    """The instances' reports of patches for the task, each in a file of its own."""

    async def work() -> list[Any]:
        found = []
        for patch in patches:
            report = await judge_predictions([TASK], [Prediction(TASK.id, "m", patch)])
            found.append(report.to_json()["instances"][TASK.id])
        return found

    return asyncio.run(work())


@pytest.mark.slow
def test_a_right_patch_is_resolved_and_patched_tests_are_left_out() -> None:
    right, forged, both = judged(FIX, FORGED_TESTS, FIX + FORGED_TESTS)
    assert (right["resolved"], right["patch_successfully_applied"]) == (True, True)
    assert (forged["resolved"], forged["left_out"]) == (False, ["tests/test_core.py"])
    assert (both["resolved"], both["left_out"]) == (True, ["tests/test_core.py"])


def test_what_is_no_patch_for_the_task_is_unresolved_with_a_reason() -> None:
    huge = FIX + "+" * (100 << 20)
    found = judged(
        None,
        "",
        "words",
        FIX.replace("+ b", "- b"),
        OUTSIDE,
        LINK,
        huge,
        FIX.replace("* b", "\ud800"),
    )
    assert [one["resolved"] for one in found] == [False] * len(found)
    assert (found[0]["patch_is_None"], found[1]["patch_exists"]) == (True, False)
    assert "does not apply" in found[3]["reason"]
    assert found[5]["reason"] == "the patch makes a link or a submodule"
    assert "characters" in found[6]["reason"]
    assert all(one["reason"] for one in found)


@pytest.mark.slow
def test_the_report_has_their_shape() -> None:
    other = Prediction("acme__other-1", "m", FIX)
    report = asyncio.run(judge_predictions([TASK], [Prediction(TASK.id, "m", FIX), other]))
    found = report.to_json()
    assert found["resolved_ids"] == [TASK.id]
    assert (found["total_instances"], found["submitted_instances"]) == (1, 2)
    assert found["incomplete_ids"] == found["error_ids"] == found["empty_patch_ids"] == []
    assert found["schema_version"] == 2


@pytest.mark.slow
def test_an_episode_becomes_a_prediction_that_judges_as_it_does(tmp_path: Path) -> None:
    async def work() -> list[Prediction]:
        with_new = {**TASK.reference, "shapes/new.py": "x = 1", "shapes/__init__.py": None}
        async with RepositoryWorkshop(slots=1) as workshop:
            found = []
            for changed in (TASK.reference, with_new):
                episode = workshop.begin(TASK)
                for path, text in changed.items():
                    said = ("write", {"path": path, "text": text})
                    if text is None:
                        said = ("run", {"command": f"rm {path}"})
                    await episode.step(said)
                found.append(prediction_of(episode, model="mine"))
            return found

    first, second = asyncio.run(work())
    path = tmp_path / "preds.jsonl"
    write_predictions(path, [first])
    assert read_predictions(path) == [first]
    assert "new file mode" in second.patch
    assert "No newline at end" in second.patch
    assert [one["resolved"] for one in judged(first.patch, second.patch)] == [True, True]
    with pytest.raises(UsageError, match="two predictions"):
        write_predictions(path, [first, first])


ROW = {"instance_id": "a", "model_name_or_path": "m", "model_patch": "p"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{no", "line 1"),
        (json.dumps(ROW) + "\n{no\n", "line 2"),
        ("[3]", "no object"),
        (json.dumps({**ROW, "model_patch": float("nan")}), "model_patch is nan"),
        (json.dumps({**ROW, "instance_id": ""}), "must not be empty"),
        (json.dumps({"instance_id": "a", "model_patch": ""}), "model_name_or_path is missing"),
        (json.dumps([ROW, ROW]), "stands twice"),
    ],
)
def test_a_bad_file_is_an_error_that_names_line_and_field(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "preds.jsonl"
    path.write_text(text)
    with pytest.raises(UsageError, match=words):
        read_predictions(path)


def test_lines_lists_and_objects_by_id_are_read(tmp_path: Path) -> None:
    path = tmp_path / "preds"
    by_id = {"a": {key: value for key, value in ROW.items() if key != "instance_id"}}
    for text in (json.dumps(ROW) + "\n\n", json.dumps([ROW], indent=1), json.dumps(by_id)):
        path.write_text(text)
        assert read_predictions(path) == [Prediction("a", "m", "p")]
    with pytest.raises(UsageError, match="cannot be read"):
        read_predictions(tmp_path / "none")
