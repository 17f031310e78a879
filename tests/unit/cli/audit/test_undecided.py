"""Audits that could not decide: exit code 4, and a first line that says why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import Run, write_rows

pytestmark = pytest.mark.slow

CONTAINS = "def score(completion, answer):\n    return 1.0 if answer in completion else 0.0\n"
RAISES = "def score(completion, answer):\n    raise RuntimeError('the service is down')\n"
KEYWORDS = (
    "def score(completions, answer, **kwargs):\n"
    "    return [float(one in text) for one, text in zip(answer, completions)]\n"
)
RIGHT = {"prompt": "What is 6 times 7?", "answer": "42", "correct": ["42"]}


def run_on(run: Run, folder: Path, source: str, row: dict[str, Any], *options: str) -> Any:
    (folder / "reward.py").write_text(source)
    write_rows(folder / "rows.jsonl", [row])
    return run(
        "audit", "reward.py:score", "--problems", "rows.jsonl", "--tiers", "1", "--calls", "300",
        *options,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("source", "row", "said"),
    [
        (
            CONTAINS,
            {"prompt": "6*7?", "anwser": "42", "correct": ["42"]},
            ["fails on every correct completion: TypeError", "'anwser'", "did you mean answer?"],
        ),
        (
            CONTAINS,
            {"prompt": "6*7?", "ground_thruth": "42", "correct": ["42"]},
            ["'ground_thruth'", "did you mean ground_truth?"],
        ),
        (CONTAINS, {**RIGHT, "answer": 42}, ["TypeError", 'as int 42; write "42"']),
        (RAISES, RIGHT, ["fails on every correct completion: RuntimeError: the service is down"]),
        (CONTAINS, {**RIGHT, "correct": ["no"]}, ["no correct completion is rewarded"]),
    ],
)
def test_what_cannot_be_decided_ends_with_4_and_its_cause(
    run: Run, folder: Path, source: str, row: dict[str, Any], said: list[str]
) -> None:
    ran = run_on(run, folder, source, row)
    assert (ran.code, ran.out.split(":")[0]) == (4, "unproven"), ran.out + ran.err
    shown = " ".join(ran.out.split())
    for words in said:
        assert words in shown


def test_what_cannot_be_decided_can_be_allowed(run: Run, folder: Path) -> None:
    assert run_on(run, folder, RAISES, RIGHT, "--allow-unproven").code == 0


@pytest.mark.slow
def test_a_column_that_the_verifier_reads_is_no_typo(run: Run, folder: Path) -> None:
    source = "def score(completion, answer, anwser):\n    return float(answer in completion)\n"
    ran = run_on(run, folder, source, {**RIGHT, "anwser": "x"})
    assert ran.code == 1
    assert "anwser" not in ran.err


@pytest.mark.slow
def test_extra_columns_are_named_where_nothing_takes_them(run: Run, folder: Path) -> None:
    row = {**RIGHT, "difficulty": 3}
    assert "'difficulty' that nothing reads" in run_on(run, folder, CONTAINS, row).err
    assert "difficulty" not in run_on(run, folder, KEYWORDS, row).err


@pytest.mark.slow
def test_an_import_that_is_not_installed_is_named(run: Run, folder: Path) -> None:
    (folder / "beside.py").write_text("VALUE = 1\n")
    source = f"import json\nimport beside\nimport notinstalled.part\n{CONTAINS}"
    ran = run_on(run, folder, source, RIGHT, "--strict")
    assert "stubbed: notinstalled (" in ran.err
    assert ran.code == 1
