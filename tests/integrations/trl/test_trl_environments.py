"""GRPOTrainer plays repository tasks: it builds the prompts, offers the tools, asks for rewards."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.unit.environments.rectangles import rectangles

from unhack.integrations.trl.repositories import RepositoryRollouts

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def test_a_trainer_takes_repository_tasks(model: Path, tmp_path: Path) -> None:
    from datasets import Dataset
    from trl import GRPOConfig, GRPOTrainer

    task = rectangles()
    rollouts = RepositoryRollouts({task.id: task})
    prompt = [{"role": "user", "content": "Mend this. "}]
    config: Any = GRPOConfig(
        output_dir=str(tmp_path), max_steps=1, per_device_train_batch_size=2, num_generations=2,
        max_completion_length=8, logging_steps=1, report_to=[], save_strategy="no", use_cpu=True,
        seed=1, disable_tqdm=True, log_completions=True,
    )  # fmt: skip
    trainer: Any = GRPOTrainer(
        model=str(model), args=config, environment_factory=rollouts,
        train_dataset=Dataset.from_list([{"prompt": prompt, "task": task.id}] * 2),
    )  # fmt: skip
    trainer.train()
    [log] = [one for one in trainer.state.log_history if "reward" in one]
    assert log["rewards/RepositoryRollout/mean"] == 0.0
    assert {tool.__name__ for tool in trainer.tools} == {
        "read", "list", "search", "write", "edit", "patch", "run", "shell", "test", "submit",
    }  # fmt: skip
    assert all(task.statement in str(one) for one in trainer._logs["prompt"])
    rollouts.close()
