"""KernelBench problems as repository tasks, and rows and problems as targets of an audit."""

from __future__ import annotations

from pathlib import Path

import pytest

from unhack.audit.environments.loading import environment_of, is_environment
from unhack.core.errors import TaskError, UsageError
from unhack.environments.sources.loaders.kernelbench import is_kernelbench, kernelbench_task

PROBLEM = """import torch

batch_size = 4096
width = 4096


class Model(torch.nn.Module):
    def forward(self, data):
        return torch.relu(data)


def get_inputs():
    return [torch.rand(batch_size, width, 3)]


def get_init_inputs():
    return []
"""


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "1_relu.py"
    path.write_text(PROBLEM)
    return path


def test_large_numbers_of_a_problem_become_small_and_equal_ones_stay_equal(problem: Path) -> None:
    task = kernelbench_task(problem)
    text = task.files["problem.py"].decode()
    assert "batch_size = 77\nwidth = 77\n" in text
    assert "rand(batch_size, width, 3)" in text
    assert task.editable == ("solution.py",)
    assert "class ModelNew(Model)" in (task.reference["solution.py"] or "")
    assert "ModelNew" not in text


def test_a_problem_is_an_environment_with_attacks_of_its_own(problem: Path, tmp_path: Path) -> None:
    assert is_environment(str(problem))
    subject = environment_of(str(problem))
    assert "zero_output" in [one.name for one in subject.attacks]
    other = tmp_path / "other.py"
    other.write_text("def score(completion, answer):\n    return 1.0\n")
    assert not is_kernelbench(other)
    assert not is_environment(str(other))
    with pytest.raises(TaskError, match="no KernelBench problem"):
        kernelbench_task(other)


def test_rows_that_make_no_task_are_named_with_their_reason(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"instance_id": "a__b-1"}\n')
    assert is_environment(str(rows))
    with pytest.raises(UsageError, match="a__b-1: the field repo is missing"):
        environment_of(str(rows))
