"""Rows and rewards for OpenRLHF: the label names the task, a file of ours is the reward.

pip install 'unhack[openrlhf]'
python examples/openrlhf_rewards.py     # writes rows.jsonl, prints the flags and two rewards
"""

import json
from pathlib import Path

from unhack import find_tasks
from unhack.integrations.openrlhf import reward

TASKS = find_tasks("strings/knit-rows")
rows = [{"prompt": task.prompt, "task": task.id} for task in TASKS]
Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

print("--data.prompt_dataset rows.jsonl --data.input_key prompt --data.label_key task")
print(f"--reward.remote_url {reward.__file__}")

for name, text in (("right", str(TASKS[0].problem.reference)), ("wrong", "I do not know.")):
    query = f"{TASKS[0].prompt}{text}<|im_end|>"
    answer = reward.reward_func([query], [TASKS[0].prompt], [TASKS[0].id])
    print(name, answer["rewards"])
