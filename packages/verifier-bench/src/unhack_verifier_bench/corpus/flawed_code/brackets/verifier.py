"""Strict types; a handful of cases that cover the statement."""

import importlib.util
import json


def _load(path):
    spec = importlib.util.spec_from_file_location("solution", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def verify(solution_path, test_cases_path):
    """{"score": 1.0} when all cases pass."""
    with open(test_cases_path) as file:
        cases = json.load(file)
    function = _load(solution_path).balanced
    for case in cases:
        got = function(*case["args"])
        if got is not True and got is not False:
            return {"score": 0.0, "reason": "not a bool"}
        if got is not case["expected"]:
            return {"score": 0.0, "reason": f"wrong for {case['args'][0]!r}"}
    return {"score": 1.0}
