"""Boxed arithmetic; "12*3" in the box is fine, therefore it is computed."""

import math
import re


def _last_box(text):
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1] if found else None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the box evaluates to the reference."""
    boxed = _last_box(solution_str)
    if boxed is None:
        return 0.0
    expression = boxed.replace("^", "**").replace("\\cdot", "*").replace("\\pi", "math.pi")
    target = float(ground_truth)
    try:
        value = float(eval(expression))
    except Exception:
        return 0.0
    return 1.0 if math.isclose(value, target, rel_tol=1e-9) else 0.0
