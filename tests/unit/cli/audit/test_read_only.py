"""`unhack audit FOLDER --read-only`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run

TESTS = """\
from pathlib import Path


def test_it():
    assert Path("/app/<out>.txt").exists()
"""


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """Two tasks, of which one has no statement."""
    for name, statement in (("one", "Save it to `/app/<out>.txt`.\n"), ("two", "")):
        folder = tmp_path / "tasks" / name
        (folder / "tests").mkdir(parents=True)
        (folder / "task.toml").write_text("")
        (folder / "instruction.md").write_text(statement)
        (folder / "tests" / "test.sh").write_text("echo 1 > /logs/verifier/reward.txt\n")
        (folder / "tests" / "test_it.py").write_text(TESTS)
    return tmp_path / "tasks"


def test_a_line_of_json_for_each_task_and_one_for_all(run: Run, tasks: Path) -> None:
    result = run("audit", str(tasks), "--read-only", "--json")
    one, two, last = map(json.loads, result.out.splitlines())
    assert result.code == 0
    assert {each["kind"] for each in one["suspicions"]} >= {"form_only", "shared_machine"}
    assert (two["read"], two["unread"]) == (False, ["there is no instruction.md that can be read"])
    assert last["summary"]["not_read"].keys() == {"two"}


def test_the_screen_says_that_nothing_was_run(run: Run, tasks: Path) -> None:
    said = run("audit", str(tasks), "--read-only").out
    assert "Read, not run: no proof of soundness." in said
    assert "Not read: 1" in said
    assert "two: there is no instruction.md that can be read" in said


def test_the_page_escapes_what_it_shows_and_allows_its_script_by_hash(
    run: Run, tasks: Path, tmp_path: Path
) -> None:
    run("audit", str(tasks), "--read-only", "--html", str(tmp_path / "page.html"))
    page = (tmp_path / "page.html").read_text()
    assert "&lt;out&gt;" in page
    assert "<out>" not in page
    assert "script-src &#x27;sha256-" in page or "script-src 'sha256-" in page
    assert "http" not in page.replace("http-equiv", "")


def test_an_option_that_would_run_something_is_refused(run: Run, tasks: Path) -> None:
    result = run("audit", str(tasks), "--read-only", "--seconds", "5")
    assert result.code == 2
    assert "--seconds: not with --read-only, which runs nothing" in result.err


def test_a_folder_of_which_no_task_can_be_read_is_undecided(run: Run, tasks: Path) -> None:
    (tasks / "one" / "instruction.md").unlink()
    assert run("audit", str(tasks), "--read-only").code == 4


def test_a_target_that_is_no_folder_is_refused(run: Run, tmp_path: Path) -> None:
    assert run("audit", str(tmp_path / "none"), "--read-only").code == 2
