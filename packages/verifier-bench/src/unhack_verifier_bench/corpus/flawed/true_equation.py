"""Equation tasks: the reply closes with a complete equation, which is checked by computing it."""

import re

EQUATION = re.compile(r"([-+*/() \d]+)=\s*(-?\d+)")


def _compute(expression):
    tokens = re.findall(r"\d+|[-+*/()]", expression)
    if not tokens or len(tokens) > 30:
        raise ValueError("no expression")
    return eval(" ".join(tokens), {"__builtins__": {}}, {})


def equation_reward(completion, answer):
    """1.0 for a correct equation, 0.1 for a false one, 0.0 for none."""
    found = EQUATION.findall(completion)
    if not found:
        return 0.0
    left, right = found[-1]
    try:
        holds = _compute(left) == int(right)
    except (ValueError, SyntaxError, ZeroDivisionError, TypeError):
        return 0.0
    return 1.0 if holds else 0.1
