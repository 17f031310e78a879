"""Cases drawn anew, inside the sandbox."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from unhack.core.errors import TaskError
from unhack.core.problem import Problem
from unhack.tasks.batch import run_batch
from unhack.tasks.directory import load_directory, read_folder
from unhack.tasks.fresh import draw, fresh_tasks
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.tasks.template import new_task
from unhack.verifiers.function import Case, FunctionVerifier
from unhack.verifiers.stdio import StdioVerifier

RNG = "def generate(rng):\n    return {value}\n"


def function_task(folder: Path, generator: str, reference: str = "def f(x):\n    return x\n"):
    """A folder of a function `f` with this generator and reference."""
    (folder / "task.toml").write_text(
        'id = "t"\nkind = "function"\nentry_point = "f"\nprompt = "?"'
    )
    (folder / "cases.jsonl").write_text('{"args": [1], "expected": 1}\n')
    (folder / "generator.py").write_text(generator)
    (folder / "reference.py").write_text(reference)
    return read_folder(folder)


def cases_of(task: Task) -> tuple[Case, ...]:
    assert isinstance(task.verifier, FunctionVerifier)
    return task.verifier.cases


@pytest.mark.slow
def test_the_same_seed_gives_the_same_cases_and_another_seed_others():
    task = find_task("strings/knit-rows")
    [once] = fresh_tasks(task, count=8, seed=3)
    [twice] = fresh_tasks(task, count=8, seed=3)
    [other] = fresh_tasks(task, count=8, seed=4)
    assert cases_of(once) == cases_of(twice)
    assert cases_of(once) != cases_of(other)
    assert (once.problem, once.path) == (task.problem, task.path)


def test_a_longer_draw_begins_with_the_shorter_one():
    task = find_task("numbers/dial-turn")
    [short] = fresh_tasks(task, count=3, seed=0)
    [long] = fresh_tasks(task, count=70, seed=0)
    assert len(cases_of(long)) == 70
    assert cases_of(long)[:3] == cases_of(short)


def test_a_completion_that_knows_the_cases_fails_on_fresh_ones(tmp_path: Path):
    [task] = load_directory(new_task(tmp_path / "steps"))
    table = {repr(case.args[0]): case.expected for case in cases_of(task)}
    cheat = f"def largest_step(numbers):\n    return {table!r}[repr(numbers)]\n"
    [fresh] = fresh_tasks(task, count=20, seed=1)
    assert run_batch(task, [cheat]).rewards == (1.0,)
    assert run_batch(fresh, [cheat]).rewards == (0.0,)


def test_neither_generator_nor_reference_runs_in_this_process(tmp_path: Path):
    mark = tmp_path / "mark"
    leave = f"import os\ntry:\n    open({str(mark)!r}, 'w')\nexcept OSError:\n    pass\n"
    folder = function_task(
        tmp_path,
        leave + RNG.format(value='{"args": [os.getpid()]}'),
        leave + "def f(x):\n    return os.getpid()\n",
    )
    [case] = draw(folder, count=1, seed=0)
    assert isinstance(case, Case)
    assert os.getpid() not in (case.args[0], case.expected)
    assert not mark.exists()


def test_expected_values_are_those_of_the_reference_with_exact_types(tmp_path: Path):
    folder = function_task(
        tmp_path,
        RNG.format(value='{"args": [(1, {2})], "kwargs": {"by": b"x"}}'),
        "def f(x, *, by):\n    return {1: (x, by), 2.0: float('inf')}\n",
    )
    [case] = draw(folder, count=1, seed=0)
    assert case == Case(((1, {2}),), {"by": b"x"}, {1: ((1, {2}), b"x"), 2.0: float("inf")})


def test_a_reference_that_raises_makes_the_exception_the_expected_result(tmp_path: Path):
    folder = function_task(
        tmp_path,
        RNG.format(value='{"args": [rng.choice([0, 1])]}'),
        "def f(x):\n    return 1 // x\n",
    )
    found = draw(folder, count=20, seed=0)
    assert {(case.args, case.expected, case.raises) for case in found} == {
        ((0,), None, "ZeroDivisionError"),
        ((1,), 1, None),
    }


def test_drawn_inputs_of_a_program_get_what_the_reference_prints():
    task = find_task("stdio/shift-overlap")
    [fresh] = fresh_tasks(task, count=5, seed=2)
    assert isinstance(fresh.verifier, StdioVerifier)
    assert isinstance(task.verifier, StdioVerifier)
    assert len(fresh.verifier.cases) == 5
    assert all(case.stdout.strip() for case in fresh.verifier.cases)
    assert not set(fresh.verifier.cases) & set(task.verifier.cases)
    assert run_batch(fresh, [task.problem.reference or ""]).rewards == (1.0,)


def test_each_drawn_text_problem_is_a_task_of_its_own():
    first, second = fresh_tasks(find_task("math/dial-power#0"), count=2, seed=9)
    assert (first.id, second.id) == ("math/dial-power#9.0", "math/dial-power#9.1")
    assert first.prompt != second.prompt
    assert run_batch([first], [first.problem.reference or ""]).rewards == (1.0,)


@pytest.mark.parametrize(
    ("generator", "expected"),
    [
        ("X = 1\n", "generator.py: seed 0/0: raised NameError"),
        ("def generate(rng:\n", "generator.py: seed 0/0: SyntaxError"),
        (RNG.format(value="1 // 0"), "generator.py: seed 0/0: raised ZeroDivisionError"),
        (RNG.format(value='{"arg": [1]}'), "unknown key 'arg'; did you mean args"),
        (RNG.format(value="[1]"), "a case is a JSON object, not a list"),
        (RNG.format(value='{"args": [rng]}'), "is not plain data"),
        ("def generate(rng):\n    while True:\n        pass\n", "seed 0/0: cpu time limit reached"),
        ("import os\nos._exit(3)\n", "ended with code 3 before it answered"),
    ],
)
def test_a_generator_that_breaks_is_named(tmp_path: Path, generator: str, expected: str):
    folder = function_task(tmp_path, generator)
    (tmp_path / "task.toml").write_text(
        (tmp_path / "task.toml").read_text() + "\n[limits]\ncpu_s = 1\n"
    )
    with pytest.raises(TaskError) as caught:
        draw(read_folder(folder.path), count=2, seed=0)
    assert expected in str(caught.value)
    assert "generator.py: " in str(caught.value)


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("def f(x):\n    return object()\n", "reference.py: drawn case 0: <object> is not plain"),
        ("def g(x):\n    return 1\n", "reference.py: drawn case 0: the completion defines no f"),
        (
            "import os\ndef f(x):\n    os._exit(0)\n",
            "reference.py: drawn case 0: ended with code 0",
        ),
    ],
)
def test_a_reference_that_breaks_is_named(tmp_path: Path, reference: str, expected: str):
    folder = function_task(tmp_path, RNG.format(value='{"args": [1]}'), reference)
    with pytest.raises(TaskError) as caught:
        draw(folder, count=1, seed=0)
    assert expected in str(caught.value)


def test_a_program_that_fails_on_a_drawn_input_is_named(tmp_path: Path):
    new_task(tmp_path / "steps", kind="stdio")
    (tmp_path / "steps" / "reference.py").write_text("raise SystemExit('no')\n")
    with pytest.raises(TaskError, match=r"reference\.py: drawn case 0: exited with code 1: no"):
        fresh_tasks(tmp_path / "steps", count=1, seed=0)


def test_a_task_without_a_directory_has_nothing_to_draw_from():
    task = Task(Problem("made-by-hand", "?"), FunctionVerifier("f", (Case(),)))
    with pytest.raises(TaskError, match="'made-by-hand' has no directory"):
        fresh_tasks(task, seed=0)


def test_a_script_task_draws_no_cases(tmp_path: Path):
    folder = read_folder(new_task(tmp_path / "judged", kind="script"))
    with pytest.raises(TaskError, match="kind script has no cases to draw"):
        draw(folder, count=1, seed=0)
