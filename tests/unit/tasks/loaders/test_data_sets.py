"""The table of data sets: every entry on a row in its published layout.

Rows without a reference have the program of `PROGRAMS`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tasks.loaders.layouts import ADDER, ROWS

from unhack.core.errors import TaskError, UnknownNameError
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders.data_sets import DATA_SETS, data_set_of, find_data_set
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import DataSetRow
from unhack.tasks.task import Task
from unhack.verifiers.script import Mode

FALSE: dict[str, str] = {
    "leetcode": "class Solution:\n    def twice(self, n):\n        return n + 1\n",
    "bigcodebench": "    return n / 2",
    "humaneval": "    return n + 1\n",
    "mbpp": "def twice(n):\n    return n + 1\n",
    "kodcode": "def twice(n):\n    return n + 1\n",
    "verl": "Answer: 1/3",
    "reasoning_gym": "<answer>12</answer>",
}
PROGRAMS = dict.fromkeys(("codeforces", "livecodebench"), ADDER)


def row(name: str, **fields: Any) -> DataSetRow:
    return DataSetRow(Path("rows.jsonl"), 1, {**ROWS[name], **fields})


def task_of(name: str, **fields: Any) -> Task:
    if name == "reasoning_gym":
        pytest.importorskip("reasoning_gym")
    entry = find_data_set(name)
    return entry.read(row(name, **fields), LoadOptions(limits=entry.limits))


def test_every_entry_has_a_row_here_and_finds_it_by_its_columns():
    names = [entry.name for entry in DATA_SETS]
    assert names == list(ROWS)
    assert [data_set_of(row(name)).name for name in names] == names


@pytest.mark.parametrize("name", ROWS)
def test_the_reference_of_a_row_is_right_and_something_near_is_wrong(name: str, pool: Pool):
    task = task_of(name)
    reference = task.problem.reference or PROGRAMS[name]
    wrong = FALSE.get(name, "\\boxed{41}" if "boxed" in reference else "print(3)\n")
    right, near = run_batch(task, [reference, wrong], backend=pool).verdicts
    assert right.passed, right.reason
    assert near.scored
    assert not near.passed
    assert "42" not in task.prompt


def test_columns_that_no_layout_has_are_listed_with_the_way_out():
    with pytest.raises(TaskError, match=r"rows\.jsonl:1: .*: text, label\. .*--map prompt="):
        data_set_of(DataSetRow(Path("rows.jsonl"), 1, {"text": "a", "label": 1}))
    with pytest.raises(UnknownNameError, match="humaneval"):
        find_data_set("humanevall")


@pytest.mark.parametrize(
    ("name", "fields", "message"),
    [
        ("numina", {"solution": "A proof."}, "gold answer"),
        ("numina", {"answer": "proof"}, "no final answer|which is none"),
        ("numina", {"answer": "notfound"}, "no final answer|which is none"),
        ("olympiadbench", {"final_answer": None}, "gold answer"),
        ("olympiadbench", {"question_type": "Theorem proof"}, "no final answer|which is none"),
        ("bigcodebench", {"complete_prompt": "import nothing_like_it\ndef task_func(n):\n"},
         "packages that are not installed: nothing_like_it"),
        ("kodcode", {"test": "import nothing_like_it\n"}, "not installed: nothing_like_it"),
        ("kodcode", {"test": "def"}, "not Python"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_judged_is_refused_by_name(
    name: str, fields: dict[str, Any], message: str
):
    with pytest.raises(TaskError, match=message) as caught:
        task_of(name, **fields)
    assert str(caught.value).startswith("rows.jsonl:1: ")


def test_code_in_a_row_for_verl_goes_to_the_contest_loader(pool: Pool):
    truth = {"ground_truth": '{"inputs": ["1 2\\n"], "outputs": ["3\\n"]}'}
    task = task_of("verl", reward_model=truth)
    assert run_batch(task, [ADDER, "print(4)\n"], backend=pool).rewards == (1.0, 0.0)


def test_tests_in_a_row_for_verl_go_to_the_loader_of_deepcoder(pool: Pool):
    tests = '[{"input": "1 2\\n", "output": "3\\n", "testtype": "stdin"}]'
    task = task_of("verl", reward_model={"ground_truth": json.dumps({"tests": tests})})
    assert run_batch(task, [ADDER, "print(4)\n"], backend=pool).rewards == (1.0, 0.0)
    with pytest.raises(TaskError, match="the row has no tests"):
        task_of("verl", reward_model={"ground_truth": '{"tests": []}'})


def test_mathematics_among_rows_of_code_is_read_by_its_gold(pool: Pool):
    task = task_of("prime", verification_info='{"ground_truth": "\\\\boxed{\\\\frac12}"}')
    assert run_batch(task, ["\\boxed{0.5}", "\\boxed{2}"], backend=pool).rewards == (1.0, 0.0)


def test_a_contradicting_answer_is_told_by_the_number_in_the_solution(pool: Pool):
    contradicting = task_of("math", solution="So $\\boxed{41}$.", answer="42")
    assert contradicting.problem.reference == "\\boxed{41}"
    loose = task_of("math", solution="So $\\boxed{\\textbf{(B) } 42}$.", answer="42")
    assert run_batch(loose, [loose.problem.reference or ""], backend=pool).rewards == (1.0,)


def test_the_tolerance_of_olympiadbench_counts(pool: Pool):
    task = task_of("olympiadbench", final_answer=["2.7"], error="1e-1")
    answers = ["\\boxed{2.65}", "\\boxed{2.9}"]
    assert run_batch(task, answers, backend=pool).rewards == (1.0, 0.0)


def test_the_question_says_in_which_form_the_answer_is_read(pool: Pool):
    assert "\\boxed{}" in task_of("gsm8k").prompt
    dapo = task_of("verl")
    assert "boxed" not in dapo.prompt
    assert run_batch(dapo, ["Answer: 0.5", "\\boxed{1/2}"], backend=pool).rewards == (1.0, 0.0)


@pytest.mark.slow
def test_packages_that_a_solution_imports_are_there(pool: Pool):
    pytest.importorskip("numpy")
    code = "import numpy\ndef twice(n):\n    return int(numpy.add(n, n))\n"
    plain = {"test": "def test_two():\n    assert twice(2) == 4\n", "solution": code}
    kodcode = task_of("kodcode", **plain)
    big = task_of("bigcodebench", complete_prompt="import numpy, math\ndef task_func(n):\n",
                  canonical_solution="    return float(numpy.sqrt(n))\n")  # fmt: skip
    references = [task.problem.reference or "" for task in (kodcode, big)]
    assert run_batch([kodcode, big], references, backend=pool).rewards == (1.0, 1.0)


@pytest.mark.slow
def test_objects_of_tests_need_the_mode_that_runs_them_as_written(pool: Pool):
    fields = {
        "complete_prompt": "import collections\ndef task_func(n):\n",
        "canonical_solution": "    return collections.namedtuple('P', 'x')(n)",
        "test": (
            "import unittest\nclass TestCases(unittest.TestCase):\n    def test_x(self):\n"
            "        import sys\n        self.assertEqual(task_func(4).x, 4)\n"
            "        self.assertIs(task_func.__globals__['collections'], collections)\n"
        ),
    }
    entry = find_data_set("bigcodebench")
    task = entry.read(
        row("bigcodebench", **fields),
        LoadOptions(limits=entry.limits, script_mode=Mode.AS_WRITTEN),
    )
    assert run_batch(task, [task.problem.reference or ""], backend=pool).rewards == (1.0,)
