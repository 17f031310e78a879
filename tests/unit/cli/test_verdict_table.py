from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from unhack.cli.verdict_table import VerdictTable, advantage_text, score_text, summary
from unhack.core.verdict import Seal, Status, Verdict, unscored_verdict
from unhack.tasks.batch import Batch

PASSED = Verdict(Status.PASSED, 1.0, isolation="namespaces")
FAILED = Verdict(Status.FAILED, 0.25, "case 2 of 4: wrong answer", isolation="namespaces")


@given(score=st.floats(0, 1))
def test_a_printed_score_is_within_a_thousandth(score: float) -> None:
    shown = score_text(score).plain
    assert abs(float(shown) - score) <= 0.0005 + 1e-12
    assert len(shown) >= 3


def test_no_score_is_a_dash_and_no_advantage_a_dot() -> None:
    assert score_text(None).plain == "-"
    assert advantage_text(0.0, kept=False).plain == "·"


def test_an_advantage_has_its_sign() -> None:
    assert advantage_text(0.5, kept=True).plain == "+0.50"
    assert advantage_text(-0.5, kept=True).plain == "−0.50"


def test_every_verdict_has_a_row_and_nothing_in_it_is_markup() -> None:
    console = Console(file=io.StringIO(), width=100)
    verdicts = [PASSED, FAILED, unscored_verdict("[bold]the worker\x1b died")]
    names = ["a", "[red]b", "c"]
    table = VerdictTable(names, width=100, advantages=True)
    console.print(table.head())
    for name, verdict, advantage in zip(names, verdicts, (1.0, -1.0, None), strict=True):
        console.print(table.row(name, verdict, advantage=(advantage or 0.0, advantage is not None)))
    assert isinstance(console.file, io.StringIO)
    lines = [line.split() for line in console.file.getvalue().splitlines()[2:]]
    assert lines[0] == ["a", "passed", "1.0", "+1.00"]
    assert lines[1][:4] == ["[red]b", "failed", "0.25", "−1.00"]
    assert lines[2] == ["c", "unscored", "-", "·", "[bold]the", "worker\\x1b", "died"]


@pytest.mark.parametrize(
    ("verdicts", "words"),
    [
        ([PASSED, FAILED], "2 completions: 1 passed, 1 failed; mean score 0.625; 2.00 s (1/s); "),
        ([PASSED], "sealed, isolated by namespaces"),
        ([Verdict(Status.PASSED, 1.0, seal=Seal.TEXT)], "; text"),
        ([unscored_verdict("no")], "1 completion: 1 unscored; mean score -; "),
    ],
)
def test_the_summary_counts(verdicts: list[Verdict], words: str) -> None:
    batch = Batch(tuple(verdicts), (tuple(range(len(verdicts))),))
    assert words in summary(batch, wall_s=2.0, grouped=False)


def test_the_summary_of_groups_has_their_shares() -> None:
    batch = Batch((PASSED, PASSED, PASSED, FAILED), ((0, 1), (2, 3)))
    assert summary(batch, wall_s=1.0, grouped=True).splitlines()[1] == (
        "2 groups: 50% all pass, 0% all fail, 50% with equal rewards (no gradient)"
    )


def test_a_row_stands_below_the_names_of_its_columns() -> None:
    console = Console(file=io.StringIO(), width=80)
    table = VerdictTable(["a name that is rather long for a table", "b"], width=80)
    console.print(table.head())
    console.print(table.row("b", FAILED, advantage=None))
    assert isinstance(console.file, io.StringIO)
    head, rule, row = console.file.getvalue().splitlines()
    assert row.index("case 2") == head.index("reason")
    assert row.index("failed") == head.index("status")
    assert len(rule) <= 80
