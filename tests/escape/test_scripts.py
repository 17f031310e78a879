"""A completion cannot reach into the verifier script that imports it."""

from collections.abc import Iterator

import pytest

from unhack import Pool, Problem, ScriptVerifier, Task, Verdict, run_batch

HEADS = {
    "named": "from solution import solve\n",
    "starred": "from solution import *\n",
    "starred_last": "import json\nimport math\nfrom solution import *\n",
}
CHECK = "\ndef verify(solution_path, cases_path):\n    return {check}\n"
RIGHT = "def solve(n):\n    return n * n\n"
WRONG = "def solve(n):\n    return 5\n\n"
CHECKS = {
    "close": "float(abs(solve(3) - 9) < 1e-6)",
    "all": "float(all([solve(3) == 9, solve(4) == 16]))",
    "counted": "float(len([n for n in (3, 4) if solve(n) == n * n]) == 2)",
    "printed": "float(str(solve(3)) == str(9))",
    "summed": "float(sum(solve(n) != n * n for n in (3, 4)) == 0)",
    "typed": "float(isinstance(solve(3), int) and round(solve(3), 2) == round(9, 2))",
}
SHADOWS = """
def abs(x): return 0
def all(x): return True
def len(x): return 2
def str(x): return "9"
def sum(x): return 0
def float(x): return 1.0
def round(x, n=0): return 9
def isinstance(x, kind): return True
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(slots=1)
    yield made
    made.close()


def judge(pool: Pool, script: str, completion: str) -> Verdict:
    """The verdict of a script that passes the right solution."""
    task = Task(Problem("square", "", reference=RIGHT), ScriptVerifier(script))
    return run_batch(task, [completion], backend=pool).verdicts[0]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("head", HEADS)
def test_names_of_a_completion_do_not_replace_those_of_the_script(
    pool: Pool, head: str, check: str
):
    script = HEADS[head] + CHECK.format(check=CHECKS[check])
    assert judge(pool, script, RIGHT).passed
    verdict = judge(pool, script, WRONG + SHADOWS)
    assert verdict.scored
    assert not verdict.passed
    assert not judge(
        pool, script, f"__all__ = ['solve', 'abs', 'all', 'float']\n{WRONG}{SHADOWS}"
    ).passed


@pytest.mark.parametrize(
    "head",
    [
        "from math import isclose\n",
        "def isclose(a, b):\n    return a == b\n",
        "isclose = float.__eq__\n",
    ],
)
def test_a_completion_does_not_replace_what_a_script_has_bound(pool: Pool, head: str):
    check = CHECK.format(check="float(isclose(float(solve(3)), 9.0))")
    script = f"{head}from solution import *\n{check}"
    assert judge(pool, script, RIGHT).passed
    assert not judge(pool, script, f"{WRONG}def isclose(a, b): return True\n").passed


def test_a_completion_does_not_replace_the_modules_that_a_script_imported(pool: Pool):
    script = HEADS["starred_last"] + CHECK.format(check="float(math.isclose(solve(3), 9))")
    assert judge(pool, script, RIGHT).passed
    fake = "class math:\n    @staticmethod\n    def isclose(a, b): return True\n"
    assert not judge(pool, script, WRONG + fake).passed
