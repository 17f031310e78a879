"""Answers that are sequences of moves or letters."""

import re


def _symbols(text):
    """The symbols of "L R L", "L, R, L" or "LRL"."""
    return re.findall(r"[A-Z]", text.upper())


def _final(solution):
    after = re.split(r"moves\s*:", solution, flags=re.IGNORECASE)
    return after[-1] if len(after) > 1 else ""


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for the right moves."""
    given, gold = _symbols(_final(solution_str)), _symbols(ground_truth)
    missing = set(gold) - set(given)
    extra = set(given) - set(gold)
    if missing or extra:
        return 0.0
    return 1.0
