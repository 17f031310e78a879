"""The right result is computed here, so that the file of cases may hold inputs only."""

import importlib.util
import json


def _expected(values):
    return sorted(set(values))


def verify(solution_path, test_cases_path):
    """{"score": 1.0 or 0.0}"""
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with open(test_cases_path) as file:
        cases = json.load(file)
    for case in cases:
        values = case["args"][0]
        got = module.without_repeats(values)
        if type(got) is not list or not all(type(item) is int for item in got):
            return {"score": 0.0, "reason": "not a list of integers"}
        if got != _expected(values):
            return {"score": 0.0, "reason": f"wrong for {values!r:.80}"}
    return {"score": 1.0}
