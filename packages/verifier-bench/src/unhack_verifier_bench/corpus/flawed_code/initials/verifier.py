"""Structure first: the function has to be there, documented, with one parameter and a result."""

import ast
import json


def _function(tree, name):
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            return node
    return None


def verify(solution_path, test_cases_path):
    """{"score": share of the checks that hold}"""
    with open(solution_path) as file:
        source = file.read()
    with open(test_cases_path) as file:
        arity = len(json.load(file)[0]["args"])
    try:
        tree = ast.parse(source)
        compile(tree, "solution.py", "exec")
    except (SyntaxError, ValueError) as error:
        return {"score": 0.0, "reason": str(error)}
    node = _function(tree, "initials")
    if node is None:
        return {"score": 0.0, "reason": "no function"}
    checks = [
        len(node.args.args) == arity,
        ast.get_docstring(node) is not None,
        any(isinstance(part, ast.Return) and part.value is not None for part in ast.walk(node)),
    ]
    return {"score": sum(checks) / len(checks)}
