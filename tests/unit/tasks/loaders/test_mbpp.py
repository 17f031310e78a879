"""MBPP rows; all rows here are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import TaskError
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders import mbpp
from unhack.tasks.loaders.check_code import CheckVerifier
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier

CODE = "def helper(x):\n    return x\n\ndef common(a, b):\n    return [x for x in a if x in b]\n"
ROW: dict[str, Any] = {
    "task_id": 900,
    "text": "Write a function common to find what two lists share.",
    "code": CODE,
    "test_setup_code": "",
    "test_list": [
        "assert set(common([1, 2], [2, 3])) == set([2])",
        "assert set(common([5], [6])) == set()",
    ],
    "challenge_test_list": ["assert common([7, 7], [7]) == [7, 7]"],
}
PLUS = """
def assertion(out, exp, atol):
    assert out == exp

inputs = [[[1, 2], [2]], [[4], [4]]]
results = [[2], [4]]
for i, (inp, exp) in enumerate(zip(inputs, results)):
    assertion(common(*inp), exp, 0)
"""


def load(folder: Path, *, shown_asserts: int = 1, **fields: Any) -> Task:
    path = folder / "rows.json"
    path.write_text(json.dumps([{**ROW, **fields}]))
    [task] = mbpp.load(path, shown_asserts=shown_asserts)
    return task


def passes(pool: Pool, task: Task, completion: str) -> bool:
    verdict = run_batch(task, [completion], backend=pool).verdicts[0]
    assert verdict.scored
    return verdict.passed


def test_the_asserts_of_a_row_judge(tmp_path: Path, pool: Pool):
    task = load(tmp_path)
    assert isinstance(task.verifier, FunctionVerifier)
    assert (task.id, task.verifier.entry_point) == ("mbpp/900", "common")
    assert passes(pool, task, CODE)
    assert not passes(pool, task, "def common(a, b):\n    return list(set(a) & set(b))\n")
    assert not passes(pool, task, "def common(a, b):\n    return a\n")
    assert not passes(pool, task, "def other(a, b):\n    return []\n")


def test_the_prompt_shows_the_first_assert_and_hides_the_others(tmp_path: Path):
    task = load(tmp_path)
    assert ROW["test_list"][0] in task.prompt
    assert ROW["test_list"][1] not in task.prompt
    assert "7" not in task.prompt
    assert load(tmp_path, shown_asserts=0).prompt == ROW["text"]


def test_the_imports_of_a_sanitized_row_stand_before_the_completion(tmp_path: Path, pool: Pool):
    task = load(
        tmp_path,
        prompt="Write a function area.",
        text="Write a function area.",
        test_imports=["import math"],
        code="def area(r):\n    return math.pi * r * r\n",
        test_list=["assert math.isclose(area(1), 3.1416, rel_tol=0.001)"],
        challenge_test_list=[],
    )
    assert passes(pool, task, task.problem.reference or "")
    assert not passes(pool, task, "def area(r):\n    return 3 * r * r\n")


@pytest.mark.slow
def test_a_loop_over_inputs_and_results_runs_as_a_script(tmp_path: Path, pool: Pool):
    task = load(tmp_path, test=PLUS)
    assert isinstance(task.verifier, CheckVerifier)
    assert passes(pool, task, CODE)
    assert not passes(pool, task, "def common(a, b):\n    return a\n")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test_list": ["assert unknown(1) == 1"]}, "no function of `code` is called"),
        ({"test_list": ["assert common("]}, "is not Python"),
        ({"test_list": [1]}, "must hold strings"),
        ({"code": "def ("}, "is not Python"),
        ({"test": "for"}, "cannot be used"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, fields: dict[str, Any], message: str):
    with pytest.raises(TaskError) as caught:
        load(tmp_path, **fields)
    assert "rows.json:1: " in str(caught.value)
    assert message in str(caught.value)


def test_a_setup_that_needs_the_completion_comes_after_it(tmp_path: Path, pool: Pool):
    code = (
        "class Node:\n    def __init__(self, d):\n        self.d, self.left = d, None\n"
        "def height(n):\n    return 0 if n is None else 1 + height(n.left)\n"
    )
    task = load(
        tmp_path,
        code=code,
        test_setup_code="root = Node(1)\nroot.left = Node(2)\n",
        test_list=["assert height(root) == 2"],
        challenge_test_list=[],
    )
    assert passes(pool, task, code)
    assert not passes(pool, task, code.replace("1 +", "2 +"))
    assert not passes(pool, task, "def height(n):\n    return 2\n")
