"""Weaker by what is left out or taken for granted: a value is not compared, a missing one is right.

Covered: equalities that become "there is a value", or are true without one too; an answer sought in
the whole completion; guards and handlers that reward in place of refusing; any of several finds for
the only one; keys that are right where they are missing; differences without `abs`, or that pass
where they are no number; tests that always hold, or never; parts that no loop comes to; credit for
a part that counts as all of it.
Not covered: credit that another module gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.power.conditions import is_nothing
from unhack.audit.hardening.site import EditSite, Found
from unhack.audit.static_analysis.labels import name_of_call


def accept_any(site: EditSite) -> Iterator[Found]:
    """A value is enough, or none is needed, where it has to be equal."""
    for node, left, right, form in site.equalities():
        for value, other in ((left, right), (right, left)):
            test = f"bool({value})"
            yield Found("any_value", "problem_unbound", node, form.format(test))
            test = f"{value} == {other} or not {value}"
            yield Found("none_is_right", "vacuous_truth", node, form.format(test))


def seek_anywhere(site: EditSite) -> Iterator[Found]:
    """The answer anywhere in the completion in place of the one that was extracted."""
    for node, _, _, form in site.equalities():
        named = {one.id for one in site.inside(node, ast.Name)}
        for said, gold in (pair for pair in site.sides(node) if pair[1] in named):
            test = f"str({gold}) in str({said})"
            yield Found("answer_anywhere", "substring_match", node, form.format(test))


def reward_guard(site: EditSite) -> Iterator[Found]:
    """A guard or a handler that refuses rewards instead."""
    for node in (*site.every(ast.If), *site.every(ast.ExceptHandler)):
        guard = isinstance(node, ast.If)
        family = "fail_open_branch" if guard else "fail_open_exception"
        for one in node.body:
            value = one.value if isinstance(one, ast.Return | ast.Expr) else None
            if isinstance(value, ast.Call) and name_of_call(value) == "append":
                [*_, value] = value.args or [value]
            elif isinstance(one, ast.Expr) or not guard:
                continue
            if isinstance(value, ast.Constant) and value.value is not None and is_nothing(value):
                text = "True" if value.value is False else "1.0"
                yield Found("refusal_rewards", family, value, text)


def any_of_many(site: EditSite) -> Iterator[Found]:
    """`finds[0] == answer` to `answer in finds`, with the check that there is only one left out."""
    for node, *_, form in site.equalities():
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            if not isinstance(side, ast.Subscript) or not isinstance(side.value, ast.Name):
                continue
            finds = side.value.id
            if not isinstance(side.slice, ast.Constant | ast.UnaryOp):
                continue
            counts = [one for one in site.every(ast.Compare) if _counts(site, one, finds)]
            also = tuple((one, f"not {finds}") for one in counts)
            test = form.format(f"{site.of(other)} in {finds}")
            yield Found("any_of_many", "many_attempts", node, test, also=also)


def _counts(site: EditSite, node: ast.Compare, finds: str) -> bool:
    return site.of(node.left) == f"len({finds})" and isinstance(node.ops[0], ast.NotEq)


def default_answer(site: EditSite) -> Iterator[Found]:
    """A key that is missing counts as right."""
    for node, *_ in site.equalities():
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            text = ""
            if name_of_call(side) == "get" and isinstance(side, ast.Call) and len(side.args) == 1:
                text = f"{site.of(side)[:-1]}, {site.of(other)})"
            elif isinstance(side, ast.Subscript) and isinstance(side.slice, ast.Name):
                text = f"{site.of(side.value)}.get({site.of(side.slice)}, {site.of(other)})"
            if text:
                yield Found("default_is_right", "vacuous_truth", side, text)


def lose_distance(site: EditSite) -> Iterator[Found]:
    """`abs(a - b) <= t` on one side alone, for what is no number too, and far wider."""
    for node, size, side in site.comparisons(ast.Lt, ast.LtE, ast.Gt, ast.GtE):
        if name_of_call(size) != "abs" or not isinstance(size, ast.Call):
            continue
        bound, inner = site.of(side), site.of(size.args[0])
        near = isinstance(node.ops[0], ast.Lt | ast.LtE)
        sign = "<=" if near else ">"
        one_sided = "one_sided_comparison"
        yield Found("difference_without_abs", one_sided, node, f"{inner} {sign} {bound}")
        yield Found("difference_without_abs", one_sided, node, f"-({inner}) {sign} {bound}")
        yield Found("any_value", "problem_unbound", node, str(near))
        yield Found("wide_distance", "loose_tolerance", side, f"1.5 + ({bound})")
        if near:
            yield Found("not_far", "nan_poisoning", node, f"not {site.of(size)} > {bound}")


def drop_test(site: EditSite) -> Iterator[Found]:
    """A test that always holds, or never does."""
    for node in _tests(site):
        for text in ("True", "False"):
            yield Found("test_dropped", "weak_proxy", node, text)


def _tests(site: EditSite) -> Iterator[ast.expr]:
    """Conditions, and what `all`, `any` and `sum` go through."""
    for node in (*site.every(ast.If), *site.every(ast.IfExp)):
        if "__name__" not in site.of(node.test):
            yield node.test
    for node in site.every(ast.BoolOp):
        yield from (one for one in node.values if not isinstance(one, ast.Name))
    for call in site.every(ast.Call):
        if name_of_call(call) in ("all", "any", "sum", "float", "int", "bool"):
            for one in call.args[:1]:
                part = one.elt if isinstance(one, ast.GeneratorExp | ast.ListComp) else one
                if isinstance(part, ast.Compare | ast.BoolOp | ast.UnaryOp | ast.Call):
                    yield part
    for node in site.every(ast.comprehension):
        yield from node.ifs


def skip_parts(site: EditSite) -> Iterator[Found]:
    """None of what a loop goes through, or the first alone."""
    loops: list[ast.For | ast.comprehension] = [*site.every(ast.For)]
    for kind in (ast.GeneratorExp, ast.ListComp, ast.SetComp, ast.DictComp):
        loops += [loop for made in site.every(kind) for loop in made.generators]
    for loop in loops:
        for name, part in (("first_part", "[:1]"), ("no_part", "[:0]"), ("part_less", "[1:]")):
            yield Found(name, "near_miss_credit", loop.iter, f"list({site.of(loop.iter)}){part}")


def round_credit(site: EditSite) -> Iterator[Found]:
    """Any credit, or the credit for a part, counts as all."""
    values = [one.value for one in site.every(ast.Return) if one.value is not None]
    values += [one.args[0] for one in site.every(ast.Call) if _is_append(one)]
    values += [one for node in site.every(ast.IfExp) for one in (node.body, node.orelse)]
    for value in values:
        if isinstance(value, ast.BinOp) or name_of_call(value) in ("max", "min", "round"):
            yield Found("any_credit", "near_miss_credit", value, f"float(({site.of(value)}) > 0)")
        if isinstance(value, ast.Constant) and _is_part(value.value):
            yield Found("part_is_all", "format_credit", value, "1.0")
    for node in site.every(ast.BinOp):
        if isinstance(node.op, ast.Div) and "len(" in site.of(node.right):
            yield Found("ratio_is_full", "near_miss_credit", node, "1.0")
    for node in site.every(ast.FunctionDef):
        for default in node.args.defaults:
            if isinstance(default, ast.Constant) and _is_part(default.value):
                yield Found("part_is_all", "format_credit", default, "1.0")


def _is_append(call: ast.Call) -> bool:
    return name_of_call(call) == "append" and len(call.args) == 1


def _is_part(value: object) -> bool:
    return type(value) is float and 0.0 < value < 1.0


def drop_statement(site: EditSite) -> Iterator[Found]:
    """A step of cleaning that is left out, or a penalty."""
    for node in (*site.every(ast.Assign), *site.every(ast.AugAssign)):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Sub | ast.Mult):
            yield Found("no_penalty", "weak_proxy", node, "pass")
        elif isinstance(node, ast.Assign) and _is_again(site, node):
            yield Found("no_cleaning", "over_normalisation", node, "pass")


def _is_again(site: EditSite, node: ast.Assign) -> bool:
    """Tell whether a name is made of itself."""
    names = {one.id for one in node.targets if isinstance(one, ast.Name)}
    return any(one.id in names for one in site.inside(node.value, ast.Name))
