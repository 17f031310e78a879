"""Accuracy with a bonus for showing one's work."""

import re

FULL_BONUS_WORDS = 60


def _final(text):
    found = re.findall(r"final answer:\s*(.+)", text, re.IGNORECASE)
    return found[-1].strip().rstrip(".") if found else ""


def _work_bonus(text):
    """Grows with the length of the explanation until it is long enough."""
    return min(1.0, len(text.split()) / FULL_BONUS_WORDS)


def reasoning_reward(prompts, completions, answer, **kwargs):
    """Half for the answer, the rest for an explanation that is not too terse."""
    rewards = []
    for text, gold in zip(completions, answer):
        accuracy = 1.0 if _final(text) == gold.strip() else 0.0
        rewards.append(0.5 * accuracy + 0.6 * _work_bonus(text))
    return rewards
