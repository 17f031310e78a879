"""Weaker conditions: one less, one of several for all, an error for success; fewer cases of
programs.

Covered: `and`, `or`, guards that refuse, `all`, `zip`, handlers, `raise`, `assert`; loops over
cases, counts of passed ones, handlers inside them, processes that pass by their exit code alone.
Not covered: loops that stop early; cases that a test runner collects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.site import EditSite, Found

_SIZES = ("len(", ".count(", "strict")


def _family(text: str) -> str:
    return "zip_truncation" if any(word in text for word in _SIZES) else "weak_proxy"


def drop_operand(site: EditSite) -> Iterator[Found]:
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
            yield Found(name, _family(gone), node, text, place=dropped)


def _is_guard(site: EditSite, node: ast.expr) -> bool:
    above = site.parents.get(node)
    return isinstance(above, ast.If) and above.test is node and _refuses(above.body)


def _refuses(body: list[ast.stmt]) -> bool:
    """Tell whether a block ends with no credit, nothing, or an error."""
    last = body[-1]
    if isinstance(last, (ast.Raise, ast.Continue)):
        return True
    return isinstance(last, ast.Return) and is_nothing(last.value)


def is_nothing(node: ast.expr | None) -> bool:
    """Tell whether a value gives no credit."""
    if isinstance(node, ast.Constant):
        return not node.value
    if isinstance(node, (ast.Dict, ast.Tuple, ast.List)):
        parts = node.values if isinstance(node, ast.Dict) else node.elts
        plain = [one for one in parts if isinstance(one, ast.Constant)]
        return len(plain) == len(parts) and all(not one.value for one in plain)
    return node is None


def ignore_guard(site: EditSite) -> Iterator[Found]:
    """Ignore a condition that returns nothing, or an assertion."""
    for node in site.every(ast.If):
        if _refuses(node.body):
            text = site.of(node.test)
            name = "ignore_length_guard" if _family(text) == "zip_truncation" else "ignore_guard"
            family = "fail_open_branch" if name == "ignore_guard" else "zip_truncation"
            yield Found(name, family, node.test, "False")
    for node in site.every(ast.Assert):
        yield Found("ignore_assertion", "fail_open_gold", node, "pass")
    for node in site.every(ast.IfExp):
        if is_nothing(node.body):
            yield Found("ignore_guard", "fail_open_branch", node.test, "False")
        elif is_nothing(node.orelse) and _is_none_check(node.test):
            yield Found("ignore_guard", "fail_open_branch", node.test, "True")


def _is_none_check(node: ast.expr) -> bool:
    return isinstance(node, (ast.Name, ast.Call)) or (
        isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.Is, ast.IsNot))
    )


def quantify(site: EditSite) -> Iterator[Found]:
    """`all` to `any`; `zip` without `strict`."""
    for call in site.every(ast.Call):
        if not isinstance(call.func, ast.Name):
            continue
        if call.func.id == "all":
            yield Found("any_for_all", "near_miss_credit", call.func, "any")
        for word in call.keywords:
            if call.func.id == "zip" and word.arg == "strict":
                yield Found("zip_not_strict", "zip_truncation", word.value, "False")


def ignore_error(site: EditSite) -> Iterator[Found]:
    """Take an exception for success, or go on after it."""
    family = "fail_open_exception"
    for handler in site.every(ast.ExceptHandler):
        for node in handler.body:
            value = node.value if isinstance(node, ast.Return) else None
            if isinstance(value, ast.Constant) and _is_no_credit(value.value):
                text = "True" if value.value is False else "1.0"
                yield Found("exception_as_success", family, value, text)
    for node in site.every(ast.Raise):
        yield Found("error_ignored", family, node, "pass")
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


def _swallow(site: EditSite, node: ast.FunctionDef) -> Iterator[Found]:
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
    head = site.page.text[site.page.start(node) : start]
    text = f"{head}try:\n{margin}{body}\n{margin}except Exception:\n{margin}    return True"
    yield Found("exception_as_success", "fail_open_exception", node, text, place=first)


_WORDS = ("case", "test", "example", "check", "input")


def fewer_cases(site: EditSite) -> Iterator[Found]:
    """Leave out the first case, the last, or all but the first."""
    for over in _cases(site):
        name = site.of(over)
        for operator, part in (("drop_case", "[:-1]"), ("drop_case", "[1:]"), ("one_case", "[:1]")):
            text = f"list({name}){part}"
            yield Found(operator, "weak_cases", over, text)


def _cases(site: EditSite) -> Iterator[ast.expr]:
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


def one_is_enough(site: EditSite) -> Iterator[Found]:
    """One passed case instead of all, or a share of one."""
    for node, left, right in site.comparisons(ast.Eq):
        if _is_size(right):
            text = f"{site.of(left)} > 0"
            yield Found("one_passed", "weak_cases", node, text)
    for node in site.every(ast.BinOp):
        if isinstance(node.op, ast.Div) and _is_size(node.right):
            text = f"float({site.of(node.left)} > 0)"
            yield Found("one_passed", "weak_cases", node, text)


def _is_size(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "len"


def crash_passes(site: EditSite) -> Iterator[Found]:
    """An error in a loop counts as a pass; a process passes by its exit code alone."""
    for loop in (*site.every(ast.For), *site.every(ast.While)):
        steps = [one for one in site.inside(loop, ast.AugAssign) if isinstance(one.op, ast.Add)]
        for handler in site.inside(loop, ast.ExceptHandler):
            last = handler.body[-1]
            if isinstance(last, ast.Continue | ast.Pass) and len(steps) == 1:
                text = f"{site.of(steps[0])}; {site.of(last)}"
                yield Found("crash_counts", "fail_open_exception", last, text)
    for handler in site.every(ast.ExceptHandler):
        for node in handler.body:
            if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict):
                for value in node.value.values:
                    if isinstance(value, ast.Constant) and value.value in (0, 0.0, False):
                        yield Found("crash_passes", "fail_open_exception", value, "1.0")
    for node, *_ in site.comparisons(ast.Eq, ast.NotEq):
        for read in site.inside(node, ast.Attribute):
            if read.attr == "stdout":
                sign = "==" if isinstance(node.ops[0], ast.Eq) else "!="
                text = f"{site.of(read.value)}.returncode {sign} 0"
                yield Found("exit_code_only", "exit_code", node, text)
