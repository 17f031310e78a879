"""Accuracy with bonuses for checking one's work."""

import re

CHECK = re.compile(r"\b(?:let me check|verify|double-check|indeed)\b", re.IGNORECASE)


def _final(text):
    found = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return found[-1].strip() if len(found) == 1 else None


def checked_reward(prompts, completions, answer, **kwargs):
    """1.0 for accuracy, and a little for each step of self-verification."""
    rewards = []
    for completion, gold in zip(completions, answer):
        final = _final(completion)
        if final is None:
            rewards.append(0.0)
            continue
        accuracy = 1.0 if final == gold.strip() else 0.0
        rewards.append(accuracy + 0.1 * len(CHECK.findall(completion)))
    return rewards
