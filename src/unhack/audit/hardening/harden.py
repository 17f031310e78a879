"""Mechanical fixes of a verifier's source: stricter where a flaw stands, everything else kept.

Covered: containment, beginnings and ends, likeness, sets, `zip`, empty `all`, values that are not
finite, patterns that match anywhere, types of results, `eval`, handlers, branches and floors that
give credit.
Not covered: flaws that need a decision of the author, such as a tolerance or what counts as the
answer. A fix may reject right answers too: `trial` keeps it only where it does not.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from unhack.audit.hardening.edits import (
    Change,
    Edit,
    Page,
    failing,
    may_move_ahead,
    reject_before,
)
from unhack.audit.static_analysis.labels import DISTANCES, FLOAT, name_of_call
from unhack.audit.static_analysis.outcome import credits_of, guards
from unhack.audit.static_analysis.suspicions import Site, sites, suspicions_of
from unhack.audit.static_analysis.text import bound_to, pattern_text
from unhack.audit.subject import Source

_IN_PROCESS = {"test_patching", "frame_reading", "always_equal_object", "expected_mutable"}


def changes(source: Source) -> tuple[Change, ...]:
    """Every mechanical fix that the text of a source calls for; none where it is no Python."""
    page = Page(source.text)
    found = [change for site in sites(source) if (change := _fix(site, page)) is not None]
    return tuple(dict.fromkeys(found))


def advice(source: Source) -> tuple[str, ...]:
    """Advice on flaws that no change of the source fixes."""
    if any(suspicion.flaw in _IN_PROCESS for suspicion in suspicions_of(source)):
        return (
            "it runs the solution in its own process; `unhack.ScriptVerifier` in sealed mode "
            "runs the script unchanged and the solution in a sandbox",
        )
    return ()


def _fix(site: Site, page: Page) -> Change | None:
    kinds = _FIXERS.get(site.suspicion.flaw, {})
    fixer = next((one for kind, one in kinds.items() if isinstance(site.node, kind)), None)
    found = None if fixer is None else fixer(site.node, site, page)
    if found is None:
        return None
    edits, what, needs = found
    return Change(f"`{site.suspicion.code}`: {what}", tuple(edits), needs, site.suspicion.flaw)


_Fix = tuple[list[Edit], str, str] | None


def _equal(left: str, right: str) -> str:
    return f"str({left}).strip() == str({right}).strip()"


def _containment(node: ast.Compare, site: Site, page: Page) -> _Fix:
    if len(node.ops) != 1:
        return None
    text = _equal(page.of(node.left), page.of(node.comparators[0]))
    if isinstance(node.ops[0], ast.NotIn):
        text = text.replace(" == ", " != ", 1)
    return [page.replace(node, text)], "equality instead of containment", ""


def _searched(node: ast.Call, site: Site, page: Page) -> _Fix:
    return _whole_match(node, page) if name_of_call(node) in ("search", "match") else None


def _whole_match(node: ast.Call, page: Page) -> _Fix:
    function = page.of(node.func).rpartition(".")
    if not function[1]:
        return None
    edits = [page.replace(node.func, f"{function[0]}.fullmatch")]
    if len(node.args) >= 2:
        text = node.args[1]
        edits.append(page.replace(text, f"str({page.of(text)}).strip()"))
    return edits, "the whole text must match", ""


def _end(node: ast.Call, site: Site, page: Page) -> _Fix:
    if not isinstance(node.func, ast.Attribute):
        return None
    text = _equal(page.of(node.func.value), page.of(node.args[0]))
    above = site.scope.flow.parents.get(node)
    text = f"({text})" if isinstance(above, (ast.Compare, ast.UnaryOp, ast.BinOp)) else text
    return [page.replace(node, text)], "equality of the whole text", ""


def _part(node: ast.Compare, site: Site, page: Page) -> _Fix:
    for side in (node.left, *node.comparators):
        if isinstance(side, ast.Subscript):
            whole = page.replace(side, f"{page.of(side.value)}.strip()")
            return [whole], "equality of the whole text", ""
    return None


def _likeness(node: ast.Call, site: Site, page: Page) -> _Fix:
    texts = node.args
    if len(texts) < 2 and isinstance(node.func, ast.Attribute):
        matcher = bound_to(node.func.value, site.scope)
        if not isinstance(matcher, ast.Call):
            return None
        named = [one.value for one in matcher.keywords if one.arg in ("a", "b")]
        texts = [*matcher.args[1:], *named]
    if len(texts) < 2:
        return None
    same = _equal(page.of(texts[0]), page.of(texts[1]))
    if name_of_call(node) in DISTANCES:
        text = f"(0 if {same} else 10**9)"
    elif "fuzz" in page.of(node.func):
        text = f"(100.0 if {same} else 0.0)"
    else:
        text = f"(1.0 if {same} else 0.0)"
    return [page.replace(node, text)], "equality instead of similarity", ""


def _sets(node: ast.Compare, site: Site, page: Page) -> _Fix:
    sides = [bound_to(one, site.scope) for one in (node.left, node.comparators[0])]
    calls = [one for one in sides if isinstance(one, ast.Call) and name_of_call(one) == "set"]
    if len(calls) != 2:
        return None
    edits = [page.replace(one.func, "collections.Counter") for one in calls]
    return edits, "repeats count", "collections"


def _lengths(node: ast.Call, site: Site, page: Page) -> _Fix:
    if not may_move_ahead(site, node.args):
        return None
    sizes = [
        f"len({page.of(one)})" if isinstance(one, ast.Name) else f"len(list({page.of(one)}))"
        for one in node.args
    ]
    edit = reject_before(site, page, f"{sizes[0]} != {sizes[1]}")
    if edit is None:
        parents = site.scope.flow.parents
        above = parents.get(parents.get(node, node))
        whole = parents.get(above) if above is not None else None
        if not isinstance(whole, ast.Call) or name_of_call(whole) != "all":
            longest = page.replace(node.func, "itertools.zip_longest")
            return [longest], "unpaired items count too", "itertools"
        edit = page.replace(whole, f"({sizes[0]} == {sizes[1]} and {page.of(whole)})")
    return [edit], "the lengths must agree", ""


def _some(node: ast.Call, site: Site, page: Page) -> _Fix:
    made = node.args[0]
    over = made.generators[0].iter if isinstance(made, ast.GeneratorExp | ast.ListComp) else None
    if not isinstance(over, ast.Name):
        return None
    text = f"(len({over.id}) > 0 and {page.of(node)})"
    return [page.replace(node, text)], "there must be something to check", ""


def _finite(node: ast.AST, site: Site, page: Page) -> _Fix:
    floats: list[ast.expr] = []
    for one in ast.walk(node):
        number = isinstance(one, ast.Call) and name_of_call(one) == "float"
        if isinstance(one, (ast.Name, ast.Call)) and FLOAT in site.scope.of(one):
            floats += [one] if number or isinstance(one, ast.Name) else []
    if not floats or not may_move_ahead(site, floats):
        return None
    texts = dict.fromkeys(page.of(one) for one in floats)
    condition = " and ".join(f"math.isfinite({text})" for text in texts)
    edit = reject_before(site, page, f"not ({condition})")
    return None if edit is None else ([edit], "only finite numbers", "math")


def _first_match(node: ast.Subscript, site: Site, page: Page) -> _Fix:
    matches, hints = page.of(node.value), site.suspicion.hints
    if len(hints) < 2 or not _is_delimited(hints[1]) or not may_move_ahead(site, [node.value]):
        return None
    edit = reject_before(site, page, f"len({matches}) != 1")
    return None if edit is None else ([edit], "exactly one match", "")


def _anchor(node: ast.Call, site: Site, page: Page) -> _Fix:
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    pattern = pattern_text(node.args[0] if len(node.args) > 1 else base, site.scope) or ""
    bare = pattern.removeprefix("^")
    if bare.startswith("(") and bare.endswith(")") and bare.count("(") == 1:
        return _whole_match(node, page)
    function = page.of(node.func).rpartition(".")[0]
    given = ", ".join(page.of(one) for one in [*node.args, *node.keywords])
    if not function or not _is_delimited(bare) or not may_move_ahead(site, node.args):
        return None
    edit = reject_before(site, page, f"len({function}.findall({given})) != 1")
    return None if edit is None else ([edit], "exactly one match", "")


def _is_delimited(pattern: str) -> bool:
    """Tell whether fixed text stands before the group that takes the answer."""
    before = pattern.partition("(")[0]
    return "(" in pattern and any(sign.isalpha() or sign in "<#:" for sign in before)


def _exact_types(node: ast.Compare, site: Site, page: Page) -> _Fix:
    if len(node.ops) != 1:
        return None
    sides = (node.left, node.comparators[0])
    if not isinstance(node.ops[0], (ast.Eq, ast.NotEq)) or not all(map(_is_still, sides)):
        return None
    left, right = map(page.of, sides)
    around = page.of(site.scope.flow.parents.get(node, node))
    if around.startswith(f"type({left}) is"):
        return None
    text = f"(type({left}) is type({right}) and {page.of(node)})"
    if isinstance(node.ops[0], ast.NotEq):
        text = f"(type({left}) is not type({right}) or {page.of(node)})"
    return [page.replace(node, text)], "the exact type counts", ""


def _is_still(node: ast.expr) -> bool:
    """Tell whether it may be evaluated twice."""
    return not any(isinstance(one, (ast.Call, ast.NamedExpr, ast.Await)) for one in ast.walk(node))


def _no_eval(node: ast.Call, site: Site, page: Page) -> _Fix:
    if name_of_call(node) != "eval":
        return None
    text = f"ast.literal_eval({page.of(node.args[0])})"
    return [page.replace(node, text)], "a literal instead of any expression", "ast"


def _close(node: ast.AST, site: Site, page: Page) -> _Fix:
    """Replace constant credit by none."""
    if isinstance(node, ast.ExceptHandler) and site.suspicion.flaw == "fail_open_exception":
        fails = failing(site.scope, page)
        if fails is None:
            return None
        return [page.replace(node.body[0], f"return {fails}")], "an error earns nothing", ""
    if isinstance(node, ast.Call) and name_of_call(node) == "max":
        edits = [
            page.replace(one, "0.0")
            for one in node.args
            if isinstance(site.scope.constant(one), float)
        ]
        return edits, "no floor", ""
    text = _nothing(node)
    return None if text is None else ([page.replace(node, text)], "no credit here", "")


def _nothing(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return "INCORRECT" if node.id in ("CORRECT", "PARTIAL") else "0.0"
    if not isinstance(node, ast.Constant):
        return None
    if isinstance(node.value, str):
        return '"I"'
    return "False" if node.value is True else "0.0"


def _form(node: ast.AST, site: Site, page: Page) -> _Fix:
    edits: list[Edit] = []
    for credit in credits_of(site.scope):
        around = guards(credit.node, site.scope)
        if credit.value > 0 and around and around[0].test is node:
            text = _nothing(credit.node)
            if text is not None:
                edits.append(page.replace(credit.node, text))
    return (edits, "no credit for format alone", "") if edits else None


_Fixer = Callable[[Any, Site, Page], _Fix]
_ENDS: Mapping[type[ast.AST], _Fixer] = {ast.Call: _end, ast.Compare: _part}
_FIXERS: Mapping[str, Mapping[type[ast.AST], _Fixer]] = {
    "substring_match": {ast.Call: _searched, ast.Compare: _containment},
    "prefix_match": _ENDS,
    "suffix_match": _ENDS,
    "low_similarity": {ast.Call: _likeness},
    "order_ignored": {ast.Compare: _sets},
    "bag_of_words": {ast.Compare: _sets},
    "zip_truncation": {ast.Call: _lengths},
    "vacuous_truth": {ast.Call: _some},
    "nan_poisoning": {ast.AST: _finite},
    "unanchored_regex": {ast.Subscript: _first_match, ast.Call: _anchor},
    "always_equal_object": {ast.Compare: _exact_types},
    "eval_of_completion": {ast.Call: _no_eval},
    "fail_open_exception": {ast.AST: _close},
    "fail_open_branch": {ast.AST: _close},
    "fail_open_gold": {ast.AST: _close},
    "timeout_open": {ast.AST: _close},
    "degenerate_credit": {ast.AST: _close},
    "format_credit": {ast.AST: _form},
}
"""The fixers of each flaw, by the kind of node that is suspected."""
