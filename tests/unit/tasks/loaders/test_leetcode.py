"""LeetCode-style rows; all rows here are made up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import TaskError
from unhack.core.verdict import Seal, Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders import humaneval, leetcode
from unhack.tasks.loaders.check_code import CheckVerifier
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier

SETUP = """
from typing import *


class ListNode:
    def __init__(self, val=0, next=None):
        self.val, self.next = val, next


class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right


def list_node(values):
    head = None
    for value in reversed(values):
        head = ListNode(value, head)
    return head


def tree_node(values):
    if not values:
        return None
    root, index = TreeNode(values[0]), 1
    row = [root]
    while row and index < len(values):
        node = row.pop(0)
        for side in ("left", "right"):
            if index < len(values) and values[index] is not None:
                setattr(node, side, TreeNode(values[index]))
                row.append(getattr(node, side))
            index += 1
    return root
"""
TWICE = "class Solution:\n    def twice(self, n: int) -> int:\n        return 2 * n\n"
ROW: dict[str, Any] = {
    "id": 12,
    "prompt": [
        {"role": "system", "content": "You write Python."},
        {"role": "user", "content": "Double n."},
    ],
    "setup_code": SETUP,
    "func_name": "Solution().twice",
    "test": ["assert Solution().twice(2) == 4", "assert Solution().twice(n = -1) == -2"],
    "canonical_solution": TWICE,
    "difficulty": "hard",
}


def load(folder: Path, *, without: str = "", **fields: Any) -> Task:
    path = folder / "rows.jsonl"
    row = {key: value for key, value in {**ROW, **fields}.items() if key != without}
    path.write_text(json.dumps(row))
    [task] = leetcode.load(path)
    return task


def judge(pool: Pool, task: Task, completion: str) -> Verdict:
    return run_batch(task, [completion], backend=pool).verdicts[0]


def method(name: str, body: str) -> str:
    return f"class Solution:\n    def {name}(self, root, k=0):\n        {body}\n"


def test_a_method_is_judged_by_its_asserts(tmp_path: Path, pool: Pool):
    task = load(tmp_path)
    assert isinstance(task.verifier, FunctionVerifier)
    assert judge(pool, task, TWICE).passed
    assert judge(pool, task, f"```python\n{TWICE}```").passed
    assert not judge(pool, task, TWICE.replace("2 *", "3 *")).passed
    assert not judge(pool, task, "def twice(n):\n    return 2 * n\n").passed


def test_a_plain_function_is_judged_by_its_asserts(tmp_path: Path, pool: Pool):
    task = load(tmp_path, func_name="twice", test=["assert twice(3) == 6"])
    assert judge(pool, task, "def twice(n):\n    return n + n\n").passed
    assert not judge(pool, task, "def twice(n):\n    return n\n").passed


def test_the_names_of_the_setup_are_at_hand(tmp_path: Path, pool: Pool):
    completion = TWICE.replace("n: int", "n: Optional[int]")
    assert judge(pool, load(tmp_path), completion).passed


def test_the_task_carries_the_row(tmp_path: Path):
    task = load(tmp_path)
    assert (task.id, task.prompt) == ("leetcode/12", "You write Python.\n\nDouble n.")
    assert (task.problem.reference, task.problem.meta["difficulty"]) == (TWICE, "hard")
    assert load(tmp_path, prompt="Double n.").prompt == "Double n."
    assert len(load(tmp_path, without="test", gt_answer=["assert Solution().twice(1) == 2"])
               .verifier.cases) == 1  # type: ignore[attr-defined]  # fmt: skip


@pytest.mark.slow
def test_linked_lists_cross_as_plain_lists(tmp_path: Path, pool: Pool):
    task = load(
        tmp_path,
        func_name="Solution().drop",
        test=[
            "assert is_same_list(Solution().drop(list_node([1, 2, 3]), 2), list_node([1, 3]))",
            "assert is_same_list(Solution().drop(list_node([2]), 2), None)",
            "assert is_same_list(Solution().drop(list_node([]), 2), list_node([]))",
        ],
    )
    assert isinstance(task.verifier, FunctionVerifier)
    right = method("drop", "return list_node([v for v in values(root) if v != k])") + (
        "def values(node):\n    while node:\n        yield node.val\n        node = node.next\n"
    )
    assert judge(pool, task, right).passed
    assert not judge(pool, task, method("drop", "return root")).passed
    endless = method("drop", "root = ListNode(1); root.next = root; return root")
    assert judge(pool, task, endless).score == 0.0
    assert judge(pool, task, method("drop", "return [1, 3]")).score == 0.0


def test_trees_cross_as_plain_lists(tmp_path: Path, pool: Pool):
    task = load(
        tmp_path,
        func_name="Solution().mirror",
        test=[
            "assert is_same_tree(Solution().mirror(tree_node([1, 2, 3, None, 4])), "
            "tree_node([1, 3, 2, None, None, 4]))",
            "assert is_same_tree(Solution().mirror(tree_node([])), None)",
        ],
    )
    body = (
        "if root: root.left, root.right = self.mirror(root.right), self.mirror(root.left)\n"
        "        return root"
    )
    assert judge(pool, task, method("mirror", body)).passed
    assert not judge(pool, task, method("mirror", "return root")).passed


def test_a_tree_may_be_an_argument_alone(tmp_path: Path, pool: Pool):
    test = ["assert Solution().top(tree_node([5, 1]), 2) == 7"]
    task = load(tmp_path, func_name="Solution().top", test=test)
    assert judge(pool, task, method("top", "return root.val + k")).passed
    assert not judge(pool, task, method("top", "return root.val")).passed


def test_named_arguments_may_be_trees(tmp_path: Path, pool: Pool):
    test = ["assert Solution().top(root = tree_node([5, 1]), k = 2) == 7"]
    task = load(tmp_path, func_name="Solution().top", test=test)
    assert isinstance(task.verifier, FunctionVerifier)
    assert judge(pool, task, method("top", "return root.val + k")).passed
    assert not judge(pool, task, method("top", "return root.val")).passed


@pytest.mark.slow
def test_a_check_by_a_helper_of_the_setup_runs_as_a_script(tmp_path: Path, pool: Pool):
    setup = "def near(a, b):\n    return abs(a - b) < 0.1\n"
    task = load(tmp_path, setup_code=setup, test=["assert near(Solution().twice(2), 4.05)"])
    assert isinstance(task.verifier, CheckVerifier)
    assert judge(pool, task, TWICE).passed
    wrong = TWICE.replace("2 *", "3 *") + "def near(a, b):\n    return True\n"
    assert not judge(pool, task, wrong).passed


@pytest.mark.parametrize(
    "text",
    [
        "assert is_same_list(Solution().drop(tree_node([1])), tree_node([1]))",
        "assert Solution().drop(list_node([1])) == list_node([1])",
        "assert Other().drop(list_node([1])) == 1",
        "assert Solution().drop(**{'root': 1}) == 1 or 2",
        "for n in (1, 2):\n    assert Solution().drop(list_node([n])) == n",
    ],
)
def test_other_uses_of_lists_and_trees_go_to_a_script(tmp_path: Path, text: str):
    task = load(tmp_path, func_name="Solution().drop", test=[text])
    assert isinstance(task.verifier, CheckVerifier)


@pytest.mark.slow
def test_an_object_that_a_test_makes_reaches_the_completion(tmp_path: Path, pool: Pool):
    task = load(
        tmp_path,
        func_name="Solution().top",
        test=["for n in (1, 2):\n    assert Solution().top(list_node([n])) == n"],
        canonical_solution=method("top", "return root.val"),
    )
    found = [judge(pool, task, method("top", body)) for body in ("return root.val", "return 1")]
    assert [(one.score, one.seal) for one in found] == [(1.0, Seal.SEALED), (0.0, Seal.SEALED)]


@pytest.mark.slow
def test_an_object_that_cannot_cross_is_no_fault_of_the_completion(tmp_path: Path, pool: Pool):
    task = load(
        tmp_path,
        func_name="Solution().top",
        test=["for n in (1, 2):\n    assert Solution().top(memoryview(bytes([n]))) == n"],
        canonical_solution=method("top", "return root[0]"),
    )
    verdict = judge(pool, task, task.problem.reference or "")
    assert verdict.score == 1.0, verdict


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"test": []}, "`test` is empty"),
        ({"test": ["assert Solution("]}, "cannot be used"),
        ({"prompt": [1]}, "messages with `content`"),
        ({"without": "func_name"}, "no `func_name`"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, fields: dict[str, Any], message: str):
    with pytest.raises(TaskError) as caught:
        load(tmp_path, **fields)
    assert "rows.jsonl:1: " in str(caught.value)
    assert message in str(caught.value)


PUBLISHED: dict[str, Any] = {
    "task_id": "sum",
    "problem_description": "Add up the tree.",
    "starter_code": "class Solution:\n    def total(self, root):\n        ",
    "prompt": SETUP,
    "entry_point": "Solution().total",
    "completion": "class Solution:\n    def total(self, root):\n"
    "        return root.val if root else 0",
    "test": "def check(candidate):\n    assert candidate(root = tree_node([3, None, 4])) == 3\n"
    "    assert candidate(root = tree_node([])) == 0\n",
}


@pytest.mark.parametrize("loader", [leetcode, humaneval])
def test_published_rows_hold_trees_in_check_and_code_in_the_prompt(
    tmp_path: Path, pool: Pool, loader: Any
):
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(PUBLISHED))
    [task] = loader.load(path)
    assert isinstance(task.verifier, FunctionVerifier)
    assert task.prompt.startswith("Add up the tree.")
    assert "def total" in task.prompt
    assert judge(pool, task, task.problem.reference or "").passed
    assert judge(pool, task, PUBLISHED["completion"].replace("else 0", "else 1")).score == 0.0
