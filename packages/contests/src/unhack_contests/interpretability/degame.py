"""A submission without what it may have been given: tables emptied, extra files removed.

Covered: containers of numbers or texts in any Python file, whether at the top or inside, and texts
that are JSON of such a container.
Not covered: numbers hidden in code.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files, parse_python
from unhack_contests.submission import files_of

_TABLE = 4
"""A literal with so many constants is a table; settings and roles are single constants."""


def variants(folder: Path) -> Mapping[str, Files]:
    """`tables emptied` and `extra files removed`, where they differ from what is there."""
    whole = files_of(folder)
    emptied = {
        name: _emptied(data) if name.endswith(".py") else data for name, data in whole.items()
    }
    alone = {name: data for name, data in whole.items() if name == "solution.py"}
    found: dict[str, Files] = {"tables emptied": emptied, "extra files removed": alone}
    return {name: files for name, files in found.items() if files != whole}


def _emptied(data: bytes) -> bytes:
    try:
        tree = parse_python(data)
    except (SyntaxError, ValueError):
        return data
    changed = _Emptier()
    tree = changed.visit(tree)
    return ast.unparse(tree).encode() if changed.count else data


class _Emptier(ast.NodeTransformer):
    def __init__(self) -> None:
        self.count = 0

    def visit_List(self, node: ast.List) -> ast.expr:
        return self._empty(node, ast.List([], ast.Load()))

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return self._empty(node, ast.Tuple([], ast.Load()))

    def visit_Set(self, node: ast.Set) -> ast.expr:
        return self._empty(node, ast.Call(ast.Name("set", ast.Load()), [], []))

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        return self._empty(node, ast.Dict([], []))

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        text = node.value if isinstance(node.value, str) else ""
        if text.strip()[:1] not in ("{", "[") or not _is_table(text):
            return node
        self.count += 1
        empty = "{}" if text.strip()[0] == "{" else "[]"
        return ast.copy_location(ast.Constant(empty), node)

    def _empty(self, node: ast.expr, empty: ast.expr) -> ast.expr:
        if _constants(node) >= _TABLE:
            self.count += 1
            return ast.copy_location(empty, node)
        self.generic_visit(node)
        return node


def _is_table(text: str) -> bool:
    """Tell whether a text is JSON of a table."""
    try:
        json.loads(text)
        [node] = parse_python(text.strip()).body
        return isinstance(node, ast.Expr) and _constants(node.value) >= _TABLE
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return False


def _constants(node: ast.expr) -> int:
    """Numbers, and texts longer than a word, of a literal; 0 for what is computed."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return 0
    return sum(
        isinstance(item, ast.Constant)
        and (isinstance(item.value, (int, float)) or len(str(item.value)) > 16)
        for item in ast.walk(node)
    )
