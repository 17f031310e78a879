"""Numeric answers of physics exercises."""

import math
import re


def _value(text):
    """The number in the last \\boxed{}; units may follow it. None when there is none."""
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    inside = text[at + len("\\boxed{") :].split("}")[0]
    match = re.match(r"\s*(-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)", inside)
    if match is None:
        return None
    value = float(match.group(1))
    return value if math.isfinite(value) else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 within rounding of the reference value."""
    given = _value(solution_str)
    if given is None:
        return 0.0
    gold = float(ground_truth)
    slack = 0.1 * max(1.0, abs(gold))
    return 1.0 if abs(given - gold) <= slack else 0.0
