"""The syntax tree that is weakened, and edits as an operator finds them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from unhack.audit.hardening.edits import Page

_Node = TypeVar("_Node", bound=ast.AST)


@dataclass(frozen=True, slots=True)
class Found:
    """An edit of one place."""

    operator: str
    family: str
    line: int
    """Of the text, counted from 1."""
    edits: tuple[tuple[int, int, str], ...]
    """(start, end, text) that replaces the characters from start to end."""


@dataclass
class PowerSite:
    """A parsed source, whose nodes know what they stand in."""

    page: Page
    tree: ast.Module
    parents: dict[ast.AST, ast.AST] = field(init=False)
    _nodes: list[ast.AST] = field(init=False)

    def __post_init__(self) -> None:
        self._nodes = sorted(
            (node for node in ast.walk(self.tree) if hasattr(node, "lineno")),
            key=lambda node: (self.page.start(node), -self.page.end(node)),
        )
        self.parents = {
            child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)
        }

    def every(self, kind: type[_Node]) -> Iterator[_Node]:
        """The nodes of a kind, in the order of the text."""
        for node in self._nodes:
            if isinstance(node, kind):
                yield node

    def of(self, node: ast.AST) -> str:
        """A node's own text, which may be put in other places."""
        return self.page.of(node)

    def replaced(self, node: ast.AST, text: str, *, operator: str, family: str) -> Found:
        """A node replaced by text."""
        edit = (self.page.start(node), self.page.end(node), text)
        return Found(operator, family, int(getattr(node, "lineno", 1)), (edit,))

    def is_in(self, node: ast.AST, *kinds: type[ast.AST]) -> bool:
        """Tell whether a node stands in one of the kinds."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, kinds):
                return True
        return False
