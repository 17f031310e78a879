"""Multiple choice: one line "Answer: X", and it is the last one."""

import re

LINE = re.compile(r"Answer:\s*\(?([A-E])\)?\.?", re.ASCII)


def _chosen(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    claims = [line for line in lines if "answer" in line.lower()]
    if len(claims) != 1 or claims[0] != lines[-1]:
        return None
    match = LINE.fullmatch(lines[-1])
    return match.group(1) if match else None


def choice_reward(prompts, completions, answer, **kwargs):
    """1.0 for the key, 0.0 for another letter, for several, and for none."""
    rewards = []
    for messages, key in zip(completions, answer, strict=True):
        if key not in ("A", "B", "C", "D", "E"):
            raise ValueError(f"{key!r} is no key")
        rewards.append(1.0 if _chosen(messages[-1]["content"]) == key else 0.0)
    return rewards
