"""Strict comparison: copies of the arguments, exact builtin types, no equality of the solution."""

import copy
import importlib.util
import json


def _same(left, right):
    if type(left) is not type(right):
        return False
    if type(left) is list:
        return len(left) == len(right) and all(map(_same, left, right))
    return type(left) in (str, int) and left == right


def verify(solution_path, test_cases_path):
    """{"score": 1.0} when every case passes, in this process to keep it quick."""
    spec = importlib.util.spec_from_file_location("candidate", solution_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases = json.loads(open(test_cases_path).read())
    for number, case in enumerate(cases):
        arguments, expected = copy.deepcopy(case["args"]), case["expected"]
        try:
            got = module.run_lengths(*arguments)
        except Exception as error:
            return {"score": 0.0, "reason": f"case {number}: {error!r}"}
        if not _same(got, expected):
            return {"score": 0.0, "reason": f"case {number}"}
    return {"score": 1.0}
