"""TRL's own trainers take our reward function and callback as they are."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from unhack.integrations.trl import reward_function, watch

from .trl_tasks import equals, mentions, task

pytest.importorskip("trl")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("kind", ["GRPO", "RLOO"])
def test_two_steps_of_a_trainer_log_what_the_monitor_saw(
    kind: str, model: Path, tmp_path: Path
) -> None:
    import trl
    from datasets import Dataset

    tasks = {name: task(mentions, name, name=name) for name in "ae"}
    strict = {name: task(equals, name, name=name) for name in "ae"}
    rewards = reward_function(tasks, column="task", oracle=strict)
    rows = [{"prompt": f"Say {name}.", "task": name} for name in "aeae"]
    config: Any = getattr(trl, f"{kind}Config")(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=8, num_generations=4,
        max_completion_length=24, logging_steps=1, report_to=[], save_strategy="no",
        use_cpu=True, seed=1, disable_tqdm=True,
    )  # fmt: skip
    trainer: Any = getattr(trl, f"{kind}Trainer")(
        model=str(model), reward_funcs=rewards, args=config, train_dataset=Dataset.from_list(rows),
        callbacks=[watch(rewards.monitor)],
    )  # fmt: skip
    trainer.train()
    logs = [one for one in trainer.state.log_history if "reward" in one]
    assert len(logs) == len(rewards.monitor.seen) == 2
    for one, seen in zip(logs, rewards.monitor.seen, strict=True):
        assert one["reward"] == pytest.approx(seen.reward)
        assert one["rewards/unhack/mean"] == pytest.approx(seen.reward)
        assert one["unhack/hacked"] == pytest.approx(seen.hacked)
        assert one["unhack/zero_variance_share"] == pytest.approx(seen.zero_variance_share)
        assert one["unhack/alarms"] == 0.0
        if kind == "GRPO":  # RLOO takes the penalty into the rewards first
            assert one["frac_reward_zero_std"] == pytest.approx(seen.zero_variance_share)


def test_evaluation_is_kept_apart(model: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    rewards = reward_function(task(mentions, "a"))
    rows = Dataset.from_list([{"prompt": f"Say {one}."} for one in range(4)])
    config: Any = GRPOConfig(
        output_dir=str(tmp_path), max_steps=2, per_device_train_batch_size=4, num_generations=4,
        num_generations_eval=2, per_device_eval_batch_size=4, eval_strategy="steps", eval_steps=1,
        eval_on_start=True, max_completion_length=8, logging_steps=1, report_to=[],
        save_strategy="no", use_cpu=True, seed=1, disable_tqdm=True,
    )  # fmt: skip
    trainer: Any = GRPOTrainer(
        model=str(model), reward_funcs=rewards, args=config, train_dataset=rows, eval_dataset=rows,
        callbacks=[watch(rewards.monitor)],
    )  # fmt: skip
    trainer.train()
    monitor = rewards.monitor
    assert [one.groups for one in monitor.seen] == [1, 1]
    assert len(monitor.evaluated) == 6
    assert {one.groups for one in monitor.evaluated} == {2}
    logs = [one for one in trainer.state.log_history if "eval_reward" in one]
    assert [one["eval_unhack/passed"] for one in logs[:3]] == pytest.approx(
        [sum(one.passed for one in monitor.evaluated[at : at + 2]) / 2 for at in (0, 2, 4)]
    )
    assert rewards.monitor.in_step is False


def test_the_callback_tells_evaluation_where_no_argument_does() -> None:
    """As a trainer without `log_metric` calls."""
    rewards = reward_function(task(mentions, "a"))
    callback = watch(rewards.monitor)
    state = SimpleNamespace(global_step=1, log_history=[])
    callback.on_train_begin(None, state, None)
    rewards(["p"], ["a"])
    callback.on_step_begin(None, state, None)
    rewards(["p"], ["b"])
    callback.on_step_end(None, state, None)
    rewards(["p"], ["a"])
    assert [one.passed for one in rewards.monitor.seen] == [0.0]
    assert [one.passed for one in rewards.monitor.evaluated] == [1.0, 1.0]
