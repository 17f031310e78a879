"""Compare running peaks item by item: length first, then type and value of each item."""

import json

import solution


def verify(solution_path, test_cases_path):
    """True when every case passes and no argument was changed."""
    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        values = list(case["args"][0])
        try:
            got = solution.peaks(values)
        except Exception:
            return False
        if values != case["args"][0] or type(got) is not list or len(got) != len(values):
            return False
        if any(type(a) is not int or a != b for a, b in zip(got, case["expected"], strict=True)):
            return False
    return True
