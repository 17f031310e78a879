"""Inputs come from the user's generator, the known calls, the prompt's examples or type hints."""

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.domain import sample
from unhack.audit.oracle.entry_points import as_function, definition_of
from unhack.audit.oracle.inputs import hint_strategy, inputs_of
from unhack.audit.oracle.programs import ProgramOracle
from unhack.audit.subject import AuditProblem, Call
from unhack.sandbox.limits import Limits
from unhack.sandbox.pool.pool import shared_pool

CLASS = """
class Solution:
    def total(self, items: list[int]) -> int:
        return sum(items)
"""
WRONG = CLASS.replace("sum(items)", "sum(items[:2])")
TOTALS = (Call(([1, 2],), {}, 3), Call(([],), {}, 0), Call(([4, 5, 6],), {}, 15))


def drawn(problem: AuditProblem, count: int = 20) -> list[Call]:
    found = inputs_of(
        problem, count=count, seed=3, limits=Limits(wall_s=4.0), backend=shared_pool()
    )
    return found[len(problem.calls) :]


def wrong(problem: AuditProblem, text: str) -> bool:
    return ProgramOracle().why_wrong(problem, Payload(text, Claim.PROGRAM)) is not None


class TestWhereInputsComeFrom:
    @pytest.mark.slow
    def test_the_users_generator_comes_first(self) -> None:
        generator = "def generate(rng):\n    return {'args': [rng.randint(1000, 2000)]}\n"
        problem = AuditProblem(
            "p", "Double it.", entry_point="f", calls=(Call((1,)),), generator=generator
        )
        found = drawn(problem)
        assert len(found) > 10
        assert all(1000 <= call.args[0] <= 2000 for call in found)
        assert found == drawn(problem)

    @pytest.mark.slow
    def test_a_broken_generator_is_passed_by(self) -> None:
        problem = AuditProblem(
            "p", "Double it.", entry_point="f", calls=(Call((1,)), Call((9,))), generator="1 / 0"
        )
        assert all(type(call.args[0]) is int for call in drawn(problem))
        assert drawn(problem)

    def test_the_examples_of_the_prompt_stand_in_for_unknown_calls(self) -> None:
        prompt = "Write f(n). f(3) returns 9, f(5) returns 25, f(12) returns 144."
        found = drawn(AuditProblem("p", prompt, entry_point="f"))
        assert found
        assert all(3 <= call.args[0] <= 16 for call in found)

    def test_type_hints_are_the_last_resort(self) -> None:
        source = "def f(n: int, words: list[str]) -> bool:\n    return str(n) in words\n"
        found = drawn(AuditProblem("p", "Write f.", correct=(source,), entry_point="f"))
        assert len(found) > 10
        for call in found:
            number, words = call.args
            assert 1 <= number <= 20
            assert words
            assert all(type(word) is str and word for word in words)

    def test_without_a_hint_for_every_parameter_nothing_is_drawn(self) -> None:
        source = "def f(n: int, other):\n    return n\n"
        assert drawn(AuditProblem("p", "Write f.", correct=(source,), entry_point="f")) == []

    @pytest.mark.parametrize(
        ("hint", "kinds"),
        [("int", int), ("Optional[int]", (int, type(None))), ("int | str", (int, str)),
         ("'float'", float), ("dict[str, int]", dict), ("tuple[int, ...]", tuple),
         ("typing.List[bool]", list)],
    )  # fmt: skip
    def test_values_fit_their_hint(self, hint: str, kinds: Any) -> None:
        strategy = hint_strategy(ast.parse(hint, mode="eval").body)
        assert strategy is not None
        assert all(isinstance(value, kinds) for value in sample(strategy, count=20, seed=1))

    @pytest.mark.parametrize("hint", ["Node", "list[Node]", "Callable[[int], int]", "list"])
    def test_what_a_hint_does_not_say_is_not_guessed(self, hint: str) -> None:
        assert hint_strategy(ast.parse(hint, mode="eval").body) is None

    def test_drawing_leaves_no_file_behind(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        drawn(AuditProblem("p", "Add.", entry_point="f", calls=TOTALS))
        assert list(tmp_path.iterdir()) == []


class TestMethods:
    @pytest.mark.slow
    @pytest.mark.parametrize("entry", ["Solution.total", "Solution().total"])
    def test_a_method_is_compared_like_a_function(self, entry: str) -> None:
        problem = AuditProblem("p", "Add them up.", None, (CLASS,), entry, TOTALS)
        assert wrong(problem, WRONG)
        assert wrong(problem, "class Other:\n    pass\n")
        assert not wrong(problem, CLASS.replace("sum(items)", "sum(sorted(items))"))
        static = CLASS.replace("    def", "    @staticmethod\n    def").replace("self, ", "")
        assert not wrong(problem, static)

    def test_plain_functions_stay_as_they_are(self) -> None:
        assert as_function("def f(): pass\n", "f") == ("def f(): pass\n", "f")

    def test_the_definition_is_found_in_its_class(self) -> None:
        found = definition_of(CLASS, "Solution().total")
        assert found is not None
        assert found.name == "total"
        assert definition_of(CLASS, "total") is None


@pytest.mark.slow
class TestCheckers:
    CHECK = "def check(args, kwargs, output, expected):\n    return output in args[0]\n"
    ANY = AuditProblem(
        "any", "Return any item.", None, ("def f(items):\n    return items[0]\n",), "f",
        (Call(([1, 2],), {}, 1), Call(([5, 7, 9],), {}, 5)), checker=CHECK,
    )  # fmt: skip

    def test_another_right_result_is_not_wrong(self) -> None:
        assert not wrong(self.ANY, "def f(items):\n    return items[-1]\n")

    def test_what_the_checker_rejects_is_wrong(self) -> None:
        assert wrong(self.ANY, "def f(items):\n    return max(items) + 1\n")

    def test_a_checker_that_rejects_the_reference_proves_nothing(self) -> None:
        problem = AuditProblem(
            "none", self.ANY.prompt, None, self.ANY.correct, "f", self.ANY.calls,
            checker="def check(args, kwargs, output, expected):\n    return False\n",
        )  # fmt: skip
        assert not wrong(problem, "def f(items):\n    return None\n")


@pytest.mark.slow
def test_drawn_inputs_of_a_program_tell_more_than_the_known_ones() -> None:
    generator = "def generate(rng):\n    return {'stdin': str(rng.randint(10, 99)) + '\\n'}\n"
    problem = AuditProblem(
        "double", "Print twice the number.", correct=("print(2 * int(input()))\n",),
        calls=(Call(("3\n",), {}, "6\n"),), generator=generator,
    )  # fmt: skip
    assert wrong(problem, "input()\nprint(6)\n")
    assert not wrong(problem, "n = int(input())\nprint(n + n)\n")


@pytest.mark.slow
def test_setup_stands_before_what_is_compared() -> None:
    problem = AuditProblem(
        "s", "Round up.", None, ("def f(n):\n    return math.ceil(n)\n",), "f",
        (Call((1.5,), {}, 2), Call((2.25,), {}, 3)), setup="import math\n",
    )  # fmt: skip
    assert wrong(problem, "def f(n):\n    return math.floor(n)\n")
    assert not wrong(problem, "def f(n):\n    return -math.floor(-n)\n")


@pytest.mark.slow
class TestWhatCannotCross:
    SUM = ("def f(rows, start=0):\n    return start + sum(map(sum, rows))\n",)
    FIRST = "def f(rows, start=0):\n    return start + (sum(rows[0]) if rows else 0)\n"

    def problem(self, *calls: Call, checker: str = "") -> AuditProblem:
        return AuditProblem("c", "Add up.", None, self.SUM, "f", calls, checker=checker)

    def test_a_list_in_two_places_becomes_two_lists(self) -> None:
        row = [1, 2]
        problem = self.problem(Call(([row, row],), {}, 6), Call(([row],), {"start": 1}, 4))
        assert wrong(problem, self.FIRST)
        assert not wrong(problem, self.SUM[0])
        for case in ProgramOracle().reference_cases(problem):
            rows = case.args[0]
            assert len(set(map(id, rows))) == len(rows)

    def test_drawn_rows_are_lists_of_their_own(self) -> None:
        calls = (Call(([[1, 2], [3, 4], [5, 6]],), {}, 21), Call(([[7, 8], [9, 9]],), {}, 33))
        cases = ProgramOracle().reference_cases(self.problem(*calls))
        assert len(cases) > 20
        for case in cases:
            assert len(set(map(id, case.args[0]))) == len(case.args[0])

    @pytest.mark.parametrize("foreign", [object(), iter([[1, 2]]), [[1, object()]], {"a": len}])
    def test_a_call_that_no_program_could_be_given_is_left_out(self, foreign: Any) -> None:
        problem = self.problem(Call((foreign,), {}, 3), Call(([[1, 2], [3]],), {}, 6))
        assert wrong(problem, self.FIRST)
        assert not wrong(problem, self.SUM[0])

    def test_a_result_that_a_checker_could_not_be_given_is_left_out(self) -> None:
        problem = AuditProblem(
            "o", "Wrap it.", None, ("def f(n):\n    return object() if n > 5 else n\n",), "f",
            (Call((9,)), Call((3,))),
            checker="def check(args, kwargs, output, expected):\n    return output == expected\n",
        )  # fmt: skip
        assert wrong(problem, "def f(n):\n    return -1\n")


def test_drawing_reads_no_loaded_module_for_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(module: object) -> object:
        raise AssertionError(f"{module} is read")

    monkeypatch.setattr(providers, "constants_from_module", read)
    monkeypatch.setattr(providers, "_sys_modules_len", -1)
    monkeypatch.setattr(providers, "_seen_modules", set())
    assert len(sample(st.integers(0, 10**9), count=20, seed=1)) == 20
