"""Classification into a closed set of labels."""

import re

OPTIONS = ("positive", "negative", "neutral", "mixed", "question", "statement", "command")


def _label(text):
    """The one word of the reply, if it is a label; a full stop may follow it."""
    match = re.fullmatch(r"\s*([A-Za-z]+)\.?\s*", text, re.ASCII)
    if match is None:
        return None
    word = match.group(1).lower()
    return word if word in OPTIONS else None


def label_reward(completion, answer):
    """1.0 for the label, 0.0 for all other replies."""
    gold = answer.lower()
    assert gold in OPTIONS, f"{answer!r} is no label"
    return 1.0 if _label(completion) == gold else 0.0
