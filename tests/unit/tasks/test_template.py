"""Starter tasks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.sampling import quick_ones

from unhack.core.errors import TaskError, UnknownNameError, UsageError
from unhack.tasks.directory import read_folder
from unhack.tasks.settings import TaskKind
from unhack.tasks.template import TEMPLATES, new_task
from unhack.tasks.validate import validate


def test_there_is_a_template_for_every_kind():
    assert set(TEMPLATES) == set(TaskKind)


@pytest.mark.parametrize(
    "kind", quick_ones(TaskKind, [kind for kind in TaskKind if kind != TaskKind.PYTEST])
)
def test_a_new_task_is_sound(tmp_path: Path, kind: TaskKind):
    report = validate(new_task(tmp_path / "starter", kind=kind))
    assert report.problems == ()
    assert report.kind == kind
    assert report.right == 2
    assert report.wrong >= 2


def test_the_id_is_the_name_of_the_directory_unless_it_is_given(tmp_path: Path):
    assert read_folder(new_task(tmp_path / "two-sum")).settings.id == "two-sum"
    path = new_task(tmp_path / "x", task_id="mine/three-sum")
    assert read_folder(path).settings.id == "mine/three-sum"


def test_an_empty_directory_is_filled(tmp_path: Path):
    (tmp_path / "a").mkdir()
    assert (new_task(tmp_path / "a") / "task.toml").exists()


def test_nothing_is_overwritten(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="not an empty directory"):
        new_task(tmp_path, task_id="a")
    with pytest.raises(UsageError, match="not an empty directory"):
        new_task(tmp_path / "notes.txt", task_id="a")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_an_unknown_kind_is_answered_with_the_nearest(tmp_path: Path):
    with pytest.raises(UnknownNameError, match="did you mean stdio"):
        new_task(tmp_path / "a", kind="stdin")
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize("name", ["two sum", "a#1", "", "a//b", "/a", '"'])
def test_an_id_that_could_not_be_read_back_is_refused(tmp_path: Path, name: str):
    with pytest.raises(TaskError, match="cannot be an id"):
        new_task(tmp_path / "a", task_id=name)
    assert not (tmp_path / "a").exists()
