from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

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
