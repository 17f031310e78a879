"""A commit is taken apart without running anything, or refused with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.environments.sources.mining.repositories import FIX_TESTS, FIXED, START, Project

from unhack.environments.sources.mining.commit_parts import (
    CommitLimits,
    CommitParts,
    CommitSkippedError,
    take_apart,
)
from unhack.sandbox.workspace.git_objects import GitObjects


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shapes")
    made.commit(START)
    return made


def parts_of(project: Project, limits: CommitLimits | None = None) -> CommitParts:
    with GitObjects(project.folder) as git:
        newest = git.commits("HEAD", most=1)[0]
        return take_apart(git, newest, limits=limits or CommitLimits())


def test_a_fix_is_start_tests_and_reference(project: Project) -> None:
    project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS, "README.md": "New."})
    parts = parts_of(project)
    assert {path: data.decode() for path, data in parts.files.items()} == START
    assert parts.reference == {"shapes/core.py": FIXED}
    assert parts.tests == {"tests/test_core.py": FIX_TESTS}
    assert parts.editable == ("shapes/",)
    assert parts.changed_lines == 2
    assert parts.after()["shapes/core.py"].decode() == FIXED


def test_what_stands_beside_changed_tests_goes_with_them(project: Project) -> None:
    project.commit({
        "shapes/core.py": FIXED, "shapes/table.json": "{}", "tests/test_core.py": FIX_TESTS,
        "tests/conftest.py": "", "tests/data/rows.txt": "1 2\n",
    })  # fmt: skip
    parts = parts_of(project)
    assert set(parts.tests) == {"tests/test_core.py", "tests/conftest.py", "tests/data/rows.txt"}
    assert set(parts.reference) == {"shapes/core.py", "shapes/table.json"}


def test_unchanged_tests_of_the_changed_module_are_run_too(project: Project) -> None:
    other = "from shapes.core import area\n\n\ndef test_other():\n    assert area(0, 0) == 0\n"
    project.commit({"tests/test_other.py": other, "tests/test_far.py": "def test_far(): ...\n"})
    project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS})
    assert parts_of(project).test_files == ("tests/test_core.py", "tests/test_other.py")


def test_built_files_and_caches_are_no_part_of_the_start(project: Project) -> None:
    made = ("build/lib/shapes/core.py", "shapes/__pycache__/core.cpython-311.pyc",
            "shapes.egg-info/PKG-INFO", ".tox/py/x.py", "shapes/core.py.orig")  # fmt: skip
    project.commit(dict.fromkeys(made, FIXED))
    project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS})
    assert set(parts_of(project).files) == set(START)


def test_links_are_left_out(project: Project) -> None:
    (project.folder / "shapes/link.py").symlink_to("/etc/passwd")
    project.commit({})
    project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS})
    assert set(parts_of(project).files) == set(START)


@pytest.mark.parametrize(("files", "reason"), [
    ({"README.md": "x"}, "no code is changed"),
    ({"shapes/core.py": FIXED}, "no test file is changed"),
    ({"tests/test_core.py": FIX_TESTS}, "no code is changed"),
    ({"docs/conf.py": "x = 1\n", "setup.py": "x", "tests/test_core.py": FIX_TESTS}, "no code"),
    ({"shapes/core.py": f'"""Areas."""\n# x\n{START["shapes/core.py"]}',
      "tests/test_core.py": FIX_TESTS}, "only comments"),
    ({"shapes/core.py": FIXED, "shapes/logo.txt": b"\xff\xfe", "tests/test_core.py": FIX_TESTS},
     "no UTF-8 text"),
])  # fmt: skip
def test_a_commit_that_can_be_no_task_is_refused_with_its_reason(
    project: Project, files: dict[str, str | bytes], reason: str
) -> None:
    project.commit(files)
    with pytest.raises(CommitSkippedError, match=reason):
        parts_of(project)


def test_the_first_commit_and_large_ones_are_refused(project: Project) -> None:
    with pytest.raises(CommitSkippedError, match="first commit"):
        parts_of(project)
    project.commit({"shapes/core.py": FIXED, "tests/test_core.py": FIX_TESTS})
    for limits in (CommitLimits(code_lines=1), CommitLimits(code_files=0),
                   CommitLimits(file_bytes=9), CommitLimits(tree_bytes=9)):  # fmt: skip
        with pytest.raises(CommitSkippedError):
            parts_of(project, limits)
