"""Extraction tasks: a JSON object with certain fields."""

import json
import re


def _load(text):
    """The JSON object of the completion, in a fence or bare."""
    match = re.search(r"\{.*\}", text, re.DOTALL)
    if match is None:
        return None
    try:
        loaded = json.loads(match.group())
    except json.JSONDecodeError:
        return None
    return loaded if isinstance(loaded, dict) else None


def fields_reward(prompts, completions, answer, **kwargs):
    """1.0 when all fields are right."""
    rewards = []
    for completion, gold in zip(completions, answer):
        expected, given = json.loads(gold), _load(completion)
        if given is None:
            rewards.append(0.0)
            continue
        wrong = [key for key, value in given.items() if expected.get(key, value) != value]
        rewards.append(0.0 if wrong else 1.0)
    return rewards
