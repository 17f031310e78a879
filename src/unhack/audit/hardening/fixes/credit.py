"""Fixes of what is rewarded: for an answer alone, and only for one that was compared.

Covered: sums and steps that reward form beside the answer, constant credit, branches and handlers
that reward, pairs that are always true, closeness, one-sided differences, likeness, lost negations.
Not covered: credit that another module gives.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.edits import LAST_NUMBER, Edit
from unhack.audit.hardening.fixes.containment import same_last_number
from unhack.audit.hardening.site import EditSite, Made
from unhack.audit.static_analysis.labels import Function, name_of_call

NO_CREDIT = "no credit here"
_NEGATIONS = frozenset("not no never none without nor".split())  # noqa: SIM905
_LIKENESS = ("0.8", "0.9", "0.95", "1.0")


def credit_fixes(site: EditSite) -> Iterator[Made]:
    """Every fix of a source."""
    makers = (_sums, _steps, _branches, _handlers, _pairs, _differences, _bounds, _words)
    for make in (*makers, _unread):
        yield from make(site)


def _sums(site: EditSite) -> Iterator[Made]:
    """A sum of parts: nothing where one of them is nothing."""
    for node in site.every(ast.BinOp):
        above = site.parents.get(node)
        inner = isinstance(above, ast.BinOp) and isinstance(above.op, ast.Add)
        if not isinstance(node.op, ast.Add) or inner:
            continue
        terms = [one for one in _terms(node) if not isinstance(one, ast.Constant)]
        for term in terms if len(terms) > 1 else []:
            part = site.of(term)
            text = f"({site.of(node)} if ({part}) > 0 else 0.0)"
            yield site.made(node, text, what=f"nothing without `{part}`")


def _terms(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_terms(node.left), *_terms(node.right)]
    return [node]


def _steps(site: EditSite) -> Iterator[Made]:
    """`if right: score += 1.0`: otherwise nothing."""
    for node in site.every(ast.If):
        step = node.body[-1]
        if node.orelse or not isinstance(step, ast.AugAssign) or not isinstance(step.op, ast.Add):
            continue
        edit = site.after(node, ["else:", f"    {site.of(step.target)} = 0.0"])
        if edit is not None and not site.of(node).startswith("elif"):
            yield node, [edit], "without it there is nothing", ""


def _branches(site: EditSite) -> Iterator[Made]:
    """Credit of a branch, and a branch itself, taken away."""
    for value, node in _credited(site):
        if isinstance(value, ast.Constant):
            none = "False" if value.value is True else "0.0"
            yield site.made(value, none, what=NO_CREDIT)
            continue
        above = site.parents.get(node)
        if isinstance(node, ast.Return) and isinstance(above, ast.If | ast.ExceptHandler):
            yield site.made(value, "0.0", what=NO_CREDIT)
    for node in site.every(ast.If):
        if isinstance(node.body[-1], ast.Return) and not site.of(node).startswith("elif"):
            yield site.made(node.test, "False", what=f"{NO_CREDIT}: the branch is left out")


def _credited(site: EditSite) -> Iterator[tuple[ast.expr, ast.AST]]:
    """(value, what gives it): what a function returns or appends, each part of a choice."""
    for node in site.every(ast.Return):
        for value in _choices(node.value):
            yield value, node
    for node in site.every(ast.Call):
        if name_of_call(node) == "append" and len(node.args) == 1:
            for value in _choices(node.args[0]):
                yield value, node


def _choices(node: ast.expr | None) -> Iterator[ast.expr]:
    if isinstance(node, ast.IfExp):
        yield from _choices(node.body)
        yield from _choices(node.orelse)
    elif isinstance(node, ast.Constant):
        if type(node.value) in (bool, int, float) and node.value:
            yield node
    elif node is not None:
        yield node


def _handlers(site: EditSite) -> Iterator[Made]:
    """Names that held credit before an error hold none after it."""
    for handler in site.every(ast.ExceptHandler):
        home = site.function_of(handler)
        first = handler.body[0]
        names = {
            one.targets[0].id: "False" if one.value.value is True else "0.0"
            for one in site.inside(home, ast.Assign)
            if isinstance(one.targets[0], ast.Name) and one.lineno < handler.lineno
            if isinstance(one.value, ast.Constant) and one.value.value
            if type(one.value.value) in (bool, int, float)
        }
        for name, none in names.items():
            edit = site.page.before(first, [f"{name} = {none}"])
            if edit is not None:
                yield handler, [edit], "an error earns nothing", ""
        if isinstance(first, ast.Pass) and isinstance(home, Function):
            yield site.made(first, "return 0.0", what="an error earns nothing")


def _pairs(site: EditSite) -> Iterator[Made]:
    """A function that returns pairs is no truth value."""
    tuples = {
        home.name
        for home in site.every(ast.FunctionDef)
        if any(isinstance(one.value, ast.Tuple) for one in site.inside(home, ast.Return))
    }
    for node in (*site.every(ast.If), *site.every(ast.IfExp)):
        for call in site.inside(node.test, ast.Call):
            if isinstance(call.func, ast.Name) and call.func.id in tuples:
                above = site.parents.get(call)
                if not isinstance(above, ast.Subscript):
                    yield site.made(call, f"{site.of(call)}[0]", what="its first value decides")


def _differences(site: EditSite) -> Iterator[Made]:
    """Closeness: as far on either side, and at last only what is equal."""
    for node in site.every(ast.BinOp):
        if not isinstance(node.op, ast.Sub):
            continue
        right = site.of(node.right)
        if isinstance(node.left, ast.Constant) and node.left.value in (1, 1.0):
            if not isinstance(node.right, ast.Constant):
                text = f"{site.of(node.left)} - abs({right})"
                yield site.made(node, text, what="too little counts as much as too much")
                text = f"float(abs({right}) <= 1e-9)"
                yield site.made(node, text, what="nothing for what is only near")
        elif not isinstance(node.left, ast.Constant) and not isinstance(node.right, ast.Constant):
            above = site.parents.get(node)
            if name_of_call(above) != "abs":
                yield site.made(node, f"abs({site.of(node)})", what="both sides count")


def _bounds(site: EditSite) -> Iterator[Made]:
    """Bounds on one side, around the answer, of a distance, and of a likeness."""
    for node in site.every(ast.Compare):
        left, right = node.left, node.comparators[-1]
        ends = (site.of(left), site.of(right))
        if len(node.ops) == 2 and all(isinstance(one, ast.Lt | ast.LtE) for one in node.ops):
            text = f"({ends[0]} == {site.of(node.comparators[0])} == {ends[1]})"
            yield site.made(node, text, what="equality instead of bounds")
        if len(node.ops) != 1:
            continue
        low = isinstance(node.ops[0], ast.Lt | ast.LtE)
        if low and isinstance(right, ast.BinOp) and isinstance(right.right, ast.Constant):
            base = site.of(right.left)
            text = f"({base} <= {ends[0]} <= {ends[1]})"
            yield site.made(node, text, what="not less than the answer either")
        if isinstance(right, ast.Constant) and isinstance(right.value, int | float):
            for less in range(min(3, int(right.value)) if low else 0):
                yield site.made(node, f"({ends[0]}) <= {less}", what=f"a distance of {less}")
            if isinstance(node.ops[0], ast.Gt | ast.GtE) and 0 < right.value < 1:
                yield from _likeness(site, node)


def _likeness(site: EditSite, node: ast.Compare) -> Iterator[Made]:
    bound = node.comparators[0]
    assert isinstance(bound, ast.Constant)
    for least in _LIKENESS:
        if float(least) > float(bound.value):  # type: ignore[arg-type]
            text = f"{site.of(node.left)} >= {least}"
            yield site.made(node, text, what=f"a likeness of {least}")
    source = site.bound(node.left) or node.left
    for call in site.inside(source, ast.Call):
        texts = [one for one in call.args if not isinstance(one, ast.Constant)]
        if len(texts) == 2:
            same = same_last_number(*(site.of(one) for one in texts))
            what = "its last number must be the answer's"
            yield site.made(node, f"({site.of(node)} and {same})", what=what, needs=LAST_NUMBER)


def _words(site: EditSite) -> Iterator[Made]:
    """Sets of words that are ignored keep negations."""
    for kind in (ast.Set, ast.Tuple, ast.List):
        for node in site.every(kind):
            lost = [one for one in node.elts if isinstance(one, ast.Constant)]
            lost = [one for one in lost if str(one.value).lower() in _NEGATIONS]
            if not lost or len(lost) == len(node.elts):
                continue
            edits: list[Edit] = []
            for one in lost:
                end = site.page.end(one)
                rest = site.page.text[end:]
                comma = len(rest) - len(rest.lstrip()) + 1 if rest.lstrip()[:1] == "," else 0
                edits.append(Edit(site.page.start(one), end + comma, ""))
            yield node, edits, "a negation counts", ""


def _unread(site: EditSite) -> Iterator[Made]:
    """Two texts that cannot be read are not the same for that."""
    for node, *ends in site.comparisons(ast.Eq):
        if all(isinstance(one, ast.Call) and len(one.args) == 1 for one in ends):
            left, right = (site.of(one.args[0]) for one in ends if isinstance(one, ast.Call))
            same = f"str({left}).strip() == str({right}).strip()"
            text = f"({site.of(node)} and ({site.of(node.left)} is not None or {same}))"
            yield site.made(node, text, what="what cannot be read must be the same text")
