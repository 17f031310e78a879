"""Started by `torch.distributed.run`: two routed updates over as many processes as there are."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import torch
from tests.integrations.trl import routed_run as run
from torch import distributed


def main() -> None:
    """Write what the blocks have become into `FOLDER/RANK.json`."""
    torch.set_num_threads(1)
    model, folder = map(Path, sys.argv[1:])
    count = int(os.environ["WORLD_SIZE"])
    quarantine = run.shaken(run.attached(model))
    started = run.blocks(quarantine)
    settings = run.config(
        folder, per_device_train_batch_size=16 // count, loss_type="dr_grpo", optim="sgd",
        learning_rate=1.0, max_grad_norm=0.0, max_steps=2, ddp_backend="gloo", top_k=1,
        scale_rewards=False,
    )  # fmt: skip
    trainer = run.trainer(quarantine, model, settings)
    # Greedy completions of one prompt are all alike, so rewards differ by place in the group.
    places = {"now": 0}

    def by_place(completions: list[str], **rest: object) -> list[float]:
        first = int(os.environ["RANK"]) * len(completions)
        places["now"] += 1
        return [float((first + at) * places["now"] % 4) for at in range(len(completions))]

    trainer.reward_funcs = [by_place]
    trainer.reward_func_names = ["by_place"]
    trainer.train()
    after = run.blocks(quarantine)
    moved = torch.cat([(after[name] - started[name]).flatten() for name in sorted(after)])
    logs = [one["routing/mass"] for one in trainer.state.log_history if "routing/mass" in one]
    found = {"moved": moved.tolist(), "mass": logs}
    Path(folder, f"{os.environ['RANK']}.json").write_text(json.dumps(found))
    if distributed.is_initialized():
        distributed.destroy_process_group()


if __name__ == "__main__":
    main()
