"""The syntax tree that is edited: nodes with their parents, names with what they are bound to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from unhack.audit.hardening.edits import Edit, Page
from unhack.audit.static_analysis.flow import Flow
from unhack.audit.static_analysis.labels import COMPLETION, GOLD, MANY, Function
from unhack.audit.subject import Source, tree_of

Made = tuple[ast.AST, list[Edit], str, str]
"""The node that is fixed, edits, what they do, and a module that they need."""


@dataclass(frozen=True, slots=True)
class Found:
    """An edit of one place that makes a verifier weaker."""

    operator: str
    family: str
    node: ast.AST
    text: str
    """The text that replaces the node."""
    place: ast.AST | None = None
    """The node whose line is told, where it is another one."""
    also: tuple[tuple[ast.AST, str], ...] = ()
    """Further nodes with their texts, replaced at once."""


_Node = TypeVar("_Node", bound=ast.AST)


@dataclass
class EditSite:
    """A parsed source, whose nodes know what they stand in."""

    page: Page
    tree: ast.Module
    entry: str = ""
    parents: dict[ast.AST, ast.AST] = field(init=False)
    nodes: list[ast.AST] = field(init=False)
    """Those that have a place in the text, outer ones first."""

    def __post_init__(self) -> None:
        self.nodes = [node for node in ast.walk(self.tree) if hasattr(node, "lineno")]
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    @staticmethod
    def of_source(source: Source) -> EditSite | None:
        """The site of a source; None where it is no Python."""
        tree = tree_of(source.text)
        return None if tree is None else EditSite(Page(source.text), tree, source.entry)

    def sort(self) -> None:
        """Order the nodes as they stand in the text."""
        self.nodes.sort(key=lambda node: (self.page.start(node), -self.page.end(node)))

    def places(self) -> Iterator[ast.AST]:
        """Every node but comparisons in the conditions of comprehensions: those choose what is
        compared and compare nothing themselves."""
        walked = [*ast.walk(self.tree)]
        tests = [
            test for node in walked if isinstance(node, ast.comprehension) for test in node.ifs
        ]
        choosing = {one for test in tests for one in self.inside(test, ast.Compare)}
        return (node for node in walked if node not in choosing)

    def every(self, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of a kind."""
        for node in self.nodes:
            if isinstance(node, kind):
                yield node

    def comparisons(
        self, *kinds: type[ast.cmpop]
    ) -> Iterator[tuple[ast.Compare, ast.expr, ast.expr]]:
        """The comparisons of two sides by one of the operators, each with its sides."""
        for node in self.every(ast.Compare):
            if len(node.ops) == 1 and isinstance(node.ops[0], kinds):
                yield node, node.left, node.comparators[0]

    def equalities(self) -> Iterator[tuple[ast.Compare, str, str, str]]:
        """The comparisons of two values for being the same: their texts, and the form of another
        test in its place."""
        for node, *sides in self.comparisons(ast.Eq, ast.NotEq):
            if not any(isinstance(one, ast.Constant) for one in sides):
                left, right = map(self.of, sides)
                yield node, left, right, "({})" if isinstance(node.ops[0], ast.Eq) else "(not ({}))"

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
                return pairs
        return []

    def _bound_before(self, node: ast.AST, home: ast.AST) -> set[str]:
        line = int(getattr(node, "lineno", 0))
        stored = {
            one.id
            for one in self.inside(home, ast.Name)
            if isinstance(one.ctx, ast.Store) and one.lineno < line
            if not self.is_in(one, ast.comprehension)
        }
        return stored | {one.arg for one in self.inside(home, ast.arg)}

    def is_in(self, node: ast.AST, *kinds: type[ast.AST]) -> bool:
        """Tell whether a node stands in one of the kinds."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, kinds):
                return True
        return False

    def after(self, node: ast.stmt, lines: list[str]) -> Edit | None:
        """Put statements behind another; None where it does not begin its line."""
        indent = self.page.text[: self.page.start(node)].rpartition("\n")[2]
        if indent.strip():
            return None
        text = "".join(f"\n{indent}{line}" for line in lines)
        at = self.page.end(node)
        return Edit(at, at, text)


def _one(labels: frozenset[str]) -> bool:
    return MANY not in labels
