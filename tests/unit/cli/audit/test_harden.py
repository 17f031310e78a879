"""`unhack audit --harden`: options, a scripted agent as hacker and fixer, the page, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.unit.cli.conftest import Run

REWARD = """\
def score(completion, answer):
    return 1.0 if answer.lower() in completion.lower() else 0.0
"""
AGENT = """\
import os

CHECK = '''\\
def score(completion, answer):
    import re
    found = re.findall(r"-?\\\\d+(?:\\\\.\\\\d+)?", completion.replace(",", ""))
    values = {float(one) for one in found if len(one) < 300}
    if "=" in completion and "+" in completion:
        values = {float(found[-1])}
    return 1.0 if values == {float(answer)} else 0.0
'''
if os.path.exists("verifier.py"):
    with open("verifier.py", "w") as file:
        file.write(CHECK)
elif os.path.exists("ORDER.md"):
    with open("reply.md", "w") as file:
        file.write('```python\\ndef complete(prompt):\\n    return "nothing"\\n```\\n')
"""
HARDEN = ("audit", "reward.py:score", "--problems", "rows.jsonl", "--tiers", "1,3", "--harden", "3")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a reward, rows and an agent."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "reward.py").write_text(REWARD)
    rows = [
        {"prompt": f"What is {a} plus {b}?", "answer": str(a + b), "correct": [str(a + b)]}
        for a, b in ((34, 77), (45, 51), (62, 80), (19, 64), (27, 38), (71, 16))
    ]
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "agent.py").write_text(AGENT)
    (tmp_path / "agent.py").chmod(0o644)
    return tmp_path


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--agent", "claude"), "--agent: only with --harden"),
        (("--white-box", "--sibling", "x.py:f"), "--sibling, --white-box: only with --harden"),
        (("--harden", "2", "--fix"), "--fix: not with --harden"),
        (("--harden", "2", "--run", "state", "--strict"), "--run, --strict: not with --harden"),
        (("--harden", "2", "--white-box"), "with --agent or --llm-model"),
        (("--harden", "2", "--agent", "nobody"), "unknown agent"),
        (("--harden", "2", "--agent", "mine=no-such-program"), "there is no no-such-program"),
        (("--harden", "0"), "greater than or equal to 1"),
    ],
)
def test_an_option_that_means_nothing_is_refused_before_anything_runs(
    run: Run, folder: Path, options: tuple[str, ...], said: str
) -> None:
    ran = run("audit", "reward.py:score", "--problems", "rows.jsonl", *options)
    assert ran.code == 2, ran.err
    assert said in ran.err


@pytest.mark.slow
def test_a_scripted_agent_hacks_and_fixes_and_the_page_shows_it(run: Run, folder: Path) -> None:
    agent = ("--agent", "mine=python3 agent.py", "--html", "a.html", "--patches", "out", "--json")
    ran = run(*HARDEN, *agent, "--seconds", "600")
    assert ran.code == 1, ran.err
    [task] = ran.objects[0]["tasks"]
    assert task["end"] == "closed", task["why"]
    assert task["rounds"][0]["hackers"] == "own strategies, mine"
    assert "hacker, turn 1: exploitable" in ran.err
    page = Path("a.html").read_text()
    assert "Round 1" in page
    assert "a change by mine" in page
    [diff] = Path("out").iterdir()
    assert diff.read_text() == task["diff"]
    assert Path("reward.py").read_text() == REWARD


@pytest.mark.slow
def test_an_agent_that_ends_with_an_error_makes_no_sound_verifier_fine(
    run: Run, folder: Path
) -> None:
    Path("reward.py").write_text(
        "def score(completion, answer):\n    return completion == answer\n"
    )
    Path("agent.py").write_text("raise SystemExit('no model')\n")
    ran = run(*HARDEN, "--agent", "mine=python3 agent.py", "--seconds", "600", "--json")
    assert ran.code == 4, ran.err
    [task] = ran.objects[0]["tasks"]
    assert task["end"] == "agent could not start"
    assert "no model" in task["why"]
