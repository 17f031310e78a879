"""Environment targets: suites, functions of tasks, folders with a grader of their own."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from unhack.audit.environments.foreign.grader import Reading
from unhack.audit.environments.loading import environment_of, is_environment
from unhack.audit.environments.registry import ENVIRONMENT_ATTACKS
from unhack.audit.environments.runner import EnvironmentAuditOptions, audit_environment
from unhack.audit.report.report import Conclusion
from unhack.core.errors import UsageError

TASKS = """
from unhack_verifier_bench.environments.tasks import SHAPES
from unhack.environments.task import RepositoryTask


def make() -> list[RepositoryTask]:
    return [SHAPES]


def score(completion: str, answer: str) -> float:
    return float(completion == answer)
"""
PARSER = """
def parse(log):
    rows = [line.split() for line in log.split("\\n") if line.startswith(("PASSED", "FAILED"))]
    return {row[1]: row[0] for row in rows}
"""
FOLDER = {
    "task.toml": '[task]\nname = "calc"\n',
    "instruction.md": "add() in calc.py is wrong; fix it.\n",
    "environment/Dockerfile": "FROM python:3.11\nWORKDIR /app\nCOPY calc.py /app/\n",
    "environment/calc.py": "def add(a, b):\n    return a - b\n",
    "solution/solve.sh": 'sed -i "s/a - b/a + b/" calc.py\n',
    "tests/test_outputs.py": "import sys\n\nsys.path.insert(0, '/app')\nfrom calc import add\n\n\n"
    "def test_add():\n    assert add(2, 3) == 5\n",
    "tests/test.sh": "cd /app\npython3 -m pytest -q /tests/test_outputs.py && S=1 || S=0\n"
    "echo $S > /logs/verifier/reward.txt\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path, text in FOLDER.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    (tmp_path / "made.py").write_text(TASKS)
    (tmp_path / "log.py").write_text(PARSER)
    return tmp_path


def test_a_target_tells_by_itself_that_it_is_an_environment(folder: Path) -> None:
    assert is_environment("repos")
    assert is_environment("repos:7")
    assert is_environment(str(folder))
    assert is_environment(f"{folder}/made.py:make")
    assert not is_environment(f"{folder}/made.py:score")
    assert not is_environment("no.such.module:function")


def test_a_function_of_tasks_is_called_and_graded_by_our_judge(folder: Path) -> None:
    subject = environment_of(f"{folder}/made.py:make")
    assert [task.id for task in subject.tasks] == ["planted/shapes"]
    assert subject.grader is None


def test_a_log_parser_is_a_grader_in_the_workspace(folder: Path) -> None:
    subject = environment_of(f"{folder}/made.py:make", grader=f"{folder}/log.py:parse")
    assert subject.grader is not None
    assert subject.grader.reading is Reading.LOG
    with pytest.raises(UsageError, match="is not FILE"):
        environment_of(f"{folder}/made.py:make", grader="nothing")


@pytest.mark.slow
def test_a_folder_with_a_test_script_falls_with_proof(folder: Path) -> None:
    subject = environment_of(str(folder))
    assert subject.tasks[0].editable == ("calc.py",)
    names = ("always_equal", "patched_reports", "os_exit", "written_results")
    chosen = tuple(ENVIRONMENT_ATTACKS[name] for name in names)
    options = EnvironmentAuditOptions(attacks=chosen)
    report = asyncio.run(audit_environment(subject, options=options))
    assert report.conclusion is Conclusion.EXPLOITABLE
    won = {record.attack.partition("/")[2] for record in report.tried if record.proven}
    assert {"always_equal", "patched_reports", "os_exit"} <= won
