"""Equality of two sympy expressions: their values first, then `math_verify`.

math_verify says yes too often for a reward. It takes a set for a pair or an interval, the last link
of any equation for its value, unnamed values for named ones, a difference below its precision for
zero, and all equations without a solution for one. What can be told without it is told here first;
only what is left is asked.

Covered: the cases above, each with a test of its own.
Not covered: what else `math_verify` accepts wrongly; equal expressions that neither their values at
a few points nor it show equal.
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
_MORE_POINTS = (*_POINTS, ("3/7", "-1/5"), ("-2/9", "1/8"), ("29/6", "4/9"), ("101/7", "13/3"))
_NEEDED = 3
"""Points at which both must be real for agreement to show that they are equal."""
_LARGEST = 10**15
"""Numbers of more digits may agree and differ."""
_WEIGHTS = ("1/2", "3/5", "7/11", "13/17", "19/23", "29/31")


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
    if not _may_stand_for(gold, answer, sympy):
        return False
    if isinstance(gold, sympy.Eq) and isinstance(answer, sympy.Eq):
        told = _same_equation(gold, answer, sympy)
        if told is not None:
            return told
    return _same_everywhere(gold, answer, sympy) or (
        _may_be_equal(gold, answer, sympy)
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
    if not (isinstance(gold, sympy.Expr) and isinstance(answer, sympy.Expr)):
        return True
    if gold.free_symbols != answer.free_symbols and (gold.is_Symbol or answer.is_Symbol):
        return True  # a word may have been read as a product of its letters
    return _close(gold, answer, sympy)


def _same_everywhere(gold: Any, answer: Any, sympy: Any) -> bool:
    """True when both have a value at the same points, and the same, which for formulas is proof
    enough. Without `i` the values are real and a root of odd degree is the real one,
    `\\sqrt[3]{(-8)^2} = (-8)^{2/3} = 4`, so that formulas meant for real numbers are equal as such.
    False where this cannot tell.
    """
    pair = [_with_weights(item, sympy) for item in (gold, answer)]
    if not all(isinstance(item, sympy.Expr) and _is_formula(item, sympy) for item in pair):
        return False
    symbols = sorted(gold.free_symbols, key=str)
    if set(symbols) != answer.free_symbols:
        return False
    value_of = _complex_value_of if any(item.has(sympy.I) for item in pair) else _real_value_of
    agreed = 0
    for start, step in _MORE_POINTS if symbols else _POINTS[:1]:
        point = _point(symbols, start, step, sympy)
        one, other = (value_of(item.subs(point), sympy) for item in pair)
        if (one is None) != (other is None):
            return False
        if one is not None:
            exact = one.is_Rational and other.is_Rational
            if max(abs(one), abs(other)) > _LARGEST and not exact:
                return False
            if abs(one - other) > (0 if exact else abs(one) * sympy.Rational(_AGREE) ** 2):
                return False
            agreed += 1
    return agreed >= (_NEEDED if symbols else 1)


def _is_formula(item: Any, sympy: Any) -> bool:
    """False where the value at a few points does not tell about the others."""
    jumps = (sympy.floor, sympy.ceiling, sympy.arg, sympy.re, sympy.im, sympy.conjugate)
    undone = (sympy.Integral, sympy.Sum, sympy.Product, sympy.Limit, sympy.Derivative)
    return not item.has(*jumps, *undone) and all(
        abs(number.p) < _LARGEST and number.q < _LARGEST for number in item.atoms(sympy.Rational)
    )


def _with_weights(item: Any, sympy: Any) -> Any:
    """An infinite series as a weighted sum of its first terms: two are the same term by term
    wherever they start counting."""

    def first_terms(*parts: Any) -> Any:
        series = sympy.Sum(*parts)
        name, start, end = series.limits[0]
        if len(series.limits) > 1 or end != sympy.oo or not start.is_Integer:
            return series
        terms = [series.function.subs(name, start + at) for at in range(len(_WEIGHTS))]
        return sympy.Add(
            *[sympy.Rational(w) * term for w, term in zip(_WEIGHTS, terms, strict=True)]
        )

    if not isinstance(item, sympy.Expr) or not item.has(sympy.Sum):
        return item
    return item.replace(sympy.Sum, first_terms)


def _real_value_of(item: Any, sympy: Any) -> Any:
    """The real value of an expression without variables, roots of odd degree real; else None."""
    exact = _with_real_roots(item, sympy).doit()
    value = exact if exact.is_Rational else sympy.N(exact, 2 * _PRECISION)
    return value if (value.is_Float or value.is_Rational) and value.is_finite else None


def _complex_value_of(item: Any, sympy: Any) -> Any:
    value = sympy.N(item.doit(), 2 * _PRECISION)
    return value if value.is_number and value.is_finite else None


def _with_real_roots(item: Any, sympy: Any) -> Any:
    if not item.args:
        return item
    parts = [_with_real_roots(part, sympy) for part in item.args]
    if isinstance(item, sympy.Pow):
        base, power = parts
        if power.is_Rational and power.q > 1 and power.q % 2 and base.is_negative:
            return (-1) ** power.p * (-base) ** power
    return item.func(*parts)


def _point(symbols: list[Any], start: str, step: str, sympy: Any) -> dict[Any, Any]:
    first, more = sympy.Rational(start), sympy.Rational(step)
    return {symbol: first + index * more for index, symbol in enumerate(symbols)}


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
    links: list[Any] = list(answer.args) if isinstance(answer, sympy.And) else [answer]
    chain = all(
        isinstance(link, sympy.Eq)
        and (not link.args[1].free_symbols or _same_everywhere(link.args[0], link.args[1], sympy))
        for link in links
    )
    return _value_beside(answer, gold, sympy) if chain else answer


def _same_equation(gold: Any, answer: Any, sympy: Any) -> bool | None:
    """True when one equation is the other one times a number, or times letters that stay in it;
    None where math_verify is to say it."""
    if not all(isinstance(side, sympy.Expr) for side in (*gold.args, *answer.args)):
        return None
    left, right = gold.args[0] - gold.args[1], answer.args[0] - answer.args[1]
    same_letters = gold.free_symbols == answer.free_symbols
    if right != 0:
        ratio = sympy.simplify(left / right)
        bases = [factor.as_base_exp()[0] for factor in sympy.Mul.make_args(ratio)]
        if ratio.is_number or (same_letters and all(at.is_number or at.is_Symbol for at in bases)):
            return bool(ratio != 0)
    return None if same_letters and sympy.solve(gold, list(gold.free_symbols)) else False


def _close(left: Any, right: Any, sympy: Any) -> bool:
    """Agreement at a few points where there are variables; True where it is undecided."""
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    for start, step in _POINTS if symbols else _POINTS[:1]:
        point = _point(symbols, start, step, sympy)
        exact = [item.subs(point).doit() for item in (left, right)]
        if all(value.is_Rational for value in exact) and exact[0] != exact[1]:
            return False
        values = [sympy.N(value, _PRECISION) for value in exact]
        if not all(value.is_number and value.is_finite for value in values):
            continue
        difference = abs(sympy.N(values[0] - values[1], _PRECISION))
        if difference > max(abs(values[0]), abs(values[1])) * sympy.Rational(_AGREE):
            return False
    return True
