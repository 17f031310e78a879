"""Letter answers of a chat model; the letter comes last."""

import re


def _content(completion):
    if isinstance(completion, str):
        return completion
    return "".join(message["content"] for message in completion if message["role"] == "assistant")


def letter_reward(prompts, completions, answer, **kwargs):
    """One reward per completion.

    Models close in many ways ("so it must be (C).", "**C**", "option C"), and all of them end
    in the letter, so the last one counts.
    """
    rewards = []
    for completion, gold in zip(completions, answer):
        letters = re.findall(r"[A-D]", _content(completion))
        chosen = letters[-1] if letters else None
        rewards.append(1.0 if chosen == gold.strip().upper() else 0.0)
    return rewards
