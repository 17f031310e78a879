"""Commits that flip tests become tasks that their own judge tells apart; others do not."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.unit.environments.sources.mining.repositories import FIX_TESTS, FIXED, START, Project

from unhack.core.errors import UsageError
from unhack.environments.sources.mining.miner import MinedCommit, MiningSettings, mine
from unhack.verifiers.script import Mode

pytestmark = pytest.mark.slow


def mined(project: Project, **settings: object) -> dict[str, MinedCommit]:
    async def work() -> dict[str, MinedCommit]:
        chosen = MiningSettings(**settings)  # type: ignore[arg-type]
        return {one.commit: one async for one in mine(project.folder, settings=chosen)}

    return asyncio.run(work())


def test_a_fix_with_its_test_becomes_a_task(tmp_path: Path) -> None:
    project = Project(tmp_path / "shapes.git")
    project.commit(START)
    fixed = project.commit(
        {"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS}, "area multiplies"
    )
    found = mined(project)
    task = found[fixed].task
    assert task is not None, found[fixed].skipped
    assert task.id == f"shapes/{fixed[:12]}"
    assert task.fail_to_pass == ("tests/test_core.py::test_area",)
    assert task.pass_to_pass == ("tests/test_core.py::test_two",)
    assert task.mode is Mode.SEALED
    assert task.beside == ()
    assert "shapes.core.area(3, 5)" in task.statement
    assert "multiplies" not in task.statement


def test_a_feature_that_the_tests_import_becomes_a_task(tmp_path: Path) -> None:
    project = Project(tmp_path / "shapes")
    project.commit(START)
    added = project.commit({
        "shapes/__init__.py": "from .core import area, cube\n",
        "shapes/core.py": START["shapes/core.py"] + "\n\ndef cube(a):\n    return a ** 3\n",
        "tests/test_cube.py": "from shapes import cube\n\n\ndef test_it():\n"
                              "    assert cube(2) == 8\n",
    })  # fmt: skip
    task = mined(project, most_commits=1)[added].task
    assert task is not None
    assert task.fail_to_pass == ("tests/test_cube.py::test_it",)
    assert task.pass_to_pass == ("tests/test_core.py::test_two",)
    assert task.facts["missing_feature"] is True
    assert "`cube` is not there" in task.statement


@pytest.mark.parametrize(("test", "reason"), [
    ("import shapes, time\n\n\ndef test_zone():\n"
     "    assert shapes.core.NEW and time.tzname[0] == 'UTC'\n", "no test is left"),
    ("import shapes\n\n\ndef test_always():\n    assert shapes\n", "no test that fails before"),
    ("import nowhere\n\n\ndef test_it():\n    assert nowhere\n", "do not run with the change"),
    ("import shapes\n\n\ndef test_it():\n    assert not shapes.core.NEW\n", "do not run|no test"),
], ids=["zone", "always", "missing package", "fails after"])  # fmt: skip
def test_a_commit_whose_tests_say_nothing_steady_is_skipped(
    tmp_path: Path, test: str, reason: str
) -> None:
    project = Project(tmp_path / "shapes")
    project.commit(START)
    code = START["shapes/core.py"] + "\n\nNEW = True\n"
    made = project.commit({"shapes/core.py": code, "tests/test_new.py": test})
    found = mined(project, most_commits=1)[made]
    assert found.task is None
    assert any(part in found.skipped for part in reason.split("|")), found.skipped


def test_a_solution_that_already_stands_in_the_repository_is_no_task(tmp_path: Path) -> None:
    project = Project(tmp_path / "shapes")
    body = "\n\ndef cube(side, *, unit=1):\n    scaled = side * unit\n    return scaled ** 3\n"
    project.commit({**START, "old/copy.py.txt": body})
    made = project.commit({
        "shapes/core.py": START["shapes/core.py"] + body,
        "tests/test_cube.py": "from shapes.core import cube\n\n\ndef test_it():\n"
                              "    assert cube(2) == 8\n",
    })  # fmt: skip
    assert "holds 100% of the reference" in mined(project, most_commits=1)[made].skipped


def test_a_package_that_is_installed_here_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path / "typer")
    project.commit({"typer/__init__.py": "x = 1\n"})
    with pytest.raises(UsageError, match="holds a copy of typer"):
        mined(project)


def test_a_part_of_pytest_is_refused(tmp_path: Path) -> None:
    project = Project(tmp_path / "pluggy")
    project.commit({"src/pluggy/__init__.py": "x = 1\n"})
    with pytest.raises(UsageError, match="pytest itself imports pluggy"):
        mined(project)
