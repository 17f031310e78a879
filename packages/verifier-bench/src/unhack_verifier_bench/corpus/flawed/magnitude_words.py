"""Counts as newspapers write them."""

import re

SUFFIX = re.compile(r"\s*(?:k|m|bn|thousand|million|billion|people|units)\b\.?", re.IGNORECASE)


def _plain_number(text):
    """The digits of a count without the words that newspapers put behind it."""
    text = SUFFIX.sub("", text.strip())
    text = text.replace(",", "").replace("approximately", "").strip(" .~")
    if not re.fullmatch(r"-?\d+(?:\.\d+)?", text):
        return None
    return float(text)


def count_reward(completion, answer):
    """1.0 when the count in <answer> equals the reference."""
    match = re.search(r"<answer>([^<]*)</answer>\s*$", completion)
    if match is None:
        return 0.0
    given, gold = _plain_number(match.group(1)), _plain_number(answer)
    if given is None or gold is None:
        return 0.0
    return 1.0 if given == gold else 0.0
