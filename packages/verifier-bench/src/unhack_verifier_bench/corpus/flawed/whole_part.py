"""Decimal answers; the dataset stores some of them as "3", others as "3.0"."""

import re


def _last_number(text):
    found = re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))
    return found[-1] if found else None


def _canonical(number):
    """A form in which 3, 3.0 and 3.00 are alike."""
    return str(int(float(number)))


def exact_number_reward(prompts, completions, answer, **kwargs):
    """1.0 when the last number of the completion is the answer."""
    scores = []
    for text, gold in zip(completions, answer):
        number = _last_number(text)
        if number is None:
            scores.append(0.0)
        else:
            scores.append(float(_canonical(number) == _canonical(gold)))
    return scores
