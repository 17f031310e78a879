"""Rewards for short factual questions in TRL's format."""

import re

PATTERN = re.compile(r"answer\s*[:=]\s*(.+)", re.IGNORECASE)


def _final(completion):
    """The text that follows the last "Answer:"; nothing when the model never says it."""
    found = PATTERN.findall(completion)
    return found[-1].strip().lower() if found else None


def accuracy_reward(prompts, completions, answer, **kwargs):
    """One float for each completion: 1.0 for a right final answer."""
    rewards = []
    for completion, gold in zip(completions, answer):
        given = _final(completion)
        if given is None:
            rewards.append(0.0)
            continue
        gold = gold.strip().lower()
        # Articles and units around the answer are fine.
        rewards.append(1.0 if gold in given else 0.0)
    return rewards
