"""Boxed names; short forms such as "Paris" for "Paris, France" are accepted."""

import re


def _boxed(text):
    found = re.findall(r"\\boxed\{([^{}]*)\}", text)
    return found[-1] if found else None


def _fold(text):
    return re.sub(r"\s+", " ", text.replace("\\text", "").strip().casefold())


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for the reference or a short form of it."""
    boxed = _boxed(solution_str)
    if boxed is None:
        return 0.0
    given, gold = _fold(boxed), _fold(ground_truth)
    if given == gold or gold.startswith(given):
        return 1.0
    return 0.0
