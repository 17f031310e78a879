from __future__ import annotations

import io

from rich.console import Console

from unhack.cli.demo.corpus import DemoPart
from unhack.cli.demo.screen import Result, corpus_findings, corpus_table
from unhack.core.problem import Problem
from unhack.core.verdict import Status, Verdict, unscored_verdict
from unhack.tasks.task import Task
from unhack.verifiers.function import Case, FunctionVerifier

PASSED = Verdict(Status.PASSED, 1.0)
FAILED = Verdict(Status.FAILED, 0.0, "case 1 of 1: wrong answer")


def result(must: bool | None, *verdicts: Verdict) -> Result:
    verifier = FunctionVerifier("f", (Case(),))
    items = tuple((Task(Problem(f"t{i}", ""), verifier), "") for i in range(len(verdicts)))
    return Result(DemoPart("some", items, must), verdicts, 0.5)


def test_a_right_one_that_fails_is_a_surprise_with_its_reason() -> None:
    assert result(True, PASSED, FAILED).surprises == ["t1: failed: case 1 of 1: wrong answer"]


def test_a_wrong_one_that_passes_is_a_surprise() -> None:
    assert result(False, FAILED, PASSED).surprises == ["t1: passed: "]


def test_what_is_not_known_cannot_surprise_but_unscored_does() -> None:
    assert result(None, PASSED, FAILED).surprises == []
    assert result(None, unscored_verdict("broke")).surprises == ["t0: unscored: broke"]


def test_the_findings_count_what_came_out_as_it_must() -> None:
    first, second, *rest = corpus_findings(
        [result(True, PASSED, FAILED), result(False, FAILED), result(None, PASSED, PASSED)]
    )
    assert first == "2 of 3 known outcomes are judged correctly."
    assert second == "  t1: failed: case 1 of 1: wrong answer"
    assert rest[0].startswith("2 changed programs pass")


def test_the_table_adds_up() -> None:
    console = Console(file=io.StringIO(), width=120)
    console.print(corpus_table([result(True, PASSED, FAILED, unscored_verdict("broke"))]))
    assert isinstance(console.file, io.StringIO)
    row = console.file.getvalue().splitlines()[2].split()
    assert row == ["some", "3", "1", "1", "0.5", "6"]
