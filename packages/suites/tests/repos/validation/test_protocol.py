"""The checks pass sound tasks and find each defect that is put into one."""

import dataclasses

import pytest

from unhack_suites.repos.repository import text_of
from unhack_suites.repos.running import LocalRunner, Ran
from unhack_suites.repos.suite import Recipe, build
from unhack_suites.repos.validation.protocol import check_task

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def task():
    return build(Recipe("access", "public/23/0", "single", "symptom"))


def checked(task, **more):
    return check_task(task, run=LocalRunner(), rungs=(), **more)


def test_a_sound_task_has_no_problems(task):
    found = checked(task)
    assert found.problems == []
    assert found.mutants == 20
    assert found.wrong["nothing"] is False
    assert set(found.alternatives) == {"other forms", "reshaped"}


def test_a_flaky_test_is_found(task):
    def moody(files, tests, order=()):
        ran = LocalRunner()(files, tests, order)
        return {**ran, task.pass_to_pass[0]: Ran(False)}

    assert f"flaky: {task.pass_to_pass[0]}" in checked(task, strange=[moody]).problems


def test_an_id_that_passes_at_the_start_is_found(task):
    name = task.pass_to_pass[0]
    worse = dataclasses.replace(
        task, fail_to_pass=(*task.fail_to_pass, name), pass_to_pass=task.pass_to_pass[1:]
    )
    assert f"start: {name}" in checked(worse).problems


def test_an_id_that_is_listed_twice_or_missing_is_found(task):
    name = task.pass_to_pass[0]
    twice = dataclasses.replace(task, pass_to_pass=(*task.pass_to_pass, name))
    less = dataclasses.replace(task, pass_to_pass=task.pass_to_pass[1:])
    assert f"names: {name}" in checked(twice).problems
    assert f"names: {name}" in checked(less).problems


def test_a_hunk_that_no_test_asks_for_is_found(task):
    path = next(iter(task.reference))
    noisy = {path: task.reference[path] + "\nUNUSED = 1\n"}
    assert "1 hunks are noise" in checked(dataclasses.replace(task, reference=noisy)).problems


@pytest.mark.sample
def test_weak_hidden_tests_are_found(task):
    first = task.fail_to_pass[0].partition("::")[0]
    weak = dataclasses.replace(
        task, tests={first: task.tests[first]}, pass_to_pass=(),
        fail_to_pass=tuple(name for name in task.fail_to_pass if name.startswith(first)),
    )  # fmt: skip
    found = checked(weak)
    assert found.killed <= checked(task).killed


def test_a_leaked_assertion_is_found(task):
    path, text = next(iter(task.tests.items()))
    leaked = {**task.files, "notes.md": text.encode()}
    assert any(
        one.startswith("leak: notes.md") for one in
        checked(dataclasses.replace(task, files=leaked)).problems
    )  # fmt: skip
    assert path not in task.files


def test_a_history_in_the_workspace_is_found(task):
    files = {**task.files, ".git/HEAD": b"ref: refs/heads/main\n"}
    found = checked(dataclasses.replace(task, files=files))
    assert "leak: unwanted file: .git/HEAD" in found.problems


def test_the_start_state_is_text_only(task):
    assert all(text for text in text_of(task.files).values())
