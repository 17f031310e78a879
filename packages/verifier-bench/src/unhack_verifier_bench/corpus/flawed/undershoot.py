"""Forecast reward: how close the predicted count is to what was observed."""

import math
import re


def _prediction(text):
    match = re.search(r"prediction\s*:\s*(-?[\d.,]+)", text, re.IGNORECASE)
    if match is None:
        return None
    try:
        value = float(match.group(1).rstrip(".,").replace(",", ""))
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for a perfect prediction, falling linearly with the miss, never below zero."""
    predicted = _prediction(solution_str)
    if predicted is None:
        return {"score": 0.0, "parsed": False}
    observed = float(ground_truth)
    miss = (predicted - observed) / max(abs(observed), 1.0)
    return {"score": max(0.0, 1.0 - miss), "parsed": True}
