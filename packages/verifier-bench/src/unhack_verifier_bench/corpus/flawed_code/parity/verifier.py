"""Values are checked to be integers before they are compared."""

import json
import runpy


def _integers(items):
    return isinstance(items, list) and all(isinstance(item, int) for item in items)


def verify(solution_path, test_cases_path):
    """{"score": 1.0 or 0.0, "reason": the first failure}"""
    function = runpy.run_path(solution_path, run_name="solution")["parities"]
    with open(test_cases_path) as file:
        cases = json.load(file)
    for number, case in enumerate(cases):
        got = function(*case["args"])
        if not _integers(got):
            return {"score": 0.0, "reason": f"case {number}: not a list of integers"}
        if len(got) != len(case["expected"]) or got != case["expected"]:
            return {"score": 0.0, "reason": f"case {number}: wrong"}
    return {"score": 1.0, "reason": ""}
