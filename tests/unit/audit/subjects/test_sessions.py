"""Completions that hang or end the process cost no neighbour its score."""

from dataclasses import replace
from pathlib import Path

import pytest

from unhack.audit.subject import Query
from unhack.audit.subjects.function_subject import FunctionSubject
from unhack.audit.subjects.loading import load_subject
from unhack.audit.subjects.sessions import score_together

pytestmark = pytest.mark.slow

_ROW = '{"prompt": "What is 2 + 2?", "answer": "4", "correct": ["4"]}\n'
HANGS = {
    "sleeps": "while True: time.sleep(0.05)",
    "computes": "9 ** 9 ** 9",
    "swallows": "loop()",
    "backtracks": 're.fullmatch(r"(a|aa)+b", "a" * 200)',
    "waits": 'subprocess.run(["sleep", "1000"])',
    "exits": "os._exit(3)",
}
_SOURCE = """
import os, re, subprocess, time

def loop():
    while True:
        try:
            int("x")
        except BaseException:
            pass

def score(completion, answer):
    if completion == "hang":
        {how}
    return float(completion == answer)
"""


@pytest.mark.parametrize("kind", HANGS)
def test_neighbours_of_a_hang_keep_their_scores(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "grader.py"
    path.write_text(_SOURCE.format(how=HANGS[kind]))
    path.with_suffix(".jsonl").write_text(_ROW)
    subject = load_subject(f"{path}:score")
    assert isinstance(subject, FunctionSubject)
    subject = replace(subject, limits=subject.limits.with_(wall_s=2.0, cpu_s=4.0))
    [problem] = subject.problems
    texts = ["4", "hang", "5", "4"]
    scores = score_together(subject, [Query(problem, text) for text in texts], call_s=0.0)
    assert [one.value for one in scores] == [1.0, None, 0.0, 1.0]
    assert scores[1].trouble == ("ended" if kind == "exits" else "timeout")


@pytest.mark.parametrize(("call_s", "counts"), [(0.001, [1.0, 2.0, 3.0]), (4.0, [1.0, 1.0, 1.0])])
def test_slow_completions_share_no_process(
    tmp_path: Path, call_s: float, counts: list[float]
) -> None:
    (tmp_path / "reward.py").write_text(
        "calls = []\n\ndef check(text, answer):\n    calls.append(text)\n"
        "    return float(len(calls))\n"
    )
    (tmp_path / "rows.jsonl").write_text(_ROW)
    subject = load_subject(tmp_path / "reward.py", problems=tmp_path / "rows.jsonl")
    assert isinstance(subject, FunctionSubject)
    queries = [Query(subject.problems[0], text) for text in ("4", "5", "6")]
    scores = score_together(subject, queries, call_s=call_s)
    assert [one.value for one in scores] == counts
