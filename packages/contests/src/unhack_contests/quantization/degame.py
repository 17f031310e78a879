"""Takes out of a submission what games its measurement: the variants of the seed's table.

Covered: named constants that scale logits, long literal texts, tables and caches by their names.
Not covered: the same things under names that say nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path

from unhack.tournament.kit import Files, parse_python
from unhack_contests.quantization.data import text
from unhack_contests.submission import files_of

_SCALES = re.compile(r"(?i)(logit.*(scale|temp)|^temperature$|(scale|temp).*logit)")
_TABLES = re.compile(r"(?i)(cache|lookup|answers?|known|exact|memor|table)")
_TEXTS = re.compile(r"(?i)(calib|eval|held.?out|passages?|texts?$)")
_LONG = 200
Edit = Callable[[str, ast.expr], ast.expr | None]


def variants(folder: Path) -> dict[str, Files]:
    """Change -> the files with that change; only variants that differ from the submission."""
    files = files_of(folder)
    edits: dict[str, tuple[Edit, ...]] = {
        "logit scale stripped": (_unscaled,),
        "calibration swapped": (_swapped,),
        "tables dropped": (_emptied,),
        "all of it": (_unscaled, _swapped, _emptied),
    }
    found: dict[str, Files] = {}
    for done, which in edits.items():
        changed = {name: _edited(name, data, which) for name, data in files.items()}
        if changed != files:
            found[done] = changed
    return found


def _edited(name: str, data: bytes, edits: tuple[Edit, ...]) -> bytes:
    if not name.endswith(".py"):
        return data
    try:
        tree = parse_python(data)
    except (SyntaxError, ValueError):
        return data
    changed = False
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
            continue
        for edit in edits:
            value = edit(node.targets[0].id, node.value)
            if value is not None:
                node.value, changed = value, True
    return (ast.unparse(ast.fix_missing_locations(tree)) + "\n").encode() if changed else data


def _unscaled(name: str, value: ast.expr) -> ast.expr | None:
    number = isinstance(value, ast.Constant) and isinstance(value.value, float | int)
    plain = number and isinstance(value, ast.Constant) and value.value == 1.0
    return ast.Constant(1.0) if number and not plain and _SCALES.search(name) else None


def _swapped(name: str, value: ast.expr) -> ast.expr | None:
    """Another text of the same length in the place of a long literal one."""
    if not isinstance(value, ast.Constant) or not _TEXTS.search(name):
        return None
    match value.value:
        case bytes() as data if len(data) >= _LONG:
            return ast.Constant(_other(len(data)))
        case str() as words if len(words) >= _LONG:
            return ast.Constant(_other(len(words)).decode("latin-1"))
        case _:
            return None


def _emptied(name: str, value: ast.expr) -> ast.expr | None:
    if not _TABLES.search(name):
        return None
    match value:
        case ast.Dict(keys=keys) if keys:
            return ast.Dict([], [])
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items) if len(items) > 8:
            return ast.List([], ast.Load())
        case ast.Constant(value=bytes() as data) if len(data) >= _LONG:
            return ast.Constant(b"")
        case ast.Constant(value=str() as words) if len(words) >= _LONG:
            return ast.Constant("")
        case _:
            return None


def _other(size: int) -> bytes:
    given = text.given()
    return (given[len(given) // 2 :] * (size // len(given) + 2))[:size]
