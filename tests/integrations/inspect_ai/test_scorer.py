"""The scorer in real evaluations, on both loops."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from inspect_ai.scorer import includes

from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.integrations.inspect_ai import scorer, verdict
from unhack.tasks.suite import find_task
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault

from .inspect_evals import play

pytestmark = pytest.mark.filterwarnings(  # Inspect's own, and those of what it leaves open
    "default::DeprecationWarning", "default::pytest.PytestWarning"
)
NAME = "strings/knit-rows"
KNIT = find_task(NAME)
RIGHT = str(KNIT.problem.reference)


@pytest.fixture(params=["asyncio", "trio"], autouse=True)
def loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("INSPECT_ASYNC_BACKEND", request.param)
    return request.param


@dataclass
class Counting:
    """Judges as another verifier does, and counts what it judges at a time."""

    inner: Any
    open: int = 0
    most: int = 0
    texts: list[str] = field(default_factory=list[str])

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        self.open += 1
        self.most = max(self.most, self.open)
        self.texts.append(completion)
        try:
            return (yield from self.inner.verify(problem, completion))
        finally:
            self.open -= 1


class Broken:
    """Never judges anything, its controls neither."""

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        raise VerifierFault("the disk is full")
        yield []


def metrics(log: Any) -> dict[str, Any]:
    assert log.status == "success", log.error
    return {name: one.value for name, one in log.results.scores[0].metrics.items()}


def test_metadata_or_the_id_or_the_argument_names_the_task(tmp_path: Path) -> None:
    samples = [
        Sample(input="p", id="first", metadata={"task": NAME}),
        Sample(input="p", id=NAME),
    ]
    log = play(samples, [RIGHT, "I do not know."], tmp_path, scorer=verdict())
    assert metrics(log)["accuracy"] == 0.5
    log = play([Sample(input="p", id="x")], [RIGHT], tmp_path, scorer=verdict(task=NAME))
    assert metrics(log)["accuracy"] == 1.0
    named = [Sample(input="p", metadata={"judged_by": NAME})]
    log = play(named, [RIGHT], tmp_path, scorer=verdict(column="judged_by"))
    assert metrics(log)["accuracy"] == 1.0


def test_old_logs_are_scored_again_by_its_name(tmp_path: Path) -> None:
    samples = [Sample(input="p", metadata={"task": NAME})]
    log = play(samples, [RIGHT], tmp_path, scorer=includes())
    command = [sys.executable, "-m", "inspect_ai", "score", log.location, "--scorer"]
    more = ["unhack/verdict", "--action", "append", "--overwrite", "--display", "none"]
    subprocess.run([*command, *more], check=True, capture_output=True)
    [again] = [one for one in read_eval_log(log.location).results.scores if one.name == "verdict"]
    assert again.metrics["accuracy"].value == 1.0


def test_what_could_not_be_scored_is_kept_and_counted_by_no_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken: Any = Broken()
    tasks = {"good": KNIT, "broken": Task(KNIT.problem, broken)}
    monkeypatch.setattr(scorer, "named_task", tasks.__getitem__)
    samples = [Sample(input="p", metadata={"task": name}) for name in ("good", "broken")]
    log = play(samples, [RIGHT, RIGHT], tmp_path, scorer=verdict())
    assert metrics(log)["accuracy"] == 1.0
    told = log.results.scores[0]
    assert (told.scored_samples, told.unscored_samples) == (1, 1)
    found = [next(iter(one.scores.values())) for one in log.samples]
    [lost] = [one for one in found if math.isnan(one.value)]
    assert lost.reason == "scoring_failed"
    assert "the disk is full" in lost.explanation


def test_samples_of_one_time_are_judged_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counting: Any = Counting(KNIT.verifier)
    task = Task(KNIT.problem, counting)
    monkeypatch.setattr(scorer, "named_task", lambda name: task)
    texts = [f"{RIGHT}\n# {at}" for at in range(24)]
    samples = [Sample(input="p", metadata={"task": NAME}) for _ in texts]
    log = play(samples, texts, tmp_path, scorer=verdict(), max_samples=24, max_connections=24)
    assert metrics(log)["accuracy"] == 1.0
    assert sorted(counting.texts) == sorted(texts)
    assert counting.most > 1


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        ({"task": 3.5}, "'task' holds a float"),
        ({"task": ""}, "'task' holds an empty text"),
        ({"task": "strings/knit-row"}, "knit-rows"),
        ({}, "unknown task"),
    ],
)
def test_a_sample_that_names_no_task_is_an_error_that_says_so(
    tmp_path: Path, metadata: dict[str, Any], said: str
) -> None:
    log = play([Sample(input="p", metadata=metadata)], [RIGHT], tmp_path, scorer=verdict())
    assert log.status == "error"
    assert said in log.error.message


@pytest.mark.parametrize("text", ["", "\ud800 def f", "x" * (1 << 20), "\0", "NaN"])
def test_whatever_the_model_says_is_a_score(tmp_path: Path, text: str) -> None:
    log = play([Sample(input="p", metadata={"task": NAME})], [text], tmp_path, scorer=verdict())
    assert metrics(log)["accuracy"] == 0.0


def test_the_example_runs(tmp_path: Path) -> None:
    example = Path(__file__).parents[3] / "examples" / "inspect_eval.py"
    done = subprocess.run(
        [sys.executable, example], check=True, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout == "success 0.5\n"
