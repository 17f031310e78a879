"""Sequences of integers; spaces, commas and arrows are all fine as separators."""

import re


def _sequence(text):
    return [int(number) for number in re.findall(r"-?\d+", text)]


def _answer(text):
    match = re.search(r"<answer>(.*?)</answer>", text, re.DOTALL)
    return match.group(1) if match else ""


def sequence_reward(completion, answer):
    """1.0 if the sequences agree."""
    given, gold = _sequence(_answer(completion)), _sequence(answer)
    if not given or len(given) != len(gold):
        return 0.0
    given.sort()
    gold.sort()
    return 1.0 if given == gold else 0.0
