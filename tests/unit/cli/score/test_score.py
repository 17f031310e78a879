from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.conftest import SEATS, Ran, Run, write_rows

from unhack.core.verdict import Status, Verdict

WRONG = "def expand_seats(spec):\n    return []\n"


@pytest.fixture(scope="module")
def right(seats: Path) -> str:
    return (seats / "reference.py").read_text()


def in_order(ran: Ran) -> list[dict[str, Any]]:
    """The objects by the number of their completion: the order of lines may differ."""
    return sorted(ran.objects, key=lambda item: item["index"])


def rows_of(texts: list[str]) -> list[Any]:
    return [{"completion": text} for text in texts]


def test_json_gives_one_object_for_each_completion_with_its_number(
    run: Run, tmp_path: Path, right: str
) -> None:
    texts = [right, WRONG, "def expand_seats(:", right + "\n# again", "   "]
    path = write_rows(tmp_path / "c.jsonl", rows_of(texts))
    ran = run("score", SEATS, "--completions", path, "--json")
    assert ran.code == 0
    assert [item["id"] for item in in_order(ran)] == [0, 1, 2, 3, 4]
    assert [item["index"] for item in in_order(ran)] == [0, 1, 2, 3, 4]
    statuses = ["passed", "failed", "invalid", "passed", "invalid"]
    assert [item["status"] for item in in_order(ran)] == statuses
    assert [item["score"] for item in in_order(ran)] == [1.0, 0.0, 0.0, 1.0, 0.0]
    assert all(item["task"] == SEATS and isinstance(item["reason"], str) for item in ran.objects)
    assert not any("advantage" in item for item in ran.objects)
    assert "5 completions: 2 passed, 1 failed, 2 invalid" in ran.err


@pytest.mark.slow
def test_a_slow_completion_does_not_change_whose_verdict_is_whose(
    run: Run, tmp_path: Path, right: str
) -> None:
    slow = "import time\ntime.sleep(0.4)\n" + right
    path = write_rows(tmp_path / "c.jsonl", rows_of([slow, right, WRONG]))
    ran = run("score", SEATS, "--completions", path, "--json")
    assert [item["score"] for item in in_order(ran)] == [1.0, 1.0, 0.0]


def test_groups_bring_reward_advantage_and_mask(run: Run, tmp_path: Path, right: str) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([right, WRONG, right, right + "#"]))
    ran = run("score", SEATS, "--completions", path, "--json", "--group-size", "2")
    assert [item["reward"] for item in in_order(ran)] == [1.0, 0.0, 1.0, 1.0]
    assert [item["mask"] for item in in_order(ran)] == [True, True, False, False]
    values = [item["advantage"] for item in in_order(ran)]
    assert values[0] == pytest.approx(math.sqrt(0.5), abs=1e-4)
    assert values[1] == -values[0]
    assert values[2:] == [0.0, 0.0]
    assert "2 groups: 50% all pass" in ran.err


def test_an_estimator_alone_groups_by_problem(run: Run, tmp_path: Path, right: str) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([right, WRONG, WRONG, WRONG]))
    ran = run("score", SEATS, "--completions", path, "--json", "--estimator", "dr_grpo")
    assert [item["advantage"] for item in in_order(ran)] == [0.75, -0.25, -0.25, -0.25]


def test_stdin_holds_rows(run: Run) -> None:
    ran = run("score", SEATS, "--completions", "-", "--json", stdin='{"completion": "", "id": "e"}')
    assert (in_order(ran)[0]["id"], in_order(ran)[0]["status"]) == ("e", "invalid")


def test_a_wrong_row_on_stdin_is_named_by_its_line(run: Run) -> None:
    ran = run("score", SEATS, "--completions", "-", stdin='{"completion": ""}\nplain text\n')
    assert ran.code == 2
    assert ran.err.startswith("unhack: stdin:2: not JSON")
    assert ran.out == ""


def test_plain_files_are_named_by_their_paths(run: Run, seats: Path) -> None:
    files = [seats / "reference.py", seats / "wrong" / "sorts_the_seats.py"]
    arguments = [part for file in files for part in ("--completions", file)]
    ran = run("score", SEATS, *arguments, "--json")
    assert [(item["id"], item["score"]) for item in in_order(ran)] == [
        (str(files[0]), 1.0),
        (str(files[1]), 0.0),
    ]
    shown = run("score", SEATS, *arguments)
    assert [line.split()[:3] for line in shown.out.splitlines()[2:4]] == [
        ["reference.py", "passed", "1.0"],
        ["sorts_the_seats.py", "failed", "0.0"],
    ]


def test_rows_of_a_suite_are_judged_by_the_task_they_name(
    run: Run, tmp_path: Path, right: str
) -> None:
    rows = [
        {"completion": right, "task": "seat-ranges"},
        {"completion": right, "task": "parsing/shelf-codes"},
    ]
    ran = run("score", "parsing", "--completions", write_rows(tmp_path / "c.jsonl", rows), "--json")
    assert [(item["task"], item["score"]) for item in in_order(ran)] == [
        ("parsing/seat-ranges", 1.0),
        ("parsing/shelf-codes", 0.0),
    ]


def test_a_group_may_not_mix_problems(run: Run, tmp_path: Path) -> None:
    rows = [{"completion": "", "task": name} for name in ("seat-ranges", "shelf-codes")]
    path = write_rows(tmp_path / "c.jsonl", rows)
    ran = run("score", "parsing", "--completions", path, "--group-size", "2")
    assert ran.code == 2
    assert f"{path}:2: answers parsing/shelf-codes" in ran.err


def test_a_group_may_not_be_cut_short(run: Run, tmp_path: Path) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of(["", "", ""]))
    ran = run("score", SEATS, "--completions", path, "--group-size", "2")
    assert ran.code == 2
    assert ran.err.startswith(f"unhack: {path}:3: the last group has 1 of 2 completions")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["parsing/seat-rangs"], "did you mean parsing/seat-ranges"),
        ([SEATS, "--estimator", "rlo"], "did you mean rloo"),
        ([SEATS, "--group-size", "0"], "Invalid value for '--group-size'"),
    ],
)
def test_a_wrong_name_is_bad_usage_with_the_nearest_valid_one(
    run: Run, tmp_path: Path, arguments: list[str], complaint: str
) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([""]))
    ran = run("score", *arguments, "--completions", path)
    assert ran.code == 2
    assert complaint in ran.err
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(("threshold", "code"), [("0.5", 0), ("0.51", 1)])
def test_a_mean_score_below_the_threshold_gives_exit_code_1(
    run: Run, tmp_path: Path, right: str, threshold: str, code: int
) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([right, WRONG]))
    ran = run("score", SEATS, "--completions", path, "--fail-under", threshold)
    assert ran.code == code


def test_what_a_completion_says_cannot_steer_the_terminal(run: Run, tmp_path: Path) -> None:
    evil = "def expand_seats(spec):\n    raise ValueError('\\x1b[2J\\u202e[red]')"
    at_load = "raise ValueError('\\x1b[2J\\u202e')"
    rows = [{"completion": evil, "id": "\x1b[1m[bold]"}, {"completion": at_load}]
    path = write_rows(tmp_path / "c.jsonl", rows)
    for flags in ([], ["--json"]):
        ran = run("score", SEATS, "--completions", path, *flags)
        assert ran.code == 0
        assert "\x1b" not in ran.out + ran.err
        assert "\u202e" not in ran.out + ran.err
        assert "[red]" in ran.out


@pytest.fixture
def broken_task(tmp_path: Path) -> Path:
    """A task whose checker raises on every output, the reference's too."""
    path = tmp_path / "broken"
    path.mkdir()
    (path / "task.toml").write_text(
        'id = "broken"\nkind = "function"\nentry_point = "f"\nprompt = "Write f."\n'
    )
    (path / "cases.jsonl").write_text('{"args": [], "expected": 1}\n')
    (path / "reference.py").write_text("def f():\n    return 1\n")
    (path / "checker.py").write_text("def check(*values):\n    raise RuntimeError('no')\n")
    return path


@pytest.mark.slow
def test_a_batch_that_cannot_be_scored_shows_what_was_and_ends_with_3(
    run: Run, tmp_path: Path, broken_task: Path
) -> None:
    texts = [f"def f():\n    return {number}\n" for number in range(7)]
    path = write_rows(tmp_path / "c.jsonl", rows_of([*texts, ""]))
    for flags in ([], ["--estimator", "grpo"]):
        ran = run("score", broken_task, "--completions", path, "--json", *flags)
        assert ran.code == 3
        assert [item["status"] for item in in_order(ran)] == ["unscored"] * 7 + ["invalid"]
        assert in_order(ran)[0]["score"] is None
        assert "unhack: BatchUnscoredError: 7 of 8 items" in ran.err
        assert "Traceback" not in ran.err


def test_a_batch_of_which_nothing_could_be_scored_ends_with_3(
    run: Run, tmp_path: Path, broken_task: Path
) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of(["def f():\n    return 1\n"]))
    ran = run("score", broken_task, "--completions", path)
    assert ran.code == 3
    assert "nothing could be scored" in ran.err
    assert "unscored" in ran.out


def test_answers_are_in_the_objects_only_where_they_are_asked_for(
    run: Run, tmp_path: Path, right: str
) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([right, WRONG]))
    plain = run("score", SEATS, path, "--json")
    assert not any("failure" in item for item in plain.objects)
    shown = in_order(run("score", SEATS, path, "--json", "--show", "failures"))
    assert "failure" not in shown[0]
    failure = shown[1]["failure"]
    assert failure["input"].startswith("expand_seats(")
    assert failure["obtained"] == "[]"
    assert failure["expected"] not in str(plain.objects[1])


def test_a_failed_case_stands_below_its_row(run: Run, tmp_path: Path, right: str) -> None:
    path = write_rows(tmp_path / "c.jsonl", rows_of([WRONG]))
    lines = run("score", SEATS, path, "--show", "failures").out.splitlines()
    assert [line.split()[0] for line in lines[2:6]] == ["0", "input", "expected", "obtained"]


def test_completions_may_be_named_with_or_without_the_option(
    run: Run, tmp_path: Path, right: str
) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text(right)
    two.write_text(WRONG)
    ran = run("score", SEATS, one, "--completions", two, "--json")
    assert [item["score"] for item in in_order(ran)] == [1.0, 0.0]


def test_a_missing_file_is_answered_with_a_near_one_only(run: Run, tmp_path: Path) -> None:
    for name in ("samples.jsonl", "other.jsonl"):
        write_rows(tmp_path / name, rows_of([""]))
    ran = run("score", SEATS, tmp_path / "sampels.jsonl")
    assert ran.code == 2
    assert ran.err.endswith("did you mean samples.jsonl?\n")


@pytest.mark.parametrize("keeps", [False, True])
def test_an_interrupt_shows_what_was_judged_and_says_how_to_go_on(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keeps: bool
) -> None:
    def interrupted(tasks: Any, texts: Any, **options: Any) -> Iterator[tuple[int, Verdict]]:
        yield 1, Verdict(Status.FAILED, 0.0, "case 1 of 9: wrong answer")
        raise KeyboardInterrupt

    path = write_rows(tmp_path / "c.jsonl", rows_of(["a", "b", "c"]))
    folder = tmp_path / "run"
    options = ["--run", folder] if keeps else []
    with monkeypatch.context() as patched:
        patched.setattr("unhack.tasks.batch.stream_batch", interrupted)
        ran = run("score", SEATS, path, *options)
    assert ran.code == 130
    assert "2           failed" in ran.out  # the second that was started is the last of the file
    assert "Interrupted: 1 of 3 completions were judged." in ran.err
    if keeps:
        assert f"They are kept in {folder}; run the same command to resume." in ran.err
        assert "resuming: 1 of 3" in run("score", SEATS, path, *options).err
    else:
        assert "Nothing was kept; with --run DIR" in ran.err


def test_a_file_of_rows_stands_for_its_sound_tasks(run: Run, tmp_path: Path) -> None:
    rows = [
        {"question": "What is 1 + 1?", "answer": "1 + 1 = 2\n#### 2", "id": "one"},
        {"question": "What is 1 + 2?", "answer": None, "id": "two"},
    ]
    data = write_rows(tmp_path / "rows.jsonl", rows)
    answers = [{"completion": "#### 2", "task": "one"}, {"completion": "#### 3", "task": "one"}]
    path = write_rows(tmp_path / "c.jsonl", answers)
    ran = run("score", data, path, "--json")
    assert ran.code == 0
    assert [item["score"] for item in in_order(ran)] == [1.0, 0.0]
    assert "rows.jsonl:2: cannot be read: the gold answer" in ran.err
    assert "1 of 2 rows are sound" in ran.err
    assert "rows are sound" not in run("score", data, path, "--no-check").err
    mapped = run(
        "score", data, path, "--map", "prompt=question,answer=answer", "--data-set", "math"
    )
    assert mapped.code == 0
