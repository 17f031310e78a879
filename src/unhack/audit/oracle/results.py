"""The comparison of two results of programs: what may mean the same is never called an error.

Covered: list or tuple, 1 or 1.0 or True, floats within 1e-6, a value or its text, the order of
items unless the prompt speaks of order; prompts that allow several results.
Not covered: results of other types, which are the same where they are equal.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any, cast

from unhack.core.plain import to_builtins

_ORDER = re.compile(r"\b(order|sorted|sort|ascending|descending|sequence|first|index|indices)\b")
_ANY_ORDER = re.compile(r"\b(any|whatever|no particular) order\b")
_SEVERAL = re.compile(
    r"\bany (?:valid|possible|correct|suitable|such|one of|of (?:them|these|those|the))\b"
    r"|\bany (?:\w+ )?(?:will do|is (?:fine|accepted|allowed|enough))\b|\bnot (?:be )?unique\b"
    r"|\b(?:multiple|several|more than one|many) (?:valid |possible |correct )*"
    r"(?:answer|solution|result|output)s?\b",
    re.IGNORECASE,
)
SEVERAL_RIGHT = (
    "the prompt allows several results, so a program cannot be compared with a correct one; name a "
    "file with --oracle that defines is_wrong(prompt, completion, answer)"
)
"""Advice for a problem with several right results and no checker."""
_STRUCTURE = re.compile(
    r"\b(?:sorted|ascending|descending|increasing|decreasing|ordered|distinct|unique|different"
    r"|duplicates?|repeat\w*|permutation|sets?)\b",
    re.IGNORECASE,
)
"""Words of prompts that say how the items of a list are to each other."""
_NUMBERS = (bool, int, float)
_ROWS = (list, tuple)


def has_several(prompt: str) -> bool:
    """Tell whether a prompt says that several results are right."""
    return _SEVERAL.search(prompt) is not None


def cares_for_order(prompt: str) -> bool:
    """Tell whether a prompt speaks of the order of things."""
    text = prompt.lower()
    return bool(_ORDER.search(text)) and not _ANY_ORDER.search(text)


def may_be_free(prompt: str, results: Sequence[Any]) -> bool:
    """Tell whether inputs that keep all that the known ones have in common are too narrow: on all
    of them the right result is the same, and a prompt that is silent about the structure of lists,
    or asks to tell it, allows others."""
    if not results or len(set(map(repr, results))) > 1:
        return False
    return isinstance(results[0], bool) or _STRUCTURE.search(prompt) is None


def judge_of(wanted: Any, prompt: str) -> Callable[[Any], bool]:
    """The test that a result passes which may mean the same as the wanted one; where several are
    right, one of the same kind."""
    if has_several(prompt):
        return lambda value: same_kind(to_builtins(value), wanted)
    loose = not cares_for_order(prompt)
    return lambda value: may_mean(to_builtins(value), wanted, loose=loose)


def may_mean(value: Any, wanted: Any, *, loose: bool) -> bool:
    """As `alike`, or one is the text of the other: who prints a result sees no difference."""
    if alike(value, wanted, loose=loose):
        return True
    if isinstance(value, str) and not isinstance(wanted, str):
        return value.strip() in (str(wanted), repr(wanted))
    return isinstance(wanted, str) and not isinstance(value, str) and wanted.strip() == str(value)


def same_kind(left: Any, right: Any) -> bool:
    """Tell whether two results are of one kind: both numbers, both rows, or of one type."""
    for kinds in (_NUMBERS, _ROWS):
        if isinstance(left, kinds) and isinstance(right, kinds):
            return True
    return isinstance(left, type(cast("object", right)))


def alike(left: Any, right: Any, *, loose: bool) -> bool:
    """Tell whether two values may mean the same; `loose` forgives the order of items."""
    if isinstance(left, (bool, int, float)) and isinstance(right, (bool, int, float)):
        return _near(left, right)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        ours, theirs = list(cast("Any", left)), list(cast("Any", right))
        if len(ours) != len(theirs):
            return False
        if all(alike(a, b, loose=loose) for a, b in zip(ours, theirs, strict=True)):
            return True
        return loose and _without_order(ours) == _without_order(theirs)
    if isinstance(left, (set, frozenset)) and isinstance(right, (set, frozenset)):
        return set(cast("set[Any]", left)) == set(cast("set[Any]", right))
    if isinstance(left, dict) and isinstance(right, dict):
        ours, theirs = cast("dict[Any, Any]", left), cast("dict[Any, Any]", right)
        return ours.keys() == theirs.keys() and all(
            alike(ours[key], theirs[key], loose=loose) for key in ours
        )
    return isinstance(right, type(cast("object", left))) and bool(left == right)


def _without_order(value: Any) -> str:
    """The text of a value, with the items of every list in it sorted."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(sorted(map(_without_order, cast('list[Any]', value))))}]"
    return repr(value)


def _near(left: float, right: float) -> bool:
    try:
        if math.isnan(left) or math.isnan(right):
            return math.isnan(left) and math.isnan(right)
        return left == right or math.isclose(left, right, rel_tol=1e-6, abs_tol=1e-6)
    except OverflowError:
        return False
