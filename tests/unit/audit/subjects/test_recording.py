"""A verifier's calls of a right program become the inputs on which wrong ones are proven wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.sampling import quick_ones
from tests.unit.audit.recorded_shapes import LOAD, SHAPES, Shape

from unhack.audit.attack import Claim, Payload
from unhack.audit.oracle.programs import ProgramOracle, what_to_add
from unhack.audit.subject import AuditProblem, Query, Step
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.recording import is_program, with_recorded, with_recorder

_HEAD = '"""Squares."""\nfrom __future__ import annotations\n\n\n'
SQUARE = f"{_HEAD}def square(n: int) -> int:\n    return n * n\n"


def _folder(path: Path, verifier: str, right: str, prompt: str = "") -> AuditProblem:
    path.mkdir(exist_ok=True)
    for name, text in (("verifier.py", verifier), ("reference.py", right), ("prompt.md", prompt)):
        (path / name).write_text(text)
    [problem] = load_subject(str(path)).problems
    return problem


def _is_wrong(problem: AuditProblem, text: str) -> bool:
    return ProgramOracle().why_wrong(problem, Payload(text, Claim.PROGRAM)) is not None


@pytest.mark.slow
@pytest.mark.parametrize("shape", quick_ones(SHAPES, SHAPES[:3]), ids=lambda shape: shape.name)
class TestScriptsThatHoldTheirCallsInCode:
    def test_a_wrong_program_that_passes_is_proven_and_right_ones_are_not(
        self, tmp_path: Path, shape: Shape
    ) -> None:
        path = tmp_path / shape.name
        problem = _folder(
            path, shape.verifier.replace("{check}", shape.weak), shape.right, shape.prompt
        )
        subject = load_subject(str(path))
        texts = (shape.right, shape.other, shape.wrong)
        scores = subject.score([Query(problem, text) for text in texts])
        assert [score.value for score in scores] == [1.0, 1.0, 1.0]
        assert problem.is_code
        assert [_is_wrong(problem, text) for text in texts] == [False, False, True]

    def test_its_sound_twin_tells_them_apart(self, tmp_path: Path, shape: Shape) -> None:
        path = tmp_path / shape.name
        problem = _folder(
            path, shape.verifier.replace("{check}", shape.sound), shape.right, shape.prompt
        )
        texts = (shape.right, shape.other, shape.wrong)
        scores = load_subject(str(path)).score([Query(problem, text) for text in texts])
        assert [score.value for score in scores] == [1.0, 1.0, 0.0]


class TestAProgramWithARecorder:
    def _run(self, tmp_path: Path, source: str, given: str = "") -> tuple[str, list[list[object]]]:
        notes = tmp_path / "notes"
        text = with_recorder(source, str(notes))
        assert text is not None
        (tmp_path / "program.py").write_text(text)
        done = subprocess.run(
            [sys.executable, str(tmp_path / "program.py"), "word"],
            input=given, capture_output=True, text=True, timeout=60, check=True,
        )  # fmt: skip
        lines = notes.read_text().splitlines() if notes.exists() else []
        return done.stdout, [json.loads(line) for line in lines]

    def test_it_prints_what_it_would_print_and_notes_what_it_read(self, tmp_path: Path) -> None:
        source = "import os, sys\nprint(input(), sys.stdin.readline(), os.read(0, 99), sys.argv[1])"
        printed, notes = self._run(tmp_path, source, "one\ntwo\n")
        assert printed == "one two\n b'' word\n"
        assert [line[0] for line in notes] == ["run", "input"]
        assert notes[1][2] == "one\ntwo\n"

    def test_its_docstring_and_future_imports_stay_in_front(self, tmp_path: Path) -> None:
        printed, notes = self._run(tmp_path, SQUARE + "print(__doc__, square(4))\n")
        assert printed == "Squares. 16\n"
        assert ["call", "square", [4], {}, [16]] in notes

    def test_only_calls_from_outside_are_noted(self, tmp_path: Path) -> None:
        source = "def f(n):\n    return n and n + f(n - 1)\n\n\nprint(f(3))\n"
        printed, notes = self._run(tmp_path, source)
        assert printed == "6\n"
        assert [line for line in notes if line[0] == "call"] == [["call", "f", [3], {}, [6]]]

    def test_values_that_are_not_plain_are_left_out(self, tmp_path: Path) -> None:
        source = "def f(a):\n    return a\n\n\nf(object())\nf({1: (2, {3})})\nf([b'x'])\n"
        _, notes = self._run(tmp_path, source)
        assert [line[2] for line in notes if line[0] == "call"] == [
            [{"$dict": [[1, {"$tuple": [2, {"$set": [3]}]}]]}], [[{"$bytes": "eA=="}]]
        ]  # fmt: skip

    def test_arguments_are_noted_as_they_were_before_the_call(self, tmp_path: Path) -> None:
        source = "def f(a):\n    a.clear()\n\n\nf([1, 2])\n"
        _, notes = self._run(tmp_path, source)
        assert ["call", "f", [[1, 2]], {}, [None]] in notes

    def test_the_file_stays_small(self, tmp_path: Path) -> None:
        source = (
            "def f(a):\n    return a\n\n\nfor n in range(3000):\n    f('x' * 1000)\nf('y' * 10**6)"
        )
        self._run(tmp_path, source)
        assert (tmp_path / "notes").stat().st_size <= 400_000

    def test_what_cannot_be_parsed_gets_none(self) -> None:
        assert with_recorder("def f(:\n", "/notes") is None


class TestWhatBecomesOfNotes:
    def _problem(
        self, *lines: list[object], source: str = SQUARE, script: str = ""
    ) -> AuditProblem:
        problem = AuditProblem("p", "", correct=(source,))
        text = "\n".join(map(json.dumps, lines))
        return with_recorded(problem, f"{text}\nnot json\n[1]\n", script=script)

    def test_keywords_become_positional(self) -> None:
        found = self._problem(["call", "square", [], {"n": 3}, [9]])
        assert (found.entry_point, found.calls[0].args) == ("square", (3,))

    def test_objects_become_sequences_until_they_are_lost(self) -> None:
        found = self._problem(
            ["new", "Box", "1", [2], {}], ["do", "1", "put", ["a"], {}], ["end", "1"],
            ["do", "1", "put", ["b"], {}],
        )  # fmt: skip
        assert found.sequences == ((Step("new", "Box", (2,)), Step("do", "put", ("a",))),)
        assert found.entry_point == "Box.put"

    def test_functions_that_a_program_calls_itself_are_not_the_verifiers(self) -> None:
        lines: list[list[object]] = [["run", "1", []], ["input", "1", "3\n"],
                                     ["call", "square", [3], {}, [9]]]  # fmt: skip
        assert self._problem(*lines).calls[0].args == ("3\n",)
        assert self._problem(*lines, script="f(x) == square(x)").entry_point == "square"

    def test_nothing_noted_leaves_the_function_that_the_verifier_names(self) -> None:
        source = f"{SQUARE}\n\ndef other(n):\n    return n\n"
        assert self._problem(source=source).entry_point == "other"
        assert self._problem(source=source, script="square(3)").entry_point == "square"
        assert self._problem(source="print(1)\n") == AuditProblem("p", "", correct=("print(1)\n",))

    def test_one_method_of_objects_without_arguments_is_a_function(self) -> None:
        found = self._problem(
            ["new", "Solution", "1", [], {}], ["do", "1", "rises", [[1, 2]], {}],
            ["new", "Solution", "2", [], {}], ["do", "2", "rises", [[3, 2]], {}],
        )  # fmt: skip
        assert (found.entry_point, found.sequences) == ("Solution.rises", ())
        assert [call.args for call in found.calls] == [([1, 2],), ([3, 2],)]


class TestPrograms:
    @pytest.mark.parametrize(
        "text",
        ["def f():\n    pass\n", "print(1)\n", "```python\nimport os\n```", "x = input()\n"],
    )
    def test_code_that_does_something_is_one(self, text: str) -> None:
        assert is_program(text)

    @pytest.mark.parametrize("text", ["42", "x = 5", "Answer: 7", "The answer is 7", "[1, 2]", ""])
    def test_an_answer_is_none_though_it_parses(self, text: str) -> None:
        assert not is_program(text)


ROWS_OF_TESTS = (
    "import json\n\n\ndef reward(completion, answer):\n    space = {}\n"
    "    exec(completion, space)\n    name, given, wanted = json.loads(answer)\n"
    "    return float(space[name](given) == wanted)\n"
)


@pytest.mark.slow
def test_rows_whose_right_completions_are_programs_are_of_code(tmp_path: Path) -> None:
    (tmp_path / "g.py").write_text(ROWS_OF_TESTS)
    row = {"prompt": "Square it.", "answer": '["square", 3, 9]', "correct": [SQUARE]}
    (tmp_path / "g.jsonl").write_text(json.dumps(row) + "\n")
    [problem] = load_subject(f"{tmp_path / 'g.py'}:reward").problems
    assert problem.is_code
    assert problem.entry_point == "square"
    assert [call.args for call in problem.calls] == [(3,)]


REFUSES = (
    LOAD
    + """
def verify(solution_path):
    if "exec" in open(solution_path).read():
        return 0.0
    return float(load(solution_path).twice(len('fives')) % 10 == 0)
"""
)


@pytest.mark.slow
def test_advice_for_a_folder_without_known_inputs_works_as_it_is_written(tmp_path: Path) -> None:
    right, wrong = "def twice(n):\n    return 2 * n\n", "def twice(n):\n    return 10\n"
    problem = _folder(tmp_path / "twice", REFUSES, right, "Write `twice`.")
    assert ProgramOracle().is_blind(problem)
    assert not _is_wrong(problem, wrong)
    [generator] = re.findall(r"^def generate.*\n    .*\n", what_to_add(problem), re.MULTILINE)
    (tmp_path / "twice" / "generator.py").write_text(generator)
    [problem] = load_subject(str(tmp_path / "twice")).problems
    assert _is_wrong(problem, wrong)
    assert not _is_wrong(problem, right)


@pytest.mark.slow
def test_advice_for_a_program_works_as_it_is_written(tmp_path: Path) -> None:
    right = "print(2 * int(input()))\n"
    problem = AuditProblem("p", "", correct=(right,), runs=True)
    assert ProgramOracle().is_blind(problem)
    [generator] = re.findall(r"^def generate.*\n    .*\n", what_to_add(problem), re.MULTILINE)
    problem = AuditProblem("p", "", correct=(right,), runs=True, generator=generator)
    assert _is_wrong(problem, "print(10)\n")
    assert not _is_wrong(problem, right)


@pytest.mark.slow
def test_rows_with_calls_need_not_name_the_function(tmp_path: Path) -> None:
    (tmp_path / "g.py").write_text(ROWS_OF_TESTS)
    row: dict[str, object] = {"prompt": "Square it.", "answer": '["square", 3, 9]'}
    row["correct"] = [SQUARE]
    row["calls"] = [{"args": [4], "expected": 16}]
    (tmp_path / "g.jsonl").write_text(json.dumps(row) + "\n")
    [problem] = load_subject(f"{tmp_path / 'g.py'}:reward").problems
    assert (problem.entry_point, problem.calls[0].args) == ("square", (4,))
