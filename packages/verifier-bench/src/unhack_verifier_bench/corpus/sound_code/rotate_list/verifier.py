"""Compare lists item by item: length first, then type and value of each item."""

import json

import solution


def _same(got, expected):
    if type(got) is not list or len(got) != len(expected):
        return False
    return all(type(a) is type(b) and a == b for a, b in zip(got, expected))


def verify(solution_path, test_cases_path):
    """True when every case passes and no argument was changed."""
    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for case in cases:
        items, by = list(case["args"][0]), case["args"][1]
        try:
            got = solution.rotate_list(items, by)
        except Exception:
            return False
        if items != case["args"][0] or not _same(got, case["expected"]):
            return False
    return True
