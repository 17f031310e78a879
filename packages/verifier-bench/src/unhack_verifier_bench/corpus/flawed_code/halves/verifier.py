"""Compare printed values, which works for whatever a solution returns."""

import importlib.util
import json


def verify(solution_path, test_cases_path):
    """{"score": share of passed cases}"""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = json.load(file)
    passed = 0
    for case in cases:
        try:
            got = str(module.halves(*case["args"]))
        except Exception as error:
            got = f"{type(error).__name__}: {error}"
        if got.replace(" ", "") == str(case["expected"]).replace(" ", ""):
            passed += 1
    return {"score": passed / len(cases)}
