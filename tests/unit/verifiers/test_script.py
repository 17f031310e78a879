from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from unhack.core.verdict import Seal, Status, Verdict
from unhack.sandbox.limits import Limits
from unhack.verifiers.script import Mode, ScriptVerifier

Score = Callable[..., Verdict]
LIMITS = Limits(wall_s=20.0, cpu_s=10.0)
RIGHT = "def f(x): return 2 * x\n"
WRONG = "def f(x): return 3 * x\n"
CASES = "".join(json.dumps({"x": number, "y": 2 * number}) + "\n" for number in range(4))

IMPORT_STYLES = {
    "spec_from_file_location": """
import importlib.util, json
def verify(solution_path, test_cases_path):
    spec = importlib.util.spec_from_file_location("candidate", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        return all(module.f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
    "sys.path and import": """
import json, os, sys
def verify(solution_path, test_cases_path):
    sys.path.insert(0, os.path.dirname(solution_path))
    import solution
    with open(test_cases_path) as file:
        return all(solution.f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
    "from import": """
import json
def verify(solution_path, test_cases_path):
    from solution import f
    with open(test_cases_path) as file:
        return all(f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
    "import at the top": """
import json
from solution import f
def verify(solution_path, test_cases_path):
    with open(test_cases_path) as file:
        return all(f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
    "runpy.run_path": """
import json, runpy
def verify(solution_path, test_cases_path):
    f = runpy.run_path(solution_path)["f"]
    with open(test_cases_path) as file:
        return all(f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
    "importlib.import_module": """
import importlib, json
def verify(solution_path, test_cases_path):
    f = getattr(importlib.import_module("solution"), "f")
    with open(test_cases_path) as file:
        return all(f(case["x"]) == case["y"] for case in map(json.loads, file))
""",
}


def verifier(body: str, **options: Any) -> ScriptVerifier:
    """A script whose `verify` has this body; `f`, `solution` and `math` are imported."""
    lines = "\n".join(f"    {line}" for line in body.strip().splitlines())
    script = (
        "import math, os, sys\nimport solution\n"
        f"def verify(solution_path, test_cases_path):\n{lines}\n"
    )
    settings: dict[str, Any] = {"cases": CASES, "limits": LIMITS, **options}
    return ScriptVerifier(script, **settings)


@pytest.mark.parametrize("mode", list(Mode))
class TestBothModes:
    @pytest.mark.parametrize("style", sorted(IMPORT_STYLES))
    def test_every_way_to_import_the_solution_works(
        self, score: Score, mode: Mode, style: str
    ) -> None:
        made = ScriptVerifier(IMPORT_STYLES[style], cases=CASES, mode=mode, limits=LIMITS)
        right, wrong = score(made, RIGHT), score(made, WRONG)
        assert (right.status, right.score) == (Status.PASSED, 1.0), right
        assert (wrong.status, wrong.score) == (Status.FAILED, 0.0), wrong
        assert right.seal is (Seal.SEALED if mode is Mode.SEALED else Seal.AS_WRITTEN)

    @pytest.mark.parametrize(
        ("result", "value", "reason"),
        [
            ("True", 1.0, ""),
            ("False", 0.0, ""),
            ("1", 1.0, ""),
            ("0.25", 0.25, ""),
            ("{'score': 0.5, 'reason': 'half'}", 0.5, "half"),
            ("{'passed': True, 'message': 'well done'}", 1.0, "well done"),
            ("{'score': 1}", 1.0, ""),
            ("{'score': False}", 0.0, ""),
        ],
    )
    def test_bools_numbers_and_dicts_are_scores(
        self, score: Score, mode: Mode, result: str, value: float, reason: str
    ) -> None:
        verdict = score(verifier(f"return {result}", mode=mode), RIGHT)
        assert (verdict.score, verdict.reason) == (value, reason)
        assert verdict.passed is (value == 1.0)

    def test_a_program_that_prints_json_last_is_a_script_too(
        self, score: Score, mode: Mode
    ) -> None:
        script = (
            "import json, sys\nfrom solution import f\nprint('checking', sys.argv[1:])\n"
            "print(json.dumps({'score': 1.0 if f(2) == 4 else 0.5, 'reason': 'printed'}))\n"
        )
        made = ScriptVerifier(script, mode=mode, limits=LIMITS)
        assert score(made, RIGHT).passed
        assert score(made, WRONG).score == 0.5

    def test_the_reason_in_printed_json_counts(self, score: Score, mode: Mode) -> None:
        script = "import json\nprint(json.dumps({'score': 0.5, 'reason': 'printed'}))\n"
        assert score(ScriptVerifier(script, mode=mode), WRONG).reason == "printed"

    def test_sibling_files_and_a_cases_name_of_its_own_are_there(
        self, score: Score, mode: Mode
    ) -> None:
        made = verifier(
            "import helper\nreturn helper.ONE == 1 and open('data/table.txt').read() == 'x'"
            " and test_cases_path.endswith('/mine.json') and open('mine.json').read() == 'y'",
            files={"helper.py": "ONE = 1\n", "data/table.txt": "x"},
            cases="y",
            cases_name="mine.json",
            mode=mode,
        )
        assert score(made, RIGHT).passed

    def test_a_completion_without_code_is_invalid(self, score: Score, mode: Mode) -> None:
        verdict = score(verifier("return True", mode=mode), " \n")
        assert (verdict.status, verdict.score) == (Status.INVALID, 0.0)

    @pytest.mark.parametrize("result", ["None", "2", "-1", "'yes'", "float('nan')", "{}", "[1]"])
    def test_what_is_no_score_is_a_fault_of_the_script(
        self, score: Score, mode: Mode, result: str
    ) -> None:
        verdict = score(verifier(f"return {result}", mode=mode), RIGHT, reference=RIGHT)
        assert verdict.status is Status.UNSCORED

    def test_a_script_that_raises_on_one_answer_costs_that_completion(
        self, score: Score, mode: Mode
    ) -> None:
        made = verifier("return solution.f(1) + 1 == 3", mode=mode)
        assert score(made, RIGHT, reference=RIGHT).passed
        verdict = score(made, "def f(x): return 'text'", reference=RIGHT)
        assert (verdict.status, verdict.score) == (Status.ERROR, 0.0)
        assert "TypeError" in verdict.reason

    def test_a_script_that_prints_cannot_be_read_as_a_result(
        self, score: Score, mode: Mode
    ) -> None:
        made = verifier("print('[0, true, 1.0, \"\"]')\nreturn False", mode=mode)
        assert score(made, RIGHT).score == 0.0

    def test_another_name_for_the_solution_is_honoured(self, score: Score, mode: Mode) -> None:
        made = ScriptVerifier(
            "from answer import f\n"
            "def verify(path, _): return f(2) == 4 and path.endswith('answer.py')\n",
            solution="answer.py",
            mode=mode,
            limits=LIMITS,
        )
        assert score(made, RIGHT).passed


class TestAsWritten:
    @pytest.mark.slow
    def test_its_verdicts_are_marked_whatever_happens(self, score: Score) -> None:
        made = verifier("return solution.f(1) == 2", mode=Mode.AS_WRITTEN)
        for completion in (RIGHT, WRONG, "", "def f(: pass", "while True: pass"):
            limits = Limits(wall_s=0.3)
            quick = ScriptVerifier(made.script, mode=Mode.AS_WRITTEN, limits=limits)
            chosen = quick if "while" in completion else made
            assert score(chosen, completion, reference=RIGHT).seal is Seal.AS_WRITTEN

    def test_a_solution_that_loops_is_a_time_out(self, score: Score) -> None:
        made = verifier(
            "return solution.f(1) == 2", mode=Mode.AS_WRITTEN, limits=Limits(wall_s=0.2)
        )
        verdict = score(made, "def f(x):\n    while True: pass\n", reference=RIGHT)
        assert (verdict.status, verdict.score) == (Status.TIMEOUT, 0.0)

    def test_the_solution_is_there_as_text_and_can_be_started(self, score: Score) -> None:
        made = verifier(
            "import subprocess\n"
            "text = open(solution_path).read()\n"
            "run = subprocess.run([sys.executable or 'python3', solution_path])\n"
            "return 'def f' in text and run.returncode == 0",
            mode=Mode.AS_WRITTEN,
        )
        assert score(made, RIGHT, reference=RIGHT).passed

    def test_unlike_the_sealed_mode_it_can_be_forged(self, score: Score) -> None:
        forged = (
            "import sys\n"
            "class Yes(int):\n    __eq__ = lambda self, other: True\n    __hash__ = None\n"
            "def f(x): return Yes(0)\n"
        )
        body = "return solution.f(1) == 2"
        assert score(verifier(body, mode=Mode.AS_WRITTEN), forged).passed
        assert not score(verifier(body), forged).passed


class TestSealed:
    @pytest.mark.parametrize(
        ("source", "condition"),
        [
            ("def f(x): return (1, [2, {3}], {'k': b'x'})", "== (1, [2, {3}], {'k': b'x'})"),
            ("def f(x): return x / 2", "== 0.5"),
            ("def f(x): return float('inf')", "== math.inf"),
            ("def f(x): return None", "is None"),
            ("def f(x): return 10 ** 400", "== 10 ** 400"),
            ("def f(x): return True", "is True"),
            (
                "import collections\ndef f(x): return collections.Counter('aab')",
                "== {'a': 2, 'b': 1}",
            ),
            ("class E(int): pass\ndef f(x): return E(7)", "== 7"),
        ],
    )
    def test_results_come_back_as_values_with_their_types(
        self, score: Score, source: str, condition: str
    ) -> None:
        made = verifier(f"value = solution.f(1)\nreturn bool(value {condition})")
        assert score(made, source).passed

    def test_arguments_that_the_solution_changed_are_changed_for_the_script(
        self, score: Score
    ) -> None:
        made = verifier(
            "values, table, group = [3, 1, 2], {'a': 1}, {1}\n"
            "result = solution.f(values, table, group)\n"
            "return result is None and values == [1, 2, 3] and table == {'b': 2} and group == {5}"
        )
        source = "def f(v, t, g): v.sort(); t.clear(); t['b'] = 2; g.clear(); g.add(5)"
        assert score(made, source).passed
        assert not score(made, "def f(v, t, g): v = sorted(v)").passed

    def test_keyword_arguments_arrive(self, score: Score) -> None:
        made = verifier("return solution.f(1, scale=3, *[2]) == [1, 2, 3]")
        assert score(made, "def f(a, b, *, scale): return [a, b, scale]").passed

    @pytest.mark.parametrize(
        ("raised", "caught"),
        [
            ("ValueError('bad value')", "ValueError"),
            ("type('Mine', (KeyError,), {})('k')", "KeyError"),
            ("ZeroDivisionError('z')", "ArithmeticError"),
            ("RecursionError('deep')", "RuntimeError"),
            ("Exception('plain')", "Exception"),
        ],
    )
    def test_exceptions_come_back_as_the_nearest_builtin_class(
        self, score: Score, raised: str, caught: str
    ) -> None:
        made = verifier(
            f"try:\n    solution.f(1)\nexcept {caught} as error:\n    return bool(str(error))\n"
            "return False"
        )
        assert score(made, f"def f(x): raise {raised}").passed

    def test_an_exit_of_the_solution_does_not_end_the_script(self, score: Score) -> None:
        made = verifier(
            "try:\n    solution.f(1)\nexcept Exception as error:\n    return 0.5\nreturn 1"
        )
        assert score(made, "def f(x): raise SystemExit(0)").score == 0.5

    def test_classes_make_handles_whose_methods_can_be_called(self, score: Score) -> None:
        made = verifier(
            "stack = solution.Stack([1])\nother = solution.Stack([])\nstack.push(2)\n"
            "return [stack.pop(), stack.size(), other.size()] == [2, 1, 0]"
        )
        source = (
            "class Stack:\n    def __init__(self, items): self.items = list(items)\n"
            "    def push(self, item): self.items.append(item)\n"
            "    def pop(self): return self.items.pop()\n"
            "    def size(self): return len(self.items)\n"
        )
        assert score(made, source).passed

    def test_a_handle_keeps_its_state_between_calls(self, score: Score) -> None:
        made = verifier("c = solution.C()\nreturn [c.next() for _ in range(3)] == [1, 2, 3]")
        source = (
            "class C:\n    n = 0\n    def next(self):\n        self.n += 1\n        return self.n\n"
        )
        assert score(made, source).passed

    def test_data_of_the_module_can_be_read(self, score: Score) -> None:
        made = verifier("return solution.TABLE == {1: 'one'} and solution.LIMIT == 7")
        assert score(made, "TABLE = {1: 'one'}\nLIMIT = 7\n").passed

    @pytest.mark.slow
    def test_a_missing_name_is_an_attribute_error_for_the_script(self, score: Score) -> None:
        made = verifier("return 0.5 if not hasattr(solution, 'g') else 1")
        assert score(made, RIGHT).score == 0.5

    @pytest.mark.parametrize(
        ("body", "says"),
        [
            ("return 'def' in open(solution_path).read()", "source text"),
            ("import pathlib\nreturn bool(pathlib.Path(solution_path).read_text())", "source text"),
            (
                "try:\n    open(solution_path)\nexcept Exception:\n    pass\nreturn True",
                "source text",
            ),
            ("import subprocess\nsubprocess.run(['true'])\nreturn True", "starts a process"),
            ("os.system('true')\nreturn True", "starts a process"),
            ("try:\n    os.fork()\nexcept Exception:\n    pass\nreturn True", "starts a process"),
            (
                "async def g(): pass\nreturn solution.f(g) is None",
                "a function or class of the script",
            ),
            ("import threading\nreturn solution.f(threading.Lock()) is None", "not plain data"),
            ("return solution.f(1) == 2", 'objects = ["Thing"]'),
            ("return bool([2] == [solution.f(1)])", 'objects = ["Thing"]'),
            ("return bool(vars(solution))", "all names"),
            ("return solution.f.__code__.co_argcount == 1", "__code__"),
        ],
    )
    def test_what_cannot_cross_is_a_fault_that_no_except_hides(
        self, score: Score, body: str, says: str
    ) -> None:
        source = (
            "class Thing:\n    def __eq__(self, other): return True\ndef f(x): return Thing()\n"
        )
        verdict = score(verifier(body), source, reference=source)
        assert verdict.status is Status.UNSCORED
        assert says in verdict.reason
        assert "as_written" in verdict.reason

    @pytest.mark.parametrize(
        ("source", "status", "reason"),
        [
            ("def f(x: pass", Status.INVALID, "SyntaxError"),
            ("1 / 0", Status.ERROR, "ZeroDivisionError while loading"),
            ("raise SystemExit", Status.ERROR, "SystemExit while loading"),
            ("import os\nos._exit(4)", Status.ERROR, "exited with code 4"),
            ("import os\ndef f(x): os._exit(4)", Status.ERROR, "exited with code 4"),
        ],
    )
    def test_a_solution_that_ends_early_is_judged_for_that(
        self, score: Score, source: str, status: Status, reason: str
    ) -> None:
        made = verifier("return solution.f(1) == 2")
        verdict = score(made, source, reference=RIGHT)
        assert (verdict.status, verdict.score) == (status, 0.0)
        assert reason in verdict.reason

    @pytest.mark.slow
    @pytest.mark.parametrize("source", ["while True: pass", "def f(x):\n    while True: pass\n"])
    def test_a_solution_that_loops_is_a_time_out(self, score: Score, source: str) -> None:
        made = verifier("return solution.f(1) == 2", limits=Limits(wall_s=0.2))
        verdict = score(made, source, reference=RIGHT)
        assert (verdict.status, verdict.score) == (Status.TIMEOUT, 0.0)

    @pytest.mark.slow
    def test_a_looping_solution_ends_when_the_judge_is_done_with_it(self, score: Score) -> None:
        made = verifier("return solution.f(1) == 2", limits=Limits(wall_s=0.2, cpu_s=60))
        verdict = score(made, "def f(x):\n    while True: pass\n", reference=RIGHT)
        assert verdict.status is Status.TIMEOUT
        assert verdict.usage.cpu_s < 60, "its own limit has ended it"

    @pytest.mark.parametrize(
        "source",
        [
            "def f(x): return (yield 1)",
            "def f(x): return [object()]",
            "def f(x): return lambda: 2",
            "def f(x): return f",
            "def f(x): return 'x' * 20_000_000",
            "import os\ndef f(x): os.write(4, b'{\"ok\": 3}\\n' * 3); return 9",
            "import os\nos.close(4)\ndef f(x): return 2",
            "def f(x): return type('L', (list,), {'__len__': lambda s: 1 / 0})([2])",
        ],
        ids=lambda text: text[:40],
    )
    def test_odd_answers_never_leave_a_completion_unscored(self, score: Score, source: str) -> None:
        verdict = score(verifier("return solution.f(1) == 2"), source, reference=RIGHT)
        assert verdict.score == 0.0

    def test_the_solution_and_the_script_never_share_a_process(self, score: Score) -> None:
        made = verifier(
            "import gc\nsys.modules['answer_key'] = 42\nreturn solution.f() == [False, False]"
        )
        source = (
            "import os, sys\ndef f(): return ['answer_key' in sys.modules,"
            " os.path.exists('/scratch/work/cases.jsonl')]\n"
        )
        assert score(made, source).passed


class TestHardWall:
    @pytest.mark.slow
    def test_it_bounds_a_seal_and_the_completion_is_late(self, score: Score) -> None:
        """The candidate ends first; what its judge then says is no fault of the script."""
        made = verifier(
            "return solution.f(1) == 2", limits=LIMITS.with_(wall_s=60.0, wall_hard_s=1.0)
        )
        found = score(made, "def f(x):\n    while True: pass\n")
        assert found.status is Status.TIMEOUT, found
        assert found.reason == "wall_hard time limit reached"
