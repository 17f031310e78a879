"""Contest rows in the layouts of APPS and LiveCodeBench; all rows here are made up."""

from __future__ import annotations

import base64
import json
import os
import pickle
import zlib
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import TaskError
from unhack.core.verdict import Status, Verdict
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders.data_sets import data_set_of
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.records import read_records
from unhack.tasks.loaders.stdio_json import read_pickled_text
from unhack.tasks.task import Task
from unhack.verifiers.function import FunctionVerifier
from unhack.verifiers.stdio import StdioVerifier

ADDER = "print(sum(map(int, input().split())))\n"
TESTS = {"inputs": ["1 2\n", "5 5 5\n"], "outputs": ["3\n", "15"]}
APPS: dict[str, Any] = {
    "problem_id": 4,
    "question": "Add the numbers.",
    "solutions": json.dumps([ADDER]),
    "input_output": json.dumps(TESTS),
    "difficulty": "introductory",
}


def packed(tests: Any) -> str:
    """As LiveCodeBench packs its private tests."""
    return base64.b64encode(zlib.compress(pickle.dumps(json.dumps(tests)))).decode()


LIVE: dict[str, Any] = {
    "question_id": "abc_1",
    "question_content": "Add the numbers.",
    "platform": "made up",
    "starter_code": "",
    "public_test_cases": json.dumps([{"input": "1 2\n", "output": "3\n", "testtype": "stdin"}]),
    "private_test_cases": packed([{"input": "4 4\n", "output": "8\n", "testtype": "stdin"}]),
    "metadata": "{}",
}


def load(folder: Path, *rows: dict[str, Any]) -> tuple[Task, ...]:
    path = folder / "rows.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return tuple(data_set_of(row).read(row, LoadOptions()) for row in read_records(path))


def judge(pool: Pool, task: Task, completion: str) -> Verdict:
    return run_batch(task, [completion], backend=pool).verdicts[0]


@pytest.mark.parametrize("row", [APPS, LIVE], ids=["apps", "livecodebench"])
def test_programs_are_judged_by_their_output(tmp_path: Path, pool: Pool, row: dict[str, Any]):
    [task] = load(tmp_path, row)
    assert isinstance(task.verifier, StdioVerifier)
    assert len(task.verifier.cases) == 2
    assert judge(pool, task, ADDER).passed
    assert judge(pool, task, f"```python\n{ADDER}```").passed
    assert judge(pool, task, "print(3)\n").status is Status.FAILED


def test_the_first_solution_is_the_reference(tmp_path: Path):
    [apps, live] = load(tmp_path, APPS, LIVE)
    assert apps.problem.reference == ADDER
    assert live.problem.reference is None
    assert (apps.id, live.id) == ("4", "abc_1")
    assert apps.problem.meta == {"difficulty": "introductory"}


FUNCTION = {**APPS, "input_output": json.dumps(
    {"fn_name": "ends", "inputs": [[[1, 2, 3]], [["a"]]], "outputs": [[1, 3], ["a", "a"]]}
)}  # fmt: skip


@pytest.mark.parametrize(
    ("completion", "passed"),
    [
        ("def ends(v):\n    return [v[0], v[-1]]\n", True),
        ("def ends(v):\n    return v[0], v[-1]\n", True),
        ("class Solution:\n    def ends(self, v):\n        return [v[0], v[-1]]\n", True),
        ("def ends(v):\n    return v\n", False),
        ("def other(v):\n    return v\n", False),
        ("class Solution:\n    pass\n", False),
    ],
)
def test_calls_are_judged_as_function_or_method(
    tmp_path: Path, pool: Pool, completion: str, passed: bool
):
    [task] = load(tmp_path, FUNCTION)
    verdict = judge(pool, task, completion)
    assert verdict.scored
    assert verdict.passed is passed


CALLS = [
    ("a value in a list of one", {"outputs": [[3]]}, "return 3", "return 4"),
    ("a list in a list of one", {"outputs": [[[1, 3]]]}, "return [1, 3]", "return [[1, 3], 3]"),
    ("only a list of exactly one", {"outputs": [[1, 3]]}, "return [1, 3]", "return 1"),
    ("tuples within lists", {"outputs": [[[1, 1], [2, 4]]]}, "return [(1, 1), (2, 4)]", "return 1"),
    ("keys that are integers", {"outputs": [[{"1": 2}]]}, "return {v + 1: 2}", "return {v: 2}"),
    ("keys that are texts", {"outputs": [{"a": 2}]}, "return {'a': 2}", "return {1: 2}"),
    ("rounding", {"outputs": [[0.3]]}, "return 0.1 + 0.2", "return 0.30001"),
    ("integers of any length", {"outputs": [int("7" * 4000)]}, "return int('7' * 4000)",
     "return int('7' * 3999)"),
    ("a true is no two", {"outputs": [True]}, "return v == 0", "return 2"),
    ("nothing", {"outputs": [[None]]}, "return None", "return 0"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("tests", "right", "wrong"), [row[1:] for row in CALLS], ids=[row[0] for row in CALLS]
)
def test_results_of_calls_are_compared_as_the_harness_of_apps_does(
    tmp_path: Path, pool: Pool, tests: dict[str, Any], right: str, wrong: str
):
    fields = json.dumps({"fn_name": "f", "inputs": [[0]], **tests})
    [task] = load(tmp_path, {**APPS, "input_output": fields})
    assert judge(pool, task, f"def f(v):\n    {right}\n").passed
    assert judge(pool, task, f"def f(v):\n    {wrong}\n").status is Status.FAILED


def test_integers_beyond_what_python_reads_by_itself_are_read(tmp_path: Path, pool: Pool):
    digits = "7" * 5000
    tests = f'{{"fn_name": "f", "inputs": [[{digits}]], "outputs": [{digits}]}}'
    [task] = load(tmp_path, {**APPS, "input_output": tests})
    assert judge(pool, task, "def f(n):\n    return n\n").passed
    assert judge(pool, task, "def f(n):\n    return n + 1\n").status is Status.FAILED


def test_keys_of_an_argument_that_json_made_texts_are_integers_again(tmp_path: Path, pool: Pool):
    tests = {"fn_name": "f", "inputs": [[{"1": 2, "3": 4}], [{"a": 1}]], "outputs": [2, 1]}
    [task] = load(tmp_path, {**APPS, "input_output": tests})
    assert judge(pool, task, "def f(d):\n    return d[1] if 1 in d else d['a']\n").passed


@pytest.mark.parametrize(
    "body",
    [
        "x: List[int] = list(accumulate([1, 1, 1]))\n{out}(x[-1])",
        "h = []; heappush(h, 3); d = defaultdict(int)\n{out}(min(inf, h[0]) + d[0])",
        "{out}(Counter('aaa')['a'] if bisect_left([1], 1) == 0 else math.pi)",
    ],
)
def test_the_imports_of_the_harness_stand_before_programs_and_functions(
    tmp_path: Path, pool: Pool, body: str
):
    printed = [{"input": "", "output": "3\n", "testtype": "stdin"}]
    called = [{"input": "", "output": "3", "testtype": "functional"}]
    row = {**LIVE, "private_test_cases": "[]", "metadata": json.dumps({"func_name": "f"})}
    [program] = load(tmp_path, {**row, "public_test_cases": json.dumps(printed)})
    assert judge(pool, program, body.format(out="print")).passed
    [function] = load(tmp_path, {**row, "public_test_cases": json.dumps(called)})
    lines = "\n    ".join(body.format(out="return ").splitlines())
    assert judge(pool, function, f"def f() -> Optional[int]:\n    {lines}\n").passed


@pytest.mark.slow
def test_long_results_fit(tmp_path: Path, pool: Pool):
    calls = {"fn_name": "f", "inputs": [[]], "outputs": [[list(range(300_000))]]}
    [function] = load(tmp_path, {**APPS, "input_output": calls})
    assert judge(pool, function, "def f():\n    return list(range(300_000))\n").passed


TWO = [{"input": "1 2\n", "output": "3\n"}, {"input": "5 5\n", "output": "10\n"}]
COLUMNS = {"input": [item["input"] for item in TWO], "output": [item["output"] for item in TWO]}
LAYOUTS: dict[str, dict[str, Any]] = {
    "code_contests": {
        "name": "add", "description": "Add.", "public_tests": COLUMNS, "private_tests": COLUMNS,
        "generated_tests": {"input": [], "output": []},
        "solutions": {"language": [2, 1, 3], "solution": ["int main(){}", "print 3", ADDER]},
    },
    "code_contests_plus": {
        "id": "1", "description": "Add.", "test_cases": TWO, "checker": "#include <testlib.h>",
        "correct_submissions": [
            {"language": "cpp", "code": "int x;"}, {"language": "py3", "code": ADDER},
        ],
    },
    "deepcoder": {"problem": "Add.", "tests": json.dumps(TWO), "solutions": [ADDER]},
    "deepcoder of taco": {
        "problem": "Add.", "solutions": [f"```python\n{ADDER}```"],
        "tests": json.dumps({"inputs": COLUMNS["input"], "outputs": COLUMNS["output"]}),
    },
    "prime": {
        "prompt": "Add.", "gold_standard_solution": f"```python\n{ADDER}```",
        "verification_info": json.dumps({"language": "python", "test_cases": [
            {**test, "type": "stdin_stdout", "fn_name": None} for test in TWO
        ]}),
    },
    "eurus": {
        "prompt": [{"role": "user", "content": "Add."}], "solutions": [ADDER],
        "reward_model": {"ground_truth": json.dumps(
            {"inputs": COLUMNS["input"], "outputs": COLUMNS["output"]}
        )},
    },
    "codeforces": {
        "id": "1/A", "description": "Add.", "input_format": "Two.", "output_format": "One.",
        "official_tests": TWO, "input_mode": "stdio", "generated_checker": None,
        "interaction_format": None, "solutions": [ADDER],
    },
}  # fmt: skip


@pytest.mark.parametrize("row", LAYOUTS.values(), ids=LAYOUTS)
def test_every_layout_gives_its_tests_and_its_first_python_3_solution(
    tmp_path: Path, pool: Pool, row: dict[str, Any]
):
    [task] = load(tmp_path, row)
    assert "Add." in task.prompt
    assert task.problem.reference is not None
    assert judge(pool, task, task.problem.reference).passed
    assert judge(pool, task, "print(3)\n").reason.startswith("case 2 of")


FUNCTIONAL = [{"input": "1\n2", "output": "3", "testtype": "functional"}]
CHECKER = """
import sys
def main():
    limit, given, said = (open(path).read().split() for path in sys.argv[1:])
    return len(said) == 2 and sum(map(int, said)) == int(limit[0])
print(100 if main() else 0)
"""


@pytest.mark.slow
def test_the_checker_of_a_codeforces_row_decides(tmp_path: Path, pool: Pool):
    row = {**LAYOUTS["codeforces"], "generated_checker": CHECKER.replace("100", "1")}
    row |= {"official_tests": [{"input": "5\n", "output": "2 3\n"}], "solutions": ["print(0, 5)"]}
    [task] = load(tmp_path, row)
    assert judge(pool, task, "print(2, 3)\n").passed
    assert judge(pool, task, "print(1)\nprint(4)\n").passed
    assert not judge(pool, task, "print(1, 3)\n").passed
    assert judge(pool, task, "print('one', 'two')\n").score == 0.0


def test_functional_tests_of_livecodebench_are_calls(tmp_path: Path, pool: Pool):
    row = {
        **LIVE,
        "starter_code": "class Solution:\n    def add(self, a: int, b: int) -> int:\n",
        "metadata": json.dumps({"func_name": "add"}),
        "public_test_cases": json.dumps(
            [{"input": "1\n2", "output": "3", "testtype": "functional"}]
        ),
        "private_test_cases": packed([{"input": "5\n-5", "output": "0", "testtype": "functional"}]),
    }
    [task] = load(tmp_path, row)
    assert isinstance(task.verifier, FunctionVerifier)
    assert [case.args for case in task.verifier.cases] == [(1, 2), (5, -5)]
    assert "def add" in task.prompt
    right = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
    assert judge(pool, task, right).passed
    assert not judge(pool, task, right.replace("+", "-")).passed


def test_a_functional_test_without_a_name_calls_what_the_starter_code_begins(
    tmp_path: Path, pool: Pool
):
    starter = "class Solution:\n    def add(self, a: int, b: int) -> int:\n        "
    [task] = load(tmp_path, {"problem": "Add.", "starter_code": starter, "tests": FUNCTIONAL})
    right = "class Solution:\n    def add(self, a, b):\n        return a + b\n"
    assert judge(pool, task, right).passed
    assert not judge(pool, task, right.replace("+", "-")).passed


def test_lists_of_lines_are_joined(tmp_path: Path, pool: Pool):
    tests = {"inputs": [["1", "2"]], "outputs": [["2", "1"]]}
    [task] = load(tmp_path, {**APPS, "input_output": tests})
    assert judge(pool, task, "a, b = input(), input()\nprint(b)\nprint(a)\n").passed


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**APPS, "input_output": "{"}, "`input_output` is not JSON"),
        ({"problem": "Add.", "tests": FUNCTIONAL}, "nothing names the function that it calls"),
        (
            {"problem": "Add.", "tests": [*FUNCTIONAL, *TWO], "starter_code": "def add(a, b):"},
            "the tests call different functions",
        ),
        ({**APPS, "input_output": ""}, "the row has no tests"),
        ({**LAYOUTS["codeforces"], "input_mode": "file"}, "read and write files"),
        ({**LAYOUTS["codeforces"], "language": "cpp"}, "a program in cpp; only Python is judged"),
        ({**LAYOUTS["codeforces"], "interaction_format": "Ask."}, "interactive"),
        ({**APPS, "input_output": {"inputs": ["\ud800"], "outputs": ["1"]}}, "UTF-8"),
        ({**APPS, "input_output": "[1]"}, "must hold objects"),
        ({**APPS, "input_output": {"inputs": ["1"], "outputs": []}}, "1 inputs for 0 outputs"),
        ({**APPS, "input_output": {"inputs": 1, "outputs": []}}, "must be lists"),
        (
            {**APPS, "input_output": {"inputs": [[1]], "outputs": [1], "fn_name": "a b"}},
            "not the name of a function",
        ),
        (
            {**APPS, "input_output": {"inputs": [1], "outputs": [1], "fn_name": "f"}},
            "list of its arguments",
        ),
        ({**LIVE, "private_test_cases": "!!"}, "cannot be unpacked"),
        ({**LIVE, "public_test_cases": "[1]"}, "`input` and `output`"),
    ],
)
def test_a_bad_row_is_named(tmp_path: Path, row: dict[str, Any], message: str):
    with pytest.raises(TaskError) as caught:
        load(tmp_path, row)
    assert "rows.jsonl:1: " in str(caught.value)
    assert message in str(caught.value)


class _Planted:
    """Runs a command when it is unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.mkdir, (self.path,)


def test_a_planted_pickle_is_refused_and_never_loaded(tmp_path: Path):
    planted = pickle.dumps(_Planted(str(tmp_path / "planted")))
    with pytest.raises(ValueError, match="not just one string"):
        read_pickled_text(planted)
    row = {**LIVE, "private_test_cases": base64.b64encode(zlib.compress(planted)).decode()}
    with pytest.raises(TaskError, match="cannot be unpacked"):
        load(tmp_path, row)
    assert not (tmp_path / "planted").exists()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_string_is_read_in_every_protocol(protocol: int):
    for text in ("", "short", "lång " * 100):
        assert read_pickled_text(pickle.dumps(text, protocol)) == text


def test_a_pickle_of_more_than_one_string_is_refused():
    with pytest.raises(ValueError, match="pickle holds"):
        read_pickled_text(pickle.dumps(["a", "b"]))
