"""Rollouts through SkyRL-gym's registry, without a trainer: one right, one wrong.

python examples/skyrl.py
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import skyrl_gym

from unhack import find_tasks
from unhack.integrations.skyrl import rows

skyrl_gym.register(id="unhack", entry_point="unhack.integrations.skyrl:TaskEnv")


def rollout(row: dict, reply: str) -> float:
    """The reward of a reply to a row's prompt, as the trainer's threads ask for it."""
    env = skyrl_gym.make("unhack", env_config={}, extras={**row, "max_turns": 1})
    env.init(row["prompt"])
    reward = env.step(reply)["reward"]
    env.close()
    return reward


def main() -> None:
    """Judge two replies side by side."""
    [task] = find_tasks("strings/knit-rows")
    [row] = rows([task.id])
    replies = [task.problem.reference, "I do not know."]
    with ThreadPoolExecutor(2) as threads:
        right, wrong = threads.map(lambda reply: rollout(row, reply), replies)
    print(f"right {right}, wrong {wrong}")


if __name__ == "__main__":
    main()
