"""Columns that a function reads and that no row gives.

    needed_columns(subject)     {"verification_info": ("language", "test_cases")}

Covered: parameters without a default, names that are taken out of `**kwargs`, keys that the module
looks up in a column of that name. Not covered: keys that are computed, and files.
"""

from __future__ import annotations

import ast
from typing import Any, cast

from unhack.audit.static_analysis.labels import lookups
from unhack.audit.subjects.call_plans import value_for
from unhack.audit.subjects.function_subject import FunctionSubject

_OF_FRAMEWORK = frozenset(
    """trainer_state log_extra log_metric environments completion_ids prompt_ids parser state task
    trace prompts prompt judge data_source num_turns""".split()  # noqa: SIM905
)
"""Values that a framework brings and no row has."""
_MOST_KEYS = 8


def needed_columns(subject: FunctionSubject) -> dict[str, tuple[str, ...]]:
    """Columns that the first row lacks, each with the keys that are looked up in it."""
    shape = subject.signature
    if subject.script is not None or not subject.problems:
        return {}
    row, keys = subject.problems[0], _keys_by_owner(subject.target.defined_in.tree)
    found: dict[str, tuple[str, ...]] = {}
    for name in dict.fromkeys((*shape.positional, *shape.keywords, *sorted(shape.columns))):
        if name in _OF_FRAMEWORK or shape.role_of(name) or name in row.extra:
            continue
        held = _held(value_for(shape, row, name))
        missing = tuple(key for key in keys.get(name, ()) if key not in held)[:_MOST_KEYS]
        if missing or (held is _NOTHING and name in shape.required | shape.columns):
            found[name] = missing
    return found


def needed_text(subject: FunctionSubject) -> str:
    """The same in words, without an end; empty where nothing is missing."""
    columns = [
        f"{name!r}" + (f" with {', '.join(map(repr, keys))}" if keys else "")
        for name, keys in needed_columns(subject).items()
    ]
    return f"it reads {' and '.join(columns)}, which no row has" if columns else ""


_NOTHING: dict[str, Any] = {}


def _held(item: list[Any] | None) -> dict[str, Any]:
    """The dict that a parameter is given, empty for another value; `_NOTHING` for nothing."""
    if item is None:
        return _NOTHING
    value = item[-1]
    if isinstance(value, list) and value:
        value = cast("list[Any]", value)[0]
    return dict(cast("dict[str, Any]", value)) if isinstance(value, dict) else {}


def _keys_by_owner(tree: ast.AST) -> dict[str, list[str]]:
    """Literal keys that are looked up, by the name of what holds them."""
    found: dict[str, list[str]] = {}
    for read, key in lookups(ast.walk(tree)):
        owner = read
        while isinstance(owner, ast.Subscript):  # a batch's first
            owner = owner.value
        if isinstance(owner, ast.Name) and key not in found.setdefault(owner.id, []):
            found[owner.id].append(key)
    return found
