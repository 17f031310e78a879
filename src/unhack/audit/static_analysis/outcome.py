"""Constant scores that a piece of a verifier gives, and their conditions.

Covered: returned and assigned constants, dicts, tuples and result objects that carry a score, and
printed JSON. Not covered: scores that are computed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    JUDGED,
    Function,
    Labels,
    judge_labels,
    name_of_call,
    words,
)

SCORE_KEYS = words(
    "score reward passed correct is_correct success result value acc accuracy resolved ok pass"
    " rewards scores verdict"
)
_NAMES = {"CORRECT": 1.0, "INCORRECT": 0.0, "PARTIAL": 0.5, "NOANSWER": 0.0}
_WORDS = {"C": 1.0, "I": 0.0, "P": 0.5}


@dataclass(frozen=True)
class Hit:
    """A suspicion at a node."""

    flaw: str
    node: ast.AST
    why: str
    hints: tuple[str, ...] = ()


@dataclass(frozen=True)
class Credit:
    """A constant that a statement gives as score, or as a part of it."""

    value: float
    node: ast.expr
    statement: ast.stmt
    final: bool
    """True when it ends the function, or the turn of a batch, rather than changing a variable."""
    added: bool = False


@dataclass(frozen=True)
class Guard:
    """A condition under which something happens."""

    test: ast.expr
    held: bool
    """True when it happens while the condition holds."""


def score_part(node: ast.expr) -> ast.expr:
    """The part of a returned value that is the score."""
    match node:
        case ast.Dict():
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value in SCORE_KEYS:
                    return score_part(value)
        case ast.Tuple() if node.elts:
            return score_part(node.elts[0])
        case ast.List() if len(node.elts) == 1:
            return score_part(node.elts[0])
        case ast.BinOp(left=ast.List(elts=[only]), op=ast.Mult()):
            return score_part(only)
        case ast.Call():
            for item in node.keywords:
                if item.arg in SCORE_KEYS:
                    return score_part(item.value)
            if name_of_call(node) in ("float", "int", "bool", "dumps", "tensor") and node.args:
                return score_part(node.args[0])
        case _:
            pass
    return node


def constant_score(node: ast.expr, scope: Scope) -> float | None:
    """The score that an expression always gives; None when it depends."""
    part = score_part(node)
    if isinstance(part, ast.Name) and part.id in _NAMES:
        return _NAMES[part.id]
    value = scope.constant(part)
    if isinstance(value, str) and part is not node:
        return _WORDS.get(value)
    return float(value) if isinstance(value, (bool, int, float)) else None


def _values_given(node: ast.stmt) -> Iterator[tuple[ast.expr, bool, bool]]:
    match node:
        case ast.Return() if node.value is not None:
            yield node.value, True, False
        case ast.Assign() if len(node.targets) == 1:
            yield node.value, False, False
        case ast.AugAssign() if isinstance(node.op, ast.Add):
            yield node.value, False, True
        case ast.Expr() if isinstance(node.value, ast.Call) and node.value.args:
            if name_of_call(node.value) in ("append", "print"):
                yield node.value.args[0], True, False
        case _:
            pass


def _target(node: ast.stmt) -> str:
    target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return target.value.id
    return target.id if isinstance(target, ast.Name) else ""


def score_names(scope: Scope) -> set[str]:
    """Names whose value becomes the score."""
    found: set[str] = set()
    for node in scope.nodes():
        if isinstance(node, ast.stmt):
            for value, final, _ in _values_given(node):
                if final:
                    found |= {one.id for one in _summed_names(value)}
    return found


def _summed_names(node: ast.expr) -> Iterator[ast.Name]:
    """Names of an expression that are summed or passed on, not compared."""
    if isinstance(node, ast.Name):
        yield node
    elif not isinstance(node, (ast.Compare, ast.Subscript, ast.Attribute, ast.Lambda)):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, (ast.expr, ast.keyword)):
                yield from _summed_names(child.value if isinstance(child, ast.keyword) else child)


def credits_of(scope: Scope) -> list[Credit]:
    """Every constant score in a scope, zeros included."""
    names = score_names(scope)
    found: list[Credit] = []
    for node in scope.nodes():
        if not isinstance(node, ast.stmt):
            continue
        for value, final, added in _values_given(node):
            if not final and _target(node) not in names:
                continue
            if is_print(node) and not _prints_score(value):
                continue
            for part in _branches(score_part(value)):
                score = constant_score(part, scope)
                if score is not None:
                    found.append(Credit(score, score_part(part), node, final, added))
    return found


def is_print(node: ast.stmt) -> bool:
    """Tell whether the statement prints."""
    return isinstance(node, ast.Expr) and name_of_call(node.value) == "print"


def _prints_score(node: ast.expr) -> bool:
    return name_of_call(node) == "dumps" and score_part(node) is not node


def _branches(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.IfExp):
        return [*_branches(score_part(node.body)), *_branches(score_part(node.orelse))]
    return [node]


def top_score(found: list[Credit]) -> float:
    """The score of a full pass, as far as the constants tell."""
    best = max((one.value for one in found if one.final and not one.added), default=1.0)
    return max(best, 1.0)


def guards(node: ast.AST, scope: Scope, *, inside: ast.AST | None = None) -> list[Guard]:
    """The conditions around a node, nearest first, up to its function or to `inside`."""
    found: list[Guard] = []
    parents = scope.flow.parents
    while node is not scope.node and node is not inside and node in parents:
        above = parents[node]
        if isinstance(above, Function):
            break
        if isinstance(above, (ast.If, ast.IfExp, ast.While)) and node is not above.test:
            body = above.body if isinstance(above, ast.If) else [above.body]
            found.append(Guard(above.test, isinstance(above, ast.While) or node in body))
        node = above
    return found


def handler_above(node: ast.AST, scope: Scope) -> ast.ExceptHandler | None:
    """The nearest `except` around a node."""
    while node is not scope.node and node in scope.flow.parents:
        node = scope.flow.parents[node]
        if isinstance(node, ast.ExceptHandler):
            return node
        if isinstance(node, Function):
            return None
    return None


def test_labels(guard: Guard, scope: Scope) -> Labels:
    """The labels of a condition."""
    return judge_labels(scope.of(guard.test))


def is_judged(node: ast.AST, scope: Scope) -> bool:
    """Tell whether a comparison of completion and right answer decides about reaching a node."""
    return any(JUDGED in test_labels(one, scope) for one in guards(node, scope)) or _survivor(
        node, scope
    )


def _survivor(node: ast.AST, scope: Scope) -> bool:
    """Tell whether a comparison before it would have ended the function."""
    parents = scope.flow.parents
    while node is not scope.node and node in parents:
        above = parents[node]
        for name in ("body", "orelse", "finalbody", "handlers"):
            before = body_of(above, name)
            if isinstance(above, ast.Try) and name == "orelse":
                before = [*above.body, *before]
            if node in before and any(_rejects(one, scope) for one in before[: before.index(node)]):
                return True
        node = above
    return False


def body_of(node: ast.AST | None, name: str) -> list[ast.AST]:
    """A block of statements of a node; empty where it has none of that name."""
    found: object = getattr(node, name, None)
    return cast("list[ast.AST]", found) if isinstance(found, list) else []


def _rejects(statement: ast.AST, scope: Scope) -> bool:
    for node in ast.walk(statement):
        if isinstance(node, ast.Assert) and JUDGED in judge_labels(scope.of(node.test)):
            return True
        if isinstance(node, (ast.Return, ast.Raise, ast.Continue, ast.Break)):
            fails = not isinstance(node, ast.Return) or node.value is None
            if isinstance(node, ast.Return) and node.value is not None:
                score = constant_score(node.value, scope)
                fails = score is None or score <= 0
            decided = [test_labels(one, scope) for one in guards(node, scope)]
            if fails and any(JUDGED in labels for labels in decided):
                return True
    return False


def accepts(guard: Guard) -> bool:
    """Tell whether the condition reads like one that right answers meet."""
    test, held = guard.test, guard.held
    while isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, held = test.operand, not held
    if isinstance(test, ast.Compare):
        op = test.ops[0]
        if isinstance(op, (ast.NotEq, ast.NotIn)):
            return not held
        if isinstance(op, ast.Is) and isinstance(test.comparators[0], ast.Constant):
            return not held
    return held
