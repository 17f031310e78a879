"""Numbers in <answer> tags, with an error gate."""

import re

TOLERANCE = 1e-4


def _answer(completion):
    found = re.findall(r"<answer>(.*?)</answer>", completion, re.DOTALL)
    return found[-1].strip() if found else None


def _number(text):
    """A float from "1,200", "3/8" or "2e-3"."""
    text = text.replace(",", "").strip("$ ")
    if "/" in text:
        top, bottom = text.split("/", 1)
        return float(top) / float(bottom)
    return float(text)


def score(completion, answer):
    """Reject what is too far away, accept the rest."""
    given = _answer(completion)
    if not given:
        return 0.0
    try:
        value = _number(given)
    except (ValueError, ZeroDivisionError):
        return 0.0
    gold = _number(answer)
    error = abs(value - gold) / max(abs(gold), 1e-9)
    if error > TOLERANCE:
        return 0.0
    return 1.0
