from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.conftest import SEATS, Run, write_rows

from unhack.cli.score.journal import verdict_of_record, verdict_record
from unhack.core.verdict import CaseResult, Seal, Status, Usage, Verdict

TEXT = st.text(max_size=20)
CASES = st.builds(
    CaseResult,
    st.booleans(),
    TEXT,
    st.none() | st.floats(0, 1),
    TEXT,
    st.integers(0, 9),
)
VERDICTS = st.builds(
    Verdict,
    st.sampled_from([status for status in Status if status is not Status.UNSCORED]),
    st.floats(0, 1),
    TEXT,
    st.lists(CASES, max_size=4).map(tuple),
    st.builds(Usage, st.just(0.5), st.just(0.25), st.integers(0, 1 << 40)),
    st.sampled_from(Seal),
    st.sampled_from(["none", "namespaces"]),
    st.just({"criteria": {"a": {"score": 1.0}}}),
)
RIGHT = "def f():\n    return 1\n"


@pytest.mark.slow
@given(verdict=VERDICTS)
def test_a_stored_verdict_reads_back_the_same(verdict: Verdict) -> None:
    record = json.loads(json.dumps(verdict_record(verdict)))
    assert verdict_of_record(record) == verdict


@pytest.fixture
def task(tmp_path: Path) -> Path:
    path = tmp_path / "task"
    path.mkdir()
    (path / "task.toml").write_text(
        'id = "one"\nkind = "function"\nentry_point = "f"\nprompt = "Write f."\n'
    )
    (path / "cases.jsonl").write_text('{"args": [], "expected": 1}\n')
    (path / "reference.py").write_text(RIGHT)
    return path


def rows(tmp_path: Path, *texts: str) -> Path:
    return write_rows(tmp_path / "c.jsonl", [{"completion": text} for text in texts])


@pytest.mark.slow
def test_what_was_judged_is_not_judged_again(run: Run, tmp_path: Path, task: Path) -> None:
    path = rows(tmp_path, RIGHT, "def f():\n    return 2\n", "def f():\n    return 3\n")
    first = run("score", task, path, "--json", "--run", tmp_path / "run")
    assert "resuming" not in first.err
    log = tmp_path / "run" / "verdicts.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    log.write_bytes(b"".join(lines[:2]) + lines[2][:20])  # as a kill leaves it
    again = run("score", task, path, "--json", "--run", tmp_path / "run")
    assert "resuming: 2 of 3 completions are judged already" in again.err
    known = {json.loads(line)[0] for line in lines[:2]}
    by_index = {item["index"]: item for item in first.objects}
    for item in again.objects:
        wanted = by_index[item["index"]]
        assert (item["status"], item["score"]) == (wanted["status"], wanted["score"])
        if item["index"] in known:
            assert item["usage"] == wanted["usage"]
    assert len(log.read_bytes().splitlines()) == 3


def test_a_resumed_run_has_the_same_advantages(run: Run, tmp_path: Path, task: Path) -> None:
    path = rows(tmp_path, RIGHT, "def f():\n    return 2\n")
    for _ in range(2):
        ran = run("score", task, path, "--json", "--run", tmp_path / "r", "--group-size", "2")
        assert [item["advantage"] for item in ran.objects] == [
            pytest.approx(math.sqrt(0.5), abs=1e-4),
            pytest.approx(-math.sqrt(0.5), abs=1e-4),
        ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("row", "c.jsonl:2 is another one than when it was begun"),
        ("more", "it was begun with 2 completions, and these are 3"),
        ("task", "the files of task one have changed"),
        ("program", "it was begun with unhack 0.0"),
    ],
)
def test_changed_inputs_are_refused_with_what_to_do(
    run: Run, tmp_path: Path, task: Path, change: str, words: str
) -> None:
    path = rows(tmp_path, RIGHT, "")
    assert run("score", task, path, "--run", tmp_path / "run").code == 0
    if change == "row":
        rows(tmp_path, RIGHT, "x")
    elif change == "more":
        rows(tmp_path, RIGHT, "", "")
    elif change == "task":
        (task / "cases.jsonl").write_text('{"args": [], "expected": 2}\n')
    else:
        inputs = tmp_path / "run" / "inputs.json"
        inputs.write_text(json.dumps({**json.loads(inputs.read_text()), "unhack": "0.0"}))
    ran = run("score", task, path, "--run", tmp_path / "run")
    assert ran.code == 2
    assert words in ran.err
    assert "give --run another folder" in ran.err


@pytest.mark.slow
def test_unscored_completions_are_judged_again(run: Run, tmp_path: Path, task: Path) -> None:
    (task / "checker.py").write_text("def check(*values):\n    raise RuntimeError('no')\n")
    path = rows(tmp_path, RIGHT, "")
    ran = run("score", task, path, "--run", tmp_path / "run")
    assert "unscored" in ran.out
    ran = run("score", task, path, "--run", tmp_path / "run")
    assert "resuming: 1 of 2" in ran.err


@pytest.mark.parametrize(
    "content", [b"[0]\n", b"[9, {}]\n", b"nonsense\n", b'[0, {"status": 1}]\n']
)
def test_a_damaged_folder_is_said_to_be_damaged(
    run: Run, tmp_path: Path, task: Path, content: bytes
) -> None:
    path = rows(tmp_path, RIGHT)
    assert run("score", task, path, "--run", tmp_path / "run").code == 0
    (tmp_path / "run" / "verdicts.jsonl").write_bytes(content)
    ran = run("score", task, path, "--run", tmp_path / "run")
    assert ran.code == 3
    assert "verdicts.jsonl: damaged" in ran.err
    assert "Traceback" not in ran.err


def test_a_file_is_no_run_folder(run: Run, tmp_path: Path) -> None:
    path = rows(tmp_path, "")
    ran = run("score", SEATS, path, "--run", path)
    assert ran.code == 2
    assert "name a folder" in ran.err
