"""Numeric references that may carry units or LaTeX."""

import re


def _number(text):
    """The number of "12 apples", "$12$" or "12.0"."""
    found = re.findall(r"-?\d+(?:\.\d+)?", text.replace(",", ""))
    return float(found[0]) if found else None


def _boxed(text):
    at = text.rfind("\\boxed{")
    if at < 0:
        return None
    depth, start = 1, at + len("\\boxed{")
    for end in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[end], 0)
        if depth == 0:
            return text[start:end]
    return None


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 when the numbers agree."""
    boxed = _boxed(solution_str)
    if boxed is None:
        return 0.0
    given, gold = _number(boxed), _number(ground_truth)
    return 1.0 if given is not None and given == gold else 0.0
