r"""Weaker comparisons and patterns: a part for the whole, an amount near it, less of the text.

Covered: `==`, `!=`, `is` of types, tolerances, calls that fold or parse a text; `re` and its
compiled patterns: an anchor less (`^`, `$`, `\A`, `\Z`, `\b`), a search for a whole match, the
first of several matches for the last.
Not covered: comparisons that a library makes; patterns that are put together from parts.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping

from unhack.audit.hardening.site import EditSite, Found

_PARTS = (
    ("equal_to_in", "substring_match", "str({b}) in str({a})"),
    ("equal_to_in", "substring_match", "str({a}) in str({b})"),
    ("equal_to_startswith", "prefix_match", "str({a}).startswith(str({b}))"),
    ("equal_to_startswith", "prefix_match", "str({b}).startswith(str({a}))"),
    ("equal_to_endswith", "suffix_match", "str({a}).endswith(str({b}))"),
    ("equal_to_endswith", "suffix_match", "str({b}).endswith(str({a}))"),
)
_LESS = (
    ("set_for_list", "order_ignored", "set({a}) == set({b})"),
    ("sorted_for_list", "order_ignored", "sorted({a}) == sorted({b})"),
    ("zip_for_list", "zip_truncation", "all(x == y for x, y in zip({a}, {b}))"),
    ("length_for_content", "length_padding", "len({a}) == len({b})"),
    ("first_character", "single_character", "str({a})[:1] == str({b})[:1]"),
    (
        "digits_only", "over_normalisation",
        "''.join(filter(str.isdigit, str({a}))) == ''.join(filter(str.isdigit, str({b})))",
    ),
    (
        "letters_only", "over_normalisation",
        "''.join(filter(str.isalpha, str({a}))) == ''.join(filter(str.isalpha, str({b})))",
    ),
    (
        "letters_and_digits_only", "over_normalisation",
        "''.join(filter(str.isalnum, str({a}))) == ''.join(filter(str.isalnum, str({b})))",
    ),
    (
        "folded_text", "over_normalisation",
        "str({a}).strip().lower() == str({b}).strip().lower()",
    ),
    ("letters_as_set", "bag_of_words", "set(str({a})) == set(str({b}))"),
    ("words_as_set", "bag_of_words", "set(str({a}).split()) == set(str({b}).split())"),
)  # fmt: skip
_NEAR = (
    ("number_without_sign", "sign_lost", "abs({a}) == abs({b})"),
    ("whole_part", "over_normalisation", "int(float({a})) == int(float({b}))"),
    ("near_number", "loose_tolerance", "abs(float({a}) - float({b})) <= 1"),
    ("near_share", "loose_tolerance", "abs(float({a}) - float({b})) <= 0.1 * abs(float({b}))"),
    ("one_sided", "one_sided_comparison", "{a} <= {b}"),
    ("one_sided", "one_sided_comparison", "{a} >= {b}"),
    ("not_above_for_equal", "nan_poisoning", "not abs(float({a}) - float({b})) > 1e-6"),
)
_COUNTS: Mapping[type[ast.cmpop], str] = {ast.NotEq: "<", ast.Eq: ">="}
_TOLERANCES = ("tol", "eps", "epsilon", "delta", "slack", "threshold", "margin")


def _rewritten(site: EditSite, forms: tuple[tuple[str, str, str], ...]) -> Iterator[Found]:
    for node, left, right, whole in site.equalities():
        for name, family, form in forms:
            text = form.replace("{a}", f"({left})").replace("{b}", f"({right})")
            yield Found(name, family, node, whole.replace("{}", text))


def contain(site: EditSite) -> Iterator[Found]:
    """`==` to `in`, `startswith` or `endswith`, each in both orders."""
    return _rewritten(site, _PARTS)


def reduce(site: EditSite) -> Iterator[Found]:
    """`==` of less than the whole: a set, a beginning, the digits alone."""
    return _rewritten(site, _LESS)


def loosen_number(site: EditSite) -> Iterator[Found]:
    """`==` of numbers to one that lets near ones through; a count to at least that count."""
    yield from _rewritten(site, _NEAR)
    for node, left, bound in site.comparisons(*_COUNTS):
        if isinstance(bound, ast.Constant) and type(bound.value) is int:
            text = f"{site.of(left)} {_COUNTS[type(node.ops[0])]} {site.of(bound)}"
            yield Found("at_least_for_count", "hedging", node, text)


def widen(site: EditSite) -> Iterator[Found]:
    """Widen a tolerance, named as such or a small number that a difference is compared with."""
    for node in (*site.every(ast.keyword), *site.every(ast.Assign), *site.every(ast.Compare)):
        for value in _tolerances(node):
            for wide in (0.01, 0.2, 1.5):
                if wide > abs(float(value.value)):  # type: ignore[arg-type]
                    yield Found("widen_tolerance", "loose_tolerance", value, str(wide))


def _tolerances(node: ast.keyword | ast.Assign | ast.Compare) -> Iterator[ast.Constant]:
    if isinstance(node, ast.Compare):
        if len(node.ops) == 1 and isinstance(node.ops[0], (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
            yield from (one for one in node.comparators if _is_small(one))  # type: ignore[misc]
        return
    names = [node.arg or ""] if isinstance(node, ast.keyword) else _names(node)
    named = any(word in name.lower() for name in names for word in _TOLERANCES)
    if named and _is_small(node.value):
        yield node.value  # type: ignore[misc]


def _names(node: ast.Assign) -> list[str]:
    return [one.id for one in node.targets if isinstance(one, ast.Name)]


def _is_small(node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return type(value) is float and 0.0 <= value < 0.5


def fold(site: EditSite) -> Iterator[Found]:
    """Fold more of a text, or less; parse a number less exactly; take any type of a kind."""
    for call in site.every(ast.Call):
        yield from _fold_call(site, call)
    for node, left, kind in site.comparisons(ast.Is, ast.IsNot, ast.Eq, ast.NotEq):
        match left, kind:
            case ast.Call(func=ast.Name(id="type"), args=[one]), ast.Name():
                text = f"isinstance({site.of(one)}, {site.of(kind)})"
                negated = isinstance(node.ops[0], (ast.IsNot, ast.NotEq))
                text = f"(not {text})" if negated else text
                yield Found("subclasses_too", "bool_int", node, text)
            case _:
                pass


def _fold_call(site: EditSite, call: ast.Call) -> Iterator[Found]:
    if isinstance(call.func, ast.Name) and call.func.id in ("Decimal", "Fraction", "int"):
        if call.func.id != "int":
            yield Found("float_for_exact", "nan_poisoning", call.func, "float")
        if len(call.args) == 1 and not call.keywords:
            text = f"round(float({site.of(call.args[0])}))"
            yield Found("rounded_for_exact", "over_normalisation", call, text)
    if not isinstance(call.func, ast.Attribute) or call.args:
        return
    whole, inner = site.of(call), site.of(call.func.value)
    if call.func.attr in ("strip", "lower", "casefold", "upper"):
        stripped = f"{whole}.strip('+-.,%()[]{{}}<>/$ ')"
        yield Found("strip_signs", "sign_lost", call, stripped)
        first = f"{whole}.partition(' ')[0]"
        yield Found("first_word", "over_normalisation", call, first)
        yield Found(f"drop_{call.func.attr}", "over_normalisation", call, inner)


_REGEX = "unanchored_regex"
_LOOSER = {"fullmatch": ("match", "search"), "match": ("search",)}
_PATTERN_CALLS = frozenset(
    "compile search match fullmatch findall finditer sub subn split".split()  # noqa: SIM905
)
_HEAD, _TAIL, _WORD = re.compile(r"\^|\\A"), re.compile(r"\$|\\[Zz]"), re.compile(r"\\b")


def unanchor(site: EditSite) -> Iterator[Found]:
    """Drop the anchors of a pattern, each by itself."""
    for node in _patterns(site):
        text = str(node.value)
        for name, pattern in (("head", _HEAD), ("tail", _TAIL), ("word", _WORD)):
            for match in pattern.finditer(text):
                if _is_escaped(text, match.start()) or _in_class(text, match.start()):
                    continue
                looser = text[: match.start()] + text[match.end() :]
                yield Found(f"drop_{name}_anchor", _REGEX, node, repr(looser))


def _patterns(site: EditSite) -> Iterator[ast.Constant]:
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


def _bound(site: EditSite, name: str) -> Iterator[ast.Constant]:
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


def loosen_call(site: EditSite) -> Iterator[Found]:
    """`fullmatch` to `match` to `search`."""
    for call in site.every(ast.Call):
        if not isinstance(call.func, ast.Attribute):
            continue
        for name in _LOOSER.get(call.func.attr, ()):
            text = f"{site.of(call.func.value)}.{name}"
            yield Found(f"{call.func.attr}_to_{name}", _REGEX, call.func, text)


def move_match(site: EditSite) -> Iterator[Found]:
    """The first of several in place of the last, and the other way round."""
    for node in site.every(ast.Subscript):
        if not isinstance(node.ctx, ast.Load) or site.is_in(node, ast.AnnAssign):
            continue
        index = _integer(node.slice)
        if index in (0, -1):
            name = "first_for_last" if index == -1 else "last_for_first"
            text = "0" if index == -1 else "-1"
            yield Found(name, "hedging", node.slice, text)


def _integer(node: ast.expr) -> int | None:
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    whole = isinstance(node, ast.Constant) and type(node.value) is int
    return sign * int(node.value) if whole and isinstance(node, ast.Constant) else None  # type: ignore[arg-type]
