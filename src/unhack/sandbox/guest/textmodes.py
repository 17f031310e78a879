"""The judge's modes for text: regular expressions, and mathematical equivalence.

    regex           fullmatch of `pattern` with `text`      [null, "matched", bool]
    math_read       the completion's LaTeX as a tree        [null, "tree", JSON text]
                                                            [null, "unreadable", why]
    math_compare    that tree against the `gold` answer     [null, "gold"]
                                                            [null, "equal", bool, why]

`math_read` reads hostile text and never holds the gold answer; `math_compare` holds it and gets a
tree of plain data. `[null, "fault", why]` says that the judge could not judge: the pattern or the
gold answer is broken. `[null, "gold"]` is written before the tree is looked at: whatever ends the
job after it is the completion's doing.

Covered: parsing is the grammar of `latex2sympy2_extended`, which hands no text to `eval`; the
worker's limits end whatever runs long. math_verify's own alarms are off: a job is ended from
outside.
Not covered: equality of expressions is undecidable; what `math_verify` cannot show equal is
unequal.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from collections.abc import Callable
from typing import Any

from unhack.sandbox.guest import mathtree

_PRECISION = 40
"""Digits to which a numeric value is computed."""
_POINTS = (("7/11", "5/3"), ("-13/5", "2/7"), ("17/4", "-3/8"))
"""Where expressions in variables are compared as numbers: (start, step) by sorted variables."""


def run_regex(job: dict[str, Any], channel: Any) -> int:
    """Mode `regex`."""
    try:
        pattern = re.compile(job["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        channel.send([None, "fault", f"the pattern does not compile: {error}"[:300]])
        return 0
    channel.send([None, "matched", pattern.fullmatch(job["text"]) is not None])
    return 0


def _parse(text: str) -> Any:
    """LaTeX to sympy, by the grammar alone; no part of the text is searched for an answer."""
    extended = importlib.import_module("latex2sympy2_extended")
    grader = importlib.import_module("math_verify.grader")
    config = extended.NormalizationConfig(
        basic_latex=True,
        units=False,
        malformed_operators=True,
        nits=True,
        boxed="none",
        equations=False,
    )
    normal = extended.normalize_latex(text, config)
    real = not grader.should_treat_as_complex(normal)
    return extended.latex2sympy(
        normal, is_real=real, convert_degrees=False, normalization_config=None
    )


def run_math_read(job: dict[str, Any], channel: Any) -> int:
    """Mode `math_read`."""
    try:
        tree = mathtree.encode(_parse(job["text"]), percent=job["percent"])
        answer = ["tree", json.dumps(tree)]
    except Exception as error:
        answer = ["unreadable", _short(error)]
    channel.send([None, *answer])
    return 0


def _short(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0][:200]


def run_math_compare(job: dict[str, Any], channel: Any) -> int:
    """Mode `math_compare`."""
    try:
        tree = mathtree.encode(_parse(job["gold"]), percent=job["percent"])
        gold = mathtree.decode(tree)
        must_be_evaluated = job["evaluated"] and mathtree.is_evaluated(gold)
    except Exception as error:
        channel.send([None, "fault", f"the gold answer cannot be read: {_short(error)}"])
        return 0
    channel.send([None, "gold"])
    channel.flush()
    try:
        answer = mathtree.decode(json.loads(job["tree"]))
        if must_be_evaluated and not mathtree.is_evaluated(answer):
            verdict = (False, "the answer is not in evaluated form")
        else:
            verdict = (_equal(gold, answer, job), "")
    except Exception as error:
        verdict = (False, f"it cannot be compared: {_short(error)}")
    channel.send([None, "equal", *verdict])
    return 0


def _equal(gold: Any, answer: Any, job: dict[str, Any]) -> bool:
    sympy = importlib.import_module("sympy")
    if float(job["rel_tol"]) or float(job["abs_tol"]):
        near = _within(gold, answer, job, sympy)
        if near is not None:
            return near
    if not _same_shape(gold, answer, sympy):
        return False
    return _may_be_equal(gold, answer, sympy) and _verify(gold, answer)


def _verify(gold: Any, answer: Any) -> bool:
    """math_verify's word, without its alarm and without its warning that the alarm is off."""
    grader: Any = importlib.import_module("math_verify.grader")
    grader.TIMEOUT_WARNING_SHOWN = True
    return bool(grader.verify(gold, answer, strict=True, timeout_seconds=None))


def _within(gold: Any, answer: Any, job: dict[str, Any], sympy: Any) -> bool | None:
    """Closeness of two real numbers; None where one of them is something else."""
    values = [_real_value(item, sympy) for item in (gold, answer)]
    if values[0] is None or values[1] is None:
        return None
    relative, absolute = sympy.Rational(job["rel_tol"]), sympy.Rational(job["abs_tol"])
    return bool(abs(values[0] - values[1]) <= max(relative * abs(values[0]), absolute))


def _real_value(item: Any, sympy: Any) -> Any:
    if not isinstance(item, sympy.Expr) or item.free_symbols:
        return None
    value = sympy.N(item.doit(), _PRECISION)
    return value if value.is_Float or value.is_Rational else None


def _same_shape(gold: Any, answer: Any, sympy: Any) -> bool:
    """Whether the two may be equal at all.

    math_verify lets `1,2` pass for the pair `(1,2)`, `{1,2}` for an interval, and takes the last
    link of a chain such as `3\\pi=4\\pi`; none of them may pass here.
    """
    pair = (gold, answer)
    for one, other in (pair, pair[::-1]):
        if isinstance(one, sympy.FiniteSet) and isinstance(other, (sympy.Interval, sympy.Tuple)):
            return False
    if not isinstance(answer, sympy.Basic):
        return True
    links = [part for part in sympy.preorder_traversal(answer) if isinstance(part, sympy.Eq)]
    constant: list[Any] = [
        link.args for link in links if _has_terms(link, sympy) and not link.free_symbols
    ]
    return all(_close(left, right, sympy) for left, right in constant)


def _may_be_equal(gold: Any, answer: Any, sympy: Any) -> bool:
    """False where numbers tell that the two differ.

    math_verify takes differences below its precision for zero, however small the gold answer is,
    and equations without any solution for equivalent.
    """
    gold, answer = (
        _right_side(item, other, sympy) for item, other in ((gold, answer), (answer, gold))
    )
    if isinstance(gold, sympy.Eq) and isinstance(answer, sympy.Eq):
        return _same_equation(gold, answer, sympy)
    if not (isinstance(gold, sympy.Expr) and isinstance(answer, sympy.Expr)):
        return True
    if gold.free_symbols != answer.free_symbols:
        return True
    return _close(gold, answer, sympy)


def _right_side(item: Any, other: Any, sympy: Any) -> Any:
    """`x = 5` stands for 5 beside something that is no equation."""
    if isinstance(item, sympy.Eq) and not isinstance(other, sympy.core.relational.Relational):
        return item.args[1]
    return item


def _same_equation(gold: Any, answer: Any, sympy: Any) -> bool:
    sides = [item.args[0] - item.args[1] for item in (gold, answer) if _has_terms(item, sympy)]
    if len(sides) < 2:
        return True
    if sides[1] != 0 and (ratio := sympy.simplify(sides[0] / sides[1])).is_number:
        return bool(ratio != 0)
    if gold.free_symbols != answer.free_symbols:
        return False
    return bool(sympy.solve(gold, list(gold.free_symbols)))


def _has_terms(item: Any, sympy: Any) -> bool:
    return all(isinstance(side, sympy.Expr) for side in item.args)


def _close(left: Any, right: Any, sympy: Any) -> bool:
    """Equality to 25 digits, at a few points where there are variables; True where undecided."""
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
        if difference > max(abs(values[0]), abs(values[1])) * sympy.Rational(1, 10**25):
            return False
    return True


MODES: dict[str, Callable[[dict[str, Any], Any], int]] = {
    "regex": run_regex,
    "math_read": run_math_read,
    "math_compare": run_math_compare,
}
"""What `guest.judge` adds to the runner's modes."""


def warm_up() -> None:
    """Parse and compare once before any fork, so that no job builds the parser's tables itself.

    Does nothing where math_verify is not loaded.
    """
    if "math_verify" not in sys.modules:
        return
    options = {"rel_tol": "0.0", "abs_tol": "0.0"}
    for gold, answer in _SAMPLES:
        trees = [mathtree.encode(_parse(text), percent="fraction") for text in (gold, answer)]
        left, right = map(mathtree.decode, trees)
        mathtree.is_evaluated(left)
        _equal(left, right, options)


_SAMPLES = (
    (r"\frac{\sqrt{3}}{2} - \pi", r"\frac{\sqrt{5}}{2} + 2"),
    (r"2x^2 - \frac{1}{2}x + 1", r"2x(x + 1) + 3"),
    (r"x^2 + x", r"x(x + 1)"),
    (r"(1, 2]", r"[1, 2)"),
    (r"\{1, x\}", r"\{1, y, 2\}"),
    (r"x = \frac{1}{2}, y \le 3", r"x = 2, y \le 3"),
    (r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}", r"\begin{pmatrix} 1 \\ 2 \end{pmatrix}"),
    (r"\log_2 3 + \sin(x) + e^{2}", r"\ln 2 + \cos(x) + e"),
)
