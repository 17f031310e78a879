"""Ordered lists, compared item by item."""

import re


def _items(text):
    """Items of "[a, b, c]", taken from the last bracket of the text."""
    brackets = re.findall(r"\[([^\[\]]*)\]", text)
    if not brackets:
        return None
    return [item.strip().strip("'\"").lower() for item in brackets[-1].split(",") if item.strip()]


def ordered_list_reward(prompts, completions, answer, **kwargs):
    """1.0 when every item stands in its place."""
    rewards = []
    for completion, gold in zip(completions, answer):
        given, expected = _items(completion), _items(gold)
        if given is None:
            rewards.append(0.0)
            continue
        in_place = [left == right for left, right in zip(given, expected)]
        rewards.append(1.0 if all(in_place) else 0.0)
    return rewards
