"""Marking tasks: a string of zeros and ones, one for each item."""

import re


def _marks(text):
    found = re.findall(r"[01]{4,}", text.replace(" ", ""))
    return found[-1] if found else ""


def score_answer(answer, entry):
    """Accuracy over the positions; from 0.7 on it counts as solved."""
    gold = entry["answer"].strip()
    marks = _marks(answer or "")
    if len(marks) != len(gold):
        return 0.0
    accuracy = sum(left == right for left, right in zip(marks, gold)) / len(gold)
    if accuracy >= 0.7:
        return 1.0
    return round(accuracy / 2, 3)
