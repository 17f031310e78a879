"""Our environment through SkyRL-gym's own registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from unhack.core.errors import UnhackError, UsageError
from unhack.environments.suites import find_repository_tasks
from unhack.integrations.skyrl import rows
from unhack.tasks.suite import find_task
from unhack.tasks.template import new_task

TASK = "strings/knit-rows"
RIGHT = find_task(TASK).problem.reference or ""


skyrl_gym.register(id="unhack", entry_point="unhack.integrations.skyrl:TaskEnv")


def env(name: Any = TASK, **columns: Any) -> Any:
    """An environment as the trainer makes it."""
    extras = {"reward_spec": {"ground_truth": name}, "max_turns": 1, **columns}
    return skyrl_gym.make("unhack", env_config={}, extras=extras)


def test_one_turn_judges_the_reply() -> None:
    [row] = rows([TASK])
    made = env(row["reward_spec"]["ground_truth"])
    prompt, _ = made.init(row["prompt"])
    assert prompt == row["prompt"]
    stepped = made.step(RIGHT)
    assert (stepped["reward"], stepped["done"], stepped["observations"]) == (1.0, True, [])
    assert stepped["metadata"]["passed"] is True
    assert made.get_metrics() == {"passed": 1.0, "turns": 1}
    assert aggregate_for_environment("unhack", [made.get_metrics()])["passed"] == 1.0
    made.close()


def test_a_wrong_reply_gets_another_turn_and_reads_why() -> None:
    made = env(max_turns=2)
    first = made.step("no code")
    assert (first["reward"], first["done"]) == (0.0, False)
    assert first["observations"][0]["role"] == "user"
    assert "not right" in first["observations"][0]["content"]
    second = made.step(RIGHT)
    assert (second["reward"], second["done"]) == (1.0, True)
    with pytest.raises(UsageError, match="has ended"):
        made.step(RIGHT)


def test_32_threads_get_the_right_rewards() -> None:
    def rollout(number: int) -> float:
        return env().step(RIGHT if number % 2 else "def knit_rows(x):\n    return 1\n")["reward"]

    with ThreadPoolExecutor(32) as threads:
        found = list(threads.map(rollout, range(64)))
    assert [reward == 1.0 for reward in found] == [bool(number % 2) for number in range(64)]


def test_a_repository_task_is_played_and_judged_at_the_last_turn() -> None:
    task = next(find_repository_tasks("repos"))
    calls = [
        {"name": "write", "arguments": {"path": path, "text": text}}
        for path, text in task.reference.items()
        if text is not None
    ]
    made = env(task.id, max_turns=1 + len(calls))
    shown = made.step(json.dumps({"name": "list", "arguments": {}}))
    assert (shown["done"], shown["reward"]) == (False, 0.0)
    assert shown["observations"][0]["content"]
    ends = [made.step(json.dumps(call)) for call in calls]
    assert (ends[-1]["done"], ends[-1]["reward"]) == (True, 1.0)
    idle = env(task.id, max_turns=1).step("I do nothing")
    assert (idle["done"], idle["reward"]) == (True, 0.0)


def test_what_cannot_be_scored_is_an_error_and_no_0(tmp_path: Path) -> None:
    folder = new_task(tmp_path / "broken", kind="function")
    (folder / "checker.py").write_text("def check(*a):\n    raise OSError\n")
    [row] = rows([str(folder)])
    with pytest.raises(UnhackError, match="could not be scored after three tries"):
        env(row["reward_spec"]["ground_truth"]).step(find_task(folder).problem.reference)


def test_rows_of_a_directory_name_each_task_of_it(tmp_path: Path) -> None:
    for name in ("one", "two"):
        new_task(tmp_path / name, kind="function")
    found = [row["reward_spec"]["ground_truth"] for row in rows([str(tmp_path)])]
    assert [Path(one).name for one in found] == ["one", "two"]
    shutil.rmtree(tmp_path / "one")
    with pytest.raises(UsageError, match="no such directory"):
        env(found[0])


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"reward_spec": None}, "reward_spec"),
        ({"reward_spec": {}}, "ground_truth"),
        ({"reward_spec": {"ground_truth": float("nan")}}, "ground_truth is nan"),
        ({"reward_spec": {"ground_truth": "strings/knit-row"}}, "did you mean"),
        ({"reward_spec": {"ground_truth": "strings"}}, "several tasks"),
        ({"max_turns": "3"}, "max_turns is '3'"),
        ({"max_turns": 0}, "max_turns is 0"),
    ],
)
def test_a_bad_row_is_an_error_that_names_the_column(columns: dict[str, Any], words: str) -> None:
    extras = {"reward_spec": {"ground_truth": TASK}, "max_turns": 1, **columns}
    with pytest.raises(UsageError, match=words):
        skyrl_gym.make("unhack", env_config={}, extras=extras)


def test_bad_replies_are_0_or_refused() -> None:
    assert env().step("\ud800 not utf-8")["reward"] == 0.0
    assert env().step("x" * (100 << 20))["reward"] == 0.0
    with pytest.raises(UsageError, match="a reply is a text"):
        env().step(None)


def test_the_example_runs() -> None:
    place = Path(__file__).parents[3] / "examples" / "skyrl.py"
    done = subprocess.run([sys.executable, place], capture_output=True, text=True, check=True)
    assert "right 1.0, wrong 0.0" in done.stdout
