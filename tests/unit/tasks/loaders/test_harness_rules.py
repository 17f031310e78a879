"""Verdicts on contest rows are those of their own harnesses (`options`); all rows are made up."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.tasks.loaders.layouts import ADDER, ROWS

from unhack.core.verdict import Status
from unhack.sandbox.pool.pool import Pool
from unhack.tasks.batch import run_batch
from unhack.tasks.loaders.data_sets import find_data_set
from unhack.tasks.loaders.options import LoadOptions
from unhack.tasks.loaders.proof import LoadedRows, NoSoundRowError, load_rows
from unhack.tasks.loaders.records import DataSetRow
from unhack.tasks.task import Task


def task_of(name: str, fields: dict[str, Any]) -> Task:
    entry = find_data_set(name)
    record = DataSetRow(Path("rows.jsonl"), 1, {**ROWS[name], **fields})
    limits = entry.row_limits(record, entry.limits) if entry.row_limits else entry.limits
    return entry.read(record, LoadOptions(limits=limits))


def printed(expected: str, name: str) -> dict[str, Any]:
    """Columns of a row whose one test expects this text."""
    pair = {"input": "", "output": expected}
    columns = {"input": [""], "output": [expected]}
    return {
        "livecodebench": {
            "public_test_cases": json.dumps([{**pair, "testtype": "stdin"}]),
            "private_test_cases": "[]",
        },
        "deepcoder": {"tests": json.dumps([{**pair, "testtype": "stdin"}])},
        "apps": {"input_output": json.dumps({"inputs": [""], "outputs": [expected]})},
        "code_contests": {
            "public_tests": columns, "private_tests": columns, "generated_tests": columns,
        },
        "code_contests_plus": {"test_cases": [pair], "checker": ""},
        "codeforces": {"official_tests": [pair]},
    }[name]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "expected", "right", "wrong"),
    [
        ("livecodebench", "1 2 3", "1 2  3 \n", "1\n2\n3"),
        ("livecodebench", "a\nb", "\na \n b\n\n", "a\n\nb"),
        ("livecodebench", "0.5", "0.50", "0.5000000001"),
        ("deepcoder", "1 2 3", "1 2 3", "1\n2\n3"),
        ("apps", "3.14159", "3.14160", "3.1417"),
        ("apps", "1000000", "1000000.0", "1000001.0"),
        ("code_contests", "Yes 0.5", "YES\n0.500009", "YES 0.50002"),
        ("code_contests", "100000.5", "100000.500009", "100000.51"),
        ("code_contests_plus", "Yes\n2", "yes\n2", "yes 2"),
        ("codeforces", "YES\nNO", "yes no", "yes yes"),
        ("codeforces", "YES\n1 -2 0.5", "yes\n1 -2 0.5", "yes\n1 -2 0.50"),
        ("codeforces", "Bob YES", "Bob YES", "Bob yes"),
        ("codeforces", "0.5", "0.5", "0.50"),
        ("codeforces", "007", "007", "7"),
        ("apps", "0007", "0007", "7"),
        ("apps", "-07", "-07", "-7.0"),
        ("apps", "7", "007", "8"),
        ("apps", "0", "00", "1"),
    ],
)
def test_printed_text_is_compared_as_the_harness_does(
    name: str, expected: str, right: str, wrong: str, pool: Pool
):
    task = task_of(name, printed(expected, name))
    programs = [f"print({right!r})\n", f"print({wrong!r})\n"]
    found = run_batch(task, programs, backend=pool).verdicts
    assert [verdict.status for verdict in found] == [Status.PASSED, Status.FAILED]


@pytest.mark.parametrize(
    ("name", "program", "passes"),
    [
        ("livecodebench", "print(Counter('aaa')['a'] if inf > 1 else bisect([1], 1))", True),
        ("apps", "h = [3]; heapify(h); x: List[int] = h; print(Counter('aaa')['a'])", True),
        ("apps", "print(3 if insort else 0)", False),
        ("deepcoder", "print(isqrt(9)) if time() and os.sep else 0", True),
        ("code_contests", "print(Counter('aaa')['a'])", False),
        ("codeforces", "print(Counter('aaa')['a'])", False),
        ("livecodebench", "f = lambda n: n and 1 + f(n - 1)\nprint(f(3000) and 3)", True),
        ("apps", "f = lambda n: n and 1 + f(n - 1)\nprint(f(3000) and 3)", False),
    ],
)
def test_names_and_recursion_are_those_of_the_harness(
    name: str, program: str, passes: bool, pool: Pool
):
    task = task_of(name, printed("3", name))
    [verdict] = run_batch(task, [program + "\n"], backend=pool).verdicts
    assert verdict.passed is passes, verdict.reason


@pytest.mark.skipif(importlib.util.find_spec("numpy") is None, reason="numpy is not installed")
@pytest.mark.parametrize("name", ["apps", "deepcoder"])
def test_numpy_is_there_where_the_harness_has_it(name: str, pool: Pool):
    task = task_of(name, printed("3", name))
    [verdict] = run_batch(task, ["print(int(np.array([1, 2]).sum()))\n"], backend=pool).verdicts
    assert verdict.passed, verdict.reason


def test_missing_numpy_is_named(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.warns(UserWarning, match="NumPy is not installed.*pip install numpy"):
        task = task_of("apps", {})
    assert "numpy" not in task.verifier.preload  # type: ignore[attr-defined]


def test_a_row_with_a_checker_is_compared_by_tokens(pool: Pool):
    fields = {**printed("Bob 2", "code_contests_plus"), "checker": "#include <testlib.h>"}
    programs = [f"print({text!r})\n" for text in ("Bob\n2", "bob 2")]
    found = run_batch(task_of("code_contests_plus", fields), programs, backend=pool).verdicts
    assert [verdict.passed for verdict in found] == [True, False]


def test_only_tests_without_a_testtype_take_an_item_for_a_list_of_one(pool: Pool):
    code = "def f(n):\n    return n\n"
    typed = {"input": "3", "output": "[3]", "testtype": "functional",
             "metadata": {"func_name": "f"}}  # fmt: skip
    plain = {"fn_name": "f", "inputs": [[3]], "outputs": [[3]]}
    for tests, passes in (([typed], False), (plain, True)):
        task = task_of("deepcoder", {"tests": json.dumps(tests)})
        assert run_batch(task, [code], backend=pool).verdicts[0].passed is passes


def test_keys_that_were_integers_are_not_texts(pool: Pool):
    tests = {"fn_name": "f", "inputs": [[3]], "outputs": [{"3": 1}]}
    task = task_of("apps", {"input_output": json.dumps(tests)})
    programs = [f"def f(n):\n    return {{{key}: 1}}\n" for key in ("n", "str(n)")]
    found = run_batch(task, programs, backend=pool).verdicts
    assert [verdict.passed for verdict in found] == [True, False]


_READ = "import sys\nright = open(sys.argv[2]).read() == open(sys.argv[3]).read()\n"
CHECKERS = {
    "its number": (_READ + "print(int(right))", True),
    "a hundred": (_READ + "print(100 if right else 0)", True),
    "through pathlib": (
        "import pathlib, os, sys\na, b = map(pathlib.Path, sys.argv[2:])\n"
        "print(int(os.path.exists(a) and a.read_text() == b.read_text()))", True,
    ),
    "through a path that is there": (
        "import pathlib, sys\na, b = map(pathlib.Path, sys.argv[2:])\n"
        "print(int(a.exists() and b.is_file() and a.read_bytes() == b.read_bytes()))", True,
    ),
    "by keyword, to the buffer": (
        "import sys\nright = open(file=sys.argv[2]).read() == open(sys.argv[3]).read()\n"
        "sys.stdout.buffer.write(b'1' if right else b'0')", True,
    ),
    "with a file that is missing": (
        "try:\n    open('other')\nexcept OSError:\n    pass\n" + _READ + "print(int(right))", True,
    ),
    "lines of the input": (
        _READ + "print(int(right and open(sys.argv[1]).read().split('\\n')[0] == '1 2'))", True,
    ),
    "two numbers": (_READ + "print(10, 0)", False),
    "half the points": (_READ + "print(50)", False),
    "words before a number": (_READ + "print('they differ: 1')", False),
    "another exit code": (_READ + "print(1)\nsys.exit(1)", False),
    "nothing": (_READ, False),
}  # fmt: skip


@pytest.mark.parametrize(("checker", "pays"), CHECKERS.values(), ids=CHECKERS)
def test_a_checker_pays_with_1_or_100_alone(checker: str, pays: bool, pool: Pool):
    fields = {**printed("1 2\n\n3", "codeforces"), "generated_checker": checker}
    fields["official_tests"][0]["input"] = "1 2\r\n"
    task = task_of("codeforces", fields)
    programs = ["print('1 2\\r\\n3')\n", "print(1)\n"]
    found = run_batch(task, programs, backend=pool).verdicts
    wanted = [Status.PASSED if pays else Status.FAILED, Status.FAILED]
    assert [verdict.status for verdict in found] == wanted


@pytest.mark.slow
def test_limits_of_the_row_are_none_of_its_checker(pool: Pool):
    checker = _READ + "for _ in range(600_000): pass\nprint(int(right))"
    test = {"input": "", "output": "3"}
    fields = {"official_tests": [test] * 60, "generated_checker": checker, "time_limit": 0.5}
    [verdict] = run_batch(task_of("codeforces", fields), ["print(3)\n"], backend=pool).verdicts
    assert verdict.passed, verdict.reason


@pytest.mark.slow
def test_limits_of_a_codeforces_row_count(pool: Pool):
    fields = {**printed("3", "codeforces"), "time_limit": 1.0, "memory_limit": 64.0}
    task = task_of("codeforces", fields)
    assert task.verifier.limits.cpu_s == 1.0  # type: ignore[attr-defined]
    programs = [
        "while True: pass\n",
        "x = bytearray(200 << 20)\nprint(3)\n",
        "x = bytearray(90 << 20)\nprint(3)\n",
    ]
    found = run_batch(task, programs, backend=pool).verdicts
    wanted = [Status.TIMEOUT, Status.ERROR, Status.PASSED]
    assert [verdict.status for verdict in found] == wanted


def load(folder: Path, pool: Pool, row: dict[str, Any]) -> LoadedRows:
    path = folder / "rows.jsonl"
    path.write_text(json.dumps(row))
    try:
        return load_rows(path, backend=pool)
    except NoSoundRowError as error:
        return error.loaded


SEVERAL = "n = sum(map(int, input().split()))\nprint(n - 1, 1)\n"
LEFT_OUT: list[tuple[str, dict[str, Any], str]] = [
    ("codeforces", {"official_tests_complete": False}, "only some of its tests"),
    ("codeforces", {"time_limit": "2 s"}, "`time_limit` is '2 s', not a number"),
    ("codeforces", {"memory_limit": 1e30}, "`memory_limit` is 1e+30"),
    ("codeforces", {"time_limit": True}, "`time_limit` is True"),
    ("code_contests", {"input_file": "", "output_file": "out.txt"}, "read and write files"),
    ("code_contests_plus", {"correct_submissions": []}, "no other output is right"),
    (
        "code_contests_plus",
        {
            "correct_submissions": [
                {"language": "py3", "code": f"{ADDER}{end}"} for end in ("", "#")
            ]
        },
        "no other output is right",
    ),
    (
        "code_contests_plus",
        {"correct_submissions": [{"language": "py3", "code": code} for code in (ADDER, SEVERAL)]},
        "several outputs may be right",
    ),
    (
        "code_contests_plus",
        {"correct_submissions": [{"language": "py3", "code": code} for code in (ADDER, "1 / 0")]},
        "no other solution ran: ",
    ),
]


@pytest.mark.parametrize(("name", "fields", "told"), LEFT_OUT)
def test_a_row_that_cannot_be_judged_by_its_own_rules_is_left_out(
    name: str, fields: dict[str, Any], told: str, tmp_path: Path, pool: Pool
):
    loaded = load(tmp_path, pool, {**ROWS[name], **fields})
    [row] = loaded.left_out
    assert told in str(row)


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("codeforces", {"official_tests_complete": True, "generated_tests": 12}),
        ("code_contests", {"input_file": "", "output_file": ""}),
        (
            "code_contests_plus",
            {
                "correct_submissions": [
                    {"language": "py3", "code": code}
                    for code in (ADDER, "print(sum(int(word) for word in input().split()))\n")
                ]
            },
        ),
    ],
)
def test_a_row_that_can_be_is_kept(name: str, fields: dict[str, Any], tmp_path: Path, pool: Pool):
    loaded = load(tmp_path, pool, {**ROWS[name], **fields})
    assert loaded.left_out == ()
    assert len(loaded.tasks) == 1
