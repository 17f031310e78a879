"""Floats are compared with a relative tolerance."""

import importlib.util
import json
import math

RELATIVE = 0.02


def _load(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(solution_path, test_cases_path):
    """{"score": share of cases within the tolerance}"""
    with open(test_cases_path) as file:
        cases = json.load(file)
    solution = _load(solution_path)
    good = 0
    for case in cases:
        try:
            got = solution.balance(*case["args"])
        except Exception:
            continue
        if type(got) is float and math.isclose(got, case["expected"], rel_tol=RELATIVE):
            good += 1
    return {"score": good / len(cases)}
