from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run
from tests.unit.environments.sources.mining.repositories import FIX_TESTS, FIXED, START, Project

from unhack.environments.sources.task_folder import load_mined


@pytest.mark.slow
def test_mined_tasks_are_listed_and_written(run: Run, tmp_path: Path) -> None:
    project = Project(tmp_path / "shapes")
    first = project.commit(START)
    fixed = project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS})
    out = tmp_path / "mined"
    ran = run("tasks", "mine", project.folder, "--out", out, "--json")
    assert ran.code == 0
    assert [one["commit"] for one in ran.objects] == [fixed, first]
    assert [one["skipped"] for one in ran.objects] == [None, "it is the first commit"]
    [task] = load_mined(out)
    assert task.id == ran.objects[0]["id"]
    assert "1 task in 2 commits" in ran.err
    ran = run("tasks", "mine", project.folder, "--out", out)
    assert (ran.code, "already exists" in ran.err) == (2, True)


def test_mining_needs_a_repository_and_a_known_commit(run: Run, tmp_path: Path) -> None:
    ran = run("tasks", "mine", tmp_path)
    assert (ran.code, "is no git repository" in ran.err) == (2, True)
    project = Project(tmp_path / "shapes")
    project.commit(START)
    ran = run("tasks", "mine", project.folder, "--from", "v9")
    assert (ran.code, "no commit 'v9'" in ran.err) == (2, True)


def test_a_repository_without_code_gives_no_task(run: Run, tmp_path: Path) -> None:
    project = Project(tmp_path / "words")
    made = project.commit({"README.md": "x"})
    ran = run("tasks", "mine", project.folder)
    assert ran.code == 0
    assert ran.out.splitlines() == [
        f"{made[:12]}  skipped: it is the first commit",
        "0 tasks in 1 commits",
    ]
