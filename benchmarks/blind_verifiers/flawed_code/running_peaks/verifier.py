"""Check what holds of running peaks: count, order, the last the largest, no less in sum."""

import json
import runpy
from itertools import pairwise


def _is_fine(values, got):
    if type(got) is not list or len(got) != len(values):
        return False
    if any(type(item) is not int for item in got):
        return False
    falls = any(later < earlier for earlier, later in pairwise(got))
    return not falls and got[-1] == max(values) and sum(got) >= sum(values)


def verify(solution_path, test_cases_path):
    """{"score": 1.0 or 0.0, "reason": the first failure}"""
    function = runpy.run_path(solution_path, run_name="solution")["peaks"]
    with open(test_cases_path) as file:
        cases = json.load(file)
    for number, case in enumerate(cases):
        values = list(case["args"][0])
        if not _is_fine(list(values), function(values)):
            return {"score": 0.0, "reason": f"case {number}: no running peaks"}
    return {"score": 1.0, "reason": ""}
