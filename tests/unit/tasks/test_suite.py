"""Tasks are found by name and by path."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from unhack.core.errors import UnknownNameError, UsageError
from unhack.tasks.suite import (
    builtin_ids,
    builtin_suites,
    find_folders,
    find_paths,
    find_task,
    find_tasks,
    suite_folders,
)

IDS = builtin_ids()


def test_there_are_seven_suites_and_at_least_sixty_tasks():
    names = {"strings", "numbers", "arrays", "graphs", "parsing", "stdio", "math"}
    assert set(builtin_suites()) == names
    assert len(IDS) >= 60
    assert len(set(IDS)) == len(IDS)


def test_the_id_of_every_built_in_task_is_its_place():
    folders = [folder for name in builtin_suites() for folder in find_folders(name)]
    assert tuple(folder.settings.id for folder in folders) == IDS


def test_every_built_in_task_is_complete():
    assert IDS
    for name in IDS:
        [folder] = find_folders(name)
        assert folder.reference, name
        assert folder.generator_path.exists(), name
        assert folder.solutions("right"), name
        assert len(folder.solutions("wrong")) >= 3, name
        assert folder.settings.title, name
        assert folder.settings.difficulty, name
        assert folder.settings.tags, name


def test_every_built_in_task_has_a_known_correct_completion():
    tasks = [task for name in builtin_suites() for task in find_tasks(name)]
    assert len(tasks) > len(IDS)
    assert all(task.problem.reference for task in tasks)
    assert all(task.prompt.strip() for task in tasks)


def test_a_name_is_a_task_a_problem_a_suite_or_a_path():
    [task] = find_tasks("strings/knit-rows")
    assert task.id == "strings/knit-rows"
    assert find_task("strings/knit-rows#0") == task
    assert [found.id for found in find_tasks("math/bag-draw#3")] == ["math/bag-draw#3"]
    assert len(find_tasks("strings")) == sum(name.startswith("strings/") for name in IDS)
    assert find_tasks(suite_folders()["strings"] / "knit-rows") == (task,)
    assert find_tasks(str(suite_folders()["strings"] / "knit-rows")) == (task,)


def test_a_directory_of_task_directories_is_a_suite(tmp_path: Path):
    for name in ("knit-rows", "echo-keys"):
        shutil.copytree(suite_folders()["strings"] / name, tmp_path / name)
    (tmp_path / "notes").mkdir()
    assert [task.id for task in find_tasks(tmp_path)] == ["strings/echo-keys", "strings/knit-rows"]


def test_a_built_in_name_wins_unless_the_path_is_written_as_one(tmp_path: Path, monkeypatch):
    shutil.copytree(suite_folders()["strings"] / "knit-rows", tmp_path / "strings")
    monkeypatch.chdir(tmp_path)
    assert find_paths("strings")[0].parent == suite_folders()["strings"]
    assert find_paths("./strings") == (Path("strings"),)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("strings/knitrows", "strings/knit-rows"),
        ("strngs", "strings"),
        ("math/bag-drow#1", "math/bag-draw"),
        ("math/bag-draw#400", "math/bag-draw#"),
    ],
)
def test_a_name_that_is_not_known_is_answered_with_near_ones(name: str, near: str):
    with pytest.raises(UnknownNameError) as caught:
        find_tasks(name)
    assert near in str(caught.value).partition("; did you mean ")[2]


@pytest.mark.parametrize("name", ["", ".", "..", "/", "strings/", "../suites/strings", "a/b/c"])
def test_no_name_leads_out_of_the_suites(name: str, tmp_path: Path, monkeypatch):
    (tmp_path / "empty" / "inner").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "empty" / "inner")
    with pytest.raises(UsageError):
        find_paths(name)


def test_a_directory_that_may_not_be_looked_into_holds_no_task(tmp_path: Path, monkeypatch):
    (tmp_path / "closed").mkdir()

    def refused(path: str | Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "iterdir", refused)
    with pytest.raises(UsageError, match=r"cannot be read \(Permission denied\)"):
        find_paths(tmp_path)


def test_a_directory_without_tasks_says_so(tmp_path: Path):
    with pytest.raises(UsageError, match=r"holds no task\.toml"):
        find_tasks(tmp_path)


def test_one_task_is_wanted_where_one_task_must_be():
    with pytest.raises(UsageError, match=r"stands for \d+ tasks; name one: math/bag-draw#0"):
        find_task("math/bag-draw")


_NO_PROCESS = """
import os, sys
def refuse(event, args):
    if event.split(".")[0] == "subprocess" or event in {
        "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"
    }:
        os.write(2, f"started a process: {event}".encode())
        os._exit(1)
from unhack.tasks.suite import builtin_suites, find_tasks, suite_folders
sys.addaudithook(refuse)
print(suite_folders()["strings"], sum(len(find_tasks(name)) for name in builtin_suites()))
"""


def run_python(code: str, **environ: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, **environ},
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_loading_every_built_in_task_starts_no_process():
    assert int(run_python(_NO_PROCESS).split()[-1]) > len(IDS)


@pytest.mark.slow
def test_a_suite_is_found_wherever_its_package_is_installed(tmp_path: Path):
    source = suite_folders()["strings"].parents[1]
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, tmp_path / source.name, ignore=ignore)
    place, count = run_python(_NO_PROCESS, PYTHONPATH=str(tmp_path)).split()
    assert place == str(tmp_path / "unhack_suites" / "tasks" / "strings")
    assert int(count) > len(IDS)
