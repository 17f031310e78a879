"""Points of the plane with integer coordinates, in the only box of the reply."""

import re

PAIR = re.compile(r"\(\s*(-?\d{1,9})\s*,\s*(-?\d{1,9})\s*\)", re.ASCII)


def _point(text):
    match = PAIR.fullmatch(text.strip())
    return (int(match.group(1)), int(match.group(2))) if match else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for the right point; fails closed on whatever cannot be read."""
    try:
        if solution_str.lower().count("boxed") != 1:
            return 0.0
        match = re.fullmatch(r"(?s)(.*)\$?\\boxed\{([^{}]*)\}\$?\.?\s*", solution_str)
        point = _point(match.group(2))
        if point is None:
            return 0.0
        return float(point == _point(ground_truth))
    except Exception:
        return 0.0
