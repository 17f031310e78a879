"""A task that judges wrongly is found out; a sound one is not accused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from unhack.tasks.suite import builtin_ids, builtin_suites, find_paths
from unhack.tasks.template import new_task
from unhack.tasks.validate import ValidationReport, validate

IDS = builtin_ids()
ONE_OF_EACH = [next(name for name in IDS if name.startswith(suite)) for suite in builtin_suites()]


@pytest.fixture
def starter(tmp_path: Path) -> Path:
    return new_task(tmp_path / "steps")


def problems(path: Path) -> str:
    report = validate(path, fresh_count=6)
    assert report.ok == (not report.problems)
    return "\n".join(report.problems)


@pytest.mark.parametrize("name", ONE_OF_EACH)
def test_a_built_in_task_is_sound(name: str):
    check_built_in(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in IDS if name not in ONE_OF_EACH])
def test_every_other_built_in_task_is_sound(name: str):
    check_built_in(name)


def check_built_in(name: str) -> None:
    [path] = find_paths(name)
    report = validate(path, fresh_count=8, seed=11)
    assert report.problems == ()
    assert report.id == name
    assert report.right >= 2
    assert report.wrong >= 3
    assert report.cases >= 10
    assert report.fresh_cases == 8


def test_the_report_counts_what_was_judged(starter: Path):
    report = validate(starter, fresh_count=6)
    own, fresh = 2 + 3 + 1, 2
    assert report == ValidationReport(
        starter, "steps", "function", (), right=2, wrong=3, cases=6, fresh_cases=6,
        judged=2 * (own + fresh),
    )  # fmt: skip
    assert json.loads(json.dumps(report.to_json()))["ok"] is True


def test_a_wrong_expected_value_is_found_and_its_case_shown(starter: Path):
    with (starter / "cases.jsonl").open("a") as file:
        file.write('{"args": [[1, 5]], "expected": 5}\n')
    report = validate(starter, fresh_count=6)
    assert [text.partition(":")[0] for text in report.problems] == [
        "reference.py",
        "right/loop.py",
    ]
    assert "args=([1, 5],)" in report.problems[0]
    assert "it gave 4" in report.problems[0]
    assert report.right == 0


def test_a_wrong_solution_that_passes_is_found(starter: Path):
    (starter / "wrong" / "in_fact_right.py").write_text((starter / "reference.py").read_text())
    assert problems(starter) == "wrong/in_fact_right.py: must fail, but passes"


def test_a_right_solution_that_differs_on_fresh_cases_only_is_found(starter: Path):
    (starter / "right" / "short_lists_only.py").write_text(
        "def largest_step(numbers):\n"
        "    if len(numbers) > 3:\n"
        "        return -1\n"
        "    return max((abs(b - a) for a, b in zip(numbers, numbers[1:])), default=0)\n"
    )
    assert problems(starter).startswith("right/short_lists_only.py on fresh cases: must pass steps")


def test_a_right_solution_that_does_not_load_is_found(starter: Path):
    (starter / "right" / "typo.py").write_text("def largest_step(numbers:\n")
    assert "right/typo.py: must pass steps, but: SyntaxError" in problems(starter)


def test_a_solution_whose_verdict_changes_is_found(starter: Path):
    (starter / "wrong" / "restless.py").write_text(
        "import os\ndef largest_step(numbers):\n    raise ValueError(os.urandom(9).hex())\n"
    )
    assert problems(starter).startswith(
        "wrong/restless.py: steps was judged twice and differently: error"
    )


def test_a_generator_that_draws_from_elsewhere_is_found(starter: Path):
    (starter / "generator.py").write_text(
        "import os\ndef generate(rng):\n    return {'args': [list(os.urandom(8))]}\n"
    )
    assert "generator.py: the same seed gives different cases" in problems(starter)


def test_a_generator_that_remembers_is_found(starter: Path):
    (starter / "generator.py").write_text(
        "count = 0\ndef generate(rng):\n    global count\n    count += 1\n"
        "    return {'args': [[0, count]]}\n"
    )
    assert "generator.py: the same seed gives different cases" in problems(starter)


def test_a_generator_that_never_varies_is_found(starter: Path):
    (starter / "generator.py").write_text("def generate(rng):\n    return {'args': [[1, 2]]}\n")
    assert problems(starter) == "generator.py: every seed gives the same case; draw from `rng`"


def test_a_generator_that_breaks_is_found_and_the_rest_is_still_judged(starter: Path):
    (starter / "generator.py").write_text(
        "def generate(rng):\n    return {'arg': [rng.random()]}\n"
    )
    report = validate(starter)
    [problem] = report.problems
    assert "generator.py: `generate` gave a wrong case: unknown key 'arg'" in problem
    assert (report.right, report.wrong) == (2, 3)


def test_a_generator_without_a_reference_is_found(starter: Path):
    (starter / "reference.py").unlink()
    assert "reference.py: this file is missing" in problems(starter)


def test_a_task_that_is_passed_by_doing_nothing_is_found(starter: Path):
    (starter / "cases.jsonl").write_text('{"args": [[1, 2]], "expected": null}\n')
    assert "a solution that does nothing: must fail, but passes" in problems(starter)


def test_a_checker_that_breaks_is_found(starter: Path):
    (starter / "checker.py").write_text("def check(args, kwargs, output, expected):\n    1 // 0\n")
    assert "reference.py: steps could not be scored: the checker: " in problems(starter)


def test_a_checker_that_accepts_everything_is_found(starter: Path):
    (starter / "checker.py").write_text(
        "def check(args, kwargs, output, expected):\n    return True\n"
    )
    assert "wrong/only_upwards.py: must fail, but passes" in problems(starter)


def test_a_file_with_a_slip_in_its_name_is_found(starter: Path):
    (starter / "generator.py").rename(starter / "genrator.py")
    assert problems(starter) == ("genrator.py: nothing reads this file; did you mean generator.py?")


def test_other_files_are_nobodys_business(starter: Path):
    (starter / "README.md").write_text("notes")
    (starter / "__pycache__").mkdir()
    assert problems(starter) == ""


def test_a_directory_that_cannot_be_read_is_a_report_with_the_line(tmp_path: Path):
    (tmp_path / "task.toml").write_text('id = "a"\nkind = "functoin"\n')
    report = validate(tmp_path)
    assert report.id == tmp_path.name
    assert not report.ok
    assert "task.toml:2: unknown kind 'functoin'" in report.problems[0]


def test_a_case_that_cannot_be_read_is_a_report_with_the_line(starter: Path):
    (starter / "cases.jsonl").write_text('{"args": [[1]], "expected": 0}\n{"args": 1}\n')
    assert "cases.jsonl:2: needs `expected`" in problems(starter)


@pytest.fixture
def apples(tmp_path: Path) -> Path:
    return new_task(tmp_path / "apples", kind="text")


def test_a_wrong_answer_of_a_text_task_is_found(apples: Path):
    text = (apples / "cases.jsonl").read_text()
    (apples / "cases.jsonl").write_text(text.replace('"31"', '"32"'))
    found = problems(apples)
    assert "reference.py: must pass apples#0, but: " in found
    assert "right/one_by_one.py: must pass apples#0" in found


def test_an_answer_that_its_own_check_refuses_is_found(apples: Path):
    toml = (apples / "task.toml").read_text()
    (apples / "task.toml").write_text(toml.replace("numeric", "exact"))
    (apples / "cases.jsonl").write_text('{"prompt": "1 2 3", "answer": "}-1{"}\n')
    assert "the answers in cases.jsonl: must pass apples" in problems(apples)


def test_a_text_solution_that_raises_is_found_with_its_error(apples: Path):
    (apples / "right" / "one_by_one.py").write_text("def solve(prompt):\n    return [1][2]\n")
    assert "solve gave no text for apples#0: IndexError" in problems(apples)


def test_a_text_solution_must_give_text(apples: Path):
    (apples / "right" / "one_by_one.py").write_text("def solve(prompt):\n    return 31\n")
    assert "solve gave no text for apples#0: 31" in problems(apples)


@pytest.mark.slow
def test_a_script_that_accepts_everything_is_found(tmp_path: Path):
    path = new_task(tmp_path / "judged", kind="script")
    (path / "verifier.py").write_text("def verify(solution, cases):\n    return 1.0\n")
    assert "a solution that does nothing: must fail, but passes" in problems(path)


@pytest.mark.slow
def test_tests_that_accept_everything_are_found(tmp_path: Path):
    path = new_task(tmp_path / "tested", kind="pytest")
    (path / "tests" / "test_solution.py").write_text("def test_it():\n    import solution\n")
    assert "a solution that does nothing: must fail, but passes" in problems(path)
