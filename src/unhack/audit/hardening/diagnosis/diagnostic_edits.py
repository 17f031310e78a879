"""Diagnostic edits: edits of one place of a verifier, each with the flaw classes that it closes.

A diagnostic edit need not be a change that an author would make: it only shows, tried on a
completion, what lets it through. `causes` tries them; `fixes` makes those that are offered as a
fix.

Covered: comparisons, cleaning, orders, patterns, choices among matches, tolerances, evaluation;
credit (`credit_edits`). Not covered: flaws that are spread over places of several kinds.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from unhack.audit.hardening.diagnosis.credit_edits import credit_edits
from unhack.audit.hardening.diagnosis.part_edits import (
    BROAD,
    PLAIN,
    SEVERAL,
    WITHIN,
    Made,
    comprehension_edits,
    every_edits,
    pattern_edits,
    subscript_edits,
)
from unhack.audit.hardening.edits import Change, Edit, Page, apply
from unhack.audit.hardening.harden import changes
from unhack.audit.hardening.site import EditSite
from unhack.audit.static_analysis.labels import name_of_call
from unhack.audit.subject import Source

_MODULES = ("collections", "re")
_UNORDERED = frozenset({"sorted", "set", "frozenset", "Counter"})
_CLEANERS = frozenset({"replace", "translate", "strip", "lstrip", "rstrip", "lower", "upper"})
_SHARE = ("near_miss_credit", "low_similarity", "degenerate_credit")
_EVALUATED = ("eval_of_completion", "answer_evaluated", "unevaluated_restatement")
_CLEANED = ("over_normalisation", "unit_conflation", "sign_lost", "tokenisation_evasion")
_VAGUE = frozenset({"unanchored_regex"})
"""Classes that nearly every verifier is suspected of."""
_SHORT = ("prefix_match", "single_character", "suffix_match")
_PROXY = ("weak_proxy", "order_ignored", "bag_of_words", "over_normalisation", "problem_unbound")


@dataclass(frozen=True, slots=True)
class DiagnosticEdit:
    """An edit, and the verifier's text after it."""

    flaws: tuple[str, ...]
    """Classes that it closes, ids of `unhack.audit.report.flaws`, the likeliest first."""
    line: int
    """Of the verifier's file, counted from 1."""
    code: str
    """That line, without its indentation."""
    what: str
    """For people: what is done to it."""
    text: str
    """The whole source after the edit."""
    weight: float
    """By how much it says what the cause is."""
    spans: tuple[tuple[int, int], ...]
    """(first, last) line of each statement that it changes; (0, 0) outside of functions."""
    is_unchecked: bool = False
    """True for a suspected credit that nothing is checked for: right completions of some problems
    may live by it."""

    def may_matter(self, ran: frozenset[int]) -> bool:
        """Tell whether it changes something that runs where those lines of functions ran."""
        return not ran or any(
            last == 0 or any(first <= line <= last for line in ran) for first, last in self.spans
        )


@dataclass(frozen=True, slots=True)
class _Draft:
    line: int
    edits: tuple[Edit, ...]
    flaws: tuple[str, ...]
    what: str
    weight: float = PLAIN
    needs: str = ""
    is_unchecked: bool = False


def diagnostic_edits(source: Source) -> list[DiagnosticEdit]:
    """Every diagnostic edit of a source, a different text each; none where it is no Python.

    What is done to one place is also done to all places of the kind at once: often both sides of a
    comparison are cleaned alike.
    """
    site = EditSite.of_source(source)
    if site is None:
        return []
    drafts = list(_drafts(source, site))
    alike: dict[tuple[object, ...], list[_Draft]] = {}
    for draft in drafts:
        alike.setdefault((draft.flaws, draft.what, draft.needs), []).append(draft)
    for same in [group for group in alike.values() if len(group) > 1]:
        edits = tuple(dict.fromkeys(edit for one in same for edit in one.edits))
        drafts.append(replace(same[0], edits=edits))
    found: dict[str, DiagnosticEdit] = {}
    lines = source.text.splitlines()
    for one in drafts:
        text, done = apply(source.text, [Change(one.what, one.edits, one.needs)])
        if done and text != source.text:
            at = [one.line, *(source.text.count("\n", 0, edit.start) + 1 for edit in one.edits)]
            spans = tuple(_span(site.tree, line, source.first_line - 1) for line in at)
            made = DiagnosticEdit(
                one.flaws, one.line + source.first_line - 1, lines[one.line - 1].strip(), one.what,
                text, one.weight, spans, one.is_unchecked,
            )  # fmt: skip
            found.setdefault(text, made)
    return list(found.values())


def _drafts(source: Source, site: EditSite) -> Iterator[_Draft]:
    yield from (one for one in _suspected(source) if one.is_unchecked)
    for node in site.places():
        for place, edits, flaws, what, weight in _of_node(node, site.page, site.tree):
            needs = next((one for one in _MODULES if any(f"{one}." in e.text for e in edits)), "")
            line = int(getattr(place, "lineno", 1))
            yield _Draft(line, tuple(edits), flaws, what, weight, needs)
    yield from _suspected(source)


def _suspected(source: Source) -> Iterator[_Draft]:
    for change in changes(source):
        at = source.text.count("\n", 0, min(edit.start for edit in change.edits)) + 1
        flaw, what = change.flaw, change.what.rpartition("`: ")[2]
        weight, is_unchecked = BROAD if flaw in _VAGUE else PLAIN, flaw.startswith("fail_open")
        yield _Draft(at, change.edits, (flaw,), what, weight, change.needs, is_unchecked)


def _span(tree: ast.Module, line: int, shift: int) -> tuple[int, int]:
    """The lines of the innermost statement around a line; (0, 0) outside of functions."""
    found, inside = (0, 0), False
    for node in ast.walk(tree):  # outer nodes come first
        if not isinstance(node, ast.stmt) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        inside = inside or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        found = (node.lineno + shift, (node.end_lineno or 0) + shift)
    return found if inside else (0, 0)


def _of_node(node: ast.AST, page: Page, tree: ast.Module) -> Made:
    maker = _MAKERS.get(type(node))
    if maker is not None:
        yield from maker(node, page)
    yield from credit_edits(node, page, tree)


def _compare(node: ast.Compare, page: Page) -> Made:
    if len(node.ops) != 1:
        return
    operator, left, right = node.ops[0], node.left, node.comparators[0]
    one, other = page.of(left), page.of(right)
    if isinstance(operator, (ast.In, ast.NotIn)) and not isinstance(
        right, (ast.Tuple, ast.List, ast.Set, ast.Constant, ast.Dict)
    ):
        sign = "==" if isinstance(operator, ast.In) else "!="
        same = f"(str({one}).strip() {sign} str({other}).strip())"
        only, last = f"([{one}] {sign} list({other}))", f"([{one}] {sign} ({other}).split()[-1:])"
        yield node, [page.replace(node, same)], WITHIN, "equality", PLAIN
        yield node, [page.replace(node, only)], SEVERAL, "it must be the only one", PLAIN
        text = f"({one} {'in' if sign == '==' else 'not in'} ({other})[-1:])"
        yield node, [page.replace(node, text)], SEVERAL, "the last one counts", PLAIN
        yield node, [page.replace(node, last)], WITHIN, "the last word counts", PLAIN
    if isinstance(operator, (ast.Eq, ast.NotEq)):
        yield from _equality(node, page)
    if isinstance(operator, (ast.Lt, ast.LtE, ast.Gt, ast.GtE)):
        yield from _order(node, page)


def _equality(node: ast.Compare, page: Page) -> Made:
    left, right = node.left, node.comparators[0]
    one, sign = page.of(left), "==" if isinstance(node.ops[0], ast.Eq) else "!="
    if isinstance(left, ast.Call) and isinstance(right, ast.Call):
        name, same = name_of_call(left), page.of(left.func) == page.of(right.func)
        if same and len(left.args) == len(right.args) == 1:
            inner = [page.of(call.args[0]) for call in (left, right)]
            flaws, weight = _PROXY, BROAD
            if name == "bool":
                flaws, weight = ("string_truthiness",), PLAIN
            elif name == "len":
                flaws = ("weak_proxy", "length_padding")
            elif _is_checksum(name, page):
                weight = PLAIN
            bare = [f"''.join(str({one}).split()).lower()" for one in inner]
            text = f"({bare[0]} {sign} {bare[1]})"
            yield node, [page.replace(node, text)], flaws, f"without `{name}`", weight
    for side in (left, right):
        if isinstance(side, ast.Subscript) and isinstance(side.slice, (ast.Slice, ast.Constant)):
            both = [
                page.replace(part, page.of(part.value))
                for part in (left, right)
                if isinstance(part, ast.Subscript)
            ]
            yield node, both, _SHORT, "the whole instead of a part", PLAIN
            break
    if not isinstance(left, ast.Constant) and not isinstance(right, ast.Constant):
        if sign == "==":
            text = f"(({one}) not in (None, '', [], ()) and {page.of(node)})"
        else:
            text = f"(({one}) in (None, '', [], ()) or {page.of(node)})"
        flaws = ("fail_open_gold", "hollow_format")
        yield node, [page.replace(node, text)], flaws, "an empty answer does not count", PLAIN


def _is_checksum(name: str, page: Page) -> bool:
    """Tell whether a function of the module counts or adds up."""
    _, found, body = page.text.partition(f"def {name}(")
    return bool(found) and bool(re.search(r"\b(sum|len|ord|hash)\(", body.partition("\ndef ")[0]))


def _order(node: ast.Compare, page: Page) -> Made:
    left, right = node.left, node.comparators[0]
    one, other = page.of(left), page.of(right)
    fixed = isinstance(left, ast.Constant) or isinstance(right, ast.Constant)
    low = isinstance(node.ops[0], (ast.Lt, ast.LtE))
    difference = "abs(" in one or "abs(" in other
    if difference:
        within = low == ("abs(" in one)
        size, bound = (one, other) if "abs(" in one else (other, one)
        for text in ("1e-6", "1e-3"):
            new = f"({size} <= {text})" if within else f"(not {size} <= {text})"
            what = f"a tolerance of {text}"
            flaws = ("loose_tolerance", "near_miss_credit")
            yield node, [page.replace(node, new)], flaws, what, PLAIN
        if not within:
            new = f"(not {size} <= {bound})"
            what = "what is no number fails too"
            yield node, [page.replace(node, new)], ("nan_poisoning",), what, PLAIN
        return
    counted = [side for side in (left, right) if isinstance(side, ast.Call)]
    if not fixed:
        whole = f"({one} == {other})"
        what = "equality instead of a bound"
        yield node, [page.replace(node, whole)], ("one_sided_comparison", "hedging"), what, PLAIN
        for slack in ("1e-6", "0.1"):
            new = f"(abs(({one}) - ({other})) <= {slack})"
            yield node, [page.replace(node, new)], ("one_sided_comparison",), what, PLAIN
    elif any(name_of_call(call) == "len" for call in counted) and not low:
        new = page.of(node).replace(">=", "==")
        what = "exactly as many"
        yield node, [page.replace(node, new)], ("hedging", "one_sided_comparison"), what, PLAIN
    for side in (left, right):
        value = side.value if isinstance(side, ast.Constant) else None
        if isinstance(value, float) and 0.0 < value < 1.0:
            yield node, [page.replace(side, "1.0")], _SHARE, "nothing less than all", PLAIN


def _call(node: ast.Call, page: Page) -> Made:
    name = name_of_call(node)
    method = isinstance(node.func, ast.Attribute)
    if name in _UNORDERED and len(node.args) == 1 and not node.keywords:
        flaws = ("order_ignored", "bag_of_words", "weak_proxy")
        for made, what in (("list", "the order counts"), ("collections.Counter", "repeats count")):
            text = f"{made}({page.of(node.args[0])})"
            yield node, [page.replace(node, text)], flaws, what, PLAIN
    if method and name == "sort" and not node.args:
        yield node, [page.replace(node, "None")], ("order_ignored",), "the order counts", PLAIN
    if method and name in _CLEANERS and (node.args or name in ("lower", "upper")):
        assert isinstance(node.func, ast.Attribute)
        text = f"({page.of(node.func.value)})"
        yield node, [page.replace(node, text)], _CLEANED, f"without `{name}`", PLAIN
    if name == "sub" and method and len(node.args) >= 3:
        text = f"({page.of(node.args[2])})"
        yield node, [page.replace(node, text)], _CLEANED, "without `sub`", PLAIN
    if method and name in ("startswith", "endswith") and len(node.args) == 1:
        assert isinstance(node.func, ast.Attribute)
        text = f"(({page.of(node.func.value)}).strip() == ({page.of(node.args[0])}).strip())"
        flaws = ("prefix_match",) if name == "startswith" else ("suffix_match",)
        yield node, [page.replace(node, text)], flaws, "equality of the whole text", PLAIN
    if name in ("abs", "int", "round", "floor", "trunc", "ceil") and len(node.args) == 1:
        flaws = ("sign_lost",) if name == "abs" else ("over_normalisation",)
        text = f"({page.of(node.args[0])})" if name == "abs" else f"float({page.of(node.args[0])})"
        yield node, [page.replace(node, text)], flaws, f"without `{name}`", PLAIN
    if name in ("eval", "exec", "sympify", "parse_expr") and node.args:
        text = f"float({page.of(node.args[0])})"
        yield node, [page.replace(node, text)], _EVALUATED, "a number, not an expression", PLAIN
    if name == "zip" and len(node.args) == 2 and not node.keywords:
        end = page.end(node) - 1
        what = "both must be equally long"
        yield node, [Edit(end, end, ", strict=True")], ("zip_truncation",), what, PLAIN
    if name == "any" and len(node.args) == 1:
        yield node, [page.replace(node.func, "all")], SEVERAL, "every one must be right", PLAIN
    if name == "all" and len(node.args) == 1:
        yield from every_edits(node, page)
    yield from pattern_edits(node, page, name)


def _loop(node: ast.For, page: Page) -> Made:
    """A loop over what was found, any of which may be right."""
    if node.orelse or isinstance(node.iter, (ast.Tuple, ast.List)):
        return
    text = f"list({page.of(node.iter)})[-1:]"
    yield node, [page.replace(node.iter, text)], SEVERAL, "the last one counts", PLAIN


def _difference(node: ast.BinOp, page: Page) -> Made:
    """A difference whose sign counts."""
    sides = (node.left, node.right)
    if isinstance(node.op, ast.Sub) and not any(isinstance(one, ast.Constant) for one in sides):
        text = f"abs({page.of(node)})"
        flaws = ("one_sided_comparison", "unbounded_reward")
        yield node, [page.replace(node, text)], flaws, "misses on both sides count", PLAIN
    if isinstance(node.op, ast.BitAnd):
        calls = [one for one in sides if isinstance(one, ast.Call) and len(one.args) == 1]
        if len(calls) == 2:
            same = " == ".join(f"list({page.of(one.args[0])})" for one in calls)
            whole = page.of(node)
            text = f"({whole} if {same} else type({whole})())"
            flaws = ("bag_of_words", "order_ignored")
            yield node, [page.replace(node, text)], flaws, "every word at its place", PLAIN


_MAKERS: Mapping[type[ast.AST], Callable[[Any, Page], Made]] = {
    ast.Compare: _compare,
    ast.Call: _call,
    ast.Subscript: subscript_edits,
    ast.ListComp: comprehension_edits,
    ast.GeneratorExp: comprehension_edits,
    ast.SetComp: comprehension_edits,
    ast.BinOp: _difference,
    ast.For: _loop,
}
