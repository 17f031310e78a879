"""Controls that a process keeps: one completion at a time gets the verdicts of a batch."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unhack.core.errors import BatchUnscoredError
from unhack.core.problem import Problem
from unhack.integrations.openrlhf.reward import labelled_task
from unhack.integrations.trl import reward_function
from unhack.integrations.verifiers.reward import judged
from unhack.integrations.verl import compute_score
from unhack.sandbox.pool.pool import Pool
from unhack.server.scoring.catalogue import make_catalogue
from unhack.tasks.batch import run_batch
from unhack.tasks.execution.choosing import shared_scheduler
from unhack.tasks.execution.driver import KnownControls
from unhack.tasks.task import MissingControlWarning, Task
from unhack.verifiers.python import PythonVerifier
from unhack.verifiers.script import ScriptVerifier

pytestmark = pytest.mark.slow

SCRIPT = """import solution

def verify(solution_path, test_cases_path):
    queue = solution.Queue()
    queue.put(3)
    queue.put(4)
    assert queue.get() == 3
    return {"score": float(len(queue) == 1)}
"""
RIGHT = """class Queue:
    def __init__(self): self.items = []
    def put(self, item): self.items.append(item)
    def get(self): return self.items.pop(0)
    def __len__(self): return len(self.items)
"""
WRONG = RIGHT.replace("return len(self.items)", "return 7")
GARBAGE = ["x = 1\n", "class Queue: pass\n", "def Queue(): return 3\n", "import os; os._exit(70)\n"]
COMPLETIONS = [WRONG, *GARBAGE, RIGHT]
SCORES = [0.0] * 5 + [1.0]


def queue_task(name: str) -> Task:
    """Anew at every call, as the row of a data set is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MissingControlWarning)
        return Task(Problem(name, ""), ScriptVerifier(SCRIPT))


def breaks(completion: str) -> float:
    return float(completion.split("@@")[17])


class TestOneByOne:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        (tmp_path / "task.toml").write_text('id = "queue"\nkind = "script"\nprompt = "A queue."\n')
        (tmp_path / "verifier.py").write_text(SCRIPT)
        return tmp_path

    @pytest.mark.slow
    def test_a_task_that_is_made_anew_for_each_call_keeps_its_control(self, pool: Pool) -> None:
        batch = run_batch(queue_task("batch"), COMPLETIONS, backend=pool)
        alone = [run_batch(queue_task("alone"), [one], backend=pool) for one in COMPLETIONS]
        assert [one.verdicts[0].score for one in alone] == SCORES
        assert [verdict.score for verdict in batch.verdicts] == SCORES

    @pytest.mark.slow
    def test_equal_tasks_decide_for_each_other_within_a_batch(self, pool: Pool) -> None:
        texts = [*GARBAGE, WRONG]
        batch = run_batch([queue_task("equal") for _ in texts], texts, backend=pool)
        assert [verdict.score for verdict in batch.verdicts] == [0.0] * 5

    @pytest.mark.filterwarnings("ignore::unhack.tasks.task.MissingControlWarning")
    @pytest.mark.parametrize("stack", ["trl", "verl", "openrlhf", "verifiers", "server"])
    def test_a_function_that_is_asked_for_single_samples_pays_as_a_batch(
        self, stack: str, folder: Path
    ) -> None:
        name = str(folder)
        trl = reward_function(column="task")
        served = make_catalogue([folder]).find

        def by_name(find: Callable[[str], Task], label: str) -> Callable[[str], float | None]:
            return lambda text: shared_scheduler().submit(find(label), text).result().score

        ask: dict[str, Callable[[str], float | None]] = {
            "trl": lambda text: trl(["p"], [text], task=[name])[0],
            "verl": lambda text: compute_score(name, text)["score"],
            "openrlhf": by_name(labelled_task, name),
            "verifiers": lambda text: asyncio.run(judged(labelled_task(name), text, wall_s=300)),
            "server": by_name(served, "queue"),
        }
        assert [ask[stack](text) for text in COMPLETIONS] == SCORES


class TestKnownControls:
    def task(self, script: str) -> Task:
        return Task(Problem("t", "p"), ScriptVerifier(script))

    def test_an_equal_task_has_the_same_control_and_another_has_none(self) -> None:
        known = KnownControls()
        known.keep(self.task("a = 1\n"), "right")
        assert known.find(self.task("a = 1\n")) == "right"
        assert known.find(self.task("a = 2\n")) is None

    def test_the_first_completion_of_a_task_stays(self) -> None:
        known = KnownControls()
        for text in ("first", "second"):
            known.keep(self.task("a = 1\n"), text)
        assert known.find(self.task("a = 1\n")) == "first"

    def test_a_task_that_cannot_be_compared_is_itself_only(self) -> None:
        class Odd(ScriptVerifier):
            def __eq__(self, other: object) -> bool:
                raise ValueError("no truth value")

            __hash__ = None  # type: ignore[assignment]

        known, one = KnownControls(), Task(Problem("t", "p"), Odd("a = 1\n"))
        known.keep(one, "right")
        assert known.find(one) == "right"
        assert known.find(Task(Problem("t", "p"), Odd("a = 1\n"))) is None


class TestWarning:
    def judge(self, task: Task, pool: Pool) -> list[Any]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            for text in ("a", "b"):
                with pytest.raises(BatchUnscoredError):
                    run_batch(task, [f"{text}{n}" for n in range(6)], backend=pool)
        return [one for one in caught if one.category is MissingControlWarning]

    def test_a_verifier_that_breaks_on_every_canary_is_named_once(self, pool: Pool) -> None:
        [said] = self.judge(Task(Problem("sums/odd", ""), PythonVerifier(breaks)), pool)
        assert "'sums/odd'" in str(said.message)
        assert "reference" in str(said.message)

    def test_a_task_with_a_reference_says_nothing(self, pool: Pool) -> None:
        task = Task(Problem("sums/odd", "", reference="x"), PythonVerifier(breaks))
        assert self.judge(task, pool) == []

    def test_as_an_error_it_ends_no_pool(self, pool: Pool) -> None:
        """Warnings are errors here, and the pool's thread goes on."""
        task = Task(Problem("sums/even", ""), PythonVerifier(breaks))
        with pytest.raises(BatchUnscoredError):
            run_batch(task, [str(number) for number in range(6)], backend=pool)
        assert run_batch(queue_task("after"), [RIGHT], backend=pool).rewards == (1.0,)
