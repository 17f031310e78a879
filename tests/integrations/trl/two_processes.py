"""Started twice by `torch.distributed.run`: the real GRPOTrainer over gloo, several runs in a row.

Each process writes what it saw into `FOLDER/RANK.json`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from unhack import Problem, PythonVerifier, Task
from unhack.core.errors import BatchUnscoredError, UnhackError, UsageError
from unhack.integrations.trl import Monitor, RewardFunction, reward_function, watch

RANK = int(os.environ["RANK"])
ROWS = [{"prompt": f"Say {number}."} for number in range(64)]


def half(completion: str) -> bool:
    """True of about every second text."""
    return sum(completion.encode()) % 2 == 0


def never(completion: str) -> bool:
    """True of none."""
    return False


def silent(completion: str) -> bool:
    """Judges nothing."""
    raise RuntimeError("the grader cannot start")


def task(verify: Any) -> Task:
    """A task that a function judges."""
    return Task(Problem("sum", "x", answer="7"), PythonVerifier(verify))


def trained(rewards: RewardFunction, model: str, out: str, *, steps: int, **settings: Any) -> Any:
    """A trainer after its run."""
    config = GRPOConfig(
        output_dir=out, max_steps=steps, gradient_accumulation_steps=1, max_completion_length=8,
        logging_steps=1, report_to=[], save_strategy="no", use_cpu=True, seed=1,
        disable_tqdm=True, ddp_backend="gloo", ddp_timeout=600, **settings,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model, reward_funcs=rewards, args=config, train_dataset=Dataset.from_list(ROWS),
        callbacks=[watch(rewards.monitor, stop_on_alarm=True)],
    )  # fmt: skip
    trainer.train()
    return trainer


def told(trainer: Any, monitor: Monitor) -> dict[str, Any]:
    """What a run came to."""
    logs = [one for one in trainer.state.log_history if "reward" in one]
    return {
        "step": trainer.state.global_step,
        "trl": [one["frac_reward_zero_std"] for one in logs],
        "ours": [one.zero_variance_share for one in monitor.seen],
        "logged": [one["unhack/zero_variance_share"] for one in logs],
        "rewards": [one["reward"] for one in logs],
        "our_rewards": [one.reward for one in monitor.seen],
        "alarms": monitor.alarms,
    }


def main() -> None:
    """Run everything; the last run fails on one process."""
    torch.set_num_threads(1)
    model, folder = sys.argv[1:]
    found: dict[str, Any] = {}

    spread = reward_function(task(half))
    run = trained(spread, model, folder, steps=6, per_device_train_batch_size=1, num_generations=2)
    found["spread"] = told(run, spread.monitor)

    flat = reward_function(task(never))
    run = trained(flat, model, folder, steps=9, per_device_train_batch_size=4, num_generations=2)
    found["flat"] = told(run, flat.monitor)

    one = reward_function(task(half))
    if RANK == 1:
        one.monitor.alarms.append("step 0: raised on this process alone")
    run = trained(one, model, folder, steps=4, per_device_train_batch_size=1, num_generations=2)
    found["one"] = told(run, one.monitor)

    nothing = reward_function(task(silent))
    try:
        trained(nothing, model, folder, steps=4, per_device_train_batch_size=1, num_generations=2)
    except BatchUnscoredError as error:
        found["unscored"] = str(error)

    def broken(row: Any) -> Task:
        if RANK == 1:
            raise UsageError("no task for this row")
        return task(half)

    failing = reward_function(broken)
    try:
        trained(failing, model, folder, steps=4, per_device_train_batch_size=1, num_generations=2)
    except UnhackError as error:
        found["failure"] = str(error)
    Path(folder, f"{RANK}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main()
