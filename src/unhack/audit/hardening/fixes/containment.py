"""Fixes of an answer that is sought in a text: nothing beside it, or only what is no answer.

Covered: `in`, `re.search` of an escaped answer, beginnings and ends.
Not covered: patterns that are put together from several parts.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from unhack.audit.hardening.edits import LAST_NUMBER
from unhack.audit.hardening.site import EditSite, Made
from unhack.audit.static_analysis.labels import calls_of, name_of_call

FEW_WORDS = "few other words"
START, END = r"(?<![\w.\u2212-])", r"(?:\.0*)?[\s.!*$)}]*"
"""Patterns of what may stand before an answer, and of what may follow one."""


def same_last_number(one: str, other: str) -> str:
    """The test that two texts end with the same number; needs `LAST_NUMBER`."""
    return f"{LAST_NUMBER}({one}) == {LAST_NUMBER}({other})"


def folded(text: str) -> str:
    """The expression of a text without white space and case."""
    return f'"".join(str({text}).split()).casefold()'


def containment_fixes(site: EditSite) -> Iterator[Made]:
    """Fixes of every place that seeks an answer in a text."""
    for node, *_ in site.comparisons(ast.In, ast.NotIn):
        yield from _membership(site, node)
    for node in site.every(ast.Call):
        sought = _sought(site, node)
        if sought is not None:
            yield from _ladder(site, node, sought)
        if isinstance(node.func, ast.Attribute) and len(node.args) == 1:
            base, given = site.of(node.func.value), site.of(node.args[0])
            if node.func.attr in ("startswith", "endswith"):
                yield from _end(site, node, (base, given))


def _membership(site: EditSite, node: ast.Compare) -> Iterator[Made]:
    within, negated = node.comparators[0], isinstance(node.ops[0], ast.NotIn)
    same = "!=" if negated else "=="
    left = site.of(node.left)
    if isinstance(within, ast.Tuple | ast.List | ast.Set):
        for one in within.elts:
            if not isinstance(one, ast.Constant):
                text = f"{left} {same} {site.of(one)}"
                yield site.made(node, text, what="only the answer itself")
        return
    if isinstance(within, ast.Constant | ast.Dict) or isinstance(node.left, ast.Constant):
        return
    right = site.of(within)
    alone = "it alone, and nothing beside it"
    yield site.made(node, f"set({right}) {same} {{{left}}}", what=alone)
    yield site.made(node, f"[{left}] {same} list({right})", what=alone)
    source = site.bound(within)
    if isinstance(source, ast.Call):
        inner = source
        if name_of_call(source) in ("set", "list", "tuple") and len(source.args) == 1:
            inner = source.args[0]
        word = "not in" if negated else "in"
        text = f"{left} {word} list({site.of(inner)})[-1:]"
        yield site.made(node, text, what="the last one counts")
    yield from _ladder(site, node, (left, right))


def _ladder(site: EditSite, node: ast.expr, pair: tuple[str, str]) -> Iterator[Made]:
    """The same test, and one more."""
    sought, text = pair
    whole = site.of(node)
    negated = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn)
    more = (
        (same_last_number(text, sought), "its last number must be the answer's", LAST_NUMBER),
        (f"len(str({text}).split()) <= len(str({sought}).split()) + 2", FEW_WORDS, ""),
        (
            f'bool(re.search(r"(?<!\\w)" + re.escape({sought}) + r"(?!\\w)", {text}))',
            "it counts as a whole word",
            "re",
        ),
        (
            f"{folded(sought)} == {folded(text)}",
            "equality instead of containment, white space and case apart",
            "",
        ),
    )
    for test, what, needs in more:
        new = f"({whole} or not {test})" if negated else f"({whole} and {test})"
        yield site.made(node, new, what=what, needs=needs)


def _sought(site: EditSite, node: ast.Call) -> tuple[str, str] | None:
    """(answer, text) where an escaped answer is searched in a text."""
    if name_of_call(node) not in ("search", "match", "findall") or len(node.args) < 2:
        return None
    pattern = site.bound(node.args[0]) or node.args[0]
    calls = calls_of(ast.walk(pattern), "escape")
    escaped = [one.args[0] for one in calls if len(one.args) == 1]
    if len(escaped) != 1:
        return None
    return site.of(escaped[0]), site.of(node.args[1])


def _end(site: EditSite, node: ast.Call, pair: tuple[str, str]) -> Iterator[Made]:
    base, given = pair
    whole = site.of(node)
    for one in pair:
        yield site.made(node, f"(bool({one}) and {whole})", what="it must not be empty")
    assert isinstance(node.func, ast.Attribute)
    edge = (
        f're.match(re.escape({given}) + r"(?!\\w)", {base})'
        if node.func.attr == "startswith"
        else f're.search(r"(?<!\\w)" + re.escape({given}) + r"\\Z", {base})'
    )
    text = f"(bool({given}) and bool({edge}))"
    yield site.made(node, text, what="whole words alone", needs="re")
    for test, needs in (
        (same_last_number(base, given), LAST_NUMBER),
        (f"len({base}) <= len({given}) + 2", ""),
    ):
        yield site.made(node, f"({whole} and {test})", what="nothing beside it", needs=needs)
