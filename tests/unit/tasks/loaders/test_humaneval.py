"""HumanEval and EvalPlus rows; all rows here are made up."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.core.completion import Extraction
from unhack.core.errors import TaskError
from unhack.core.verdict import Status
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders import humaneval
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier

PROMPT = '''from typing import List


def outer(text: str) -> str:
    return text[0] + text[-1]


def frame(words: List[str]) -> List[str]:
    """ The outer letters of each word.
    >>> frame(["apple"])
    ["ae"]
    """
'''
BODY = "    return [outer(word) for word in words]\n"
TEST = """

METADATA = {'author': 'us'}


def check(candidate):
    assert candidate(["apple", "fig"]) == ["ae", "fg"]
    assert candidate([]) == []
    assert not candidate([])
"""
ROW: dict[str, Any] = {
    "task_id": "Made/0",
    "prompt": PROMPT,
    "entry_point": "frame",
    "canonical_solution": BODY,
    "test": TEST,
}


@pytest.fixture
def load(tmp_path: Path, pool: Pool) -> Callable[..., Task]:
    """`load(field=value, ...)`: the task of one row."""

    def make(*, without: str = "", options: dict[str, Any] | None = None, **fields: Any) -> Task:
        row = {key: value for key, value in {**ROW, **fields}.items() if key != without}
        path = tmp_path / "rows.jsonl"
        path.write_text(json.dumps(row) + "\n")
        [task] = humaneval.load(path, backend=pool, **(options or {}))
        return task

    return make


@pytest.fixture
def judge(pool: Pool) -> Callable[[Task, str], Any]:
    def run(task: Task, completion: str) -> Any:
        return run_batch(task, [completion], backend=pool).verdicts[0]

    return run


WHOLE = "def frame(words):\n    return [word[0] + word[-1] for word in words]\n"


@pytest.mark.parametrize(
    "completion",
    [
        BODY,
        "\n" + BODY,
        BODY + "\n\ndef other():\n    pass\n",
        WHOLE,
        f"Here it is:\n```python\n{WHOLE}```\nDone.",
        f"```python\n{PROMPT}{BODY}```",
        f"```python\n{BODY}```",
        "```\nimport string\n\ndef frame(words):\n    return [outer(word) for word in words]\n```",
    ],
    ids=[
        "continuation", "after a blank line", "with more behind it", "bare function",
        "function in a chat", "whole program", "body in a fence", "uses the prompt's helper",
    ],
)  # fmt: skip
def test_a_continuation_and_a_whole_function_both_pass(load: Any, judge: Any, completion: str):
    assert judge(load(), completion).status is Status.PASSED


@pytest.mark.parametrize(
    ("completion", "status"),
    [
        ("    return words\n", Status.FAILED),
        ("    pass\n", Status.FAILED),
        ("```python\ndef frame(words):\n    return words\n```", Status.FAILED),
        ("return words\n", Status.INVALID),
        ("I do not know.", Status.INVALID),
        ("   \n", Status.INVALID),
        ("    return [1 // 0]\n", Status.ERROR),
        ("class Same:\n    __eq__ = lambda self, other: True\n"
         "def frame(words):\n    return Same()\n", Status.FAILED),
    ],
)  # fmt: skip
def test_a_wrong_completion_fails(load: Any, judge: Any, completion: str, status: Status):
    verdict = judge(load(), completion)
    assert (verdict.status, verdict.score) == (status, 0.0)


def test_the_task_carries_the_row(load: Any):
    task = load()
    assert (task.id, task.prompt) == ("Made/0", PROMPT)
    assert task.problem.reference == BODY
    assert task.problem.meta["entry_point"] == "frame"
    assert isinstance(task.verifier, FunctionVerifier)
    assert len(task.verifier.cases) == 3


def test_a_prompt_that_is_a_bare_signature_takes_both_forms(load: Any, judge: Any):
    test = "def check(candidate):\n    assert candidate(2) == 4\n"
    task = load(prompt="def double(n):\n", entry_point="double", test=test)
    assert judge(task, "    return 2 * n\n").passed
    assert judge(task, "def double(n):\n    return 2 * n\n").passed


def test_a_prompt_without_a_newline_at_its_end_takes_both_forms(load: Any, judge: Any):
    task = load(prompt=PROMPT.rstrip())
    assert judge(task, BODY).passed
    assert judge(task, WHOLE).passed


def test_raw_extraction_takes_the_text_as_it_is(load: Any, judge: Any):
    task = load(options={"options": LoadOptions(extraction=Extraction.RAW)})
    assert judge(task, BODY).passed
    assert judge(task, f"```python\n{WHOLE}```").status is Status.INVALID


def test_the_shown_example_does_not_share_state_with_the_next_completion(load: Any, judge: Any):
    task = load()
    hostile = "    import builtins\n    builtins.len = lambda x: 0\n    return words\n"
    judge(task, hostile)
    assert judge(task, BODY).passed


def test_packed_rows_are_read(tmp_path: Path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress((json.dumps(ROW) + "\n" + json.dumps(ROW)).encode()))
    assert len(humaneval.load(path)) == 2


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": "def check(candidate):\n    assert"}, "`test` cannot be used"),
        ({"test": "x = 1"}, "defines no check"),
        ({"prompt": "def frame(words"}, "`prompt` is neither Python"),
        ({"without": "entry_point"}, "no `entry_point`"),
    ],
)
def test_a_bad_row_is_named(load: Any, fields: dict[str, Any], message: str):
    with pytest.raises(TaskError) as caught:
        load(**fields)
    assert "rows.jsonl:1: " in str(caught.value)
    assert message in str(caught.value)


HALVES: dict[str, Any] = {
    "task_id": "HumanEval/900",
    "prompt": 'def halves(values):\n    """Half of each."""\n',
    "entry_point": "halves",
    "canonical_solution": "    return [value / 2 for value in values]\n",
    "base_input": [[[1, 2]]],
    "plus_input": [[[]], [[7, 0.3]]],
    "atol": 0,
}


def test_a_release_of_evalplus_gets_its_outputs_from_the_canonical_solution(load: Any, judge: Any):
    task = load(without="test", **HALVES)
    assert [case.expected for case in task.verifier.cases] == [[0.5, 1.0], [], [3.5, 0.15]]
    assert judge(task, HALVES["canonical_solution"]).passed
    assert judge(task, "    return [value * 0.5000000001 for value in values]\n").passed
    assert judge(task, "    return [value // 2 for value in values]\n").score == 0.0
    assert judge(task, "    return tuple(value / 2 for value in values)\n").score == 0.0


def test_the_base_inputs_of_a_release_can_be_used_alone(load: Any):
    task = load(without="test", options={"base_only": True}, **HALVES)
    assert len(task.verifier.cases) == 1


def test_any_zero_of_a_polynomial_counts(load: Any, judge: Any):
    row = {
        **HALVES,
        "prompt": 'def find_zero(xs):\n    """A zero."""\n',
        "entry_point": "find_zero",
        "canonical_solution": "    return 2\n",
        "base_input": [[[-6, 5, -1]]],
        "plus_input": [],
        "atol": 1e-4,
    }
    task = load(without="test", **row)
    assert judge(task, "    return 3.00000001\n").passed
    assert judge(task, "    return 4\n").score == 0.0


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"canonical_solution": "    return 1 // 0\n"}, "fails on input 0: ZeroDivisionError"),
        ({"canonical_solution": "    return (\n"}, "fails on input 0: SyntaxError"),
        ({"base_input": [3]}, "list of argument lists"),
        (
            {
                "task_id": "Mbpp/164",
                "prompt": '"""Any."""\n',
                "entry_point": "are_equivalent",
                "canonical_solution": "def are_equivalent(n):\n    return True\n",
            },
            "takes any output of `are_equivalent`",
        ),
    ],
)
def test_a_release_whose_outputs_cannot_be_made_is_named(
    load: Any, fields: dict[str, Any], message: str
):
    with pytest.raises(TaskError) as caught:
        load(without="test", **{**HALVES, **fields})
    assert "rows.jsonl:1: " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"task_id": "Mbpp/x"}, "does not fit MBPP+"),
        ({"task_id": "Mbpp/2"}, "does not fit MBPP+"),
        ({"task_id": "Mbpp/106"}, "does not fit MBPP+"),
        ({"task_id": "Mbpp/722"}, "does not fit MBPP+"),
        (
            {"task_id": "Mbpp/7", "entry_point": "Diff",
             "canonical_solution": "def Diff(n):\n    return [[n]]\n"},
            "cannot be compared as EvalPlus does: unhashable",
        ),
    ],
)  # fmt: skip
def test_a_row_that_does_not_fit_its_number_is_named(
    load: Any, fields: dict[str, Any], message: str
):
    row = mbpp_row(1, "same", "(n):\n    return n\n", [[1]])
    with pytest.raises(TaskError, match=r"rows\.jsonl:1: ") as caught:
        load(without="test", **{**row, **fields})
    assert message in str(caught.value)


def mbpp_row(number: int, entry: str, solution: str, inputs: list[list[Any]]) -> dict[str, Any]:
    return {
        "task_id": f"Mbpp/{number}",
        "prompt": '"""\nDo it.\n"""\n',
        "entry_point": entry,
        "canonical_solution": f"\ndef {entry}{solution}",
        "base_input": inputs,
        "plus_input": [],
        "atol": 0,
    }


@pytest.mark.parametrize(
    ("row", "right", "wrong"),
    [
        (
            mbpp_row(261, "pairs", "(a, b):\n    return (a, b)\n", [[[1, 2], [3]]]),
            "def pairs(x, y):\n    return (x + (), y)\n",
            "def pairs(x, y):\n    return (list(x), y)\n",
        ),
        (
            mbpp_row(2, "similar_elements", "(a, b):\n    return tuple(set(a) & set(b))\n",
                     [[[1, 2, 3], [2, 3]]]),
            "def similar_elements(a, b):\n    return [3, 2, 3]\n",
            "def similar_elements(a, b):\n    return (2,)\n",
        ),
        (
            mbpp_row(1, "check_str", "(text):\n    import re\n    return re.search('^a', text)\n",
                     [["abc"], ["xyz"]]),
            "def check_str(text):\n    return text if text[0] == 'a' else None\n",
            "def check_str(text):\n    return text\n",
        ),
        (
            mbpp_row(558, "digit_distance_nums", "(a, b):\n    return abs(a - b)\n", [[12, 103]]),
            "def digit_distance_nums(a, b):\n    return 3\n",
            "def digit_distance_nums(a, b):\n    return 4\n",
        ),
        (
            mbpp_row(722, "over", "(grades, limit):\n    return grades\n", [[{"a": [1, 2]}, 3]]),
            "def over(grades, limit):\n    return {'a': (1, limit - 1)}\n",
            "def over(grades, limit):\n    return {'a': [1, 2]}\n",
        ),
        (
            mbpp_row(615, "deep", "(rows):\n    return rows\n", [[[[1, [2]], 3]]]),
            "def deep(rows):\n    return ((1, (2,)), 3) if type(rows[0][1]) is tuple else 0\n",
            "def deep(rows):\n    return 0\n",
        ),
    ],
    ids=lambda item: item["entry_point"] if isinstance(item, dict) else "",
)  # fmt: skip
def test_mbpps_rows_of_evalplus_are_converted_and_compared_as_there(
    load: Any, judge: Any, row: dict[str, Any], right: str, wrong: str
):
    task = load(without="test", **row)
    assert judge(task, task.problem.reference).passed
    assert judge(task, right).passed
    assert judge(task, wrong).score == 0.0
