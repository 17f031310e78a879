"""Fixes of regular expressions: anchors, the last match, signs, what may follow.

Covered: patterns that stand as one literal in a call of `re`.
Not covered: f-strings, patterns that are put together.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from unhack.audit.hardening.edits import Edit, Page
from unhack.audit.static_analysis.calls import name_of_call

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
