"""Measured values: equal within one millionth, to allow for rounding in long calculations."""

import math
import re

VALUE = re.compile(r"Value:[ \t]*([-+]?\d{1,15}(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?)", re.ASCII)


def _value(text):
    """The value of the last line, which is the only one that states a value."""
    lines = text.strip().splitlines()
    if not lines or sum(line.lower().count("value:") for line in lines) != 1:
        return None
    match = VALUE.fullmatch(lines[-1].strip())
    return float(match.group(1)) if match else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for a finite value within one millionth of the reference."""
    value, gold = _value(solution_str), float(ground_truth)
    if value is None or not math.isfinite(value):
        return {"score": 0.0, "pred": ""}
    close = math.isclose(value, gold, rel_tol=1e-6, abs_tol=1e-9)
    return {"score": 1.0 if close else 0.0, "pred": str(value)}
