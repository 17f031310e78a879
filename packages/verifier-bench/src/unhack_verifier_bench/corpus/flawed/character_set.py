"""Short symbolic answers in which the order of factors and terms is free."""

import re


def _symbols(text):
    return sorted(set(re.sub(r"[\s*{}()$]", "", text.lower())))


def _final(solution):
    found = re.findall(r"result\s*:\s*([^\n]+)", solution, re.IGNORECASE)
    return found[-1] if found else ""


def compute_score(data_source, solution_str, ground_truth, extra_info=None):
    """1.0 for the reference in any order of its parts."""
    given = _symbols(_final(solution_str))
    if not given:
        return 0.0
    return float(given == _symbols(ground_truth))
