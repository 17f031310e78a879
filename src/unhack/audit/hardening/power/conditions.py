"""Weaker conditions: one less, one of several for all, an error for success.

Covered: `and`, `or`, guards that refuse, `all`, `zip`, handlers, `raise`, `assert`.
Not covered: loops that stop early.

Weaker graders of programs: fewer cases, one of them for all, a crash or an exit for a pass.

Covered: loops over cases, counts of passed ones, handlers inside them, output of processes.
Not covered: cases that a test runner collects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.power.site import Found, PowerSite

_SIZES = ("len(", ".count(", "strict")


def _family(text: str) -> str:
    return "zip_truncation" if any(word in text for word in _SIZES) else "weak_proxy"


def drop_operand(site: PowerSite) -> Iterator[Found]:
    """Drop one operand of an `and`, or one of an `or` that refuses."""
    for node in site.every(ast.BoolOp):
        if isinstance(node.op, ast.Or) and not _is_guard(site, node):
            continue
        word = "and" if isinstance(node.op, ast.And) else "or"
        for dropped in node.values:
            kept = [site.of(one) for one in node.values if one is not dropped]
            text = f"({f' {word} '.join(kept)})"
            gone = site.of(dropped)
            name = "drop_length_check" if _family(gone) == "zip_truncation" else f"drop_{word}"
            found = site.replaced(node, text, operator=name, family=_family(gone))
            yield Found(found.operator, found.family, dropped.lineno, found.edits)


def _is_guard(site: PowerSite, node: ast.expr) -> bool:
    above = site.parents.get(node)
    return isinstance(above, ast.If) and above.test is node and _refuses(above.body)


def _refuses(body: list[ast.stmt]) -> bool:
    """Tell whether a block ends with no credit, nothing, or an error."""
    last = body[-1]
    if isinstance(last, (ast.Raise, ast.Continue)):
        return True
    return isinstance(last, ast.Return) and _is_nothing(last.value)


def _is_nothing(node: ast.expr | None) -> bool:
    if isinstance(node, ast.Constant):
        return not node.value
    if isinstance(node, (ast.Dict, ast.Tuple, ast.List)):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        plain = [one for one in parts if isinstance(one, ast.Constant)]
        return len(plain) == len(parts) and all(not one.value for one in plain)
    return node is None


def ignore_guard(site: PowerSite) -> Iterator[Found]:
    """Ignore a condition that returns nothing, or an assertion."""
    for node in site.every(ast.If):
        if _refuses(node.body):
            text = site.of(node.test)
            name = "ignore_length_guard" if _family(text) == "zip_truncation" else "ignore_guard"
            family = "fail_open_branch" if name == "ignore_guard" else "zip_truncation"
            yield site.replaced(node.test, "False", operator=name, family=family)
    for node in site.every(ast.Assert):
        yield site.replaced(node, "pass", operator="ignore_assertion", family="fail_open_gold")
    for node in site.every(ast.IfExp):
        if _is_nothing(node.body):
            yield site.replaced(
                node.test, "False", operator="ignore_guard", family="fail_open_branch"
            )
        elif _is_nothing(node.orelse) and _is_none_check(node.test):
            yield site.replaced(
                node.test, "True", operator="ignore_guard", family="fail_open_branch"
            )


def _is_none_check(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Call)) or (
        isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.Is, ast.IsNot))
    )


def quantify(site: PowerSite) -> Iterator[Found]:
    """`all` to `any`; `zip` without `strict`."""
    for call in site.every(ast.Call):
        if not isinstance(call.func, ast.Name):
            continue
        if call.func.id == "all":
            yield site.replaced(call.func, "any", operator="any_for_all", family="near_miss_credit")
        for word in call.keywords:
            if call.func.id == "zip" and word.arg == "strict":
                yield site.replaced(
                    word.value, "False", operator="zip_not_strict", family="zip_truncation"
                )


def ignore_error(site: PowerSite) -> Iterator[Found]:
    """Take an exception for success, or go on after it."""
    family = "fail_open_exception"
    for handler in site.every(ast.ExceptHandler):
        for node in handler.body:
            value = node.value if isinstance(node, ast.Return) else None
            if isinstance(value, ast.Constant) and _is_no_credit(value.value):
                text = "True" if value.value is False else "1.0"
                yield site.replaced(value, text, operator="exception_as_success", family=family)
    for node in site.every(ast.Raise):
        yield site.replaced(node, "pass", operator="error_ignored", family=family)
    for node in site.every(ast.FunctionDef):
        if _gives_truth(node) and not site.is_in(node, ast.ClassDef):
            yield from _swallow(site, node)


def _is_no_credit(value: object) -> bool:
    return type(value) in (bool, int, float) and not value


def _gives_truth(node: ast.FunctionDef) -> bool:
    """Tell whether every value that a function returns is a score or a truth value."""
    returns = [one for one in ast.walk(node) if isinstance(one, ast.Return)]
    return bool(returns) and all(_is_score(one.value) for one in returns)


def _is_score(node: ast.expr | None) -> bool:
    if isinstance(node, ast.IfExp):
        return _is_score(node.body) and _is_score(node.orelse)
    if isinstance(node, ast.Constant):
        return type(node.value) in (bool, float)
    return isinstance(node, (ast.Compare, ast.BoolOp)) or (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("float", "bool", "all", "any")
    )


def _swallow(site: PowerSite, node: ast.FunctionDef) -> Iterator[Found]:
    """The whole body in a `try` whose handler returns success."""
    first = node.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and node.body[1:]:
        first = node.body[1]
    if first.lineno == node.lineno or "\n" not in site.page.text[: site.page.start(first)]:
        return
    start, end = site.page.start(first), site.page.end(node)
    margin = " " * first.col_offset
    lines = site.page.text[start:end].split("\n")
    strings = [
        one
        for one in ast.walk(node)
        if isinstance(one, (ast.Constant, ast.JoinedStr)) and one.end_lineno != one.lineno
    ]
    if any(one.lineno >= first.lineno for one in strings):
        return  # a string over several lines would change with its indentation
    body = "\n".join(f"{'    ' if line.strip() else ''}{line}" for line in lines)
    text = f"try:\n{margin}{body}\n{margin}except Exception:\n{margin}    return True"
    yield Found("exception_as_success", "fail_open_exception", first.lineno, ((start, end, text),))


_WORDS = ("case", "test", "example", "check", "input")


def fewer_cases(site: PowerSite) -> Iterator[Found]:
    """Leave out the first case, the last, or all but the first."""
    for over in _cases(site):
        name = site.of(over)
        for operator, part in (("drop_case", "[:-1]"), ("drop_case", "[1:]"), ("one_case", "[:1]")):
            text = f"list({name}){part}"
            yield site.replaced(over, text, operator=operator, family="weak_cases")


def _cases(site: PowerSite) -> Iterator[ast.expr]:
    """The lists of cases that loops go through, each once a loop."""
    loops: list[ast.For | ast.comprehension] = [*site.every(ast.For)]
    for kind in (ast.GeneratorExp, ast.ListComp):
        loops += [loop for made in site.every(kind) for loop in made.generators]
    for loop in loops:
        over = loop.iter
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name):
            if over.func.id not in ("enumerate", "zip", "reversed") or not over.args:
                continue
            over = over.args[0]
        words = f"{site.of(over)} {site.of(loop.target)}".lower()
        is_list = isinstance(over, ast.Name | ast.Attribute | ast.Subscript | ast.List | ast.Tuple)
        if is_list and any(word in words for word in _WORDS):
            yield over


def one_is_enough(site: PowerSite) -> Iterator[Found]:
    """One passed case instead of all, or a share of one."""
    for node in site.every(ast.Compare):
        right = node.comparators[0]
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq) and _is_size(right):
            text = f"{site.of(node.left)} > 0"
            yield site.replaced(node, text, operator="one_passed", family="weak_cases")
    for node in site.every(ast.BinOp):
        if isinstance(node.op, ast.Div) and _is_size(node.right):
            text = f"float({site.of(node.left)} > 0)"
            yield site.replaced(node, text, operator="one_passed", family="weak_cases")


def _is_size(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def crash_passes(site: PowerSite) -> Iterator[Found]:
    """An error in a loop counts as a pass; a process passes by its exit code alone."""
    for loop in (*site.every(ast.For), *site.every(ast.While)):
        steps = [
            one
            for one in ast.walk(loop)
            if isinstance(one, ast.AugAssign) and isinstance(one.op, ast.Add)
        ]
        for handler in (one for one in ast.walk(loop) if isinstance(one, ast.ExceptHandler)):
            last = handler.body[-1]
            if isinstance(last, ast.Continue | ast.Pass) and len(steps) == 1:
                text = f"{site.of(steps[0])}; {site.of(last)}"
                yield site.replaced(
                    last, text, operator="crash_counts", family="fail_open_exception"
                )
    for handler in site.every(ast.ExceptHandler):
        for node in handler.body:
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
                for value in node.value.values:
                    if isinstance(value, ast.Constant) and value.value in (0, 0.0, False):
                        yield site.replaced(
                            value, "1.0", operator="crash_passes", family="fail_open_exception"
                        )
    for node in site.every(ast.Compare):
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Eq | ast.NotEq):
            continue
        for read in (one for one in ast.walk(node) if isinstance(one, ast.Attribute)):
            if read.attr == "stdout":
                sign = "==" if isinstance(node.ops[0], ast.Eq) else "!="
                text = f"{site.of(read.value)}.returncode {sign} 0"
                yield site.replaced(node, text, operator="exit_code_only", family="exit_code")
