"""Small fixes of any line: stricter wherever a construct of this kind stands.

`harden` fixes the lines that static analysis suspects; here every construct that is often too
lenient is a candidate. A candidate proves nothing: `rounds` keeps one only where it closes a proven
hole and no right answer loses any part of its score.

Covered: containment, comparisons of sets and numbers, tolerances, choices of one match out of
several, alternatives, normalisation, types, `all`, `any` and `zip`, denominators; patterns that
stand as one literal in a call of `re`: anchors, the last match, signs, what may follow.
Not covered: f-strings and patterns that are put together; flaws whose fix needs more than one
expression.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import Any

from unhack.audit.hardening.edits import Change, Edit, Page
from unhack.audit.hardening.fixes.containment import END, START, containment_fixes, folded
from unhack.audit.hardening.fixes.credit import credit_fixes
from unhack.audit.hardening.fixes.parts import part_fixes
from unhack.audit.hardening.site import EditSite, Made
from unhack.audit.static_analysis.labels import calls_of, name_of_call
from unhack.audit.subject import Source

_TOLERANCES = ("1e-6", "1e-4", "1e-2")
_NAMES_OF_TOLERANCES = ("tol", "eps", "precision", "margin", "relative", "slack", "delta", "digits")
_CLEANERS = frozenset(
    {"lower", "upper", "casefold", "replace", "strip", "lstrip", "rstrip", "translate", "title"}
)
_NUMBER, _WORD = r"[-+]?\d+(?:\.\d+)?", r"\w+"

_Fix = Iterator[tuple[list[Edit], str, str]]
"""Edits, what they do, and a module that they need."""


def fixes(source: Source) -> tuple[Change, ...]:
    """Every fix of the text of a source; none where it is no Python."""
    site = EditSite.of_source(source)
    lines = source.text.splitlines()
    found: list[Change] = []
    for node, edits, what, needs in _made(site) if site is not None else ():
        line = int(getattr(node, "lineno", 1))
        found.append(Change(f"`{lines[line - 1].strip()}`: {what}", tuple(edits), needs))
    return tuple(dict.fromkeys(found))


def _made(site: EditSite) -> Iterator[Made]:
    for node in site.places():
        maker = _MAKERS.get(type(node))
        for edits, what, needs in maker(node, site.page) if maker is not None else ():
            yield node, edits, what, needs
    for make in (part_fixes, credit_fixes, containment_fixes):
        yield from make(site)


def _comparison(node: ast.Compare, page: Page) -> _Fix:
    if len(node.ops) != 1:
        return
    operator, left, right = node.ops[0], node.left, node.comparators[0]
    if isinstance(operator, ast.In | ast.NotIn):
        yield from _containment(node, page)
    if isinstance(operator, ast.LtE | ast.GtE) and not _constant(left) and not _constant(right):
        equal = f"{page.of(left)} == {page.of(right)}"
        yield [page.replace(node, equal)], "equality instead of a part", ""
    if isinstance(operator, ast.GtE) and name_of_call(left) == "len":
        equal = f"{page.of(left)} == {page.of(right)}"
        yield [page.replace(node, equal)], "exactly as many", ""
    if isinstance(operator, ast.Gt | ast.GtE) and not _constant(left):
        sign = "<=" if isinstance(operator, ast.Gt) else "<"
        text = f"(not {page.of(left)} {sign} {page.of(right)})"
        yield [page.replace(node, text)], "what is no number fails too", ""
    if isinstance(left, ast.Call) and isinstance(right, ast.Call):
        yield from _same_function(node, page)
    for side in (left, right):
        if isinstance(side, ast.Constant) and isinstance(side.value, float) and 0 < side.value < 1:
            yield [page.replace(side, "1.0")], "nothing less than all of it", ""
    ends = [
        (page.replace(one, page.of(one.func.value)), one.func.attr)
        for one in (left, right)
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        if one.func.attr in _CLEANERS
    ]
    if len(ends) == 2 and ends[0][1] == ends[1][1]:
        yield [edit for edit, _ in ends], f"without `{ends[0][1]}`", ""
    for side, other in ((left, right), (right, left)):
        if _constant(side) and "abs(" in page.of(other):
            yield from _tighter(side, page)


def _containment(node: ast.Compare, page: Page) -> _Fix:
    if isinstance(node.comparators[0], ast.Tuple | ast.List | ast.Set | ast.Constant | ast.Dict):
        return
    same, within = "==", "in"
    if isinstance(node.ops[0], ast.NotIn):
        same, within = "!=", "not in"
    left, right = page.of(node.left), page.of(node.comparators[0])
    if not isinstance(node.comparators[0], ast.Name | ast.Attribute | ast.Call | ast.Subscript):
        right = f"({right})"
    signs = f'{left} {same} {right}.strip(" .,:;!*$\\n\'")'
    for text in (f"{left} {same} {right}", f"{left} {same} {right}.strip()", signs):
        yield [page.replace(node, text)], "equality instead of containment", ""
    text = f"str({left}).strip() {same} str({right}).strip()"
    yield [page.replace(node, text)], "equality instead of containment", ""
    ways = {
        f"{right}[-1:]": "the last one counts",
        f"{right}.split()[-1:]": "the last word counts",
        f"{right}.strip().splitlines()[-1:]": "the last line counts",
    }
    for end, what in ways.items():
        yield [page.replace(node, f"{left} {within} {end}")], what, ""
    for pattern, what in ((_NUMBER, "the last number counts"), (_WORD, "the last word counts")):
        last = f'{left} {within} re.findall(r"{pattern}", {right})[-1:]'
        yield [page.replace(node, last)], what, "re"
        last = last.replace(f", {right})", f', {right}.split("</")[0])')
        yield [page.replace(node, last)], f"{what}, before a closing tag", "re"
    if same == "==":
        end = f'bool(re.search(r"{START}" + re.escape({left}) + r"{END}\\Z", {right}))'
        yield [page.replace(node, end)], "the answer must stand at the end", "re"
        alone = f'bool(re.fullmatch(r"[\\s$+(]*" + re.escape({left}) + r"{END}", {right}))'
        yield [page.replace(node, alone)], "nothing else may stand beside it", "re"


def _same_function(node: ast.Compare, page: Page) -> _Fix:
    """Compare two arguments themselves in place of what one function makes of both."""
    left, right = node.left, node.comparators[0]
    if not isinstance(left, ast.Call) or not isinstance(right, ast.Call):
        return
    same = page.of(left.func) == page.of(right.func) and isinstance(left.func, ast.Name)
    if not same or name_of_call(left) == "len" or len(left.args) != 1 or len(right.args) != 1:
        return
    what = f"without `{page.of(left.func)}`"
    for end in ("", ".split()"):
        edits = [page.replace(one, f"{page.of(one.args[0])}{end}") for one in (left, right)]
        yield edits, what if not end else f"{what}, word by word", ""
    first, second = (folded(page.of(one.args[0])) for one in (left, right))
    sign = "==" if isinstance(node.ops[0], ast.Eq) else "!="
    text = f"({first} {sign} {second})"
    yield [page.replace(node, text)], "the texts, white space and case apart", ""


def _call(node: ast.Call, page: Page) -> _Fix:
    name = name_of_call(node)
    yield from pattern_fixes(node, page)
    if isinstance(node.func, ast.Attribute) and name in _CLEANERS:
        if name in ("strip", "lstrip", "rstrip") and not node.args:
            return
        yield [page.replace(node, page.of(node.func.value))], f"without `{name}`", ""
        if name == "strip":
            bare = f"{page.of(node.func)}()"
            yield [page.replace(node, bare)], "only white space is taken off", ""
    if isinstance(node.func, ast.Attribute) and len(node.args) == 1 and not node.keywords:
        base, given = page.of(node.func.value), page.of(node.args[0])
        if name in ("startswith", "endswith"):
            equal = f"({base} == {given})"
            yield [page.replace(node, equal)], "equality of the whole text", ""
        if name == "startswith":
            alone = f'bool(re.fullmatch(re.escape({given}) + r"{END}", {base}))'
            yield [page.replace(node, alone)], "nothing else may follow", "re"
        if name == "endswith":
            alone = f'bool(re.search(r"{START}" + re.escape({given}) + r"\\Z", {base}))'
            yield [page.replace(node, alone)], "it must begin where the answer begins", "re"
        if name in ("issubset", "issuperset"):
            yield [page.replace(node, f"({base} == set({given}))")], "equal sets", ""
    if name in ("abs", "round", "int") and node.args:
        inner = node.args[0]
        if name != "int" or name_of_call(inner) == "float":
            yield [page.replace(node, f"({page.of(inner)})")], f"without `{name}`", ""
    if name == "isinstance" and len(node.args) == 2 and isinstance(node.args[1], ast.Name):
        exact = f"(type({page.of(node.args[0])}) is {page.of(node.args[1])})"
        yield [page.replace(node, exact)], "the exact type counts", ""
    if name == "eval" and node.args:
        yield from _evaluation(node, page)
    for keyword in node.keywords:
        if keyword.arg in ("rel_tol", "abs_tol", "rtol", "atol", "tolerance", "tol"):
            yield from _tighter(keyword.value, page)
            if isinstance(keyword.value, ast.Name):
                for text in _TOLERANCES:
                    yield [page.replace(keyword.value, text)], f"a tolerance of {text}", ""
    if name == "zip" and len(node.args) == 2 and not node.keywords:
        more = Edit(page.end(node) - 1, page.end(node) - 1, ", strict=True")
        yield [more], "both must be equally long", ""
    if name in ("all", "any", "max") and len(node.args) == 1:
        yield from _quantifier(node, page)


def _evaluation(node: ast.Call, page: Page) -> _Fix:
    given = page.of(node.args[0])
    literal = page.replace(node, f"ast.literal_eval({given})")
    yield [literal], "a literal instead of any expression", "ast"
    yield [page.replace(node, f"float({given})")], "a number instead of any expression", ""
    fraction = page.replace(node, f"fractions.Fraction({given})")
    yield [fraction], "a fraction instead of any expression", "fractions"


def _quantifier(node: ast.Call, page: Page) -> _Fix:
    """Fixes of `all`, `any` and `max` over one loop."""
    made = node.args[0]
    if not isinstance(made, ast.GeneratorExp | ast.ListComp) or len(made.generators) != 1:
        return
    loop = made.generators[0]
    over, whole = page.of(loop.iter), page.of(node)
    if name_of_call(node) in ("any", "max"):
        last = f"{over}[-1:]" if not isinstance(loop.iter, ast.GeneratorExp) else ""
        if last and isinstance(loop.iter, ast.Name | ast.Call | ast.Attribute):
            yield [page.replace(loop.iter, last)], "the last one counts", ""
        return
    if not isinstance(loop.iter, ast.Name | ast.Attribute):
        return
    yield [page.replace(node, f"(len({over}) > 0 and {whole})")], "there must be something", ""
    others = {
        page.of(one.value)
        for one in ast.walk(made)
        if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)
    } - {over}
    for other in sorted(others):
        keys = f"({over}.keys() == {other}.keys() and {whole})"
        yield [page.replace(node, keys)], "exactly the same keys", ""
    tests = [made.elt, *loop.ifs]
    for test in tests:
        if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In):
            other = page.of(test.comparators[0])
            size = f"(len({over}) == len({other}) and {whole})"
            yield [page.replace(node, size)], "exactly as many", ""
            target = page.of(loop.target)
            parts = f"sorted({page.of(test.left)} for {target} in {over})"
            text = f"({parts} == sorted({other}))"
            yield [page.replace(node, text)], "every one, each as often", ""


def _alternatives(node: ast.BoolOp, page: Page) -> _Fix:
    if not isinstance(node.op, ast.Or):
        return
    for left_out in reversed(node.values):
        kept = " or ".join(page.of(one) for one in node.values if one is not left_out)
        text = kept if len(node.values) == 2 else f"({kept})"
        yield [page.replace(node, text)], f"without the alternative `{page.of(left_out)}`", ""


def _part(node: ast.Subscript, page: Page) -> _Fix:
    """Fixes of an index or a slice: the last for the first, the whole for a part."""
    if not isinstance(node.ctx, ast.Load):
        return
    if isinstance(node.slice, ast.Constant) and node.slice.value in (0, 1):
        yield [page.replace(node.slice, "-1")], "the last one counts", ""
    if isinstance(node.slice, ast.Slice):
        yield [page.replace(node, page.of(node.value))], "the whole instead of a part", ""


def _division(node: ast.BinOp, page: Page) -> _Fix:
    """Let a share be taken of the longer of two lists that `zip` pairs."""
    if not isinstance(node.op, ast.Div):
        return
    zipped = calls_of(ast.walk(ast.parse(page.text)), "zip")
    names = {page.of(one) for call in zipped for one in call.args if isinstance(one, ast.Name)}
    for size in calls_of(ast.walk(node.right), "len"):
        own = page.of(size.args[0]) if size.args else ""
        for other in sorted(names - {own}) if own in names else ():
            text = f"max({page.of(size)}, len({other}))"
            yield [page.replace(size, text)], "a share of the longer one", ""


def _constants(node: ast.Assign, page: Page) -> _Fix:
    """Fixes of a named tolerance."""
    [target, *_] = node.targets
    if isinstance(target, ast.Name) and any(
        part in target.id.lower() for part in _NAMES_OF_TOLERANCES
    ):
        yield from _tighter(node.value, page)


def _tighter(node: ast.expr, page: Page) -> _Fix:
    if not isinstance(node, ast.Constant) or type(node.value) not in (int, float):
        return
    for text in _TOLERANCES:
        if float(text) < float(page.of(node).replace("_", "")):
            yield [page.replace(node, text)], f"a tolerance of {text}", ""


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


_MAKERS: dict[type[ast.AST], Callable[[Any, Page], _Fix]] = {
    ast.Compare: _comparison,
    ast.Call: _call,
    ast.BoolOp: _alternatives,
    ast.Subscript: _part,
    ast.BinOp: _division,
    ast.Assign: _constants,
}


_READS = frozenset({"search", "match", "findall", "finditer", "fullmatch", "compile"})
_LITERAL = re.compile(r"([rR]?)('''|\"\"\"|'|\")(.*)\2", re.DOTALL)


def pattern_fixes(node: ast.Call, page: Page) -> Iterator[tuple[list[Edit], str, str]]:
    """Fixes of one call, the smallest first: edits, what they do, and what must be imported."""
    name = name_of_call(node)
    if name not in _READS or not node.args:
        return
    if name in ("search", "match") and isinstance(node.func, ast.Attribute):
        at = page.end(node.func)
        whole = Edit(at - len(name), at, "fullmatch")
        yield [whole], "the whole text must match", ""
        if len(node.args) >= 2:
            text = node.args[1]
            stripped = page.replace(text, f"{page.of(text)}.strip()")
            yield [whole, stripped], "the whole text must match", ""
    literal = node.args[0]
    if not isinstance(literal, ast.Constant) or not isinstance(literal.value, str):
        return
    written = _LITERAL.fullmatch(page.of(literal))
    if written is None:
        return
    raw, quote, pattern = written.groups()
    for new, what in _patterns(pattern if raw else pattern.replace("\\\\", "\\"), name):
        if new == pattern or not _compiles(new):
            continue
        text = new if raw else new.replace("\\", "\\\\")
        yield [page.replace(literal, f"{raw}{quote}{text}{quote}")], what, ""


def _patterns(pattern: str, name: str) -> Iterator[tuple[str, str]]:
    end = r"\s*\Z"
    anchored = pattern.endswith(("$", r"\Z"))
    body = pattern.removesuffix("$").removesuffix(r"\Z")
    if not anchored:
        yield pattern + end, "nothing may follow"
        yield pattern + r"[\s.]*\Z", "nothing may follow"
        if r"\d" in pattern and r"\." not in pattern:
            yield pattern + r"(?:\.0*)?[\s.]*\Z", "nothing may follow but zeros behind a point"
            yield pattern + r"(?:\.0*)?(?!(?s:.*)\d)", "no other number may follow"
        if r"\d" in pattern:
            yield pattern + r"(?!(?s:.*)\d)", "no other number may follow"
    alternatives = pattern.startswith("^") and anchored and "|" in pattern
    if alternatives:
        yield f"^(?:{body[1:]})$", "both anchors hold for every alternative"
    if name in ("search", "compile") and not pattern.startswith(("^", r"\A")):
        yield rf"(?s:.*){pattern}", "the last match counts"
        if not anchored:
            yield rf"(?s:.*){pattern}{end}", "the last match counts, and nothing may follow"
            yield rf"\A\s*{pattern}{end}", "the whole text must match"
    at = pattern.find(r"\d")
    if at >= 0 and pattern[:at][-2:] not in ("-?", "]?") and pattern[:at][-1:] not in (".", "["):
        yield f"{pattern[:at]}-?{pattern[at:]}", "the sign counts"
        yield rf"{pattern[:at]}(?<![\w.-]){pattern[at:]}", "a number counts from its beginning"
    if at >= 0 and not anchored:
        yield rf"{pattern}(?![.,]?\d)", "a number counts to its end"
        yield rf"{pattern}(?![\w.,]*\d)", "a number counts to its end"


def _compiles(pattern: str) -> bool:
    try:
        re.compile(pattern)
    except (re.error, RecursionError):
        return False
    return True
