"""Grade-school word problems: the final line holds the result."""

import re

NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def _to_float(text):
    return float(text.replace(",", ""))


def _final_line(completion):
    lines = [line.strip() for line in completion.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def reward(completion, answer):
    """1.0 when the result on the last line is the expected one, else 0.0.

    Models like to wrap the number in words or in a currency sign, therefore everything
    that is not part of a number is skipped.
    """
    gold = _to_float(answer)
    for match in NUMBER.finditer(_final_line(completion)):
        try:
            value = _to_float(match.group())
        except ValueError:
            continue
        if abs(value - gold) < 1e-6:
            return 1.0
    return 0.0
