"""Diagnostic edits of what is picked out of a text: matches, items, what is left out before a
comparison.

Covered: patterns, the first or last of several, `all`, filters and keys of comprehensions.
Not covered: patterns that are put together.

Diagnostic edits of credit: constants that are rewarded, handlers, and terms that are rewarded by
themselves.

Covered: `return`, `append` and `if … else` of positive constants; sums of two terms; `+=` of a
constant under a condition.
Not covered: credit that is looked up in a table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from unhack.audit.hardening.edits import Edit, Page
from unhack.audit.static_analysis.calls import name_of_call

PLAIN, BROAD = 1.0, 0.4
"""Weights of diagnostic edits that change one property, and of those that replace a whole
comparison."""
WITHIN = ("substring_match", "hedging", "keyword_stuffing", "many_attempts")
SEVERAL = ("many_attempts", "hedging", "channel_mixing")
Made = Iterator[tuple[ast.AST, Sequence[Edit], tuple[str, ...], str, float]]
"""The place, its edits, the classes, what is done, the weight."""


def every_edits(node: ast.Call, page: Page) -> Made:
    """All of one side are in the other: then both must have as many."""
    made = node.args[0]
    if not isinstance(made, (ast.GeneratorExp, ast.ListComp)) or len(made.generators) != 1:
        return
    test, over = made.elt, page.of(made.generators[0].iter)
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
        text = f"(len({over}) == len({page.of(test.comparators[0])}) and {page.of(node)})"
        flaws = ("one_sided_comparison", "vacuous_truth", "hollow_format", "hedging")
        yield node, [page.replace(node, text)], flaws, "exactly as many", PLAIN


def pattern_edits(node: ast.Call, page: Page, name: str) -> Made:
    """Diagnostic edits of a call of a pattern."""
    if not isinstance(node.func, ast.Attribute) or name not in ("search", "match", "findall"):
        return
    own = len(node.args) >= 2
    fixed = isinstance(node.args[0], ast.Constant) if own else True
    text = page.of(node.args[1] if own else node.args[0]) if node.args else ""
    if name != "findall" and text:
        base = page.of(node.func.value)
        given = f"{page.of(node.args[0])}, ({text}).strip()" if own else f"({text}).strip()"
        more = "".join(f", {page.of(one)}" for one in [*node.args[2:], *node.keywords])
        flaws = ("unanchored_regex", "prefix_match")
        if not fixed and name == "search":
            flaws = WITHIN
        whole = page.replace(node, f"{base}.fullmatch({given}{more})")
        yield node, [whole], flaws, "the whole text must match", PLAIN if not fixed else BROAD
    literal = node.args[0] if own else None
    if isinstance(literal, ast.Constant) and isinstance(literal.value, str):
        pattern = literal.value
        at = pattern.find(r"\d")
        if at >= 0 and pattern[:at][-2:] not in ("-?", "]?") and pattern[:at][-1:] != "[":
            new = page.replace(literal, repr(f"{pattern[:at]}-?{pattern[at:]}"))
            yield node, [new], ("sign_lost", "over_normalisation"), "the sign counts", PLAIN


def subscript_edits(node: ast.AST, page: Page) -> Made:
    """One match out of several."""
    assert isinstance(node, ast.Subscript)
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name):
        return
    index = page.of(node.slice)
    if index in ("0", "-1"):
        text = f"({page.of(node)} if len({node.value.id}) == 1 else None)"
        yield node, [page.replace(node, text)], SEVERAL, "exactly one", BROAD


def comprehension_edits(node: ast.AST, page: Page) -> Made:
    """A part of the text that is left out before the comparison; keys that are not asked for."""
    assert isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp))
    for loop in node.generators:
        for test in loop.ifs:
            flaws = ("over_normalisation", "bag_of_words")
            if not isinstance(test, ast.Compare) and page.of(loop.target) in page.of(test):
                flaws = ("vacuous_truth", "hollow_format", "over_normalisation")
            edit = [page.replace(test, "True")]
            yield node, edit, flaws, f"without `if {page.of(test)}`", PLAIN
        call = loop.iter
        if isinstance(call, ast.Call) and name_of_call(call) == "items":
            assert isinstance(call.func, ast.Attribute)
            own = page.of(call.func.value)
            names = {
                one.value.id
                for one in ast.walk(node)
                if isinstance(one, (ast.Attribute, ast.Subscript))
                and isinstance(one.value, ast.Name)
            } - {own}
            for other in sorted(names):
                text = f"{{**dict.fromkeys({other}), **{own}}}.items()"
                flaws = ("one_sided_comparison", "vacuous_truth")
                yield node, [page.replace(call, text)], flaws, "what is missing counts", PLAIN


_FORM = ("format_credit", "hollow_format", "tag_order_blind", "wrong_outranks_right")
_LENGTH = ("length_padding", "wrong_outranks_right")
_WORDS = ("keyword_stuffing", "wrong_outranks_right", "length_padding")
_OPEN = ("fail_open_branch", "hollow_format", "degenerate_credit")
_SHARE = ("near_miss_credit", "low_similarity", "degenerate_credit", "bag_of_words")


def credit_edits(node: ast.AST, page: Page, tree: ast.Module) -> Made:
    """The diagnostic edits of one node: the place, its edits, the classes, what is done, the
    weight."""
    if isinstance(node, ast.ExceptHandler):
        for inner in ast.walk(node):
            for value in _rewarded(inner):
                edit = [page.replace(value, "0.0")]
                flaws = ("fail_open_exception", "fail_open_gold")
                yield value, edit, flaws, "an error earns nothing", 1.0
    if isinstance(node, ast.Return) and _is_share(node.value):
        assert node.value is not None
        whole = page.of(node.value)
        text = f"(({whole}) if ({whole}) >= 1.0 else 0.0)"
        yield node, [page.replace(node.value, text)], _SHARE, "nothing less than all", 0.7
    for value in _rewarded(node):
        yield value, [page.replace(value, "0.0")], _OPEN, "no credit here", 1.0
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        for kept, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(kept, ast.Constant) or isinstance(other, ast.Constant):
                continue
            text = f"(({page.of(node)}) if ({page.of(kept)}) else 0.0)"
            flaws = _about(other, page, tree)
            what = f"`{page.of(other)}` is rewarded with the other part alone"
            yield node, [page.replace(node, text)], flaws, what, 1.0
    if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse:
        [only] = node.body
        if isinstance(only, ast.AugAssign) and isinstance(only.op, ast.Add):
            margin = " " * node.col_offset
            name, end = page.of(only.target), page.end(only)
            text = f"\n{margin}else:\n{margin}    {name} = 0.0"
            others = [
                one.value
                for one in ast.walk(tree)
                if isinstance(one, (ast.Assign, ast.AugAssign))
                and one is not only
                and page.of(one.targets[0] if isinstance(one, ast.Assign) else one.target) == name
                and not isinstance(one.value, ast.Constant)
            ]
            flaws = _about(others[0], page, tree) if others else _FORM
            yield node, [Edit(end, end, text)], flaws, "nothing without this part", 1.0


def _rewarded(node: ast.AST) -> Iterator[ast.Constant]:
    """Positive constants that a node gives."""
    values: list[ast.expr] = []
    if isinstance(node, ast.Return) and node.value is not None:
        values = [node.value, *(node.value.values if isinstance(node.value, ast.Dict) else ())]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        values = node.args if node.func.attr == "append" else []
    elif isinstance(node, ast.IfExp):
        values = [node.body, node.orelse]
    for value in values:
        if isinstance(value, ast.Constant) and isinstance(value.value, (float, int)):
            yield from [value] if value.value > 0 else []


def _is_share(value: ast.expr | None) -> bool:
    """Tell whether a returned expression may be a part of the reward."""
    if isinstance(value, ast.IfExp):
        return _is_share(value.body) or _is_share(value.orelse)
    if isinstance(value, ast.BinOp):
        return isinstance(value.op, (ast.Div, ast.Mult, ast.Sub))
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("round", "max", "min")
    return isinstance(value, ast.Name)


def _about(term: ast.expr, page: Page, tree: ast.Module) -> tuple[str, ...]:
    """The classes of a term that is rewarded without the answer, by what it is made of."""
    text = _followed(term, page, tree)
    if "<" in text and ">" in text and ("tag" in text.lower() or "think" in text):
        return _FORM
    if "len(" in text:
        return _LENGTH
    if ".count(" in text or " in " in text:
        return _WORDS
    return _FORM


def _followed(term: ast.expr, page: Page, tree: ast.Module) -> str:
    """The text of a term, of what its names are bound to and of the functions that it calls."""
    names = {one.id for one in ast.walk(term) if isinstance(one, ast.Name)}
    parts = [page.of(term)]
    for _ in range(2):
        for node in ast.walk(tree):
            bound = isinstance(node, ast.Assign) and any(
                isinstance(one, ast.Name) and one.id in names for one in node.targets
            )
            if bound or (isinstance(node, ast.FunctionDef) and node.name in names):
                parts.append(page.of(node))
                inner = node.value if isinstance(node, ast.Assign) else node
                names |= {one.id for one in ast.walk(inner) if isinstance(one, ast.Name)}
    return "\n".join(dict.fromkeys(parts))
