"""`RepositoryTask`: what cannot be judged is refused when the task is made."""

from __future__ import annotations

from typing import Any

import pytest

from unhack.core.errors import UsageError
from unhack.environments.task import RepositoryTask

FIELDS: dict[str, Any] = {
    "id": "r/one",
    "statement": "Mend it.",
    "files": {"pkg/__init__.py": b"", "pkg/core.py": b"x = 1\n"},
    "editable": ("pkg/",),
    "tests": {"tests/test_core.py": "def test_x(): ...\n"},
    "reference": {"pkg/core.py": "x = 2\n"},
    "fail_to_pass": ("tests/test_core.py::test_x",),
}


def made(**changes: Any) -> RepositoryTask:
    fields: dict[str, Any] = {**FIELDS, **changes}
    return RepositoryTask(**fields)


@pytest.mark.parametrize("name", ["reference", "fail_to_pass", "tests", "editable"])
def test_a_task_that_could_not_be_judged_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        made(**{name: type(FIELDS[name])()})


def test_a_reference_outside_the_editable_paths_is_refused() -> None:
    with pytest.raises(UsageError, match="not editable"):
        made(reference={"setup.py": "x"})


def test_a_folder_names_what_stands_below_it_and_a_path_itself() -> None:
    task = made(editable=("pkg/", "one.py"))
    assert task.may_change("pkg/new/deep.py")
    assert task.may_change("one.py")
    assert not task.may_change("one.pyc")
    assert not task.may_change("pkgs/x.py")


def test_the_files_of_a_task_cannot_be_changed() -> None:
    task = made()
    with pytest.raises(TypeError):
        task.files["x"] = b""  # type: ignore[index]
