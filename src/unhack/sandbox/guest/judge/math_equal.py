"""Equality of two sympy expressions: numbers first, then `math_verify`.

math_verify says yes too often for a reward. It takes a set for a pair or an interval, the last link
of any equation for its value, unnamed values for named ones, a difference below its precision for
zero, and all equations without a solution for one. What can be told without it is told here first;
only what is left is asked.

Covered: the cases above, each with a test of its own.
Not covered: what else `math_verify` accepts wrongly; equal expressions that it cannot show equal.
"""

from __future__ import annotations

import importlib
from typing import Any

_PRECISION = 40
"""Digits to which a numeric value is computed."""
_AGREE = "1e-25"
"""Relative difference below which two values are the same."""
_POINTS = (("7/11", "5/3"), ("-13/5", "2/7"), ("17/4", "-3/8"))
"""Points at which expressions in variables are compared: (start, step) by sorted variables."""


def equal(gold: Any, answer: Any, *, tolerance: tuple[str, str] = ("0", "0")) -> bool:
    """True when `answer` is accepted for `gold`.

    `tolerance` is relative to the gold value and absolute, as decimal texts; it counts only between
    two real numbers.
    """
    sympy = importlib.import_module("sympy")
    relative, absolute = (sympy.Rational(text) for text in tolerance)
    if relative or absolute:
        values = [_real_value(item, sympy) for item in (gold, answer)]
        if None not in values:
            difference = abs(values[0] - values[1])
            return bool(difference <= max(relative * abs(values[0]), absolute))
    return (
        _may_stand_for(gold, answer, sympy)
        and _may_be_equal(gold, answer, sympy)
        and _verify(_without_repeats(gold, sympy), _without_repeats(answer, sympy))
    )


def _verify(gold: Any, answer: Any) -> bool:
    """The verdict of math_verify, without its alarm and its warning that the alarm is off."""
    grader: Any = importlib.import_module("math_verify.grader")
    grader.TIMEOUT_WARNING_SHOWN = True
    return bool(grader.verify(gold, answer, strict=True, timeout_seconds=None))


def _without_repeats(item: Any, sympy: Any) -> Any:
    """A finite set without members whose value stands in it already, `{1, sqrt(4) / 2}`."""
    if not isinstance(item, sympy.FiniteSet):
        return item
    kept: list[Any] = []
    for member in getattr(item, "_unsorted_args", item.args):
        if not any(_same_number(member, other, sympy) for other in kept):
            kept.append(member)
    return type(item)(*kept) if len(kept) < len(item.args) else item


def _same_number(one: Any, other: Any, sympy: Any) -> bool:
    left, right = _number(one, sympy), _number(other, sympy)
    return None not in (left, right) and _close(left, right, sympy)


def _number(item: Any, sympy: Any) -> Any:
    """The finite value of an expression without variables, else None."""
    if not isinstance(item, sympy.Expr) or item.free_symbols:
        return None
    value = sympy.N(item.doit(), _PRECISION)
    return value if value.is_number and value.is_finite else None


def _real_value(item: Any, sympy: Any) -> Any:
    if not isinstance(item, sympy.Expr) or item.free_symbols:
        return None
    value = sympy.N(item.doit(), _PRECISION)
    return value if value.is_Float or value.is_Rational else None


def _may_stand_for(gold: Any, answer: Any, sympy: Any) -> bool:
    """True when an answer of this kind can be meant for such a gold answer."""
    pair = (gold, answer)
    for one, other in (pair, pair[::-1]):
        if isinstance(one, sympy.FiniteSet) and isinstance(other, (sympy.Interval, sympy.Tuple)):
            return False
    if _is_relation(gold, sympy) and isinstance(answer, sympy.Set):
        # An equation in one variable by name, `x = 5`, is its solution; an inequality is no list.
        named = isinstance(gold, sympy.Eq) and _is_name(gold.args[0], sympy)
        return named or (not isinstance(gold, sympy.Eq) and not isinstance(answer, sympy.FiniteSet))
    if not isinstance(answer, sympy.Basic):
        return True
    gold_is_plain = isinstance(gold, sympy.Basic) and not gold.atoms(sympy.Eq)
    if isinstance(gold, sympy.FiniteSet) and not gold_is_plain and not answer.atoms(sympy.Eq):
        return False
    return all(
        _link_holds(part, gold_is_plain, sympy)
        for part in sympy.preorder_traversal(answer)
        if isinstance(part, sympy.Eq)
    )


def _is_relation(item: Any, sympy: Any) -> bool:
    return isinstance(item, (sympy.core.relational.Relational, sympy.And))


def _is_name(item: Any, sympy: Any) -> bool:
    return isinstance(item, (sympy.Symbol, sympy.core.function.AppliedUndef))


def _link_holds(link: Any, gold_is_plain: bool, sympy: Any) -> bool:
    """True when an equation of an answer holds, or gives a name to a value.

    Beside a gold answer without equations `x^2 = 2` is no value, and `3 = 4` never is.
    """
    left, right = link.args
    if not (isinstance(left, sympy.Expr) and isinstance(right, sympy.Expr)):
        return True
    if link.free_symbols and (not gold_is_plain or _is_name(left, sympy)):
        return True
    return _close(left, right, sympy)


def _may_be_equal(gold: Any, answer: Any, sympy: Any) -> bool:
    """False where numbers tell that the two differ."""
    gold, answer = (
        _value_beside(item, other, sympy) for item, other in ((gold, answer), (answer, gold))
    )
    if isinstance(gold, sympy.Eq) and isinstance(answer, sympy.Eq):
        return _same_equation(gold, answer, sympy)
    if not (isinstance(gold, sympy.Expr) and isinstance(answer, sympy.Expr)):
        return True
    if gold.free_symbols != answer.free_symbols and (gold.is_Symbol or answer.is_Symbol):
        return True  # a word may have been read as a product of its letters
    return _close(gold, answer, sympy)


def _value_beside(item: Any, other: Any, sympy: Any) -> Any:
    """`x = 5` stands for 5, and a chain for its last link, beside something that is no relation."""
    if _is_relation(other, sympy):
        return item
    if isinstance(item, sympy.And):
        item = getattr(item, "_unsorted_args", item.args)[-1]
    return item.args[1] if isinstance(item, sympy.Eq) else item


def last_link(gold: Any, answer: Any) -> Any:
    """The last of several numbers that an answer says are equal; any other answer as it is."""
    sympy = importlib.import_module("sympy")
    links = answer.args if isinstance(answer, sympy.And) else (answer,)
    chain = all(isinstance(link, sympy.Eq) and not link.args[1].free_symbols for link in links)
    return _value_beside(answer, gold, sympy) if chain else answer


def _same_equation(gold: Any, answer: Any, sympy: Any) -> bool:
    if not all(isinstance(side, sympy.Expr) for side in (*gold.args, *answer.args)):
        return True
    left, right = gold.args[0] - gold.args[1], answer.args[0] - answer.args[1]
    if right != 0:
        ratio = sympy.simplify(left / right)
        if ratio.is_number:
            return bool(ratio != 0)
    if gold.free_symbols != answer.free_symbols:
        return False
    return bool(sympy.solve(gold, list(gold.free_symbols)))


def _close(left: Any, right: Any, sympy: Any) -> bool:
    """Agreement at a few points where there are variables; True where it is undecided."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    for start, step in _POINTS if symbols else _POINTS[:1]:
        point = {
            symbol: sympy.Rational(start) + index * sympy.Rational(step)
            for index, symbol in enumerate(symbols)
        }
        values = [sympy.N(item.subs(point).doit(), _PRECISION) for item in (left, right)]
        if not all(value.is_number and value.is_finite for value in values):
            continue
        difference = abs(sympy.N(values[0] - values[1], _PRECISION))
        if difference > max(abs(values[0]), abs(values[1])) * sympy.Rational(_AGREE):
            return False
    return True
