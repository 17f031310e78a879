"""Suspicions about credit that no comparison with the right answer decides.

Covered: branches, defaults and handlers that pass; floors; credit for form, words, tags and
length; a right answer that is never read. Not covered: credit that is computed
(`numbers`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import (
    COMPLETION,
    DIFFERENCE,
    FORMED,
    GOLD,
    GOLD_TEST,
    JUDGE,
    JUDGED,
    LENGTH,
    LOADED,
    MATCH,
    RESULT,
    SIMILAR,
    STATUS,
    STDOUT,
    VERDICTS,
    Function,
    calls_of,
    labels_of,
    name_of_call,
    parameters,
)
from unhack.audit.static_analysis.outcome import (
    Credit,
    Guard,
    Hit,
    accepts,
    body_of,
    constant_score,
    credits_of,
    guards,
    handler_above,
    is_judged,
    test_labels,
    top_score,
)
from unhack.audit.static_analysis.text import bound_to, of_text, seeks_word, sought_words


def credit_hits(scope: Scope) -> Iterator[Hit]:
    """Every suspicion of this kind in a scope."""
    if isinstance(scope.node, Function) and scope.root:
        yield from _unread(scope.node, scope)
    found = credits_of(scope)
    top = top_score(found)
    for credit in found:
        if credit.value > 0:
            yield from _credit(credit, top, scope)
    for node in scope.nodes():
        match node:
            case ast.Call() if name_of_call(node) == "max" and len(node.args) == 2:
                yield from _floor(node, scope)
            case ast.Return() if node.value is not None and scope.root:
                yield from _direct(node.value, scope)
            case ast.AugAssign() | ast.Assign() | ast.Expr():
                yield from _parts(node, scope)
            case ast.BoolOp(op=ast.Or()):
                yield from _constant_or(node, scope)
            case ast.BinOp(op=ast.Div(), left=ast.Call() as upper) if name_of_call(upper) == "len":
                if upper.args and _is_set(upper.args[0], scope):
                    yield Hit("tokenisation_evasion", node, "joining the words evades the split")
            case ast.Try():
                yield from _silent_handler(node, top, scope)
            case ast.If():
                yield from _forbidden(node, scope)
            case _:
                pass


def _unread(function: Function, scope: Scope) -> Iterator[Hit]:
    labels = labels_of(function)
    golds = [one.arg for one in parameters(function) if GOLD in labels[one.arg]]
    read = {one.id for one in ast.walk(function) if isinstance(one, ast.Name)}
    heard = any(COMPLETION in one for one in labels.values())
    if golds and heard and not read & set(golds):
        keys = {one.value for one in ast.walk(function) if isinstance(one, ast.Constant)}
        if not keys & {"ground_truth", "answer", "answers", "solution", "target"}:
            why = f"`{golds[0]}` is never read"
            yield Hit("problem_unbound", function, why)


def _credit(credit: Credit, top: float, scope: Scope) -> Iterator[Hit]:
    handler = handler_above(credit.node, scope)
    full = credit.value >= top and not credit.added
    around = guards(credit.node, scope)
    if handler is not None:
        near = [test_labels(one, scope) for one in guards(credit.node, scope, inside=handler)]
        if not any(JUDGED in one for one in near):
            yield _by_handler(handler, credit, full=full, scope=scope)
            return
    decided = [(one, test_labels(one, scope)) for one in around]
    judged = [one for one, labels in decided if JUDGED in labels]
    if judged:
        if not full:
            yield from _near(credit, judged[0], scope)
        return
    if is_judged(credit.node, scope):
        if not full and credit.final:
            yield Hit("degenerate_credit", credit.node, "a wrong answer earns a constant")
        return
    formed = next((one for one, labels in decided if FORMED in labels), None)
    if formed is not None:
        yield _by_form(credit, formed, full=full, scope=scope)
    elif any(GOLD_TEST in labels for _, labels in decided):
        flaw = "fail_open_gold" if full else "degenerate_credit"
        yield Hit(flaw, credit.node, "the right answer alone decides, whatever the completion is")
    else:
        yield from _without_guard(credit, around, full=full, scope=scope)


def _by_handler(handler: ast.ExceptHandler, credit: Credit, *, full: bool, scope: Scope) -> Hit:
    if not full:
        return Hit("degenerate_credit", credit.node, "an error earns a constant")
    caught = ast.unparse(handler.type) if handler.type is not None else ""
    if "Timeout" in caught or "Alarm" in caught:
        return Hit("timeout_open", credit.node, "running out of time passes")
    tried = scope.flow.parents[handler]
    if isinstance(tried, ast.Try):
        names = [one for line in tried.body for one in ast.walk(line) if isinstance(one, ast.expr)]
        labels = frozenset[str]().union(*(scope.of(one) for one in names))
        if GOLD in labels and COMPLETION not in labels:
            return Hit("fail_open_gold", credit.node, "a right answer that cannot be read passes")
    return Hit("fail_open_exception", credit.node, "an error passes")


def _near(credit: Credit, guard: Guard, scope: Scope) -> Iterator[Hit]:
    labels = frozenset[str]().union(
        *(scope.of(one) for one in ast.walk(guard.test) if isinstance(one, ast.expr))
    )
    if not accepts(guard):
        if not credit.added:
            yield Hit("degenerate_credit", credit.node, "a wrong answer earns a constant")
    elif SIMILAR in labels:
        yield Hit("low_similarity", credit.node, "a similar text earns credit")
    elif DIFFERENCE in labels or not credit.added:
        yield Hit("near_miss_credit", credit.node, "a near miss earns credit")


def _by_form(credit: Credit, guard: Guard, *, full: bool, scope: Scope) -> Hit:
    test = guard.test
    parts = [one for one in ast.walk(test) if isinstance(one, ast.expr)]
    labels = frozenset[str]().union(*(scope.of(one) for one in parts))
    node = credit.node
    if not accepts(guard):
        flaw = "fail_open_branch" if full else "degenerate_credit"
        return Hit(flaw, node, "a completion without what is looked for earns it")
    if STATUS in labels:
        return Hit("exit_code", test, "an exit status is taken for success")
    if STDOUT in labels:
        return Hit("result_forging", test, "the completion's process can print this")
    if JUDGE in labels:
        return Hit("judge_injection", test, "the judge reads the completion's own words")
    names = {name_of_call(one) for one in parts if isinstance(one, ast.Call)}
    if names & {"hasattr", "callable"} or (LOADED in labels and RESULT not in labels):
        return Hit("definition_only", test, "a definition earns it without a call")
    if (
        LENGTH in labels
        and not any(isinstance(one, ast.In) for one in ast.walk(test))
        and of_text(parts, scope)
    ):
        return Hit("length_padding", test, "a longer text earns more")
    sought = sought_words(test, scope)
    if sought is not None:
        tags = all(one.startswith(("<", "\\boxed", "```", "[")) for one in sought) and bool(sought)
        if tags:
            flaw = "hollow_format" if full else "format_credit"
            return Hit(flaw, test, "the tags earn it, whatever they hold", tuple(sought))
        return Hit("keyword_stuffing", test, "the words earn it", tuple(sought))
    bare = isinstance(test, (ast.Name, ast.Attribute, ast.Subscript)) or "bool" in names
    if bare and full and MATCH not in labels and not labels & VERDICTS:
        return Hit("string_truthiness", test, "any text that is not empty counts as true")
    flaw = "hollow_format" if full else "format_credit"
    return Hit(flaw, test, "the form earns it, whatever the content")


def _without_guard(
    credit: Credit, around: list[Guard], *, full: bool, scope: Scope
) -> Iterator[Hit]:
    if credit.added or (not credit.final and full):
        return
    mixed = any({COMPLETION} & labels for labels in scope.names.values())
    if not mixed:
        return
    if not full:
        yield Hit("degenerate_credit", credit.node, "a wrong answer earns a constant")
        return
    earlier = [
        one
        for one in scope.nodes()
        if isinstance(one, ast.Return)
        and one.lineno < credit.statement.lineno
        and one.value is not None
        and (constant_score(one.value, scope) or 0) <= 0
        and not isinstance(one.value, ast.Constant)
    ]
    if earlier or around:
        yield Hit("fail_open_branch", credit.node, "what no other branch takes passes")


def _floor(node: ast.Call, scope: Scope) -> Iterator[Hit]:
    values = [scope.constant(one) for one in node.args]
    for value, other in ((values[0], node.args[1]), (values[1], node.args[0])):
        if isinstance(value, float) and 0 < value < 1 and scope.of(other):
            yield Hit("degenerate_credit", node, "no completion earns less than this")


def _direct(node: ast.expr, scope: Scope) -> Iterator[Hit]:
    """A returned verdict that reads only the completion."""
    labels = scope.of(node)
    while isinstance(node, ast.Call) and name_of_call(node) in ("float", "int") and node.args:
        node = node.args[0]
    if labels & {JUDGED, GOLD, SIMILAR} or isinstance(node, ast.IfExp):
        return
    if isinstance(node, ast.Call) and name_of_call(node) == "bool" and node.args:
        inner = scope.of(node.args[0])
        if COMPLETION in inner and not inner & {MATCH, GOLD}:
            yield Hit("string_truthiness", node, "any text that is not empty counts as true")
        elif MATCH in inner:
            yield Hit("hollow_format", node, "the form earns it, whatever the content")
    elif isinstance(node, ast.Compare):
        sides = scope.of(node.left) | scope.of(node.comparators[0])
        if MATCH in sides:
            yield Hit("hollow_format", node, "the form earns it, whatever the content")
        elif STATUS in sides:
            yield Hit("exit_code", node, "an exit status is taken for success")
        elif STDOUT in sides and isinstance(node.ops[0], ast.In):
            yield Hit("result_forging", node, "the completion's process can print this")
        elif JUDGE in sides:
            yield Hit("judge_injection", node, "the judge reads the completion's own words")
        elif isinstance(node.ops[0], ast.In) and COMPLETION in scope.of(node.comparators[0]):
            yield _words(node, scope)
    elif isinstance(node, ast.BoolOp) and (sought_words(node, scope) or []):
        yield _words(node, scope)
    elif calls_of(node.values if isinstance(node, ast.BoolOp) else [node], "hasattr", "callable"):
        yield Hit("definition_only", node, "a definition earns it without a call")
    else:
        yield from _amount(node, scope)


def _words(node: ast.expr, scope: Scope) -> Hit:
    words = sought_words(node, scope) or []
    tags = bool(words) and all(one.startswith(("<", "\\boxed", "```")) for one in words)
    if tags:
        return Hit("hollow_format", node, "the tags earn it, whatever they hold", tuple(words))
    return Hit("keyword_stuffing", node, "the words earn it", tuple(words))


def _parts(node: ast.AugAssign | ast.Assign | ast.Expr, scope: Scope) -> Iterator[Hit]:
    """Suspicions about counts and measures that become a part of the score."""
    value = node.value
    if isinstance(node, ast.Assign):
        name = node.targets[0]
        if not isinstance(name, ast.Name) or not any(
            word in name.id for word in ("score", "reward", "bonus")
        ):
            return
    if isinstance(node, ast.Expr):
        if not (isinstance(value, ast.Call) and name_of_call(value) == "append" and value.args):
            return
        value = value.args[0]
    if scope.of(value) & {COMPLETION, LENGTH, FORMED} and not scope.of(value) & {JUDGED, GOLD}:
        yield from _amount(value, scope)


def _amount(node: ast.expr, scope: Scope) -> Iterator[Hit]:
    if not isinstance(node, (ast.BinOp, ast.Call)):
        return
    for one in ast.walk(node):
        match one:
            case ast.Call() if (
                name_of_call(one) == "len" and one.args and _is_set(one.args[0], scope)
            ):
                return
            case ast.Call() if name_of_call(one) == "sum" and one.args:
                flaw = _counts(one.args[0], scope)
                if flaw:
                    yield Hit(flaw, one, "the number of finds is the score")
                    return
            case ast.Call() if name_of_call(one) == "count" and isinstance(one.func, ast.Attribute):
                if COMPLETION in scope.of(one.func.value) and one.args:
                    value = scope.constant(one.args[0])
                    tag = isinstance(value, str) and value.startswith("<")
                    flaw = "tag_order_blind" if tag else "keyword_stuffing"
                    yield Hit(flaw, one, "the number of finds is the score")
                    return
            case _:
                pass
    if LENGTH in scope.of(node):
        yield Hit("length_padding", node, "a longer text earns more")


def _is_set(node: ast.expr, scope: Scope) -> bool:
    return name_of_call(node) == "set" and COMPLETION in scope.of(node)


def _counts(node: ast.expr, scope: Scope) -> str:
    """The flaw of a sum over tags or keywords; empty when it is none."""
    if not isinstance(node, (ast.GeneratorExp, ast.ListComp)):
        return ""
    tests = [node.elt, *(test for part in node.generators for test in part.ifs)]
    if any(GOLD in scope.of(one) or JUDGED in scope.of(one) for one in tests):
        return ""
    if any(seeks_word(one, scope) for one in tests):
        words = [one.value for one in ast.walk(node) if isinstance(one, ast.Constant)]
        listed = bound_to(node.generators[0].iter, scope)
        words += [one.value for one in ast.walk(listed) if isinstance(one, ast.Constant)]
        if isinstance(listed, ast.Name):
            bound = scope.flow.bound(listed.id)
            words += [one.value for one in ast.walk(bound) if isinstance(one, ast.Constant)]
        tags = any(isinstance(word, str) and word.startswith("<") for word in words)
        return "tag_order_blind" if tags else "keyword_stuffing"
    return ""


def _constant_or(node: ast.BoolOp, scope: Scope) -> Iterator[Hit]:
    compared = isinstance(node.values[0], ast.Compare)
    for one in node.values[1:]:
        if compared and isinstance(one, ast.Constant) and one.value:
            yield Hit("string_truthiness", node, "the constant behind `or` is always true")


def _silent_handler(node: ast.Try, top: float, scope: Scope) -> Iterator[Hit]:
    """A handler that does nothing, ahead of a passing default."""
    above = scope.flow.parents.get(node)
    block = body_of(above, "body")
    if node not in block:
        return
    quiet = [one for one in node.handlers if all(isinstance(x, ast.Pass) for x in one.body)]
    after = block[block.index(node) + 1 :]
    if quiet and after and isinstance(after[0], ast.Return) and after[0].value is not None:
        score = constant_score(after[0].value, scope)
        if score is not None and score >= top:
            yield Hit(
                "fail_open_exception", quiet[0], "the error is dropped and the default passes"
            )


def _forbidden(node: ast.If, scope: Scope) -> Iterator[Hit]:
    test = node.test
    body = node.body[-1]
    if not isinstance(body, ast.Return) or body.value is None:
        return
    score = constant_score(body.value, scope)
    if score is None or score > 0 or not isinstance(test, ast.Call) or name_of_call(test) != "any":
        return
    if test.args and seeks_word(test.args[0], scope) and GOLD not in scope.of(test.args[0]):
        yield Hit("denylist_bypass", test, "the forbidden words can be spelt in other ways")
