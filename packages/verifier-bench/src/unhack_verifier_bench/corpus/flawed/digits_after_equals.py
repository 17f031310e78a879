"""Integer arithmetic, the answer after the last equals sign or at the end."""

import re


def _extract(completion):
    """The result as an int; None when the completion has no number at all."""
    tail = completion.rsplit("=", 1)[-1]
    found = re.findall(r"\d+", tail.replace(",", ""))
    return int(found[-1]) if found else None


def integer_reward(completion, answer):
    """1.0 or 0.0; thousands separators are allowed."""
    value = _extract(completion)
    if value is None:
        return 0.0
    gold = re.search(r"\d+", answer.replace(",", ""))
    assert gold is not None, "answers are integers"
    return 1.0 if value == int(gold.group()) else 0.0
