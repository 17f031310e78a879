from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version

import pytest

from unhack.cli.audit.headings import AUDIT_HEADINGS
from unhack.cli.score.command import SCORE_HEADINGS

from .conftest import SEATS, Run


def test_help_names_every_command_and_exit_code(run: Run) -> None:
    ran = run("--help")
    assert ran.code == 0
    commands = ("audit", "demo", "doctor", "score", "tasks")
    for word in (*commands, "0 ok", "1 the measured", "2 bad", "3 unhack"):
        assert word in ran.out


@pytest.mark.parametrize(
    "command",
    [
        ["audit"],
        ["demo"],
        ["doctor"],
        ["score"],
        ["tasks", "list"],
        ["tasks", "show"],
        ["tasks", "validate"],
        ["tasks", "new"],
    ],
)
def test_the_help_of_every_command_holds_an_example(run: Run, command: list[str]) -> None:
    ran = run(*command, "--help")
    assert ran.code == 0
    assert f"\n  unhack {' '.join(command)}" in ran.out


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").out == f"unhack {version('unhack')}\n"


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys; import unhack.cli.app; "
        "print([n for n in ('pydantic', 'rich.table', 'unhack.tasks.suite', "
        "'unhack.sandbox.pool.pool')"
        " if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("arguments", [[], ["scor"], ["score"], ["score", SEATS, "--group", "2"]])
def test_bad_usage_ends_with_2(run: Run, arguments: list[str]) -> None:
    assert run(*arguments).code == 2


def test_an_unexpected_error_ends_with_3_and_says_how_to_report_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(name: str) -> None:
        raise ZeroDivisionError("a defect")

    monkeypatch.setattr("unhack.tasks.suite.find_folders", broken)
    ran = run("tasks", "list", "strings")
    assert ran.code == 3
    assert "ZeroDivisionError: a defect" in ran.err
    assert "Please report" in ran.err.splitlines()[-1]


def test_an_interrupt_ends_with_130_and_without_a_word(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("unhack.tasks.suite.find_folders", interrupted)
    ran = run("tasks", "list", "strings")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


@pytest.mark.parametrize("columns", [80, 140])
def test_help_is_as_wide_as_the_terminal(
    run: Run, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    widest = max(map(len, run("audit", "--help").out.splitlines()))
    assert columns - 60 < widest <= max(columns, 90)  # examples are not wrapped


def test_the_list_of_commands_is_not_cut(run: Run) -> None:
    listed = run("--help").out.partition("Commands:")[2]
    assert "..." not in listed
    assert all(line.endswith(".") for line in listed.strip().splitlines())


@pytest.mark.parametrize(
    ("command", "headings"), [("audit", AUDIT_HEADINGS), ("score", SCORE_HEADINGS)]
)
def test_options_stand_under_their_headings(
    run: Run, command: str, headings: Mapping[str, Sequence[str]]
) -> None:
    text = run(command, "--help").out
    assert headings
    for heading, names in headings.items():
        part = text.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert names
        for name in names:
            assert (
                f"--{name.removeprefix('as_').removeprefix('column_').replace('_', '-')}" in part
            ), name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["score", "./nowhere", "x.jsonl"], "./nowhere: there is no such directory"),
        (["tasks", "show", "nope"], "unknown task or suite 'nope'; no directory has this name"),
        (["tasks", "show", "knit-rows"], "did you mean strings/knit-rows?"),
        (["score", __file__, "x.jsonl"], "this is a file; a task is a directory"),
        (["score", SEATS], "no completions: name a file"),
        (["audit", "x.py:f", "--problems", "."], "--problems: . is a directory; name a file in it"),
        (["train", "run", "--arm", "zzz", "--out", "x"], "unknown arm 'zzz'"),
    ],
)
def test_a_mistake_is_answered_with_what_to_do(run: Run, arguments: list[str], words: str) -> None:
    ran = run(*arguments)
    assert ran.code == 2
    assert words in ran.err
    assert len(ran.err) < 400
