"""Run the solution with exec and hold the results against the cases."""

import json

TOTAL = {"cases": 0, "passed": 0}


def same(got, expected):
    """Exact type and value."""
    return type(got) is int and got == expected


def run_case(function, case):
    """Count one case."""
    TOTAL["cases"] += 1
    if same(function(*case["args"]), case["expected"]):
        TOTAL["passed"] += 1


def verify(solution_path, test_cases_path):
    """{"score": share of passed cases}"""
    with open(test_cases_path) as file:
        cases = json.load(file)
    with open(solution_path) as file:
        exec(compile(file.read(), "solution.py", "exec"), globals())
    for case in cases:
        run_case(digit_sum, case)  # noqa: F821
    return {"score": TOTAL["passed"] / TOTAL["cases"]}
