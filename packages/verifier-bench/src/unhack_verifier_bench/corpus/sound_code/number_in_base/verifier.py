"""Call the solution on every case; the type and the value have to be right."""

import importlib.util
import json


def verify(solution_path, test_cases_path):
    """{"score": 1.0} when all cases pass."""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = [json.loads(line) for line in file]
    for number, case in enumerate(cases):
        try:
            got = module.number_in_base(*case["args"])
        except Exception as error:
            return {"score": 0.0, "reason": f"case {number}: {type(error).__name__}"}
        if type(got) is not str or got != case["expected"]:
            return {"score": 0.0, "reason": f"case {number}: wrong"}
    return {"score": 1.0}
