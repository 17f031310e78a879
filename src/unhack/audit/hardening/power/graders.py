"""Weaker graders of programs: fewer cases, one of them for all, a crash or an exit for a pass.

Covered: loops over cases, counts of passed ones, handlers inside them, output of processes.
Not covered: cases that a test runner collects.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.power.site import Found, PowerSite

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
