"""Diagnostic edits of what is picked out of a text: matches, items, what is left out before a
comparison.

Covered: patterns, the first or last of several, `all`, filters and keys of comprehensions.
Not covered: patterns that are put together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from unhack.audit.hardening.edits import Edit, Page
from unhack.audit.static_analysis.labels import name_of_call

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


def subscript_edits(node: ast.Subscript, page: Page) -> Made:
    """One match out of several."""
    if not isinstance(node.ctx, ast.Load) or not isinstance(node.value, ast.Name):
        return
    index = page.of(node.slice)
    if index in ("0", "-1"):
        text = f"({page.of(node)} if len({node.value.id}) == 1 else None)"
        yield node, [page.replace(node, text)], SEVERAL, "exactly one", BROAD


def comprehension_edits(node: ast.ListComp | ast.GeneratorExp | ast.SetComp, page: Page) -> Made:
    """A part of the text that is left out before the comparison; keys that are not asked for."""
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
