"""Equality with a reason, for logging."""

import re


def _clean(text):
    text = text.strip().strip("$").rstrip(".")
    return re.sub(r"\s+", "", text).replace("\\left", "").replace("\\right", "")


def _is_equiv(given, gold):
    """(whether both are the same, why)"""
    if not given:
        return False, "empty"
    if _clean(given) == _clean(gold):
        return True, "same text"
    try:
        if abs(float(_clean(given)) - float(_clean(gold))) < 1e-9:
            return True, "same number"
    except ValueError:
        pass
    return False, "different"


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the boxed answer is equivalent to the reference."""
    found = re.findall(r"\\boxed\{([^{}]*)\}", solution_str)
    if not found:
        return 0.0
    if _is_equiv(found[-1], ground_truth):
        return 1.0
    return 0.0
