"""Suspicions about how a verifier reads and compares numbers, and about what normalising loses.

Covered: NaN and infinity, tolerances, signs, digits, units, scores without bound, and credit for
being near. Not covered: arithmetic inside of packages.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    COMPLETION,
    DIFFERENCE,
    FLOAT,
    GOLD,
    JUDGED,
    LENGTH,
    MATCH,
    SIMILAR,
    calls_of,
    name_of_call,
)
from unhack.audit.static_analysis.outcome import Hit, constant_score
from unhack.audit.static_analysis.text import is_own, pattern_text

_LOOSE = 1e-2


def number_hits(scope: Scope) -> Iterator[Hit]:
    """Every suspicion of this kind in a scope."""
    guarded = bool(calls_of(scope.nodes(), "isfinite", "isnan", "isinf"))
    for node in scope.nodes():
        match node:
            case ast.Compare():
                yield from _tolerance(node, scope)
                if not guarded:
                    yield from _poison(node, scope)
            case ast.Call():
                yield from _lost(node, scope)
                yield from _close(node, scope)
                if not guarded:
                    yield from _clamp(node, scope)
            case ast.Return() if node.value is not None:
                yield from _computation(node, node.value, scope)
            case ast.BinOp():
                yield from _scaling(node, scope)
            case _:
                pass


def _poison(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    """A comparison of an unchecked float whose failure is taken for success."""
    if not isinstance(node.ops[0], (ast.Gt, ast.GtE, ast.Lt, ast.LtE, ast.NotEq)):
        return
    labels = scope.of(node.left) | frozenset[str]().union(*map(scope.of, node.comparators))
    if FLOAT not in labels:
        return
    why = "a NaN makes the comparison false, and false is what passes"
    above = scope.flow.parents.get(node)
    while isinstance(above, ast.BoolOp):
        above = scope.flow.parents.get(above)
    if isinstance(above, ast.UnaryOp) and isinstance(above.op, ast.Not):
        yield Hit("nan_poisoning", node, why)
    elif isinstance(above, ast.If) and node in ast.walk(above.test) and _fails(above.body, scope):
        if not isinstance(node.ops[0], ast.NotEq):
            yield Hit("nan_poisoning", node, why)
    elif isinstance(above, ast.IfExp):
        score = constant_score(above.body, scope)
        if above.test is node and score is not None and score <= 0:
            yield Hit("nan_poisoning", node, why)


def _fails(body: list[ast.stmt], scope: Scope) -> bool:
    last = body[-1]
    if isinstance(last, (ast.Continue, ast.Raise)):
        return True
    value = last.value if isinstance(last, (ast.Return, ast.Assign)) else None
    score = None if value is None else constant_score(value, scope)
    return score is not None and score <= 0


def _clamp(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    if name_of_call(node) not in ("min", "max") or len(node.args) != 2:
        return
    if FLOAT in scope.of(node.args[0]) | scope.of(node.args[1]):
        yield Hit("nan_poisoning", node, "with a NaN the result depends on the order of arguments")


def _tolerance(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    if len(node.ops) != 1:
        return
    for own, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
        if DIFFERENCE not in scope.of(own):
            continue
        for part in ast.walk(other):
            limit = scope.constant(part)
            if isinstance(limit, (int, float)) and limit > _LOOSE and not isinstance(limit, bool):
                why = f"answers that differ by up to {limit} pass"
                yield Hit("loose_tolerance", node, why, (str(limit),))
                return


def _close(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    if name_of_call(node) not in ("isclose", "allclose", "approx", "assert_allclose"):
        return
    if COMPLETION not in frozenset[str]().union(*map(scope.of, node.args)):
        return
    given = {one.arg: one.value for one in node.keywords}
    for name in ("rel_tol", "abs_tol", "rtol", "atol", "rel", "abs"):
        limit = scope.constant(given.get(name))
        if isinstance(limit, (int, float)) and limit > _LOOSE:
            why = f"answers that differ by up to {limit} pass"
            yield Hit("loose_tolerance", node, why, (str(limit),))
            return


def _lost(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    name = name_of_call(node)
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    if name in ("abs", "fabs") and node.args:
        labels = scope.of(node.args[0])
        plus = isinstance(node.args[0], ast.BinOp) and isinstance(node.args[0].op, ast.Sub)
        if is_own(labels) and not plus and not labels & {LENGTH, SIMILAR, DIFFERENCE}:
            yield Hit("sign_lost", node, "the sign of the answer is dropped")
    elif name in ("int", "round", "floor", "ceil", "trunc") and node.args:
        if FLOAT in scope.of(node.args[0]) and len(node.args) == 1:
            yield Hit("over_normalisation", node, "digits behind the point are dropped")
    elif name in ("findall", "search", "finditer") and node.args:
        text = scope.of(node.args[-1] if len(node.args) < 3 else node.args[1])
        pattern = pattern_text(base if len(node.args) == 1 else node.args[0], scope)
        if pattern and is_own(text) and _is_unsigned(pattern):
            yield Hit("sign_lost", node, "the pattern has no place for a minus", (pattern,))
    elif (base is not None and is_own(scope.of(base)) and node.args) or (
        name == "sub" and len(node.args) >= 3 and is_own(scope.of(node.args[2]))
    ):
        yield from _removal(node, scope)
    if name == "sub" and len(node.args) >= 3 and is_own(scope.of(node.args[2])):
        pattern = pattern_text(node.args[0], scope) or ""
        if scope.constant(node.args[1]) == "" and pattern.startswith(("[^", "\\W", "\\D")):
            yield Hit("over_normalisation", node, "signs and points are removed", (pattern,))


def _is_unsigned(pattern: str) -> bool:
    """Tell whether a pattern reads digits with nothing before them that could be a minus."""
    if not pattern.strip("()^$").startswith(("\\d", "[0-9]", "[\\d")):
        return False
    return "-" not in pattern.replace("0-9", "").replace("a-z", "").replace("A-Z", "")


def _removal(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    name = name_of_call(node)
    given = [scope.constant(one) for one in node.args]
    if name == "replace" and len(given) >= 2 and given[1] == "":
        if given[0] in ("-", "+", "\u2212"):
            yield Hit("sign_lost", node, "the sign of the answer is removed")
        elif given[0] == ".":
            yield Hit("over_normalisation", node, "the decimal point is removed")
        elif given[0] in ("%", "\\%"):
            yield Hit("unit_conflation", node, "the percent sign is removed")
    elif name in ("strip", "lstrip", "rstrip") and isinstance(given[0], str):
        if "-" in given[0] and name != "rstrip":
            yield Hit("sign_lost", node, "the sign of the answer is stripped")
        elif "%" in given[0]:
            yield Hit("unit_conflation", node, "the percent sign is stripped")


def _scaling(node: ast.BinOp, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.op, (ast.Mult, ast.Div)):
        return
    factor = scope.constant(node.right) or scope.constant(node.left)
    above = scope.flow.parents.get(node)
    if factor in (100, 100.0, 0.01) and isinstance(above, (ast.Compare, ast.Call, ast.Tuple)):
        labels = scope.of(node)
        if labels & {COMPLETION, GOLD} and not labels & {JUDGED, SIMILAR, LENGTH, MATCH}:
            yield Hit("unit_conflation", node, "an answer off by a factor of 100 passes too")


def _computation(statement: ast.Return, node: ast.expr, scope: Scope) -> Iterator[Hit]:
    """A score that is computed from the completion's number."""
    labels = scope.of(node)
    if not scope.root or isinstance(node, (ast.Compare, ast.IfExp, ast.BoolOp)):
        return
    if isinstance(node, ast.Call) and name_of_call(node) == "float" and node.args:
        inner = node.args[0]
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            return
    own = [
        one
        for one in ast.walk(node)
        if isinstance(one, (ast.BinOp, ast.Call, ast.Name)) and scope.of(one) & {FLOAT, DIFFERENCE}
    ]
    inside = [one for one in own if not _is_compared(one, node, scope)]
    if not inside or not (labels & {COMPLETION, DIFFERENCE}):
        return
    if any(DIFFERENCE in scope.of(one) for one in inside):
        yield Hit("near_miss_credit", statement, "the score falls smoothly with the difference")
    if not calls_of(ast.walk(node), "max", "min", "clip", "exp", "tanh"):
        yield Hit("unbounded_reward", statement, "nothing bounds the score")


def _is_compared(node: ast.AST, top: ast.AST, scope: Scope) -> bool:
    while node is not top:
        node = scope.flow.parents[node]
        if isinstance(node, (ast.Compare, ast.IfExp)):
            return True
        if name_of_call(node) in ("isclose", "allclose", "int", "bool"):
            return True
    return False
