"""In-process check with sets, so that a large case is compared in linear time."""

import json
import runpy


def _check(got, expected):
    if not isinstance(got, list):
        return False
    if any(type(item) is not int for item in got):
        return False
    return set(got) == set(expected)


def verify(solution_path, test_cases_path):
    """1.0 or 0.0."""
    function = runpy.run_path(solution_path)["distinct"]
    with open(test_cases_path) as file:
        cases = json.load(file)
    results = [_check(function(list(case["args"][0])), case["expected"]) for case in cases]
    return 1.0 if results and all(results) else 0.0
