"""Mental arithmetic: the result has to stand in <result> tags."""

import ast
import operator
import re

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.USub: operator.neg,
}


def _value(node):
    """Numbers, also negative ones and fractions such as 3/4."""
    if isinstance(node, ast.Expression):
        return _value(node.body)
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[type(node.op)](_value(node.operand))
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("not a number")


def _parse(text):
    return _value(ast.parse(text.strip(), mode="eval"))


def arithmetic_reward(completion, answer):
    """1.0 when the result is right."""
    found = re.findall(r"<result>(.*?)</result>", completion, re.DOTALL)
    if len(found) != 1 or len(found[0]) > 100:
        return 0.0
    try:
        return 1.0 if abs(_parse(found[0]) - _parse(answer)) < 1e-9 else 0.0
    except (ValueError, SyntaxError, KeyError, ZeroDivisionError, OverflowError):
        return 0.0
