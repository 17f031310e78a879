"""The plugged reward and the taskset, scored by verifiers' own `Task.score`."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
import verifiers.v1 as vf
from verifiers.v1.graph import MessageNode
from verifiers.v1.utils.loaders import load_taskset, resolve_env_config, taskset_config_type

from unhack.core.errors import UnknownNameError, UsageError
from unhack.core.problem import Problem
from unhack.core.verdict import Verdict
from unhack.integrations.verifiers import reward as rewards
from unhack.tasks.suite import find_task, suite_folders
from unhack.tasks.task import Task
from unhack.verifiers.base import VerifierFault

NAME = "strings/knit-rows"
KNIT = find_task(NAME)
RIGHT = str(KNIT.problem.reference)
FN = "unhack.integrations.verifiers.reward:sealed"
PAGE = Path(__file__).parents[3] / "docs" / "how-to" / "stacks" / "verifiers.md"


def trace_of(reply: str | None, *messages: Any) -> Any:
    """A trace whose root agent said this, or that holds these messages."""
    ours = vf.AssistantMessage
    nodes = [MessageNode(message=one, sampled=isinstance(one, ours)) for one in messages]
    return vf.Trace.model_construct(
        root_reply=reply, rewards={}, metrics={}, nodes=nodes, errors=[], ok=True
    )


class OtherData(vf.TaskData):
    unhack_task: Any = None


def foreign(weight: float = 1.0, **data: Any) -> Any:
    """A task of somebody else's taskset with our reward plugged in."""
    config = vf.TaskConfig(rewards={"sealed": {"fn": FN, "weight": weight}})
    return vf.Task(OtherData(prompt="p", **data), config)


class Broken:
    """Never judges anything, its controls neither."""

    def verify(self, problem: Problem, completion: str) -> Generator[Any, Any, Verdict]:
        raise VerifierFault("the disk is full")
        yield []


class TestReward:
    @pytest.mark.parametrize("field", ["unhack_task", "id", "name"])
    def test_it_is_plugged_by_a_path_and_reads_the_tasks_name(self, field: str) -> None:
        for reply, wanted in ((RIGHT, 2.0), ("I do not know.", 0.0)):
            trace = trace_of(reply)
            asyncio.run(foreign(weight=2.0, **{field: NAME}).score(trace))
            assert trace.reward == wanted

    def test_rollouts_that_end_together_are_judged_together(self) -> None:
        async def main() -> list[float]:
            traces = [trace_of(f"{RIGHT}\n# {at}") for at in range(32)]
            task = foreign(id=NAME)
            await asyncio.gather(*(task.score(one) for one in traces))
            return [one.reward for one in traces]

        assert asyncio.run(main()) == [1.0] * 32

    def test_what_could_not_be_scored_is_an_error_and_no_reward(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        broken: Any = Broken()
        monkeypatch.setattr(rewards, "named_task", lambda name: Task(KNIT.problem, broken))
        trace = trace_of(RIGHT)
        with pytest.raises(vf.TaskError, match=r"unscored, not a 0.*the disk is full"):
            asyncio.run(foreign(id=NAME).score(trace))
        assert trace.rewards == {"sealed": None}

    def test_our_limit_ends_before_theirs_which_would_count_as_zero(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def main() -> None:
            task = foreign(id=NAME, timeout=vf.TaskTimeout(scoring=0.001))
            with pytest.raises(vf.TaskError, match=r"no verdict within 0\.0008 s"):
                await task.score(trace_of(RIGHT))
            await foreign(id=NAME).score(trace_of(RIGHT))  # the judge goes on

        asyncio.run(main())

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            ({}, "the task data name no unhack task"),
            ({"id": "no/such-task"}, "unknown task"),
            ({"unhack_task": 3.5}, "'unhack_task' holds a float"),
            ({"unhack_task": float("nan")}, "'unhack_task' holds a float"),
        ],
    )
    def test_data_that_name_no_task_are_an_error_that_names_the_field(
        self, data: dict[str, Any], said: str
    ) -> None:
        with pytest.raises(vf.TaskError, match=said):
            asyncio.run(foreign(**data).score(trace_of(RIGHT)))

    @pytest.mark.parametrize("reply", ["", "\ud800", "\0", "x" * (4 << 20)])
    def test_whatever_the_model_says_is_a_reward(self, reply: str) -> None:
        trace = trace_of(reply)
        asyncio.run(foreign(id=NAME).score(trace))
        assert trace.reward == 0.0

    def test_what_tools_and_users_said_is_not_the_answer(self) -> None:
        tool = vf.ToolMessage(tool_call_id="1", content=RIGHT)
        for said, wanted in (("I ran it.", 0.0), (RIGHT, 1.0), (None, 0.0)):
            trace = trace_of(None, vf.AssistantMessage(content=said), tool)
            asyncio.run(foreign(id=NAME).score(trace))
            assert trace.reward == wanted


def taskset(**config: Any) -> Any:
    """Our taskset as verifiers loads it."""
    made = taskset_config_type("unhack-taskset").model_validate({"id": "unhack-taskset", **config})
    return load_taskset(made)


class TestTaskset:
    def test_it_is_found_by_its_id_and_scores_its_tasks(self) -> None:
        tasks = list(taskset(tasks=[NAME, "math/bag-draw#3"]))
        assert [one.key for one in tasks] == [NAME, "math/bag-draw#3"]
        trace = trace_of(RIGHT)
        asyncio.run(tasks[0].score(trace))
        assert trace.rewards["sealed"].value == 1.0

    def test_a_directory_is_named_by_its_path(self) -> None:
        folder = suite_folders()["strings"]
        tasks = list(taskset(tasks=[f"{folder}/knit-rows"]))
        assert find_task(tasks[0].key).problem.id == KNIT.problem.id

    def test_no_answer_is_in_what_traces_hold(self) -> None:
        ones = [*taskset(tasks=["strings", "math/bag-draw#3"])]
        assert ones
        for one in ones:
            held = one.data.model_dump_json()
            assert str(find_task(one.key).problem.reference) not in held

    def test_references_validate_and_an_untouched_task_gets_nothing(self) -> None:
        ones = [*taskset(tasks=["strings"]).take(3)]
        assert ones
        for one in ones:
            assert asyncio.run(one.validate(None)) is True
            trace = trace_of("")
            asyncio.run(one.score(trace))
            assert trace.reward == 0.0

    @pytest.mark.parametrize(
        ("config", "error", "said"),
        [
            ({}, UsageError, "taskset.tasks names no task"),
            ({"tasks": ["strings/knit-row"]}, UnknownNameError, "knit-rows"),
        ],
    )
    def test_names_that_are_none_are_refused(
        self, config: Any, error: type[Exception], said: str
    ) -> None:
        with pytest.raises(error, match=said):
            list(taskset(**config))

    @pytest.mark.parametrize("value", ["nan", "-1", "x"])
    def test_a_limit_that_is_none_is_refused_by_name(self, value: str) -> None:
        with pytest.raises(ValueError, match="scoring_s"):
            taskset(tasks=["strings"], scoring_s=value)


class TestConfiguration:
    def test_the_pages_toml_is_what_verifiers_reads(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "my_taskset.py").write_text(
            "import verifiers.v1 as vf\n"
            "class Mine(vf.Taskset[vf.Task, vf.TasksetConfig]):\n"
            "    def load(self): return []\n"
            "__all__ = ['Mine']\n"
        )
        monkeypatch.syspath_prepend(tmp_path)
        fence = PAGE.read_text().split("```toml\n")[1].partition("```")[0]
        sources = tomllib.loads(fence)["orchestrator"]["train"]["source"]
        plugged, ours = [resolve_env_config(source["env"]) for source in sources]
        assert plugged.taskset.task.rewards["sealed"].fn == FN
        assert ours.taskset.tasks == ["strings"]

    def test_the_example_runs(self, tmp_path: Path) -> None:
        example = PAGE.parents[3] / "examples" / "verifiers_reward.py"
        done = subprocess.run(
            [sys.executable, example], check=True, cwd=tmp_path, capture_output=True, text=True
        )
        assert done.stdout == "right 1.0\nwrong 0.0\n"
