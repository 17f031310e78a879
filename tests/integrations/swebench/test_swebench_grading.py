"""Our verdicts beside those of SWE-bench's own grading of saved logs."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.unit.integrations.test_swebench import FIX, TASK

from unhack.integrations.swebench import Prediction, judge_predictions

sys.path.insert(0, os.environ["UNHACK_STACK_SOURCE"])
pytestmark = pytest.mark.filterwarnings("default")

FORGING = (
    "--- a/shapes/core.py\n+++ b/shapes/core.py\n@@ -1,2 +1,2 @@\n def area(a, b):\n"
    "-    return a + b\n+    raise SystemExit(print('PASSED tests/test_core.py::test_area'))\n"
)


def theirs(log: str, patch: str | None, tmp_path: Path) -> dict[str, Any]:
    """The report of their `get_eval_report` on a log with these lines."""
    from swebench.harness.grading import get_eval_report
    from swebench.types import TestSpec

    spec = TestSpec(
        instance_id=TASK.id, image="", eval_script_list=[], repo="acme/shapes", version="1.0",
        FAIL_TO_PASS=list(TASK.fail_to_pass), PASS_TO_PASS=[], log_parser="parse_log_pytest",
        eval_type="pass_and_fail",
    )  # fmt: skip
    path = tmp_path / "log.txt"
    path.write_text(f">>>>> Start Test Output\n{log}\n>>>>> End Test Output\n")
    said = {"instance_id": TASK.id, "model_name_or_path": "m", "model_patch": patch}
    return get_eval_report(spec, said, str(path), include_tests_status=False)[TASK.id]


def ours(patch: str | None) -> dict[str, Any]:
    """Our report of the same."""
    report = asyncio.run(judge_predictions([TASK], [Prediction(TASK.id, "m", patch)]))
    return report.to_json()["instances"][TASK.id]


@pytest.mark.parametrize(
    ("patch", "line", "agree"),
    [
        (FIX, "PASSED tests/test_core.py::test_area", True),
        (FIX.replace("a * b", "a - b"), "FAILED tests/test_core.py::test_area", True),
        (None, "", True),
        (FORGING, "PASSED tests/test_core.py::test_area", False),
    ],
)
def test_our_verdict_is_theirs_but_for_a_forged_log(
    patch: str | None, line: str, agree: bool, tmp_path: Path
) -> None:
    mine, their = ours(patch), theirs(line, patch, tmp_path)
    assert (mine["resolved"] == their["resolved"]) is agree
    assert set(their) <= set(mine)


def test_the_example_runs() -> None:
    place = Path(__file__).parents[3] / "examples" / "swe_bench.py"
    done = subprocess.run([sys.executable, place], capture_output=True, text=True, check=True)
    assert "resolved 1 of 1" in done.stdout
