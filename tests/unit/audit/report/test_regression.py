from __future__ import annotations

import ast
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.unit.audit.report_sample import HOSTILE, SUFFIX, report

from unhack.audit.report.regression import AuditedTarget, regression_tests, write_tests
from unhack.core.finding import Evidence, Finding, Severity

ORIGIN = AuditedTarget("somewhere.rewards:score")

FLAWED = """\
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip().endswith(ground_truth))
"""
FIXED = """\
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip() == ground_truth)
"""
DEAF = """\
def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    return 0.0
"""
ROWS = '{"id": "row 0", "prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]}\n'


def constants(text: str) -> list[Any]:
    return [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]


def functions(text: str) -> list[str]:
    return [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]


def test_there_is_one_test_for_each_finding_and_one_for_each_honest_completion(
    tmp_path: Path,
) -> None:
    text = regression_tests(report(SUFFIX, HOSTILE, SUFFIX), ORIGIN, folder=tmp_path)
    assert [name for name in functions(text) if name.startswith("test")] == [
        "test_closed_always_equal_object",
        "test_closed_suffix_match",
        "test_closed_suffix_match_2",
        "test_still_right_1",
        "test_still_right_2",
    ]


@pytest.mark.slow
@given(text=st.text(st.characters(codec=None)), threshold=st.floats(allow_nan=False))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
def test_any_text_and_threshold_survive_the_way_through_a_test(
    tmp_path: Path, text: str, threshold: float
) -> None:
    finding = replace(
        SUFFIX,
        witness=text,
        problem=text,
        threshold=threshold,
        evidence=Evidence("other_answer", text),
        fix=text,
    )
    written = regression_tests(report(finding), AuditedTarget(text, None, text), folder=tmp_path)
    assert written.isascii()
    compile(written, "test_it.py", "exec")
    found = constants(written)
    assert text in found
    assert abs(threshold) in found or math.isinf(threshold)


def test_a_witness_of_several_lines_is_written_as_several_lines(tmp_path: Path) -> None:
    written = regression_tests(report(HOSTILE), ORIGIN, folder=tmp_path)
    assert "        'class A:\\n'\n        '\\tdef __eq__" in written


def test_nothing_is_written_where_nothing_was_found(tmp_path: Path) -> None:
    assert write_tests(report(), ORIGIN, folder=tmp_path / "new") is None
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("a/Rewards.py:compute_score", "test_audit_a_rewards_compute_score.py"),
        ("pkg.mod:Class.score", "test_audit_pkg_mod_class_score.py"),
        ("../x.py", "test_audit_x.py"),
        ("/", "test_audit_verifier.py"),
    ],
)
def test_the_file_is_named_after_the_target(tmp_path: Path, target: str, name: str) -> None:
    path = write_tests(report(SUFFIX), AuditedTarget(target), folder=tmp_path / "tests")
    assert path == tmp_path / "tests" / name


def test_paths_are_found_from_the_test_file_and_import_paths_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rewards.py").write_text(FLAWED)
    (tmp_path / "task").mkdir()
    for target, wanted in (
        ("rewards.py:compute_score", "str(HERE / '../../rewards.py') + ':compute_score'"),
        ("./task", "str(HERE / '../../task')"),
        ("pkg.mod:score", "'pkg.mod:score'"),
    ):
        origin = AuditedTarget(target, Path("rows.jsonl"), "verl")
        text = regression_tests(report(SUFFIX), origin, folder=Path("tests/audit"))
        assert f"\nTARGET = {wanted}\n" in text
        assert "\nPROBLEMS = HERE / '../../rows.jsonl'\nSIGNATURE = 'verl'\n" in text


def run_tests(path: Path) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name],
        cwd=path.parent,
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Tests of a finding about `rewards.py`, which is not there yet."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rewards.py").touch()
    (tmp_path / "rows.jsonl").write_text(ROWS)
    finding: Finding = replace(SUFFIX, severity=Severity.HIGH, witness="142")
    origin = AuditedTarget("rewards.py:compute_score", Path("rows.jsonl"))
    path = write_tests(report(finding), origin, folder=Path("tests"))
    assert path is not None
    return tmp_path / path


@pytest.mark.parametrize(
    ("verifier", "code", "said"),
    [
        (FLAWED, 1, "1 failed, 1 passed"),
        (FIXED, 0, "2 passed"),
        (DEAF, 1, "1 failed, 1 passed"),
    ],
    ids=["flawed", "fixed", "deaf"],
)
@pytest.mark.slow
def test_the_written_tests_fail_while_the_hole_is_open_or_the_verifier_deaf(
    written: Path, verifier: str, code: int, said: str
) -> None:
    (written.parents[1] / "rewards.py").write_text(verifier)
    ended, out = run_tests(written)
    assert (ended, said in out) == (code, True), out
    assert ("rewarded with 1.0 although wrong" in out) is (verifier is FLAWED)
