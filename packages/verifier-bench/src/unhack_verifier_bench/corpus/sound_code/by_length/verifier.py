"""Any order is right, so both sides are sorted, after their shape and types were checked."""

import importlib.util
import json


def _sorted(groups):
    """The groups in a fixed order, or None for a value of another shape."""
    if type(groups) is not list:
        return None
    rows = []
    for group in groups:
        if type(group) is not list or len(group) != 2:
            return None
        length, words = group
        if type(length) is not int or type(words) is not list:
            return None
        if any(type(word) is not str for word in words):
            return None
        rows.append((length, sorted(words)))
    return sorted(rows)


def verify(solution_path, test_cases_path):
    """{"score": 1.0 or 0.0}"""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        try:
            got = _sorted(module.by_length(list(case["args"][0])))
        except Exception:
            return {"score": 0.0, "reason": "raised"}
        if got is None or got != _sorted(case["expected"]):
            return {"score": 0.0, "reason": "wrong"}
    return {"score": 1.0}
