"""Suspicions about how a verifier compares collections.

Covered: length, order, repeats, extra elements, empty collections, several attempts, likeness and
sets of words. Not covered: single texts (`text`) and numbers (`numbers`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    BATCH,
    COMPLETION,
    DISTANCES,
    GOLD,
    LENGTH,
    LIKENESS,
    LOADED,
    MANY,
    RESULT,
    STDOUT,
    Labels,
    calls_of,
    name_of_call,
    owner_of,
)
from unhack.audit.static_analysis.outcome import Hit
from unhack.audit.static_analysis.text import (
    Comprehension,
    bound_to,
    in_all,
    is_gold,
    is_mixed,
    is_own,
)


def list_hits(scope: Scope) -> Iterator[Hit]:
    """Every suspicion of this kind in a scope."""
    for node in scope.nodes():
        match node:
            case ast.Compare():
                yield from _several(node, scope)
                yield from _whole(node, scope)
            case ast.Call():
                yield from _method(node, scope)
                yield from _sequence(node, scope)
                yield from _quantifier(node, scope)
            case ast.BinOp():
                yield from _sets(node, scope)
            case ast.For() | ast.AsyncFor():
                yield from _tries(node, scope)
                yield from _channels(node, scope)
            case ast.BoolOp(op=ast.Or()):
                yield from _alternatives(node, scope)
            case ast.comprehension():
                yield from _missing(node, scope)
            case _:
                pass


def _several(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.ops[0], (ast.In, ast.NotIn)) or in_all(node, scope):
        return
    whole = scope.of(node.comparators[0])
    if (
        is_gold(scope.of(node.left))
        and is_own(whole)
        and MANY in whole
        and not {STDOUT, RESULT} & whole
    ):
        why = "the right answer may stand anywhere among several extracted ones"
        yield Hit("many_attempts", node, why)


def _missing(node: ast.comprehension, scope: Scope) -> Iterator[Hit]:
    for test in node.ifs:
        if (
            isinstance(test, ast.Compare)
            and isinstance(test.ops[0], (ast.In, ast.NotIn))
            and is_gold(scope.of(test.left))
            and is_own(scope.of(test.comparators[0]))
        ):
            why = "what else the answer holds is not looked at"
            yield Hit("one_sided_comparison", test, why)


def _channels(node: ast.For | ast.AsyncFor, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.iter, (ast.Tuple, ast.List)) or not isinstance(node.target, ast.Name):
        return
    name = node.target.id
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.test, ast.Compare):
            calls = [one for one in ast.walk(inner.test) if isinstance(one, ast.Call)]
            labels = _union(inner.test, scope)
            if any(name_of_call(one) == name for one in calls) and {COMPLETION, GOLD} <= labels:
                yield Hit("channel_mixing", inner, "one of several places need hold the answer")


def _alternatives(node: ast.BoolOp, scope: Scope) -> Iterator[Hit]:
    sides: set[str] = set()
    for one in node.values:
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.Eq):
            for side, other in ((one.left, one.comparators[0]), (one.comparators[0], one.left)):
                if is_own(scope.of(side)) and is_gold(scope.of(other)):
                    sides |= {
                        name_of_call(part) for part in ast.walk(side) if isinstance(part, ast.Call)
                    }
    if len(sides - {"strip", "lower", "upper"}) >= 2:
        yield Hit("channel_mixing", node, "one of several places need hold the answer")


def _method(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.func, ast.Attribute) or not node.args:
        return
    name, base, given = name_of_call(node), scope.of(node.func.value), scope.of(node.args[0])
    if not is_mixed(base, given):
        return
    if name in ("issubset", "issuperset"):
        words = any(_order_lost(one, scope) == "words" for one in (node.func.value, node.args[0]))
        flaw = "bag_of_words" if words else "one_sided_comparison"
        yield Hit(flaw, node, "one set need only contain the other")
    elif name in ("intersection", "difference"):
        yield Hit("bag_of_words", node, "sets of words have no order and no repeats")


def _whole(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    if len(node.ops) != 1:
        return
    left, right = node.left, node.comparators[0]
    labels = (scope.of(left), scope.of(right))
    if not (any(is_own(one) for one in labels) and any(is_gold(one) for one in labels)):
        return
    if isinstance(node.ops[0], (ast.Eq, ast.NotEq)):
        kinds = {_order_lost(one, scope) for one in (left, right)} - {""}
        if "words" in kinds:
            yield Hit("bag_of_words", node, "sets of words have no order and no repeats")
        elif kinds:
            yield Hit("order_ignored", node, f"a {kinds.pop()} forgets order or repeats")
    elif isinstance(node.ops[0], (ast.LtE, ast.GtE, ast.Lt, ast.Gt)) and (
        _order_lost(left, scope) or _order_lost(right, scope)
    ):
        yield Hit("one_sided_comparison", node, "one set need only contain the other")


def _order_lost(node: ast.expr, scope: Scope) -> str:
    """`set`, `sorted list` or `words` when an expression has forgotten the order."""
    match bound_to(node, scope):
        case ast.SetComp():
            return "set"
        case ast.Call(args=[first, *_]) as call if name_of_call(call) in ("set", "frozenset"):
            inner = bound_to(first, scope)
            return "words" if name_of_call(inner) == "split" and not _given(inner) else "set"
        case other:
            return {"sorted": "sorted list", "Counter": "multiset"}.get(name_of_call(other), "")


def _sequence(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    name = name_of_call(node)
    if name in LIKENESS or name in DISTANCES:
        sides = [scope.of(one) for one in node.args]
        if isinstance(node.func, ast.Attribute):
            sides += map(scope.of, _given(bound_to(node.func.value, scope)))
        if any(COMPLETION in one for one in sides) and any(GOLD in one for one in sides):
            yield Hit("low_similarity", node, "a likeness stands for equality")
    if name in ("zip", "map") and len(node.args) >= 2:
        if any(one.arg == "strict" for one in node.keywords) or name == "map":
            return
        sides = [scope.of(one) for one in node.args]
        if any(BATCH in one for one in sides):
            return
        if (
            any(is_own(one) for one in sides)
            and any(is_gold(one) for one in sides)
            and not _compares_lengths(scope)
        ):
            yield Hit("zip_truncation", node, "`zip` ends with the shorter side")


def _given(node: ast.expr) -> list[ast.expr]:
    """The arguments of a call."""
    return node.args if isinstance(node, ast.Call) else []


def _compares_lengths(scope: Scope) -> bool:
    for node in scope.nodes():
        if isinstance(node, ast.Compare):
            sides = [bound_to(one, scope) for one in (node.left, *node.comparators)]
            lengths = [scope.of(one.args[0]) for one in calls_of(sides, "len") if one.args]
            if any(COMPLETION in one for one in lengths) and (
                len(lengths) > 1 or any(GOLD in scope.of(one) for one in sides)
            ):
                return True
    return False


def _quantifier(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    if name_of_call(node) not in ("any", "all") or len(node.args) != 1:
        return
    body = node.args[0]
    if not isinstance(body, Comprehension):
        return
    over = body.generators[0].iter
    labels, name = scope.of(over), name_of_call(node)
    if BATCH in labels:
        return
    compared = any(
        isinstance(one, (ast.Compare, ast.Call)) and GOLD in _union(one, scope)
        for one in ast.walk(body.elt)
    )
    if name == "any" and is_own(labels) and compared and name_of_call(over) != "range":
        yield Hit("many_attempts", node, "one of several extracted answers need be right")
    elif name == "all" and is_gold(labels) and _tests_membership(body, scope):
        yield Hit("one_sided_comparison", node, "what else the answer holds is not looked at")
    elif (
        name == "all"
        and is_own(labels)
        and not labels & {RESULT, LOADED}
        and not _asked_for(over, scope)
    ):
        yield Hit("vacuous_truth", node, "`all` of nothing is true")


def _union(node: ast.AST, scope: Scope) -> Labels:
    parts = [one for one in ast.walk(node) if isinstance(one, ast.Name)]
    return frozenset[str]().union(*(scope.of(one) for one in parts))


def _tests_membership(body: Comprehension, scope: Scope) -> bool:
    return any(
        is_own(scope.of(one.comparators[0]))
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In)
        else is_own(scope.of(owner_of(one, "get")))
        for one in ast.walk(body.elt)
    )


def _asked_for(node: ast.expr, scope: Scope) -> bool:
    """Tell whether the source asks how many elements there are, or whether there are any."""
    text = ast.unparse(node)
    for one in scope.nodes():
        match one:
            case ast.Call() if name_of_call(one) in ("len", "bool") and one.args:
                if ast.unparse(one.args[0]) == text:
                    return True
            case ast.UnaryOp(op=ast.Not()) if ast.unparse(one.operand) == text:
                return True
            case ast.If() | ast.IfExp() if ast.unparse(one.test) == text:
                return True
            case ast.BoolOp() if any(ast.unparse(part) == text for part in one.values):
                return True
            case _:
                pass
    return False


def _sets(node: ast.BinOp, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.op, (ast.BitAnd, ast.Sub, ast.BitOr)):
        return
    kinds = [_order_lost(one, scope) for one in (node.left, node.right)]
    left, right = scope.of(node.left), scope.of(node.right)
    if not is_mixed(left, right):
        return
    if isinstance(node.op, ast.Sub) and ("set" in kinds or "words" in kinds):
        yield Hit("one_sided_comparison", node, "what else the answer holds is not looked at")
    elif isinstance(node.op, ast.BitAnd) and any(kinds):
        yield Hit("bag_of_words", node, "sets of words have no order and no repeats")


def _tries(node: ast.For | ast.AsyncFor, scope: Scope) -> Iterator[Hit]:
    over = scope.of(node.iter)
    if not is_own(over) or over & {BATCH, LENGTH, RESULT, STDOUT}:
        return
    if name_of_call(node.iter) in ("zip", "range", "items"):
        return
    names = {one.id for one in ast.walk(node.target) if isinstance(one, ast.Name)}
    for inner in ast.walk(node):
        if isinstance(inner, ast.If) and isinstance(inner.test, ast.Compare):
            used = {one.id for one in ast.walk(inner.test) if isinstance(one, ast.Name)}
            if (
                used & names
                and GOLD in _union(inner.test, scope)
                and isinstance(inner.test.ops[0], (ast.Eq, ast.In))
                and any(isinstance(one, (ast.Return, ast.Break)) for one in inner.body)
            ):
                yield Hit("many_attempts", inner, "each of several answers is tried in turn")
