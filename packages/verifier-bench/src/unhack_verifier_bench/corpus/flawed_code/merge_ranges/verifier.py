"""Load the solution as a module and call it on every case."""

import importlib.util
import json


def _load(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(solution_path, test_cases_path):
    """{"score": share of cases that pass}"""
    with open(test_cases_path) as file:
        cases = json.load(file)
    solution = _load(solution_path)
    passed = 0
    for case in cases:
        try:
            if solution.merge_ranges(*case["args"]) == case["expected"]:
                passed += 1
        except Exception as error:
            return {"score": 0.0, "reason": f"{type(error).__name__}: {error}"}
    return {"score": passed / len(cases)}
