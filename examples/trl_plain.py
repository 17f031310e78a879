"""A plain TRL script: GRPO on sums, rewarded by TRL's own function. See `trl_existing.py`.

The one argument is the folder or the name of a model with a chat template.
"""

import random
import sys

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from trl.rewards import accuracy_reward

random.seed(0)
pairs = [(random.randrange(100), random.randrange(100)) for _ in range(64)]
rows = [
    {
        "prompt": [{"role": "user", "content": f"{a} + {b}? Put the answer into \\boxed{{}}."}],
        "solution": f"${a + b}$",
    }
    for a, b in pairs
]
config = GRPOConfig(
    output_dir="out",
    max_steps=2,
    num_generations=4,
    per_device_train_batch_size=4,
    max_completion_length=16,
    logging_steps=1,
    save_strategy="no",
    report_to=[],
    use_cpu=not torch.cuda.is_available(),
)
trainer = GRPOTrainer(
    model=sys.argv[1],
    reward_funcs=accuracy_reward,
    args=config,
    train_dataset=Dataset.from_list(rows),
)
trainer.train()
