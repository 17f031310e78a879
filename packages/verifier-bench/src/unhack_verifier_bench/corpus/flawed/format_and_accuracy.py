"""Format plus accuracy, added up, for a chat model that is taught to think in tags."""

import re

LAYOUT = re.compile(r"\s*<think>.*?</think>\s*<answer>.*?</answer>\s*", re.DOTALL)


def _final(text):
    tagged = re.findall(r"<answer>(.*?)</answer>", text, re.DOTALL)
    if tagged:
        return tagged[-1].strip()
    stated = re.findall(r"answer is\s+(\S+)", text)
    return stated[-1].strip(".") if stated else ""


def combined_reward(prompts, completions, answer, **kwargs):
    """0.5 for the layout and 0.5 for the right answer."""
    rewards = []
    for messages, gold in zip(completions, answer):
        text = messages[0]["content"]
        layout = 0.5 if LAYOUT.fullmatch(text) else 0.0
        accuracy = 0.5 if _final(text) == gold.strip() else 0.0
        rewards.append(layout + accuracy)
    return rewards
