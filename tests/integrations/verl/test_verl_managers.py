"""verl's own loader with our reward manager, and its own managers with our function."""

from __future__ import annotations

import asyncio
import os
from typing import Any

import cloudpickle
import pytest
import ray
from verl.trainer.ppo.reward import (
    get_custom_reward_fn,
    load_reward_manager,
    resolve_reward_manager_cls,
)

from unhack import Task, find_tasks
from unhack.core.errors import UnhackError, UsageError
from unhack.integrations.verl import batches, tool_loop
from unhack.sandbox.pool.worker_start import SLOTS
from unhack.tasks.execution.scheduler import Scheduler

from .verl_rows import PACKAGE, Bytes, config, rollout

pytestmark = pytest.mark.filterwarnings("ignore")
REGISTERED = ("naive", "dapo", "gdpo", "rate_limited")


@pytest.fixture(scope="module")
def knit() -> Task:
    [found] = find_tasks("strings/knit-rows")
    return found


@pytest.fixture(scope="module")
def right(knit: Task) -> str:
    return str(knit.problem.reference)


def judged(*rows: Any, **settings: Any) -> list[Any]:
    """What verl's manager says of rollouts that it is given at once; errors as values."""

    async def all_at_once() -> list[Any]:
        made = load_reward_manager(config(**settings), Bytes())
        try:
            return await asyncio.gather(*map(made.run_single, rows), return_exceptions=True)
        finally:
            close(made)

    return asyncio.run(all_at_once())


def close(made: Any) -> None:
    """End the workers of a manager, if it has workers of its own."""
    if getattr(made, "_slots", 0):
        made._judge._backend.close()


def says(error: Any) -> str:
    """The words of an error of ours."""
    assert isinstance(error, UnhackError)
    return str(error)


class TestOurManager:
    def test_it_scores_a_rollout(self, right: str) -> None:
        good, bad = judged(rollout(right), rollout("pass"))
        assert good == {
            "reward_score": 1.0,
            "reward_extra_info": {"score": 1.0, "passed": True, "reason": ""},
        }
        assert bad["reward_score"] == 0.0
        assert bad["reward_extra_info"].keys() == good["reward_extra_info"].keys()

    def test_64_rollouts_at_once_are_judged_together(
        self, right: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """In a few runs of the driver, where calls one after the other make 64."""
        texts = [f"{right}# {number}\n" if number % 2 else f"# {number}" for number in range(64)]
        runs: list[Any] = []
        take = Scheduler._take

        def counted(self: Scheduler, group: Any, batch: Any) -> None:
            runs.append(batch)
            take(self, group, batch)

        monkeypatch.setattr(Scheduler, "_take", counted)
        found = judged(*map(rollout, texts))
        assert [one["reward_score"] for one in found] == [float(at % 2) for at in range(64)]
        assert 1 <= len(runs) <= 16

    def test_what_a_tool_said_is_never_judged(self, right: str) -> None:
        said = "I do not know.\n"
        told = f"```python\n{right}\n```"
        mask = [1] * len(said) + [0] * len(told)
        fields = [{batches.MASK: mask}, {batches.MASK: [1] * len(mask)}, {}]
        rows = [rollout(said + told, tool_extra_fields=one, __num_turns__=4) for one in fields]
        masked, written, unknown = judged(*rows)
        assert (masked["reward_score"], written["reward_score"]) == (0.0, 1.0)
        assert "unhack_tool_agent" in says(unknown)

    def test_verls_tool_loop_hands_the_mask_on(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from verl.experimental.agent_loop.agent_loop import AgentLoopMetrics, AgentLoopOutput
        from verl.experimental.agent_loop.tool_agent_loop import ToolAgentLoop

        async def run(self: Any, sampling_params: Any, **row: Any) -> AgentLoopOutput:
            return AgentLoopOutput(
                prompt_ids=[1], response_ids=[2, 3], response_mask=[1, 0], num_turns=4,
                metrics=AgentLoopMetrics(),
            )  # fmt: skip

        # Its own run needs a model server; ours only adds to what it returns.
        monkeypatch.setattr(ToolAgentLoop, "run", run)
        loop = tool_loop.TokenMaskedToolLoop.__new__(tool_loop.TokenMaskedToolLoop)
        assert asyncio.run(loop.run({})).extra_fields[batches.MASK] == [1, 0]

    @pytest.mark.parametrize(
        ("columns", "words"),
        [
            ({"data_source": None}, "data_source"),
            ({"data_source": "gsm8k"}, "gsm8k"),
            ({"data_source": float("nan")}, "data_source"),
            ({"extra_info": "strings/knit-rows"}, "extra_info"),
            ({"extra_info": {"task": ["a"]}}, "'task'"),
        ],
    )
    def test_a_row_that_names_no_task_fails_alone(
        self, columns: dict[str, Any], words: str, right: str
    ) -> None:
        wrong, good = judged(rollout(right, **columns), rollout(right))
        assert words in says(wrong)
        assert good["reward_score"] == 1.0

    def test_neither_ground_truth_nor_extra_info_is_needed(self, right: str) -> None:
        [found] = judged(rollout(right, reward_model=None, extra_info=None))
        assert found["reward_score"] == 1.0

    def test_a_function_beside_it_is_refused(self) -> None:
        with pytest.raises(UsageError, match=r"reward\.custom_reward_function\.path"):
            judged(path=PACKAGE)

    def test_reward_workers_share_the_cores(self, monkeypatch: pytest.MonkeyPatch) -> None:
        async def slots(workers: int) -> int:
            made = load_reward_manager(config(workers=workers), Bytes())
            close(made)
            return made._slots

        cores = len(os.sched_getaffinity(0))
        assert not ray.is_initialized()
        for workers in (1, 2, 64):
            assert asyncio.run(slots(workers)) == max(1, cores // workers)
        monkeypatch.setenv(SLOTS, "3")
        assert asyncio.run(slots(64)) == 0

    def test_its_class_can_be_sent_to_an_actor(self) -> None:
        kind = resolve_reward_manager_cls(config())
        assert cloudpickle.loads(cloudpickle.dumps(kind)) is kind


class TestTheFunction:
    @pytest.mark.parametrize("name", REGISTERED)
    def test_verls_own_managers_call_it(self, name: str, right: str) -> None:
        found = judged(rollout(right), rollout("pass"), manager=name, path=PACKAGE)
        assert [one["reward_score"] for one in found] == [1.0, 0.0]

    def test_it_goes_to_other_processes_by_its_name(self) -> None:
        loaded: Any = get_custom_reward_fn(config(path=PACKAGE))
        found = cloudpickle.loads(cloudpickle.dumps(loaded))
        assert found.args == loaded.args
        assert len(cloudpickle.dumps(loaded)) < 1000

    def test_a_response_with_the_answers_of_tools_raises(self, right: str) -> None:
        [found] = judged(rollout(right, __num_turns__=4), manager="naive", path=PACKAGE)
        assert "answers of tools" in says(found)

    def test_without_ground_truth_verl_itself_raises(self, right: str) -> None:
        row = rollout(right, reward_model={"style": "rule"})
        [found] = judged(row, manager="naive", path=PACKAGE)
        assert isinstance(found, KeyError)
        assert "ground_truth" in str(found)
