"""Sequences as JSON arrays of integers or strings, order and length included."""

import json


def _parse(text):
    try:
        return json.loads(text.strip())
    except (ValueError, RecursionError):
        return None


def _same(given, gold):
    """Whether both are lists of the same length with the same items of the same types."""
    if type(given) is not list or len(given) != len(gold):
        return False
    return all(type(a) is type(b) and a == b for a, b in zip(given, gold))


def sequence_reward(prompts, completions, answer, **kwargs):
    """1.0 or 0.0 for each completion; the reply is the array and nothing else."""
    rewards = []
    for completion, gold in zip(completions, answer, strict=True):
        rewards.append(1.0 if _same(_parse(completion), json.loads(gold)) else 0.0)
    return rewards
