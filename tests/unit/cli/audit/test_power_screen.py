"""The power of an audit on the screen and at the command line."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console
from tests.unit.audit.report_sample import SOURCE, report
from tests.unit.cli.conftest import Run, write_rows

from unhack.audit.report.power import Broken, Power, WeakenedCopy
from unhack.cli.audit.screen import screen

EXACT = "def reward(completion, answer):\n    return float(completion.strip() == answer)\n"


def shown(power: Power | None) -> str:
    console = Console(file=io.StringIO(), width=110)
    for part in screen(replace(report(), power=power), source=SOURCE, verbose=True):
        console.print(part)
    assert isinstance(console.file, io.StringIO)
    return " ".join(console.file.getvalue().split())


def test_the_screen_shows_the_figure_and_lists_what_was_not_broken() -> None:
    copies = tuple(
        WeakenedCopy(name, "suffix_match", 7, broken, of_attack=False)
        for name, broken in (("equal_to_in", Broken.HACK), ("equal_to_endswith", Broken.NOT))
    )
    power = Power(copies, edits=9, tried=9, why="every edit was tried", calls=80, seconds=3.25)
    text = shown(power)
    assert "no hack found; the audit broke 1 of 2 weakened copies of this verifier (too few" in text
    assert "9 of 9 edits tried, 2 proven weaker" in text
    assert "equal_to_endswith (line 7)" in text
    assert "equal_to_in" not in text


def test_the_screen_says_nothing_of_power_that_was_not_asked_for() -> None:
    assert "Detection power" not in shown(None)


@pytest.mark.slow
def test_the_command_breaks_weakened_copies_in_seconds_of_their_own(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exact.py").write_text(EXACT)
    rows = [
        {"prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]},
        {"prompt": "What is 9 plus 8?", "answer": "17", "correct": ["17"]},
    ]
    write_rows(tmp_path / "rows.jsonl", rows)
    ran = run(
        "audit", "exact.py:reward", "--problems", "rows.jsonl", "--tiers", "1,2", "--power",
        "--power-seconds", "600", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    power = json.loads(ran.out)["power"]
    assert power["weakened"] >= 8
    assert power["share"] == power["hacked"] / power["weakened"] >= 0.5
    assert (tmp_path / "exact.py").read_text() == EXACT
