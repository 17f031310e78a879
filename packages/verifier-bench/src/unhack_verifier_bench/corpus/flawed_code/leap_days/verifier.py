"""Isolated namespace, exact types, deep copies: and the cases of the statement."""

import copy
import json
import runpy


def verify(solution_path, test_cases_path):
    """{"score": share of passed cases, "cases": their number}"""
    function = runpy.run_path(solution_path)["leap_days"]
    with open(test_cases_path) as file:
        cases = json.load(file)
    passed = 0
    for case in copy.deepcopy(cases):
        try:
            got = function(*case["args"])
        except Exception:
            continue
        passed += type(got) is int and got == case["expected"]
    return {"score": passed / len(cases), "cases": len(cases)}
