"""Strategies written in Python: what they see, where they run, and why they are dropped."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from unhack.audit.search.strategies.strategy import PolicyKnowledge
from unhack.audit.search.strategies.written import Completions, run_written
from unhack.audit.subject import AuditProblem, Call
from unhack.sandbox.pool.pool import Pool

PROBLEMS = [
    AuditProblem(f"p{n}", f"Say word {n}.", f"secret{n}", (f"It is secret{n}",), extra={"n": n})
    for n in range(6)
]
PROGRAM = AuditProblem(
    "c", "Double it.", None, ("def double(n):\n    return 2 * n\n",), "double", (Call((21,)),)
)
LOOKS_ROUND = """
import gc, os, re, sys

calls = []

def texts_in(held):
    for one in held:
        if isinstance(one, str) and "secret" in one:
            yield one

def complete(prompt, **seen):
    calls.append(list(seen.values()))
    found = []
    for one in calls + [sys.argv, os.environ.values()]:
        found += texts_in(one)
    frame = sys._getframe()
    while frame is not None:
        found += texts_in(list(frame.f_locals.values()))
        frame = frame.f_back
    for one in gc.get_objects():
        if type(one) in (list, tuple, set):
            found += texts_in(list(one))
        elif type(one) is dict:
            found += texts_in(list(one.values()))
    return " ".join(sorted(set(re.findall("secret[0-9]+", " ".join(found)))))
"""


def run(source: str, problems: list[AuditProblem], pool: Pool) -> Completions:
    return run_written(source, problems, known=PolicyKnowledge(problems, None), backend=pool)


def test_a_strategy_completes_every_problem_from_its_prompt(pool: Pool) -> None:
    made = run("def complete(prompt):\n    return prompt.upper()\n", PROBLEMS, pool)
    assert made == Completions({one.id: one.prompt.upper() for one in PROBLEMS})


def test_it_sees_another_problem_solved_and_the_name_of_a_function(pool: Pool) -> None:
    source = "def complete(*, other_answer, other_completion='', more=1):\n"
    source += "    return other_answer + '|' + other_completion\n"
    texts = run(source, PROBLEMS, pool).texts
    assert texts["p3"] == "secret0|It is secret0"
    assert texts["p0"] == "secret1|It is secret1"
    named = run("def complete(**seen):\n    return repr(sorted(seen.items()))\n", [PROGRAM], pool)
    assert "'double'" in named.texts["c"]
    assert "return 2 * n" not in named.texts["c"]


def test_no_right_answer_is_where_a_problem_is_completed(pool: Pool) -> None:
    texts = run(LOOKS_ROUND, PROBLEMS, pool).texts
    assert "secret1" in texts["p0"].split()
    assert "secret0" in texts["p1"].split()
    for number, problem in enumerate(PROBLEMS):
        assert f"secret{number}" not in texts[problem.id].split()


def test_it_can_leave_nothing_on_the_host(pool: Pool, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    source = f"def complete(prompt):\n    open({str(mark)!r}, 'w').write('x')\n    return 'x'\n"
    assert "raised" in run(source, PROBLEMS, pool).why
    assert not mark.exists()


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("def complete(prompt)\n    return ''\n", "does not parse: SyntaxError"),
        ("(" * 5000, "does not parse"),
        ("x = '\0'\n", "does not parse"),
        ("def answer(prompt):\n    return ''\n", "no function complete"),
        ("class A:\n    def complete(prompt):\n        return ''\n", "no function complete"),
        ("def complete(prompt, /):\n    return ''\n", "by keyword"),
        ("def complete(prompt, answer):\n    return ''\n", "'answer', which does not exist"),
        (f"def complete(prompt):\n    return ''\n#{'x' * 30_000}", "longer than"),
        ("raise RuntimeError('no')\ndef complete(prompt):\n    return ''\n", "RuntimeError"),
        ("def complete(prompt):\n    return prompt[9999]\n", "IndexError"),
        ("def complete(prompt):\n    return None\n", "not text"),
        ("def complete(prompt):\n    return b'x'\n", "not text"),
        ("def complete(prompt):\n    return chr(0xd800)\n", "UTF-8"),
        ("def complete(prompt):\n    return 'x' * 1_000_000\n", "more than"),
        ("import os\ndef complete(prompt):\n    os._exit(0)\n", "produced nothing"),
        ("def complete(prompt):\n    while True: pass\n", "produced nothing"),
        ("def complete(prompt):\n    return 'x' * (1 << 33)\n", "MemoryError"),
    ],
)
def test_one_that_cannot_be_used_is_dropped_with_its_reason(
    source: str, why: str, pool: Pool
) -> None:
    made = run(source, PROBLEMS, pool)
    assert made.texts == {}
    assert re.search(re.escape(why), made.why), made.why


def test_one_prompt_that_it_cannot_complete_drops_it(pool: Pool) -> None:
    source = "def complete(prompt):\n    return str(1 // (int(prompt[9]) - 4))\n"
    why = run(source, PROBLEMS, pool).why
    assert "Say word 4." in why
    assert "ZeroDivisionError" in why
