"""The filter and the metrics in real evaluations, on a local data set."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from lm_eval import simple_evaluate
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.integrations import lm_eval
from unhack.tasks.execution import driver
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault

pytestmark = pytest.mark.filterwarnings("default")
NAME = "strings/knit-rows"
KNIT = find_task(NAME)
RIGHT = str(KNIT.problem.reference)
EXAMPLE = Path(__file__).parents[3] / "examples" / "lm_eval_task"


class Scripted(LM):
    """Says what the prompt says, which the data set chooses."""

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        return [json.loads(one.args[0]) for one in requests]

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


class Broken:
    """Never judges anything, its controls neither."""

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        raise VerifierFault("the disk is full")
        yield []


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(EXAMPLE, tmp_path / "task")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.setenv("HF_DATASETS_CACHE", str(tmp_path / "hf"))
    return tmp_path


def run(folder: Path, replies: list[str], tasks: list[Any] | None = None, **more: Any) -> Any:
    """The results of an evaluation in which the model says these replies."""
    names = tasks or [NAME] * len(replies)
    rows = [
        {"task": name, "prompt": json.dumps(reply)}
        for name, reply in zip(names, replies, strict=True)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    manager = TaskManager(include_path=str(folder / "task"), include_defaults=False)
    return simple_evaluate(Scripted(), tasks=["unhack_strings"], task_manager=manager, **more)


def metrics(found: Any) -> dict[str, float]:
    results = found["results"]["unhack_strings"]
    return {name: results[f"{name},sealed"] for name in ("reward", "passed", "unscored")}


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each batch that was begun."""
    begun: list[int] = []
    real = driver.Run

    def counted(backend: Any) -> Any:
        begun.append(1)
        return real(backend)

    monkeypatch.setattr(driver, "Run", counted)
    return begun


def test_all_documents_are_judged_in_one_batch(folder: Path, runs: list[int]) -> None:
    replies = [RIGHT if at % 2 else f"x = {at}" for at in range(20)]
    assert metrics(run(folder, replies)) == {"reward": 0.5, "passed": 0.5, "unscored": 0.0}
    assert len(runs) == 1


def test_a_call_for_each_document_takes_as_many_batches(runs: list[int]) -> None:
    docs = [{"task": NAME}] * 20
    for at, doc in enumerate(docs):
        [[told]] = lm_eval.judge([[f"{RIGHT}\n# {at}"]], [doc])
        assert told["passed"]
    assert len(runs) == 20


def test_unscored_documents_are_left_out_and_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: Any = Broken()
    tasks = {NAME: KNIT, "broken": Task(KNIT.problem, broken)}
    monkeypatch.setattr(lm_eval, "named_task", tasks.__getitem__)
    found = run(folder, [RIGHT] * 4, [NAME, "broken", NAME, NAME], log_samples=True)
    assert metrics(found) == {"reward": 1.0, "passed": 1.0, "unscored": 0.25}
    told = [one["filtered_resps"][0][0] for one in found["samples"]["unhack_strings"]]
    assert [one["reward"] for one in told].count(None) == 1
    found = run(folder, [RIGHT], ["broken"])
    assert math.isnan(metrics(found)["reward"])
    assert metrics(found)["unscored"] == 1.0


def test_repeats_count_as_their_mean(folder: Path) -> None:
    path = folder / "task" / "strings.yaml"
    path.write_text(path.read_text() + "repeats: 3\n")
    assert metrics(run(folder, [RIGHT, "x"]))["reward"] == 0.5
    told = lm_eval.judge([[RIGHT, "x", "y", RIGHT]], [{"task": NAME}])
    assert lm_eval.process_results({}, told)["reward"] == 0.5


@pytest.mark.parametrize(
    ("tasks", "error", "said"),
    [
        (["strings/knit-row"], UnknownNameError, "knit-rows"),
        ([3.5], UsageError, "'task' holds a float"),
        ([None], UsageError, "'task' holds None"),
        ([""], UsageError, "'task' holds an empty text"),
    ],
)
def test_a_document_that_names_no_task_ends_the_run_with_the_columns_name(
    folder: Path, tasks: list[Any], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        run(folder, [RIGHT], tasks)


def test_a_missing_column_is_named_before_anything_is_judged(runs: list[int]) -> None:
    with pytest.raises(UnknownNameError, match="column 'task'"):
        lm_eval.judge([[RIGHT], [RIGHT]], [{"task": NAME}, {"tsk": NAME}])
    with pytest.raises(UsageError, match="resps\\[1\\] holds"):
        lm_eval.judge([[RIGHT], [math.nan]], [{"task": NAME}] * 2)  # type: ignore[list-item]
    assert runs == []


def test_metrics_without_the_filter_say_what_is_missing() -> None:
    with pytest.raises(UsageError, match="filter_list"):
        lm_eval.process_results({}, ["a reply"])


@pytest.mark.parametrize("reply", ["", "\ud800", "\0", "x" * (4 << 20)])
def test_whatever_the_model_says_is_a_reward(reply: str) -> None:
    [[told]] = lm_eval.judge([[reply]], [{"task": NAME}])
    assert told["reward"] == 0.0


def test_the_example_runs_with_the_dummy_model(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, EXAMPLE / "run.py"], check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-3:] == ["reward 0.0", "passed 0.0", "unscored 0.0"]
