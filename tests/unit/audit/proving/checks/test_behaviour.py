"""Completeness and signal: each fault is planted, and told from a verifier without it."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.unit.audit.company import ROWS, check_of, examined, script_subject, text_subject

from unhack.audit.oracle.oracle import TextOracle
from unhack.audit.proving.baseline import measure_baselines
from unhack.audit.proving.checks import behaviour
from unhack.audit.proving.checks.variants import variants
from unhack.audit.proving.journal import ScoreJournal
from unhack.audit.proving.prover import Budget, Prover
from unhack.audit.subject import AuditProblem, Query, Score, Source
from unhack.sandbox.pool.pool import Pool

FOUND = 'found = re.fullmatch(r"The answer is (\\S+)", completion.strip())'
NAMES = {
    "spread": "scores differ within a group",
    "form": "no credit for format alone",
    "length": "no credit for length",
    "order": "a right completion scores highest",
    "finite": "every completion gets a finite score",
    "answers": "no constant answer is often right",
}


def _source(*lines: str) -> str:
    body = "\n".join(f"    {line}" for line in lines)
    return f"import math, re\n\ndef reward(completion, answer):\n{body}\n"


RIGHT = "right = found is not None and found.group(1) == answer"
CLEAN = _source(FOUND, RIGHT, "return float(right)")


@pytest.mark.slow
class TestSignal:
    def test_a_clean_verifier_passes(self, tmp_path: Path, pool: Pool) -> None:
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=ROWS), pool)
        for part in ("spread", "form", "length", "order", "finite"):
            assert check_of(seen, NAMES[part]).ok is True
        assert not any("0 and 1" in check.name for check in seen.checks)

    @pytest.mark.parametrize(
        ("lines", "fault"),
        [
            ((FOUND, RIGHT, "return 1.0 if right else 0.2 * bool(found)"), "form"),
            pytest.param(
                (FOUND, RIGHT, "return 1.0 if right else min(0.4, len(completion) / 9999)"),
                "length",
                marks=pytest.mark.slow,
            ),
            ((FOUND, RIGHT, "return 1.0 if right else 1.5 * bool(found)"), "order"),
            pytest.param(
                (FOUND, RIGHT, "return 1.0 if right else math.nan"),
                "finite",
                marks=pytest.mark.slow,
            ),
            ((FOUND, "return float(found.group(1) == answer)"), "finite"),
            (("return 1.0",), "spread"),
        ],
        ids=["form", "length", "order", "nan", "raising", "constant"],
    )
    def test_a_fault_fails_its_check(
        self, tmp_path: Path, pool: Pool, lines: tuple[str, ...], fault: str
    ) -> None:
        seen = examined(text_subject(tmp_path, pool, _source(*lines), rows=ROWS), pool)
        check = check_of(seen, NAMES[fault])
        assert check.ok is False
        assert check.witness or fault == "spread"

    @pytest.mark.slow
    def test_scores_below_zero_are_told_and_not_held_against_it(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        source = _source(FOUND, RIGHT, "return 1.0 if right else -1.0")
        seen = examined(text_subject(tmp_path, pool, source, rows=ROWS), pool)
        check = check_of(seen, "within 0 and 1")
        assert (check.ok, check.text) == (None, "scores lie between -1 and 1")

    @pytest.mark.parametrize(("answers", "ok"), [("4747474747", None), ("4789365210", True)])
    @pytest.mark.slow
    def test_an_answer_that_is_often_right_is_told(
        self, tmp_path: Path, pool: Pool, answers: str, ok: bool | None
    ) -> None:
        rows = [
            {"prompt": f"Which digit? {number}", "answer": d, "correct": [f"The answer is {d}"]}
            for number, d in enumerate(answers)
        ]
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=rows), pool)
        assert check_of(seen, NAMES["answers"]).ok is ok


@dataclass
class Timed:
    """A subject whose scores say how long they took."""

    seconds: Mapping[str, float]
    """By completion; others take an hour, as on a machine with much else to do."""
    problems: Sequence[AuditProblem] = tuple(
        AuditProblem(f"p{n}", f"{n} + 1?", f"{n + 1}", (f"It is {n + 1}",)) for n in range(4)
    )
    source: Source | None = None
    sees_answer: bool = True
    name: str = "timed"
    fingerprint: str = "timed"

    def with_limit(self, wall_s: float) -> Timed:
        return self

    def lines_of(self, query: Query) -> frozenset[int]:
        return frozenset()

    def score(self, queries: Sequence[Query]) -> list[Score]:
        return [
            Score(
                float(one.completion in one.problem.correct),
                seconds=self.seconds.get(one.completion, 3600.0),
            )
            for one in queries
        ]


@pytest.mark.parametrize(
    ("seconds", "looked_at"),
    [
        ({f"It is {n}": 0.01 for n in range(9)}, "3 groups"),
        ({"It is 2": 0.1}, "3 groups"),
        ({}, "1 group of"),
        ({"": 0.0, "It is 2": 2.0}, "1 group of"),
    ],
    ids=["quick", "quick on a busy machine", "slow", "quick to refuse nothing"],
)
def test_only_a_verifier_that_is_slow_itself_is_looked_at_on_one_problem(
    seconds: Mapping[str, float], looked_at: str
) -> None:
    subject = Timed(seconds)
    journal = ScoreJournal(subject, None)
    prover = Prover(journal, TextOracle(), Budget(1000, math.inf), lambda *_: None)
    baselines = measure_baselines(journal, subject.problems)
    seen = behaviour.examine(prover, baselines, thorough=False)
    assert looked_at in check_of(seen, NAMES["spread"]).text


def _texts(answer: str, prompt: str = "How much is it?") -> dict[str, str]:
    problem = AuditProblem("p", prompt, answer, (f"It is {answer}.",))
    return {one.text: one.name for one in variants(problem, problem.correct[0])}


class TestVariantsOfTexts:
    @pytest.mark.parametrize(
        ("answer", "form"),
        [
            ("42", "42.0"), ("42", "+42"), ("42", "$42$"), ("-7", "\N{MINUS SIGN}7"),
            ("12500", "12,500"), ("0.5", "1/2"), ("0.5", "0.50"), ("1/3", "\\frac{1}{3}"),
            ("\\frac{2}{7}", "2/7"), ("\\frac{2}{7}", "\\dfrac{2}{7}"),
        ],
    )  # fmt: skip
    def test_a_number_is_written_in_other_ways(self, answer: str, form: str) -> None:
        assert f"It is {form}." in _texts(answer)

    def test_a_prompt_that_fixes_the_form_is_respected(self) -> None:
        made = _texts("0.5", "How much is it? Give a decimal number.")
        assert set(made.values()) == {
            "a newline at the end", "spaces at the end", "an empty line before it",
        }  # fmt: skip

    def test_words_have_no_other_forms(self) -> None:
        assert len(_texts("blue")) == 3

    @pytest.mark.slow
    def test_a_strict_verifier_is_not_blamed_for_other_forms(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        seen = examined(text_subject(tmp_path, pool, CLEAN, rows=ROWS), pool)
        assert check_of(seen, "reformatted correct answers pass").ok is True
        forms = check_of(seen, "other notations of them pass")
        assert forms.ok is None
        assert "42.0 for 42" in forms.text

    @pytest.mark.slow
    def test_a_verifier_that_counts_spaces_is(self, tmp_path: Path, pool: Pool) -> None:
        source = _source('return float(completion == f"The answer is {answer}")')
        check = check_of(
            examined(text_subject(tmp_path, pool, source, rows=ROWS), pool),
            "reformatted correct answers pass",
        )
        assert check.ok is False
        assert "a newline at the end" in check.text


PROGRAM = '''\
"""Totals."""

import math

LIMIT = 3


def first(items):
    best = items[0]
    for item in items:
        best = max(best, item)
    return best


def second(items, n=2):
    size = math.floor(len(items) / n)
    return [first(items[at : at + n]) for at in range(size)] + [LIMIT]
'''


def _programs(source: str, fence: bool = False) -> dict[str, str]:
    text = f"Here it is:\n```python\n{source}```\n" if fence else source
    problem = AuditProblem("p", "Write second(items).", None, (text,), "second")
    return {one.name: one.text for one in variants(problem, text)}


class TestVariantsOfPrograms:
    def test_every_variant_does_the_same(self) -> None:
        made = _programs(PROGRAM)
        assert len(made) == 6
        for text in made.values():
            scope: dict[str, object] = {}
            exec(text, scope)
            assert scope["second"]([4, 1, 9, 2]) == [4, 9, 3]  # type: ignore[operator]

    def test_locals_are_renamed_and_nothing_else(self) -> None:
        tree = ast.parse(_programs(PROGRAM)["local variables renamed"])
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        assert {"best_again", "size_again", "at_again", "items", "LIMIT", "math"} <= names
        assert not names & {"best", "size", "LIMIT_again", "items_again"}

    def test_functions_that_read_their_names_are_left_alone(self) -> None:
        source = "def second(items):\n    total = 1\n    return locals()['total']\n"
        assert "local variables renamed" not in _programs(ast.unparse(ast.parse(source)) + "\n")

    def test_a_fence_stays_where_it_was(self) -> None:
        made = _programs(PROGRAM, fence=True)
        assert all(text.startswith("Here it is:\n```python\n") for text in made.values())
        assert all(text.endswith("```\n") for text in made.values())

    def test_a_function_that_is_defined_twice_is_not_moved(self) -> None:
        source = "def second():\n    return 1\n\ndef second():\n    return 2\n"
        assert "functions in another order" not in _programs(source)


SCRIPT = """
import ast, json, os, sys

def verify(solution_path, test_cases_path):
    source = open(solution_path).read()
    scope = {}
    exec(source, scope)
    if STRICT and "total =" not in source:
        return 0.0
    cases = json.load(open(test_cases_path))
    return float(all(scope["square"](case["input"]) == case["expected"] for case in cases))
"""


class TestScripts:
    @pytest.mark.parametrize("strict", [True, False])
    @pytest.mark.slow
    def test_a_verifier_that_looks_for_names_rejects_right_programs(
        self, tmp_path: Path, pool: Pool, strict: bool
    ) -> None:
        source = SCRIPT.replace("STRICT", str(strict))
        check = check_of(
            examined(script_subject(tmp_path, pool, source), pool),
            "reformatted correct answers pass",
        )
        assert check.ok is not strict
        assert ("local variables renamed" in check.text) is strict
        assert ("total_again" in check.witness) is strict


SEALED = """
import json, os, subprocess, sys

def verify(solution_path, test_cases_path):
    cases = json.load(open(test_cases_path))
    program = open(solution_path).read() + "\\nimport json, sys\\n"
    program += "print(json.dumps([square(n) for n in json.loads(sys.argv[1])]))\\n"
    inputs = json.dumps([case["input"] for case in cases])
    command = [sys.executable, "-I", "-c", program, inputs]
    done = subprocess.run(command, env={"PATH": "/usr/bin"}, cwd="/", capture_output=True)
    try:
        return float(json.loads(done.stdout) == [case["expected"] for case in cases])
    except ValueError:
        return 0.0
"""


class TestProbes:
    @pytest.mark.slow
    def test_a_program_in_the_verifiers_process_reads_everything(
        self, tmp_path: Path, pool: Pool
    ) -> None:
        seen = examined(script_subject(tmp_path, pool, SCRIPT.replace("STRICT", "0")), pool)
        reached = {check.name: check.ok for check in seen.checks if "out of reach" in check.name}
        assert list(reached.values()) == [False, False, False]

    @pytest.mark.parametrize("handed", [True, False])
    @pytest.mark.slow
    def test_an_environment_is_out_of_reach_unless_it_is_handed_on(
        self, tmp_path: Path, pool: Pool, handed: bool
    ) -> None:
        source = SEALED.replace('env={"PATH": "/usr/bin"}, ', "") if handed else SEALED
        seen = examined(script_subject(tmp_path, pool, source), pool)
        assert check_of(seen, "the environment is out of reach").ok is not handed
