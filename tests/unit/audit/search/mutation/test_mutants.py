from __future__ import annotations

import ast
from collections import Counter
from typing import Any

import pytest

from unhack.audit.search.mutation.mutants import Mutant, mutants
from unhack.sandbox.job import Profile
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.fresh import call_all
from unhack.verifiers.jobs import Answer

REFERENCES: dict[str, tuple[str, str, list[tuple[Any, ...]]]] = {
    "pairs": (
        "two_sum",
        "def two_sum(nums: list[int], target: int) -> list[int]:\n"
        "    seen = {}\n"
        "    for index, number in enumerate(nums):\n"
        "        if target - number in seen:\n"
        "            return [seen[target - number], index]\n"
        "        seen[number] = index\n"
        "    return []\n",
        [([], 0), ([3, 3], 6), ([2, 7, 11, 15], 9), ([2, 7, 11, 15], 26), ([1], 2),
         ([-5, 1, 4, 0], -1), ([4, 9, 4, 1], 8), (list(range(20)), 37), ([5, 0, 0, 5], 10),
         ([120, 300, 7], 420), ([1, 2], 9), ([6, 3, 3], 6), ([3, 1, 5, 2], 7)],
    ),
    "roman": (
        "roman",
        "def roman(text):\n"
        '    """The number of a Roman numeral."""\n'
        "    values = {'I': 1, 'V': 5, 'X': 10, 'L': 50, 'C': 100, 'D': 500, 'M': 1000}\n"
        "    total = 0\n"
        "    for i in range(len(text)):\n"
        "        value = values[text[i]]\n"
        "        if i + 1 < len(text) and values[text[i + 1]] > value:\n"
        "            total -= value\n"
        "        else:\n"
        "            total += value\n"
        "    return total\n",
        [("",), ("I",), ("IV",), ("VI",), ("III",), ("XC",), ("XL",), ("MCMXCIV",), ("DCLXVI",),
         ("CD",), ("XIX",), ("MMMDCCCLXXXVIII",), ("V",), ("L",), ("D",), ("C",), ("M",)],
    ),
    "steps": (
        "ways",
        "def ways(n: int, most: int = 2) -> int:\n"
        "    if n < 0:\n"
        "        return 0\n"
        "    if n == 0:\n"
        "        return 1\n"
        "    return sum(ways(n - step, most) for step in range(1, most + 1))\n",
        [(-2,), (0,), (1,), (2,), (3,), (5,), (8,), (11,), (4, 1), (4, 3), (6, 4), (3, 0), (12,)],
    ),
    "words": (
        "longest",
        "def longest(line: str) -> str:\n"
        "    best = ''\n"
        "    for word in line.split():\n"
        "        clean = word.strip('.,!')\n"
        "        if len(clean) > len(best) or (len(clean) == len(best) and clean < best):\n"
        "            best = clean\n"
        "    return best.lower()\n",
        [("",), ("a",), ("one three two.",), ("Big dog, BIG!",), ("bb aa cc",), ("x yy zzz",),
         ("zzz yy x",), ("deer DEER deer!",), ("a long line with several words, is here",),
         ("abc, abd.",), ("noon Otto",), ("ab ba aab",), ("end. middle",)],
    ),
    "mean": (
        "smooth",
        "def smooth(values: list, width: int) -> list:\n"
        "    result = []\n"
        "    for i in range(len(values)):\n"
        "        window = values[max(0, i - width):i + width + 1]\n"
        "        result.append(sum(window) / len(window))\n"
        "    return result\n",
        [([], 1), ([1], 1), ([1, 2, 3], 0), ([1, 2, 3], 1), ([5, -1, 7, 2, 9], 2),
         ([4, 4, 4, 8], 1), ([10, 0, -10, 0, 10, 3, 3, 8, 1, 2, 6, 30], 1), ([1, 5], 5),
         ([2, 1], 12), ([300, 200, 100], 1), ([7, 1, 1], 4), ([-3, -9, 2], 1), ([1, 2, 4], 101)],
    ),
}  # fmt: skip
PROGRAM = (
    "import sys\n\n"
    "def main():\n"
    "    total = 0\n"
    "    for line in sys.stdin:\n"
    "        total += int(line)\n"
    "    print('sum', total)\n\n"
    "if __name__ == '__main__':\n"
    "    main()\n"
)


def behaviour(source: str, entry: str, calls: list[tuple[Any, ...]], pool: Pool) -> list[str]:
    found = call_all(
        source,
        entry,
        calls=[(args, {}) for args in calls],
        limits=Limits(wall_s=1.0, cpu_s=1.0),
        profile=Profile(),
        backend=pool,
    )
    return [
        f"{type(item.value).__name__} {item.value!r} {item.raised}"
        if isinstance(item, Answer)
        else item
        for item in found
    ]


@pytest.mark.parametrize("name", sorted(REFERENCES))
class TestOfReferences:
    def test_every_mutant_compiles_and_is_another_program(self, name: str) -> None:
        source = REFERENCES[name][1]
        made = mutants(source, limit=1000)
        assert len(made) >= 30
        shapes = [ast.dump(ast.parse(mutant.source)) for mutant in made]
        assert len({*shapes, ast.dump(ast.parse(source))}) == len(made) + 1
        for mutant in made:
            compile(mutant.source, mutant.operator, "exec")
            assert 1 <= mutant.line <= source.count("\n")
            assert mutant.note
            assert mutant.operator

    def test_most_mutants_behave_differently(self, name: str, pool: Pool) -> None:
        entry, source, calls = REFERENCES[name]
        right = behaviour(source, entry, calls, pool)
        assert not any("raised" in text for text in right)
        made = mutants(source, limit=40)
        same = [m for m in made if behaviour(m.source, entry, calls, pool) == right]
        assert len(same) <= 0.2 * len(made), [(m.operator, m.note) for m in same]

    def test_few_mutants_are_spread_over_the_operators(self, name: str) -> None:
        source = REFERENCES[name][1]
        every = {mutant.operator for mutant in mutants(source, limit=1000)}
        few = Counter(mutant.operator for mutant in mutants(source, limit=len(every) + 1))
        assert set(few) == every


class TestOrder:
    @pytest.mark.slow
    def test_the_seed_decides_which_come_first(self) -> None:
        source = REFERENCES["roman"][1]
        assert mutants(source, limit=20) == mutants(source, limit=20)
        assert mutants(source, limit=20) != mutants(source, limit=20, seed=1)

    @pytest.mark.parametrize("source", ["", "def f(:", "f(1\0)", "text without code", "x"])
    def test_what_is_no_program_has_no_faults(self, source: str) -> None:
        assert mutants(source) == []

    def test_nothing_is_made_for_a_limit_of_zero(self) -> None:
        assert mutants(REFERENCES["steps"][1], limit=0) == []

    def test_a_fenced_reference_is_taken_out_of_its_fence(self) -> None:
        source = REFERENCES["steps"][1]
        assert mutants(f"Here:\n\n```python\n{source}```\n") == mutants(source)


class TestKinds:
    @pytest.mark.parametrize(
        ("source", "operator", "made"),
        [
            ("def f(a, b):\n    return a < b", "comparison_flipped", "return a <= b"),
            ("def f(a, b):\n    return a < b", "bound_off_by_one", "return a < b + 1"),
            ("def f(n):\n    return n + 5", "constant_changed", "return n + 6"),
            ("def f(n):\n    return list(range(n))", "range_off_by_one", "range(n - 1)"),
            ("def f(n):\n    return 1 if n else 2", "branches_changed", "return 2 if n else 1"),
            ("def f(n):\n    if n:\n        return 1\n    return 2", "base_case_removed",
             "def f(n):\n    pass\n    return 2"),
            ("def f(n):\n    a = []\n    a.append(n)\n    return a", "statement_dropped", "pass"),
            ("def f(a, b):\n    return a + b", "arithmetic_changed", "return a - b"),
            ("def f(a):\n    return -a", "sign_dropped", "return a\n"),
            ("def f(a, b):\n    return a and b", "and_or_changed", "return a or b"),
            ("def f(a):\n    return a[1:]", "slice_shifted", "a[1 + 1:]"),
            ("def f(a, i):\n    return a[i]", "index_shifted", "a[i - 1]"),
            ("def f(a):\n    for x in a:\n        if x:\n            break", "jump_changed",
             "continue"),
            ("def f(a):\n    return max(a, default=0)", "function_changed", "max(a)"),
            ("def f(a):\n    return max(a, default=0)", "function_changed", "min(a, default=0)"),
            ("def f(a) -> list:\n    return g(a)", "result_damaged", "value[::-1]"),
            ("def f(a) -> float:\n    return g(a)", "result_damaged", "round(value, 1)"),
            ("def f(a: list):\n    return g(a)", "input_mistreated", "if len(a) > 10:"),
            ("def f(n: int):\n    return g(n)", "input_mistreated", "if n < 0:"),
            ("def f(s: str):\n    return g(s)", "input_mistreated", "if ' ' in s:"),
            ("def f(a):\n    t = 0\n    for x in a:\n        t += x\n    return t", "wrong_start",
             "t = 100"),
            (PROGRAM, "output_damaged", "str(total)[:-1]"),
            ("def g(a, b):\n    return a - b\ndef f(a):\n    return g(a, 2)", "arguments_swapped",
             "g(2, a)"),
        ],
    )  # fmt: skip
    def test_a_kind_of_fault_is_made(self, source: str, operator: str, made: str) -> None:
        found = [m for m in mutants(source, limit=1000) if m.operator == operator]
        assert any(made in mutant.source for mutant in found), [m.source for m in found]

    @pytest.mark.parametrize(
        "kept", ["import sys", "if __name__ == '__main__':\n    main()", "sys.stdin"]
    )
    def test_the_frame_of_a_program_is_left_alone(self, kept: str) -> None:
        made = mutants(PROGRAM, limit=1000)
        assert made
        assert all(kept in mutant.source for mutant in made)

    def test_docstrings_and_annotations_are_left_alone(self) -> None:
        source = 'def f(n: "list[3]") -> "dict[int, 7]":\n    """Add 5."""\n    return g(n)\n'
        every = [*mutants(source, limit=1000)]
        assert every
        for mutant in every:
            assert '"""Add 5."""' in mutant.source
            assert "list[3]" in mutant.source
            assert "dict[int, 7]" in mutant.source

    def test_a_counter_of_a_while_loop_is_not_dropped(self) -> None:
        source = "def f(n):\n    while n > 0:\n        n -= 1\n    return n\n"
        dropped = [m for m in mutants(source, limit=1000) if m.operator == "statement_dropped"]
        assert dropped == []

    def test_a_fault_names_the_line_of_the_reference(self) -> None:
        source = "def f(n):\n    n = abs(n)\n    return n - 3\n"
        lines = {m.line for m in mutants(source, limit=1000) if m.operator == "arithmetic_changed"}
        assert lines == {3}
        assert all(isinstance(mutant, Mutant) for mutant in mutants(source))
