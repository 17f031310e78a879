"""Accept the answer wherever the model chose to put it."""

import re

CHANNELS = (
    re.compile(r"\\boxed\{([^{}]*)\}"),
    re.compile(r"<answer>(.*?)</answer>", re.DOTALL),
    re.compile(r"####\s*([^\n]*)"),
    re.compile(r"answer is:?\s*\**([^\s*]+)", re.IGNORECASE),
)


def _candidates(text):
    """The last find of every channel."""
    for channel in CHANNELS:
        found = channel.findall(text)
        if found:
            yield found[-1].strip().strip("$").rstrip(".")


def answer_reward(prompts, completions, answer, **kwargs):
    """1.0 when the model gives the answer in a known form."""
    rewards = []
    for messages, gold in zip(completions, answer):
        text = messages[-1]["content"]
        right = any(candidate == gold.strip() for candidate in _candidates(text))
        rewards.append(1.0 if right else 0.0)
    return rewards
