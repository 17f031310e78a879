"""BFCL: one call of a function, by name, types and allowed values."""

from __future__ import annotations

import ast
import sys
import types

_MODEL = "any"
# The table of models imports a client of every model server; the checker reads one flag of it.
_TABLE = types.ModuleType("bfcl_eval.constants.model_config")
_TABLE.MODEL_CONFIG_MAPPING = {_MODEL: types.SimpleNamespace(underscore_to_dot=False)}
sys.modules[_TABLE.__name__] = _TABLE

from bfcl_eval.constants.enums import Language  # noqa: E402
from bfcl_eval.eval_checker.ast_eval.ast_checker import simple_function_checker  # noqa: E402


def call(completion: str, function: dict, ground_truth: dict) -> float:
    """1.0 for the call that is wanted."""
    found = ast.parse(completion.strip(), mode="eval").body
    assert isinstance(found, ast.Call)
    given = {one.arg: ast.literal_eval(one.value) for one in found.keywords}
    output = {ast.unparse(found.func): given}
    result = simple_function_checker(function, output, ground_truth, Language.PYTHON, _MODEL)
    return float(result["valid"])
