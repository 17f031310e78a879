"""A weakening: one edit of a verifier that people make and that lets more completions through.

    for weakening in weakenings(source):
        weakening.operator, weakening.line, weakening.text

Covered: patterns, comparisons, conditions, values that are not compared or taken for granted, loops
over parts, exceptions, tolerances, text folding, cases of programs.
Not covered: two edits at once; verifiers that are no Python. An edit may change nothing that
matters, or break the verifier: `measure` keeps what is proven to be weaker.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from unhack.audit.hardening.edits import Change, apply
from unhack.audit.hardening.power import comparisons, conditions, missing_checks
from unhack.audit.hardening.site import EditSite, Found
from unhack.audit.search.mutation.operators import in_turn
from unhack.audit.subject import Source

_OPERATORS: Sequence[Callable[[EditSite], Iterator[Found]]] = (
    missing_checks.accept_any,
    missing_checks.reward_guard,
    missing_checks.seek_anywhere,
    missing_checks.any_of_many,
    missing_checks.default_answer,
    missing_checks.lose_distance,
    comparisons.unanchor,
    comparisons.loosen_call,
    comparisons.move_match,
    comparisons.contain,
    comparisons.reduce,
    comparisons.loosen_number,
    comparisons.widen,
    comparisons.fold,
    conditions.drop_operand,
    conditions.ignore_guard,
    conditions.quantify,
    conditions.ignore_error,
    conditions.fewer_cases,
    conditions.one_is_enough,
    conditions.crash_passes,
    missing_checks.drop_test,
    missing_checks.skip_parts,
    missing_checks.round_credit,
    missing_checks.drop_statement,
)


@dataclass(frozen=True, slots=True)
class Weakening:
    """An edit, and the verifier's text after it."""

    operator: str
    """Name of the kind of edit."""
    family: str
    """The flaw class that it makes, an id of `unhack.audit.report.flaws`."""
    line: int
    """Of the verifier's file, counted from 1."""
    text: str
    """The whole source after the edit."""


def weakenings(source: Source) -> list[Weakening]:
    """Every weakening of a source, a different text each, the kinds of operators in turn; none
    where it is no Python."""
    site = EditSite.of_source(source)
    if site is None:
        return []
    site.sort()
    seen = {ast.dump(site.tree)}
    kinds: list[list[Weakening]] = []
    for operator in _OPERATORS:
        by_name: dict[str, list[Weakening]] = defaultdict(list)
        for found in operator(site):
            made = _make(found, site, source)
            shape = "" if made is None else ast.dump(ast.parse(made.text))
            if made is not None and shape not in seen:
                seen.add(shape)
                by_name[made.operator].append(made)
        kinds.append(in_turn(list(by_name.values())))
    return in_turn(kinds)


def _make(found: Found, site: EditSite, source: Source) -> Weakening | None:
    places = ((found.node, found.text), *found.also)
    edits = tuple(site.page.replace(node, text) for node, text in places)
    text, done = apply(source.text, [Change(found.operator, edits)])
    line = int(getattr(found.place or found.node, "lineno", 1)) + source.first_line - 1
    return Weakening(found.operator, found.family, line, text) if done else None
