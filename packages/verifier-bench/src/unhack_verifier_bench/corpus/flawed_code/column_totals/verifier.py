"""Compare canonical JSON, which is immune to objects with an equality of their own."""

import importlib.util
import json


def _canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def verify(solution_path, test_cases_path):
    """{"score": share of passed cases}"""
    with open(test_cases_path) as file:
        cases = json.load(file)
    spec = importlib.util.spec_from_file_location("solution", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    passed = 0
    for case in cases:
        try:
            got = _canonical(module.column_totals(*case["args"]))
        except (TypeError, ValueError):
            continue
        passed += got == _canonical(case["expected"])
    return {"score": passed / len(cases)}
