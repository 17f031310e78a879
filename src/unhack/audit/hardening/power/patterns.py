r"""Weaker patterns: an anchor less, a search for a whole match, another of several matches.

Covered: `re` and its compiled patterns; `^`, `$`, `\A`, `\Z`, `\b`; the first and last of a list.
Not covered: patterns that are put together from parts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from unhack.audit.hardening.power.site import Found, PowerSite

_REGEX = "unanchored_regex"
_LOOSER = {"fullmatch": ("match", "search"), "match": ("search",)}
_PATTERN_CALLS = frozenset(
    "compile search match fullmatch findall finditer sub subn split".split()  # noqa: SIM905
)
_HEAD, _TAIL, _WORD = re.compile(r"\^|\\A"), re.compile(r"\$|\\[Zz]"), re.compile(r"\\b")


def unanchor(site: PowerSite) -> Iterator[Found]:
    """Drop the anchors of a pattern, each by itself."""
    for node in _patterns(site):
        text = str(node.value)
        for name, pattern in (("head", _HEAD), ("tail", _TAIL), ("word", _WORD)):
            for match in pattern.finditer(text):
                if _is_escaped(text, match.start()) or _in_class(text, match.start()):
                    continue
                looser = text[: match.start()] + text[match.end() :]
                yield site.replaced(
                    node, repr(looser), operator=f"drop_{name}_anchor", family=_REGEX
                )


def _patterns(site: PowerSite) -> Iterator[ast.Constant]:
    for call in site.every(ast.Call):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
        first = call.args[0] if call.args else None
        if name not in _PATTERN_CALLS or not isinstance(call.func, ast.Attribute):
            continue
        module = isinstance(call.func.value, ast.Name) and call.func.value.id in ("re", "regex")
        if module and isinstance(first, ast.Name):
            yield from _bound(site, first.id)
        elif module and isinstance(first, ast.Constant) and isinstance(first.value, str):
            yield first


def _bound(site: PowerSite, name: str) -> Iterator[ast.Constant]:
    for node in site.every(ast.Assign):
        named = any(isinstance(one, ast.Name) and one.id == name for one in node.targets)
        if named and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


def _is_escaped(text: str, at: int) -> bool:
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _in_class(text: str, at: int) -> bool:
    """Tell whether a place lies between the brackets of a set of characters."""
    inside = False
    for place, sign in enumerate(text[:at]):
        if sign == "[" and not inside and not _is_escaped(text, place):
            inside = True
        elif sign == "]" and inside and not _is_escaped(text, place):
            inside = False
    return inside


def loosen_call(site: PowerSite) -> Iterator[Found]:
    """`fullmatch` to `match` to `search`."""
    for call in site.every(ast.Call):
        if not isinstance(call.func, ast.Attribute):
            continue
        for name in _LOOSER.get(call.func.attr, ()):
            text = f"{site.of(call.func.value)}.{name}"
            yield site.replaced(
                call.func, text, operator=f"{call.func.attr}_to_{name}", family=_REGEX
            )


def move_match(site: PowerSite) -> Iterator[Found]:
    """The first of several in place of the last, and the other way round."""
    for node in site.every(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or site.is_in(node, ast.AnnAssign):
            continue
        index = _integer(node.slice)
        if index in (0, -1):
            name = "first_for_last" if index == -1 else "last_for_first"
            text = "0" if index == -1 else "-1"
            yield site.replaced(node.slice, text, operator=name, family="hedging")


def _integer(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    whole = isinstance(node, ast.Constant) and type(node.value) is int
    return sign * int(node.value) if whole and isinstance(node, ast.Constant) else None  # type: ignore[arg-type]
