from __future__ import annotations

from typing import Any

import pytest

from unhack.audit.oracle.examples import examples_of
from unhack.audit.subject import AuditProblem, Call


def shown(prompt: str, entry: str | None = "f") -> list[tuple[tuple[Any, ...], Any]]:
    problem = AuditProblem("p", prompt, entry_point=entry)
    return [(call.args, call.expected) for call in examples_of(problem)]


class TestCalls:
    @pytest.mark.parametrize(
        ("prompt", "args", "expected"),
        [
            (">>> f(1, 2)\n3\n", (1, 2), 3),
            ('    >>> f("a")\n    "b"\n    """', ("a",), "b"),
            (">>> f([1,\n...    2])\n[3]", None, None),
            ("so that f(1, 2) == 3 holds", (1, 2), 3),
            ("`f([1, 2])` → 3", ([1, 2],), 3),
            ("f([1,2]) -> 3", ([1, 2],), 3),
            ("f((1, (2, 3)), 'x)') => {'a': [1]}", ((1, (2, 3)), "x)"), {"a": [1]}),
            ("f(2) returns 4.", (2,), 4),
            ("f(2) should return -4.5, as", (2,), -4.5),
            ("f('') = None", ("",), None),
            ("assert f([3, 1]) == [1, 3], 'sorted'", ([3, 1],), [1, 3]),
            ("assert f(3)\n", (3,), True),
            ("assert not f(4)\n", (4,), False),
            ("assert f(3) is False", (3,), False),
            ("print(f(5))  # 25", (5,), 25),
            ("f(1)   # => (1, 2)", (1,), (1, 2)),
            ("f([]) -> [\n  [1],\n  [2]\n]\n", ([],), [[1], [2]]),
            ("f('it\\'s') == 'ok'", ("it's",), "ok"),
            ("f(true) -> false", (True,), False),
            ("f('a') gives true", ("a",), True),
        ],
    )
    def test_a_call_with_its_result_is_read(self, prompt: str, args: Any, expected: Any) -> None:
        assert shown(prompt) == ([] if args is None else [(args, expected)])

    def test_keyword_arguments_are_read(self) -> None:
        problem = AuditProblem("p", "f(1, scale=2) == 2", entry_point="f")
        assert examples_of(problem) == (Call((1,), {"scale": 2}, 2),)

    @pytest.mark.parametrize(
        "prompt",
        [
            "",
            "def f(n: int) -> int: ...",
            "def f(x=1): return 2",
            "f(n) == n + 1",
            "f(1) != 2",
            "assert abs(f(1) - 2.0) < 1e-6",
            "f(*items) == 3",
            "f(1, 2",
            "shelf(1) == 2",
            "f(1) is always right",
            "f(__import__('os').getcwd()) == 1",
        ],
    )
    def test_what_shows_no_value_is_no_example(self, prompt: str) -> None:
        assert shown(prompt) == []

    def test_examples_come_in_order_and_once(self) -> None:
        prompt = "f(2) -> 4\nf(1) -> 1\nf(2) -> 4\n>>> f(3)\n9\n"
        assert shown(prompt) == [((2,), 4), ((1,), 1), ((3,), 9)]

    def test_a_method_is_found_by_its_own_name(self) -> None:
        assert shown("Solution().f(1) == 2", "Solution.f") == [((1,), 2)]

    def test_a_prompt_of_brackets_is_read_in_time(self) -> None:
        assert shown("f(" * 4000 + "1" + ")" * 4000 + " == 1") == []


class TestLabels:
    @pytest.mark.parametrize(
        ("prompt", "args", "expected"),
        [
            ("Input: nums = [1,2], target = 3\nOutput: [0,1]\n", ([1, 2], 3), [0, 1]),
            ('**Input:** s = "a=b"\n**Output:** true\n**Why:** so', ("a=b",), True),
            ("Example 1\n\nInput: 5\nOutput: 25\n", (5,), 25),
            ("Input: [1, 2], 7\nOutput: 3", ([1, 2], 7), 3),
            ("Input:\n```\n[1]\n2\n```\nOutput:\n```\n3\n```", ([1], 2), 3),
            ("> Input: grid = [[1,\n2]]\n> Output: null", ([[1, 2]],), None),
        ],
    )
    def test_input_and_output_lines_are_read(self, prompt: str, args: Any, expected: Any) -> None:
        assert shown(prompt) == [(args, expected)]

    def test_several_pairs_are_told_apart(self) -> None:
        prompt = "Input: n = 1\nOutput: 2\nExplanation: n = 3\nInput: n = 4\nOutput: 5\n"
        assert shown(prompt) == [((1,), 2), ((4,), 5)]


class TestPrograms:
    def test_fenced_samples_are_stdin_and_stdout(self) -> None:
        prompt = (
            "## Input\n\nThe first line holds one number.\n\n## Output\n\nIts double.\n\n"
            "## Example 1\n\nInput:\n\n```\n3\n1 2 3\n```\n\nOutput:\n\n```\n6\n```\n"
        )
        assert shown(prompt, None) == [(("3\n1 2 3\n",), "6\n")]

    def test_plain_samples_end_at_an_empty_line(self) -> None:
        prompt = "Sample Input 1\n3 4\n5\n\nSample Output 1\n12\n\nNote that it is 12."
        assert shown(prompt, None) == [(("3 4\n5\n",), "12\n")]

    def test_prose_is_no_sample(self) -> None:
        assert shown("Input\nThe first line has n.\n\nOutput\nPrint the sum of all.\n", None) == []
