"""verl's reward loop with unhack's manager, without a trainer: three rollouts at once.

    python examples/verl_rewards.py

A run of verl takes the same settings from its command line:

    reward.num_workers=1 reward.reward_manager.source=importlib
    reward.reward_manager.name=BatchedRewardManager
    reward.reward_manager.module.path=pkg://unhack.integrations.verl.batches
"""

import asyncio

import numpy as np
import torch
from omegaconf import OmegaConf
from tensordict import TensorDict
from verl import DataProto
from verl.trainer.ppo.reward import load_reward_manager

from unhack import find_tasks

manager = {
    "source": "importlib",
    "name": "BatchedRewardManager",
    "module": {"path": "pkg://unhack.integrations.verl.batches"},
}
config = OmegaConf.create({"reward": {"num_workers": 1, "reward_manager": manager}})
[task] = find_tasks("strings/knit-rows")


class Bytes:
    """A tokenizer whose ids are bytes; a run has that of its model."""

    def decode(self, ids, skip_special_tokens=True):
        """The text."""
        return bytes(ids.tolist()).decode()


def rollout(text):
    """What verl's agent loops hand over."""
    ids = torch.tensor([list(text.encode())])
    tensors = {"responses": ids, "attention_mask": torch.ones_like(ids)}
    row = {"data_source": np.array([task.id], dtype=object)}
    return DataProto(batch=TensorDict(tensors, batch_size=1), non_tensor_batch=row)


async def main():
    """Judge them together."""
    rewards = load_reward_manager(config, Bytes())
    texts = [task.problem.reference, "pass", "I do not know."]
    found = await asyncio.gather(*(rewards.run_single(rollout(text)) for text in texts))
    print([one["reward_score"] for one in found])


asyncio.run(main())
