"""The script `trl_plain.py` with two lines changed: judged sealed, watched, ended at an alarm.

The one argument is the folder or the name of a model with a chat template.
"""

import random
import sys

import torch
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer
from unhack.integrations.trl import AnswerTasks, hooks

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
    **hooks(AnswerTasks("solution"), stop_on_alarm=True),
    args=config,
    train_dataset=Dataset.from_list(rows),
)
trainer.train()
