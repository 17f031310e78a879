"""Boxed multiple choice, with several keys where the question allows it."""

import re


def _keys(text):
    return re.findall(r"[A-H]", text.upper())


def _boxed(text):
    found = re.findall(r"\\boxed\{(.*?)\}", text, re.DOTALL)
    return found[-1] if found else ""


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the keys are chosen."""
    chosen, keys = _keys(_boxed(solution_str)), _keys(ground_truth)
    if not chosen:
        return 0.0
    return 1.0 if all(key in chosen for key in keys) else 0.0
