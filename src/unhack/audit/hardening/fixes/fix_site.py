"""The syntax tree that is fixed: nodes with their parents, names with what they are bound to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from unhack.audit.hardening.edits import Edit, Page
from unhack.audit.static_analysis.flow import Flow
from unhack.audit.static_analysis.labels import COMPLETION, GOLD, MANY, Function

Made = tuple[ast.AST, list[Edit], str, str]
"""The node that is fixed, edits, what they do, and a module that they need."""

_Node = TypeVar("_Node", bound=ast.AST)


@dataclass
class FixSite:
    """A parsed source."""

    page: Page
    tree: ast.Module
    entry: str = ""
    parents: dict[ast.AST, ast.AST] = field(init=False)
    _nodes: list[ast.AST] = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    def every(self, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of a kind."""
        for node in self._nodes:
            if isinstance(node, kind):
                yield node

    def of(self, node: ast.AST) -> str:
        """A node's own text."""
        return self.page.of(node)

    def made(self, node: ast.AST, text: str, *, what: str, needs: str = "") -> Made:
        """The fix that replaces a node by text."""
        return node, [self.page.replace(node, text)], what, needs

    def function_of(self, node: ast.AST) -> ast.AST:
        """The function around a node, or the module."""
        while node in self.parents and not isinstance(node, Function):
            node = self.parents[node]
        return node

    def inside(self, node: ast.AST, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of a kind in another node."""
        for one in ast.walk(node):
            if isinstance(one, kind):
                yield one

    def statement_of(self, node: ast.AST) -> ast.stmt | None:
        """The statement that a node stands in."""
        while node in self.parents and not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node if isinstance(node, ast.stmt) else None

    def bound(self, name: ast.AST) -> ast.expr | None:
        """The value that a name was last assigned before it is used; in its function, or at all."""
        if not isinstance(name, ast.Name):
            return None
        line = name.lineno
        for home in (self.function_of(name), self.tree):
            values = [
                one.value
                for one in self.inside(home, ast.Assign)
                for target in one.targets
                if isinstance(target, ast.Name) and target.id == name.id
                if one.lineno < line or home is self.tree
            ]
            if values:
                return values[-1]
        return None

    def sides(self, node: ast.AST) -> list[tuple[str, str]]:
        """(name of a text of the completion, name of the answer) bound before a node, last first.

        Names that hold many values are left out.
        """
        home = self.function_of(node)
        flow = Flow(self.tree, self.entry)
        for scope in flow.scopes:
            if scope.node is not home:
                continue
            said = [name for name, has in scope.names.items() if COMPLETION in has and _one(has)]
            gold = [name for name, has in scope.names.items() if GOLD in has and _one(has)]
            bound = self._bound_before(node, home)
            pairs = [
                (one, other)
                for one in reversed(said)
                for other in reversed(gold)
                if one != other and {one, other} <= bound
            ]
            if pairs:
                return pairs[:3]
        return []

    def _bound_before(self, node: ast.AST, home: ast.AST) -> set[str]:
        line = int(getattr(node, "lineno", 0))
        stored = {
            one.id
            for one in self.inside(home, ast.Name)
            if isinstance(one.ctx, ast.Store) and one.lineno < line
            if not self._in_comprehension(one)
        }
        return stored | {one.arg for one in self.inside(home, ast.arg)}

    def _in_comprehension(self, node: ast.AST) -> bool:
        while node in self.parents and not isinstance(node, ast.stmt):
            node = self.parents[node]
            if isinstance(node, ast.comprehension):
                return True
        return False

    def margin(self, node: ast.stmt) -> str | None:
        """The white space before a statement; None where it does not begin its line."""
        start = self.page.start(node)
        begin = self.page.text.rfind("\n", 0, start) + 1
        indent = self.page.text[begin:start]
        return None if indent.strip() else indent

    def after(self, node: ast.stmt, lines: list[str]) -> Edit | None:
        """Put statements behind another; None where it does not begin its line."""
        indent = self.margin(node)
        if indent is None:
            return None
        text = "".join(f"\n{indent}{line}" for line in lines)
        at = self.page.end(node)
        return Edit(at, at, text)


def _one(labels: frozenset[str]) -> bool:
    return MANY not in labels
