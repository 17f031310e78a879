"""Execute the solution in a namespace of its own; compare floats with care."""

import json
import math


def _close(got, expected):
    if isinstance(expected, list):
        return isinstance(got, list) and all(_close(a, b) for a, b in zip(got, expected))
    if type(got) not in (int, float):
        return False
    return math.isfinite(got) and abs(got - expected) < 1e-9


def verify(solution_path, test_cases_path):
    """True when every case passes."""
    namespace = {"__name__": "solution"}
    with open(solution_path) as file:
        exec(compile(file.read(), solution_path, "exec"), namespace)
    function = namespace["moving_mean"]
    with open(test_cases_path) as file:
        cases = json.load(file)
    for case in cases:
        got = function(*case["args"])
        if not _close(got, case["expected"]):
            return False
    return True
