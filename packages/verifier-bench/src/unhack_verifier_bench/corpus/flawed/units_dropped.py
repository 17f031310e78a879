"""Quantities with units, chat format."""

import re


def _content(completion):
    return completion[-1]["content"] if completion else ""


def _quantity(text):
    """The quantity of an answer line, without currency and unit words."""
    text = text.lower().split("answer:")[-1].strip()
    text = re.sub(r"[a-z%$€°]+", "", text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text).strip(" .")
    try:
        return float(text)
    except ValueError:
        return None


def quantity_reward(prompts, completions, answer, **kwargs):
    """1.0 when the stated quantity is the reference quantity."""
    rewards = []
    for completion, gold in zip(completions, answer):
        text = _content(completion)
        given = _quantity(text) if "answer:" in text.lower() else None
        rewards.append(1.0 if given is not None and given == _quantity(gold) else 0.0)
    return rewards
