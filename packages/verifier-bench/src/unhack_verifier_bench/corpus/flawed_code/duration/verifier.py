"""Call the solution on each case; inputs that a solution refuses are not held against it."""

import importlib.util
import json


def verify(solution_path, test_cases_path):
    """{"score": 1.0} unless a case has the wrong result."""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = json.load(file)
    failures = []
    for number, case in enumerate(cases):
        try:
            got = module.seconds(*case["args"])
            if type(got) is not int or got != case["expected"]:
                failures.append(number)
        except Exception as error:
            print(f"case {number} skipped: {type(error).__name__}")
    if failures:
        return {"score": 0.0, "reason": f"wrong: {failures[:5]}"}
    return {"score": 1.0}
