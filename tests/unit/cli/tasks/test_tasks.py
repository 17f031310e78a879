from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import SEATS, Run

from unhack.tasks.suite import builtin_ids, find_folders, find_tasks


def test_list_shows_every_built_in_task_once(run: Run) -> None:
    ran = run("tasks", "list", "--json")
    assert ran.code == 0
    assert sorted(item["id"] for item in ran.objects) == sorted(builtin_ids())


def test_list_for_people_has_a_line_for_each_task(run: Run) -> None:
    ran = run("tasks", "list", "strings")
    first_words = [line.split()[0] for line in ran.out.splitlines() if line.startswith("strings/")]
    assert first_words == [name for name in builtin_ids() if name.startswith("strings/")]


def test_an_unknown_suite_brings_the_nearest_name(run: Run) -> None:
    ran = run("tasks", "list", "string")
    assert ran.code == 2
    assert "did you mean strings" in ran.err
    assert ran.out == ""


def test_show_prompt_is_exactly_what_the_policy_reads(run: Run) -> None:
    [task] = find_tasks(SEATS)
    assert run("tasks", "show", SEATS, "--prompt").out == task.prompt.rstrip("\n") + "\n"
    row = find_tasks("math/bag-draw#2")[0]
    assert run("tasks", "show", "math/bag-draw#2", "--prompt").out == row.prompt.rstrip() + "\n"


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_show_never_holds_an_answer(run: Run, flags: list[str]) -> None:
    for name in (SEATS, "math/bag-draw", "stdio/bead-runs"):
        [folder] = find_folders(name)
        ran = run("tasks", "show", name, *flags)
        assert ran.code == 0
        assert name in ran.out
        for source in (folder.reference, *folder.solutions("right").values()):
            lines = [line for line in (source or "").splitlines() if len(line.strip()) > 25]
            assert lines
            assert not [line for line in lines if line in ran.out and line not in _prompts(name)]


def test_show_does_not_break_the_lines_of_a_prompt(run: Run) -> None:
    name = "strings/knit-rows"
    [task] = find_tasks(name)
    assert max(map(len, task.prompt.splitlines())) > 120
    assert task.prompt.rstrip() in run("tasks", "show", name).out


ROWS = [
    {"question": "What is 1 + 1?", "answer": "1 + 1 = 2\n#### 2"},
    {"question": "What is 1 + 2?", "answer": None},
    {"task_id": 7, "text": "Write twice.", "code": "def twice(n):\n    return n\n",
     "test_list": ["assert twice(2) == 4"]},
]  # fmt: skip


def write(path: Path, rows: list[dict[str, object]]) -> str:
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_check_shows_what_became_of_the_rows_of_each_data_set(run: Run, tmp_path: Path) -> None:
    name = write(tmp_path / "rows.jsonl", ROWS)
    ran = run("tasks", "check", name)
    assert ran.code == 1
    words = " ".join(ran.out.split())
    assert "gsm8k 1 1 of 1 3 of 3 0" in words
    assert "answers 1 0 of 0 0 of 0 1 cannot be read 1" in words
    assert "mbpp 1 0 of 1 3 of 3 1 its reference fails 1" in words
    assert f"{name}:3: mbpp/7: its reference fails: case 1 of 1" in ran.out
    assert "3 rows, 2 left out; 8 texts judged in" in words
    assert run("tasks", "check", name, "--rows", "1").code == 0


def test_check_runs_nothing_when_told_and_writes_json(run: Run, tmp_path: Path) -> None:
    name = write(tmp_path / "rows.jsonl", ROWS)
    ran = run("tasks", "check", name, "--no-check", "--json")
    assert ran.code == 1
    assert [item["problem"] for item in ran.objects] == ["", "cannot be read", ""]
    assert "0 texts judged" in ran.err


def test_columns_of_other_names_are_mapped_and_unknown_ones_listed(
    run: Run, tmp_path: Path
) -> None:
    name = write(tmp_path / "rows.jsonl", [{"text": "What is 1 + 1?", "gold": "2"}])
    ran = run("tasks", "check", name)
    assert ran.code == 2
    assert "no known layout has these columns: text, gold" in ran.err
    assert "--map" in ran.err
    assert run("tasks", "check", name, "--map", "prompt=text,answer=gold").code == 0
    assert "OURS=THEIRS" in run("tasks", "check", name, "--map", "prompt").err
    assert "humaneval" in run("tasks", "check", name, "--data-set", "humanevall").err


def _prompts(name: str) -> str:
    return "\n".join(task.prompt for task in find_tasks(name))


def test_show_wants_a_single_task(run: Run) -> None:
    ran = run("tasks", "show", "strings")
    assert ran.code == 2
    assert "matches 10 tasks" in ran.err


@pytest.mark.slow
def test_a_new_task_validates_and_a_broken_one_does_not(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "first"
    made = run("tasks", "new", path, "--kind", "function", "--id", "mine/first")
    assert made.code == 0
    assert f"unhack tasks validate {path}" in made.out
    assert all((path / line.strip()).is_file() for line in made.out.splitlines()[1:-2])

    good = run("tasks", "validate", path, "--json", "--fresh", "3")
    assert good.code == 0
    assert [(item["id"], item["ok"], item["fresh_cases"]) for item in good.objects] == [
        ("mine/first", True, 3)
    ]

    (path / "wrong" / "not_wrong.py").write_text((path / "reference.py").read_text())
    bad = run("tasks", "validate", path)
    assert bad.code == 1
    assert "wrong/not_wrong.py: must fail, but passes" in " ".join(bad.out.split())
    assert bad.out.splitlines()[-1].endswith(": 1 with problems")


def test_new_refuses_a_directory_that_is_not_empty(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ran = run("tasks", "new", tmp_path)
    assert ran.code == 2
    assert "not an empty directory" in ran.err
    assert [item.name for item in tmp_path.iterdir()] == ["file"]


def test_new_with_an_unknown_kind_brings_the_nearest_one(run: Run, tmp_path: Path) -> None:
    ran = run("tasks", "new", tmp_path / "x", "--kind", "functoin")
    assert (ran.code, ran.err) == (2, "unhack: unknown kind 'functoin'; did you mean function?\n")


def test_a_wrong_task_file_is_named_with_its_line(run: Run, tmp_path: Path) -> None:
    (tmp_path / "task.toml").write_text('id = "x"\nkind = "functoin"\n')
    ran = run("tasks", "list", tmp_path)
    assert ran.code == 2
    assert ran.err.startswith(f"unhack: {tmp_path}/task.toml:2: ")


@pytest.mark.slow
def test_tasks_are_exported_as_harbor_folders(run: Run, tmp_path: Path) -> None:
    ran = run("tasks", "export", "strings/knit-rows", "math/bag-draw#2", "--out", tmp_path / "out")
    assert (ran.code, "2 folders" in ran.out) == (0, True)
    folder = tmp_path / "out" / "strings__knit-rows"
    agents = [path.name for path in (folder / "environment").rglob("*")]
    assert agents == ["Dockerfile"]
    assert (folder / "tests" / "task" / "cases.jsonl").exists()
    again = run("tasks", "export", "strings/knit-rows", "--out", tmp_path / "out")
    assert (again.code, "not empty" in again.err) == (2, True)
    twice = run("tasks", "export", "math/bag-draw#2", "math/bag-draw#2", "--out", tmp_path)
    assert (twice.code, "one folder" in twice.err) == (2, True)
    unknown = run("tasks", "export", "strings/knit-row", "--out", tmp_path)
    assert (unknown.code, "did you mean" in unknown.err) == (2, True)
