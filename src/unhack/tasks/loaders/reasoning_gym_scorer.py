"""The scorer in a judge's worker: one answer, scored by the library's own `score_answer`.

Some data sets of the library evaluate the answer as Python (`eval`) or as a formula (sympy's
`parse_expr`, which evaluates too). An answer could run code there, in the process that writes the
score. So while a data set scores, its `eval` reads literals only, and its `parse_expr` numbers,
names, operators and calls of common functions only; text that stands in the entry itself is
trusted. A refused answer raises ValueError, as a malformed one does.

Covered: every data set of version 0.1.25.
Not covered: a data set of another version that evaluates answers by other means.
"""

from __future__ import annotations

import ast
import builtins
import functools
import importlib
import sys
from collections.abc import Callable
from typing import Any, cast

_FUNCTIONS = frozenset(
    (
        "Abs",
        "Integer",
        "Rational",
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "cos",
        "cosh",
        "cot",
        "csc",
        "exp",
        "factorial",
        "float",
        "int",
        "ln",
        "log",
        "sec",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
    )
)
_FORMULA = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.Constant,
    ast.Name,
    ast.Call,
    ast.Load,
    ast.operator,
    ast.unaryop,
)


def is_formula(text: str) -> bool:
    """True when `text` holds only numbers, names, operators and calls of common functions."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    for node in ast.walk(tree):
        if not isinstance(node, _FORMULA):
            return False
        if isinstance(node, ast.Constant) and type(node.value) not in (int, float):
            return False
        if isinstance(node, ast.Name) and node.id.startswith("_"):
            return False
        if isinstance(node, ast.Call) and not (
            isinstance(node.func, ast.Name) and node.func.id in _FUNCTIONS and not node.keywords
        ):
            return False
    return True


def strings_in(value: Any) -> set[str]:
    """Every string inside an entry."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).values()
        return {text for item in items for text in strings_in(item)}
    if isinstance(value, (list, tuple)):
        return {text for item in cast("list[Any]", value) for text in strings_in(item)}
    return set()


def guarded_eval(trusted: set[str]) -> Callable[..., Any]:
    """`eval` for text of the entry, `ast.literal_eval` for all other."""

    def evaluate(text: Any, *scopes: Any) -> Any:
        if isinstance(text, str) and text in trusted:
            return builtins.eval(text, *scopes)
        return ast.literal_eval(text)

    return evaluate


def guarded_parser(parse: Callable[..., Any], trusted: set[str]) -> Callable[..., Any]:
    """`parse_expr` for formulas and for text of the entry."""

    @functools.wraps(parse)
    def guarded(text: Any, *args: Any, **kwargs: Any) -> Any:
        if type(text) is str and (text in trusted or is_formula(text)):
            return parse(text, *args, **kwargs)
        raise ValueError("not a plain formula")

    return guarded


def guard(dataset: Any, trusted: set[str]) -> None:
    """Put the guards into the data set's module and into sympy."""
    module = sys.modules[type(dataset).__module__]
    module.__dict__["eval"] = guarded_eval(trusted)
    module.__dict__["exec"] = None
    sympy = sys.modules.get("sympy")
    if sympy is None:
        return
    parser = importlib.import_module("sympy.parsing.sympy_parser")
    safe = guarded_parser(parser.parse_expr, trusted)
    if module.__dict__.get("parse_expr") is parser.parse_expr:
        module.__dict__["parse_expr"] = safe
    for owner in (sympy, parser, sys.modules["sympy.parsing"]):
        if "parse_expr" in owner.__dict__:
            owner.__dict__["parse_expr"] = safe
    sympy.__dict__["sympify"] = sympy.__dict__["S"] = None


def check(name: str, config: dict[str, Any], answer: str, entry: dict[str, Any]) -> float:
    """The score of `answer`, as `score_answer` gives it."""
    gym = importlib.import_module("reasoning_gym")
    dataset = gym.create_dataset(name, **config)
    guard(dataset, strings_in(entry))
    return float(dataset.score_answer(answer, entry))
