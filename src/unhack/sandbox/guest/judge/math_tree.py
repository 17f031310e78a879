"""Mathematical expressions as plain data, and whether they are in evaluated form.

The process that reads a completion's LaTeX hands on a tree of lists; the process that knows the
gold answer builds an expression from it. Only the names in `_CLASSES` and `_CONSTANTS` are ever
looked up, numbers and names are checked, and no text reaches an evaluator, so a forged tree is at
worst a wrong answer.

    ["int", hex]   ["ratio", hex, hex]   ["symbol", name, real]   ["constant", name]
    ["call", name, argument …]           ["matrix", [[entry …] …]]     [class name, argument …]

A decimal is the exact fraction that its digits say. sympy is imported by name, because each worker
forks from this module's memory.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any, cast

MAX_NODES = 2000
MAX_NUMBER_BITS = 1 << 14
_MAX_NAME = 200

_CLASSES = frozenset(
    [
        *("Add", "Mul", "Pow", "Abs", "exp", "log", "factorial", "binomial", "gamma"),
        *("sin", "cos", "tan", "csc", "sec", "cot", "sinh", "cosh", "tanh"),
        *("asin", "acos", "atan", "acsc", "asec", "acot", "asinh", "acosh", "atanh"),
        *("floor", "ceiling", "Max", "Min", "conjugate", "re", "im", "arg"),
        *("Equality", "Unequality", "StrictLessThan", "LessThan", "StrictGreaterThan"),
        *("GreaterThan", "And", "Not", "Tuple", "FiniteSet", "Interval", "Union"),
        *("Intersection", "Complement", "ProductSet", "UnevaluatedExpr"),
        *("Integral", "Sum", "Product", "Limit", "Derivative"),
    ]
)
_SINGLETONS = (
    *("Pi", "Exp1", "ImaginaryUnit", "Infinity", "NegativeInfinity", "EmptySet"),
    *("Reals", "Integers", "Rationals", "Complexes", "Naturals"),
)
_CONSTANTS = {name: name for name in _SINGLETONS} | {"BooleanTrue": "true", "BooleanFalse": "false"}
"""Class name to the name in sympy's registry."""
_OPERATIONS = frozenset(["Integral", "Sum", "Product", "Limit", "Derivative"])


class TreeError(ValueError):
    """The expression, or the tree, is of a kind that is not compared."""


def _sympy() -> Any:
    return importlib.import_module("sympy")


def encode(expression: Any, *, percent: str) -> Any:
    """The tree of a parsed expression. Raises TreeError.

    `percent` is `fraction` (a percent sign divides by a hundred) or `points` (it is dropped).
    """
    budget = [MAX_NODES]
    return _encode(expression, _sympy(), budget, 1 if percent == "points" else 100)


def _encode(node: Any, sympy: Any, budget: list[int], hundred: int) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise TreeError("the expression has too many parts")
    if node is True or node is False:
        raise TreeError("a truth value is no answer")
    if isinstance(node, sympy.MatrixBase):
        rows, columns = node.shape
        return ["matrix", [[_encode(node[row, column], sympy, budget, hundred)
                            for column in range(columns)] for row in range(rows)]]  # fmt: skip
    if not isinstance(node, sympy.Basic):
        raise TreeError(f"a {type(node).__name__} is no expression")
    if isinstance(node, (sympy.Rational, sympy.Float)):
        return _encode_number(node, sympy)
    if isinstance(node, sympy.Symbol):
        return ["symbol", str(node.name)[:_MAX_NAME], bool(node.is_real)]
    name = type(node).__name__
    if name in _CONSTANTS:
        return ["constant", name]
    if isinstance(node, sympy.UnevaluatedExpr):
        return _encode(_percent_sign(node, sympy, hundred), sympy, budget, hundred)
    if isinstance(node, sympy.Mul) and len(node.args) == 2:
        number, sign = node.args
        if isinstance(sign, sympy.UnevaluatedExpr) and isinstance(
            number, (sympy.Rational, sympy.Float)
        ):
            exact = _rational(number, sympy) * _percent_sign(sign, sympy, hundred)
            return _encode_number(exact, sympy)
    arguments = getattr(node, "_unsorted_args", node.args)
    parts = [_encode(item, sympy, budget, hundred) for item in arguments]
    if isinstance(type(node), sympy.core.function.UndefinedFunction):
        return ["call", name[:_MAX_NAME], *parts]
    if name not in _CLASSES:
        raise TreeError(f"{name} is not compared")
    return [name, *parts]


def _percent_sign(node: Any, sympy: Any, hundred: int) -> Any:
    inner = node.args[0]
    return sympy.Rational(1, hundred) if inner == sympy.Rational(1, 100) else inner


def _rational(number: Any, sympy: Any) -> Any:
    """A decimal as the fraction that its digits say."""
    return sympy.Rational(str(number)) if isinstance(number, sympy.Float) else number


def _encode_number(number: Any, sympy: Any) -> Any:
    exact = _rational(number, sympy)
    if exact.q == 1:
        return ["int", hex(exact.p)]
    return ["ratio", hex(exact.p), hex(exact.q)]


def decode(tree: Any) -> Any:
    """The expression of a tree, unevaluated. Raises TreeError for anything that is no tree."""
    return _decode(tree, _sympy(), [MAX_NODES])


def _decode(tree: Any, sympy: Any, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0 or type(tree) is not list:
        raise TreeError("not a tree")
    items = cast("list[Any]", tree)
    if not items or type(items[0]) is not str:
        raise TreeError("not a tree")
    kind, parts = items[0], items[1:]
    if kind == "int" and len(parts) == 1:
        return sympy.Integer(_decode_int(parts[0]))
    if kind == "ratio" and len(parts) == 2 and _decode_int(parts[1]):
        return sympy.Rational(_decode_int(parts[0]), _decode_int(parts[1]))
    if kind == "symbol" and len(parts) == 2 and type(parts[1]) is bool:
        return sympy.Symbol(_decode_name(parts[0]), real=True if parts[1] else None)
    if kind == "constant" and len(parts) == 1 and parts[0] in _CONSTANTS:
        return getattr(sympy.S, _CONSTANTS[parts[0]])
    if kind == "matrix" and len(parts) == 1 and type(parts[0]) is list:
        rows = cast("list[list[Any]]", parts[0])
        return _build(
            "Matrix", [[[_decode(item, sympy, budget) for item in row] for row in rows]], sympy
        )
    if kind == "call" and parts:
        arguments = [_decode(item, sympy, budget) for item in parts[1:]]
        return sympy.Function(_decode_name(parts[0]))(*arguments)
    if kind in _CLASSES:
        return _build(kind, [_decode(item, sympy, budget) for item in parts], sympy)
    raise TreeError(f"not a tree: {kind[:40]}")


def of_one_kind(*trees: Any) -> list[Any]:
    """The trees with the same assumptions about each name, real where all were read so, and with
    the imaginary unit for a free `i`, which the parser takes for a name."""
    nodes = [node for tree in trees for node in _lists(tree)]
    not_real = {str(node[1]) for node in nodes if node[0] == "symbol" and node[2:] != [True]}
    if not any(node[0] in _OPERATIONS for node in nodes):
        not_real.add("i")
    return [_renamed(tree, not_real) for tree in trees]


def _lists(tree: Any) -> Iterator[list[Any]]:
    stack = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, list) and node:
            parts = cast("list[Any]", node)
            yield parts
            stack.extend(parts)


def _renamed(node: Any, not_real: set[str]) -> Any:
    if not isinstance(node, list) or not node:
        return cast("Any", node)
    parts = cast("list[Any]", node)
    if parts[0] == "symbol" and len(parts) == 3 and str(parts[1]) in not_real:
        return ["constant", "ImaginaryUnit"] if parts[1] == "i" else ["symbol", parts[1], False]
    return [_renamed(item, not_real) for item in parts]


def _decode_int(text: Any) -> int:
    if type(text) is not str or len(text) > MAX_NUMBER_BITS // 4:
        raise TreeError("not an integer of bounded size")
    try:
        return int(text, 16)
    except ValueError:
        raise TreeError("not an integer") from None


def _decode_name(text: Any) -> str:
    if type(text) is not str or not 0 < len(text) <= _MAX_NAME:
        raise TreeError("not a name")
    return text


def _build(name: str, arguments: list[Any], sympy: Any) -> Any:
    """An expression of one class; what the class makes of odd arguments is an error of the tree."""
    extended = importlib.import_module("latex2sympy2_extended")
    try:
        if name == "FiniteSet":
            return extended.sets.FiniteSet(*arguments)
        if name == "And":
            return extended.logic.And(*arguments, evaluate=False)
        if name in {"Matrix", "Tuple", "Interval", "UnevaluatedExpr", *_OPERATIONS}:
            return getattr(sympy, name)(*arguments)
        return getattr(sympy, name)(*arguments, evaluate=False)
    except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise TreeError(f"not a {name}: {error}"[:200]) from None


def is_evaluated(expression: Any) -> bool:
    """True when an expression leaves nothing to compute, as far as that is decidable.

    Not evaluated: an integral, sum, product, limit or derivative; two rational numbers added or
    multiplied, `17*23` or `x + 1 + 2` (one fraction may stand in front of the rest); an integer
    power of a rational number; like terms in a sum of numbers; a product, root, logarithm,
    factorial or other function of numbers with a rational value.
    """
    return not any(_is_open(node, _sympy()) for node in _nodes(expression))


def _nodes(expression: Any) -> Iterator[Any]:
    """Every part that stands by itself: a product counts as one, however it is nested."""
    sympy = _sympy()
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, sympy.MatrixBase):
            stack.extend(node.flat())
            continue
        kinds = tuple(kind for kind in (sympy.Mul, sympy.Add) if isinstance(node, kind))
        for part in _flat(node, kinds[0]) if kinds else node.args:
            if kinds and kinds[0] is sympy.Mul and _denominator(part, sympy) is not None:
                continue
            stack.append(part)


def _flat(node: Any, kind: Any) -> list[Any]:
    if not isinstance(node, kind):
        return [node]
    return [part for item in node.args for part in _flat(item, kind)]


def _denominator(node: Any, sympy: Any) -> Any:
    """The integer below a fraction bar, for a factor that is one; else None."""
    if isinstance(node, sympy.Pow) and node.args[1] == -1 and node.args[0].is_Integer:
        return node.args[0]
    return None


def _is_open(node: Any, sympy: Any) -> bool:
    name = type(node).__name__
    if isinstance(node, sympy.MatrixBase) or not node.args or node.is_Rational:
        return False
    if name in _OPERATIONS:
        return True
    if isinstance(node, sympy.Add):
        return _is_open_sum(node, sympy)
    if isinstance(node, sympy.Mul):
        return _is_open_product(node, sympy)
    if isinstance(node, sympy.Pow) and node.args[0].is_Rational and node.args[1].is_Integer:
        return True
    if isinstance(node, sympy.Expr) and not node.free_symbols:
        value = node.func(*node.args)
        return bool(value.is_Rational) or bool(getattr(node.doit(), "is_Rational", False))
    return False


def _is_open_sum(node: Any, sympy: Any) -> bool:
    terms = _flat(node, sympy.Add)
    if sum(bool(part.is_Rational) for part in terms) > 1:
        return True
    if node.free_symbols:
        return False
    return len(_flat(sympy.Add(*[term.doit() for term in terms]), sympy.Add)) < len(terms)


def _is_open_product(node: Any, sympy: Any) -> bool:
    factors = _flat(node, sympy.Mul)
    above = [item for item in factors if item.is_Rational and abs(item) != 1]
    below = [item for item in factors if _denominator(item, sympy) is not None]
    if len(above) > 1 or len(below) > 1 or (below and not all(item.is_Integer for item in above)):
        return True
    negated = len(factors) == 2 and -1 in factors and len(above) == 1
    return not node.free_symbols and not negated and bool(sympy.Mul(*factors).is_Rational)
