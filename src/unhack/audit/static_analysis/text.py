"""Suspicions about how a verifier compares texts.

Covered: containment, ends and beginnings, single characters, patterns and which match is taken.
Not covered: collections (`lists`), numbers (`numbers`), what happens when nothing matches
(`credit`), and programs (`code`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    BATCH,
    COMPLETION,
    GOLD,
    LOADED,
    MANY,
    MATCH,
    RESULT,
    STDOUT,
    Labels,
    calls_of,
    name_of_call,
    owner_of,
)
from unhack.audit.static_analysis.outcome import Hit


def text_hits(scope: Scope) -> Iterator[Hit]:
    """Every suspicion of this kind in a scope."""
    for node in scope.nodes():
        match node:
            case ast.Compare():
                yield from _membership(node, scope)
                yield from _ends(node, scope)
            case ast.Call():
                yield from _pattern(node, scope)
                yield from _method(node, scope)
            case ast.Subscript():
                yield from _position(node, scope)
            case _:
                pass


Comprehension = ast.ListComp | ast.SetComp | ast.GeneratorExp


def is_own(labels: Labels) -> bool:
    """Tell whether a value is made by the completion alone."""
    return COMPLETION in labels and GOLD not in labels


def is_gold(labels: Labels) -> bool:
    """Tell whether a value is made from the right answer alone."""
    return GOLD in labels and COMPLETION not in labels


def is_mixed(one: Labels, other: Labels) -> bool:
    """Tell whether one value is made by the completion alone, the other from the right answer."""
    return (is_own(one) and is_gold(other)) or (is_gold(one) and is_own(other))


def _membership(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    for left, op, right in zip(
        [node.left, *node.comparators], node.ops, node.comparators, strict=False
    ):
        if not isinstance(op, (ast.In, ast.NotIn)):
            continue
        item, whole = scope.of(left), scope.of(right)
        if {STDOUT, RESULT} & (item | whole):
            continue
        if is_gold(item) and is_own(whole):
            if MANY not in whole and not in_all(node, scope):
                why = "the right answer needs only to stand somewhere in the text"
                yield Hit("substring_match", node, why, ("gold_in_text",))
        elif (
            is_own(item)
            and is_gold(whole)
            and not {MANY, MATCH} & whole
            and not _is_listing(right, scope)
        ):
            why = "a part of the right answer, even an empty one, is contained in it"
            yield Hit("substring_match", node, why, ("text_in_gold",))


def in_all(node: ast.AST, scope: Scope) -> bool:
    """Tell whether a test is made for every element of the right answer."""
    parents = scope.flow.parents
    above = parents.get(node)
    if isinstance(above, ast.comprehension):
        return True
    if not isinstance(above, Comprehension):
        return False
    return name_of_call(parents.get(above)) in ("all", "sum")


def _is_listing(node: ast.expr, scope: Scope) -> bool:
    """Tell whether the right answers are a collection, as far as a name or annotation says."""
    if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
        return True
    if isinstance(node, ast.Name):
        return node.id.endswith("s") or BATCH in scope.of(node)
    return isinstance(node, ast.Attribute) and node.attr.endswith("s")


def bound_to(node: ast.expr, scope: Scope) -> ast.expr:
    """The expression that a name is bound to, where there is one binding only."""
    if not isinstance(node, ast.Name):
        return node
    values = [
        one.value
        for one in scope.nodes()
        if isinstance(one, ast.Assign)
        and any(isinstance(to, ast.Name) and to.id == node.id for to in one.targets)
    ]
    pairs = [
        value
        for one in scope.nodes()
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Tuple)
        for to in one.targets
        if isinstance(to, ast.Tuple) and len(to.elts) == len(one.value.elts)
        for name, value in zip(to.elts, one.value.elts, strict=True)
        if isinstance(name, ast.Name) and name.id == node.id
    ]
    found = [*values, *pairs]
    return found[0] if len(found) == 1 and found[0] is not node else node


def _ends(node: ast.Compare, scope: Scope) -> Iterator[Hit]:
    if len(node.ops) != 1 or not isinstance(node.ops[0], (ast.Eq, ast.NotEq, ast.In)):
        return
    for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
        own = _without_case_calls(bound_to(side, scope))
        if not isinstance(own, ast.Subscript) or GOLD not in scope.of(other):
            continue
        base = scope.of(own.value)
        if not is_own(base) or MANY in base or base & {MATCH, LOADED, RESULT}:
            continue
        if isinstance(own.slice, ast.Slice):
            flaw = "suffix_match" if own.slice.lower is not None else "prefix_match"
            if own.slice.lower is None or own.slice.upper is None:
                yield Hit(flaw, node, "only a slice of the text is compared")
        elif scope.constant(own.slice) in (0, -1) and not _is_group(own.value):
            yield Hit("single_character", node, "one character of the text decides")


def _without_case_calls(node: ast.expr) -> ast.expr:
    """The expression that a chain of `strip`, `upper` and `lower` is called on."""
    while (owner := owner_of(node, "upper", "lower", "strip")) is not None:
        node = owner
    return node


def _is_group(node: ast.expr) -> bool:
    return name_of_call(node) in ("groups", "partition", "rpartition")


def _pattern(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    name = name_of_call(node)
    if name not in ("search", "match", "findall", "finditer") or not node.args:
        return
    pattern, text = _operands(node, scope)
    labels = scope.of(text)
    if not is_own(labels) or STDOUT in labels:
        return
    if pattern is not None and GOLD in scope.of(pattern):
        yield Hit("substring_match", node, "the right answer is searched for in the text")
        return
    body = pattern_text(pattern, scope)
    if name in ("findall", "finditer") or body is None:
        return
    if not body.endswith(("$", "\\Z", "\\z")) and not _alone(node, scope):
        where = "behind" if name == "match" else "before and behind"
        why = f"anything may stand {where} what the pattern takes"
        yield Hit("unanchored_regex", node, why, ("first", body))


def _alone(node: ast.Call, scope: Scope) -> bool:
    """Tell whether the source counts the matches of the same pattern in the same text."""
    given = [ast.unparse(one) for one in node.args]
    return any(
        [ast.unparse(part) for part in one.args] == given and _is_count(one, scope)
        for one in calls_of(scope.nodes(), "findall")
    )


def _operands(node: ast.Call, scope: Scope) -> tuple[ast.expr | None, ast.expr]:
    """Pattern and text of a call of `re` or of a compiled pattern."""
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    if len(node.args) >= 2:
        return node.args[0], node.args[1]
    if isinstance(base, ast.Name) and base.id in ("re", "regex"):
        text = next((one.value for one in node.keywords if one.arg == "string"), node.args[0])
        return node.args[0], text
    return base, node.args[0]


def pattern_text(node: ast.expr | None, scope: Scope) -> str | None:
    """The text of a pattern, also of one that was compiled or named."""
    if node is None:
        return None
    node = bound_to(node, scope)
    if isinstance(node, ast.Name):
        node = bound_to(node, scope.flow.module)
    if isinstance(node, ast.Call) and name_of_call(node) == "compile" and node.args:
        node = node.args[0]
    value = scope.constant(node)
    return value if isinstance(value, str) else None


def _position(node: ast.Subscript, scope: Scope) -> Iterator[Hit]:
    at = scope.constant(node.slice)
    if at not in (0, -1) or not isinstance(node.ctx, ast.Load):
        return
    source = bound_to(node.value, scope)
    if isinstance(source, ast.Call) and name_of_call(source) == "list" and source.args:
        source = source.args[0]
    if not isinstance(source, ast.Call) or name_of_call(source) not in ("findall", "finditer"):
        return
    pattern, text = _operands(source, scope)
    if is_own(scope.of(text)) and not _is_count(node.value, scope):
        body = pattern_text(pattern, scope) or ""
        which = "last" if at == -1 else "first"
        why = f"the {which} of several matches is taken, whatever the others say"
        yield Hit("unanchored_regex", node, why, (which, body))


def _is_count(node: ast.expr, scope: Scope) -> bool:
    """Tell whether the number of matches is compared with a constant other than 0."""
    text = ast.unparse(node)
    for one in scope.nodes():
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], (ast.Eq, ast.NotEq)):
            sides = (one.left, one.comparators[0])
            lengths = [side for side in calls_of(sides, "len") if side.args]
            if (
                lengths
                and ast.unparse(lengths[0].args[0]) == text
                and any(scope.constant(side) not in (None, 0) for side in sides)
            ):
                return True
    return False


def _method(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node.func, ast.Attribute) or not node.args:
        return
    name, base, given = name_of_call(node), scope.of(node.func.value), scope.of(node.args[0])
    mixed = is_mixed(base, given)
    if name in ("startswith", "endswith") and mixed:
        flaw = "prefix_match" if name == "startswith" else "suffix_match"
        yield Hit(flaw, node, f"only the {'beginning' if 'pre' in flaw else 'end'} is compared")
    elif name in ("find", "index", "count", "__contains__") and mixed and MANY not in base:
        yield Hit("substring_match", node, "the right answer is looked for in the text")


def sought_words(test: ast.expr, scope: Scope) -> list[str] | None:
    """The constant words that a condition looks for in the completion; None when it does not."""
    found: list[str] = []
    seen = False
    for one in ast.walk(test):
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In):
            if COMPLETION in scope.of(one.comparators[0]) and not scope.of(one.left):
                seen = True
                value = scope.constant(one.left)
                found += [value] if isinstance(value, str) else []
        elif isinstance(one, ast.Call) and one.args:
            value = scope.constant(one.args[0])
            owner = owner_of(one, "count", "startswith", "endswith")
            if isinstance(value, str) and COMPLETION in scope.of(owner):
                seen = True
                found.append(value)
    return found if seen else None


def seeks_word(node: ast.expr, scope: Scope) -> bool:
    """Tell whether a word that is not of the completion is looked for in it."""
    return any(
        COMPLETION in scope.of(one.comparators[0]) - scope.of(one.left)
        if isinstance(one, ast.Compare) and isinstance(one.ops[0], ast.In)
        else COMPLETION in scope.of(owner_of(one, "count"))
        for one in ast.walk(node)
    )


def of_text(parts: list[ast.expr], scope: Scope) -> bool:
    """Tell whether a length is that of a text or its words, not of a list of matches."""
    for one in parts:
        if isinstance(one, ast.Call) and name_of_call(one) == "len" and one.args:
            inner = one.args[0]
            if name_of_call(inner) == "split":
                return True
            if MANY in scope.of(inner):
                return isinstance(inner, ast.Name) and "word" in inner.id
    return True
