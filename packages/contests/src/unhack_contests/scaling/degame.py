"""A submission without what may have been gamed in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

from unhack.tournament.kit import Files, parse_python
from unhack_contests.scaling.honest import FILE
from unhack_contests.submission import files_of

_MANY = 12
"""Numbers in one literal, or characters in one string by tens: more is a table."""


def variants(folder: Path) -> Mapping[str, Files]:
    """`code_only`: no file but Python. `no_tables`: long literals emptied. Only what differs."""
    files = files_of(folder)
    code = {name: content for name, content in files.items() if name.endswith(".py")}
    plain = {name: _without_tables(content) for name, content in code.items()}
    found: dict[str, Files] = {"code_only": code, "no_tables": plain}
    return {how: variant for how, variant in found.items() if variant != files and FILE in variant}


class _Emptied(ast.NodeTransformer):
    def visit_List(self, node: ast.List) -> ast.expr:
        return ast.List([], node.ctx) if len(node.elts) >= _MANY else self.generic_visit(node)  # pyright: ignore[reportReturnType]

    def visit_Tuple(self, node: ast.Tuple) -> ast.expr:
        return ast.Tuple([], node.ctx) if len(node.elts) >= _MANY else self.generic_visit(node)  # pyright: ignore[reportReturnType]

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        return ast.Dict([], []) if len(node.keys) >= _MANY else self.generic_visit(node)  # pyright: ignore[reportReturnType]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        return node if isinstance(node.value, ast.Constant) else self.generic_visit(node)  # pyright: ignore[reportReturnType]

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if isinstance(node.value, (str, bytes)) and len(node.value) >= 10 * _MANY:
            return ast.Constant(type(node.value)())
        return node


def _without_tables(content: bytes) -> bytes:
    try:
        tree = parse_python(content)
    except (SyntaxError, ValueError):
        return content
    before = ast.unparse(tree)
    after = ast.unparse(ast.fix_missing_locations(_Emptied().visit(tree)))
    return content if before == after else after.encode() + b"\n"
