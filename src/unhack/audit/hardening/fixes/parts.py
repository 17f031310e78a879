"""Fixes of answers with several parts: every part counts, each as often, and none beside them.

Covered: loops and comprehensions over parts, `any`, `zip`, `sort`, sets, indexes on both sides of a
comparison, the first of several finds, denominators, dictionaries.
Not covered: parts that are compared in more than one function.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.edits import Edit
from unhack.audit.hardening.site import EditSite, Made
from unhack.audit.static_analysis.labels import name_of_call

_FINDS = ("findall", "finditer")


def part_fixes(site: EditSite) -> Iterator[Made]:
    """Every fix of a source."""
    for make in (_quantified, _loops, _together, _finds, _indexes, _sizes, _listed_wrong, _objects):
        yield from make(site)


def _quantified(site: EditSite) -> Iterator[Made]:
    """`any` of several: all of them, and at least one."""
    for node in site.every(ast.Call):
        if name_of_call(node) not in ("any", "max") or len(node.args) != 1:
            continue
        made = node.args[0]
        if isinstance(made, ast.GeneratorExp | ast.ListComp):
            text = site.of(made).strip("()[]") if isinstance(made, ast.ListComp) else site.of(made)
            text = text[1:-1] if text.startswith("(") and text.endswith(")") else text
            whole = f"(set({text}) == {{True}})"
            if name_of_call(node) == "max":
                whole = f"min([{text}] or [0.0])"
            yield site.made(node, whole, what="every one must be right")


def _loops(site: EditSite) -> Iterator[Made]:
    """Loops that end with the first hit, or that look at what was said alone."""
    for loop in site.every(ast.For):
        what = "the last one counts"
        if not loop.orelse and not isinstance(loop.iter, ast.Tuple | ast.List):
            yield site.made(loop.iter, f"list({site.of(loop.iter)})[-1:]", what=what)
        test = _refused(loop)
        if test is None:
            continue
        over, wanted = site.of(loop.iter), site.of(test.test.comparators[0])  # type: ignore[attr-defined]
        lines = [line.strip() for line in map(site.of, test.body) if line.strip() != "break"]
        for condition, told in (
            (f"sorted({over}) != sorted({wanted})", "every one, each as often"),
            (f"list({over}) != list({wanted})", "every one, in order"),
        ):
            new = [f"if {condition}:", *(f"    {line}" for line in lines)]
            edit = site.after(loop, new)
            if edit is not None and lines and "\n" not in "".join(lines):
                yield loop, [edit], told, ""


def _refused(loop: ast.For) -> ast.If | None:
    """The condition of a loop that refuses a part which is not wanted."""
    for one in loop.body:
        test = one.test if isinstance(one, ast.If) else None
        if isinstance(test, ast.Compare) and [type(op) for op in test.ops] == [ast.NotIn]:
            assert isinstance(one, ast.If)
            return one
    return None


def _together(site: EditSite) -> Iterator[Made]:
    """All calls of one kind in a function at once."""
    calls: dict[tuple[ast.AST, str], list[ast.Call]] = {}
    for node in site.every(ast.Call):
        calls.setdefault((site.function_of(node), name_of_call(node)), []).append(node)
    for (_, name), nodes in calls.items():
        if name == "zip":
            pairs = [one for one in nodes if len(one.args) == 2 and not one.keywords]
            edits: list[Edit] = []
            for one in pairs:
                edits.append(site.page.replace(one.func, "itertools.zip_longest"))
                edits.append(Edit(site.page.end(one) - 1, site.page.end(one) - 1, ", fillvalue=()"))
            if edits:
                yield pairs[0], edits, "what has no partner is wrong", "itertools"
        if name == "set" and all(len(one.args) == 1 for one in nodes) and len(nodes) > 1:
            edits = [site.page.replace(one.func, "collections.Counter") for one in nodes]
            yield nodes[0], edits, "each counts as often as it stands there", "collections"
        if name == "sort":
            lines = [site.statement_of(one) for one in nodes]
            edits = [site.page.replace(one, "pass") for one in lines if isinstance(one, ast.Expr)]
            yield nodes[0], edits, "the order counts", ""
        if name == "count":
            for one in nodes:
                if isinstance(one.func, ast.Attribute):
                    text = f"min(1, {site.of(one)})"
                    yield site.made(one, text, what="each counts once")


def _finds(site: EditSite) -> Iterator[Made]:
    """One final find in place of any."""
    for node in site.every(ast.Call):
        name, above = name_of_call(node), site.parents.get(node)
        if name in _FINDS and not isinstance(above, ast.Subscript):
            whole = site.of(node) if name == "findall" else f"list({site.of(node)})"
            yield site.made(node, f"{whole}[-1:]", what="the last one counts")
            yield from _whole_numbers(site, node, whole)
        if name == "search" and isinstance(node.func, ast.Attribute):
            head = site.of(node.func.value)
            given = ", ".join(site.of(one) for one in (*node.args, *node.keywords))
            text = f"(list({head}.finditer({given})) or [None])[-1]"
            yield site.made(node, text, what="the last match counts")
    for node in site.every(ast.Subscript):
        yield from _one_of_several(site, node)
    for node in site.every(ast.IfExp):
        if isinstance(node.test, ast.Name) and f"{node.test.id}[" in site.of(node.body):
            text = f"len({node.test.id}) == 1"
            yield site.made(node.test, text, what="exactly one")


def _whole_numbers(site: EditSite, node: ast.Call, whole: str) -> Iterator[Made]:
    """The last find of digits alone: `.0` behind it would be a find of its own."""
    own = len(node.args) >= 2
    pattern = node.args[0] if own else None
    if isinstance(pattern, ast.Constant) and "." in str(pattern.value):
        return
    if node.args:
        text = node.args[1 if own else 0]
        ends = whole.replace(site.of(text), f're.sub(r"\\.0+\\b", "", {site.of(text)})', 1)
        yield site.made(node, f"{ends}[-1:]", what="the last number counts, `.0` apart", needs="re")


def _one_of_several(site: EditSite, node: ast.Subscript) -> Iterator[Made]:
    if not isinstance(node.ctx, ast.Load) or not _is_index(node.slice):
        return
    above, whole = site.parents.get(node), site.of(node.value)
    if isinstance(above, ast.Call) and above.args[:1] == [node] and len(above.args) == 1:
        if not isinstance(above.func, ast.Attribute):
            text = f"[{site.of(above.func)}(one) for one in {whole}]"
            yield site.made(above, text, what="every one counts, not one of them")
        yield site.made(above, whole, what="the whole instead of a part")
    if isinstance(above, ast.Compare | ast.Return | ast.Assign | ast.IfExp):
        yield site.made(node, whole, what="the whole instead of a part")


def _is_index(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) is int


def _indexes(site: EditSite) -> Iterator[Made]:
    """The same index or slice on both sides of a comparison."""
    for node, *sides in site.comparisons(ast.Eq, ast.NotEq):
        found = [list(site.inside(one, ast.Subscript)) for one in sides]
        if [len(one) for one in found] != [1, 1]:
            continue
        [first], [second] = found
        if site.of(first.slice) != site.of(second.slice):
            continue
        edits = [site.page.replace(one, site.of(one.value)) for one in (first, second)]
        yield node, edits, "the whole instead of a part", ""
        if _is_index(first.slice):
            edits = [
                site.page.replace(
                    side, f"[{site.of(side).replace(site.of(one), 'one')} for one in {over}]"
                )
                for side, one in zip(sides, (first, second), strict=True)
                for over in [site.of(one.value)]
            ]
            yield node, edits, "every part counts, not one of them", ""


def _sizes(site: EditSite) -> Iterator[Made]:
    """A share of the longer list, where one is sought in the other."""
    for node in site.every(ast.BinOp):
        if not isinstance(node.op, ast.Div):
            continue
        home = site.function_of(node)
        for size in site.inside(node.right, ast.Call):
            if name_of_call(size) != "len" or not size.args:
                continue
            for other in sorted(_compared_with(site, home, site.of(size.args[0]))):
                text = f"max({site.of(size)}, len({other}))"
                yield site.made(size, text, what="a share of the longer one")


def _compared_with(site: EditSite, home: ast.AST, name: str) -> set[str]:
    found: set[str] = set()
    made = (*site.inside(home, ast.ListComp), *site.inside(home, ast.GeneratorExp))
    for node in made:
        loop = node.generators[0]
        if site.of(loop.iter) != name:
            continue
        for test in site.inside(node, ast.Compare):
            within = test.comparators[0]
            if isinstance(test.ops[0], ast.In) and isinstance(within, ast.Name):
                found.add(within.id)
    return found - {name}


def _listed_wrong(site: EditSite) -> Iterator[Made]:
    """A comprehension that collects what is wrong among what was said."""
    for kind in (ast.ListComp, ast.GeneratorExp):
        for node in site.every(kind):
            loop = node.generators[0]
            over = loop.iter
            if isinstance(over, ast.Call) and name_of_call(over) in ("items", "keys", "values"):
                assert isinstance(over.func, ast.Attribute)
                over = over.func.value
            if len(node.generators) != 1 or not loop.ifs or not isinstance(over, ast.Name):
                continue
            others = {
                one.id
                for test in loop.ifs
                for one in site.inside(test, ast.Name)
                if isinstance(one.ctx, ast.Load)
            } - {over.id, *(one.id for one in site.inside(loop.target, ast.Name))}
            for other in sorted(others):
                text = f"({over.id} != {other})"
                yield site.made(node, text, what="anything that is not the same is wrong")


def _objects(site: EditSite) -> Iterator[Made]:
    """Two dictionaries that were merged; differences of sets."""
    for node in site.every(ast.Compare):
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            if isinstance(side, ast.Dict) and all(key is None for key in side.keys):
                for value in side.values:
                    if site.of(value) != site.of(other):
                        yield site.made(side, site.of(value), what="nothing is filled in")
    for node in site.every(ast.BinOp):
        ends = (node.left, node.right)
        if isinstance(node.op, ast.Sub) and all(_is_set(one) for one in ends):
            left, right = (site.of(one.args[0]) for one in ends if isinstance(one, ast.Call))
            yield site.made(node, f"({left} != {right})", what="order and number count")
    for node in site.every(ast.Call):
        if name_of_call(node) == "get" and len(node.args) == 2:
            edit = Edit(site.page.end(node.args[0]), site.page.end(node.args[1]), "")
            yield node, [edit], "what is not there is wrong", ""


def _is_set(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and name_of_call(node) == "set" and len(node.args) == 1
