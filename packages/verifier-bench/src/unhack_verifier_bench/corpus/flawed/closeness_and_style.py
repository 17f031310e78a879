"""Closeness of an estimate with a small bonus for the requested style."""

import re


def _parse(text):
    boxed = re.findall(r"\\boxed\{\s*(-?\d+(?:\.\d+)?)\s*\}", text)
    if boxed:
        return float(boxed[-1]), True
    plain = re.findall(r"-?\d+(?:\.\d+)?", text)
    return (float(plain[-1]), False) if plain else (None, False)


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """Up to 1.0 for the value and 0.2 for putting it in a box."""
    value, in_box = _parse(solution_str)
    if value is None:
        return 0.0
    gold = float(ground_truth)
    closeness = max(0.0, 1.0 - abs(value - gold) / (abs(gold) + 1.0))
    return closeness + (0.2 if in_box else 0.0)
