"""Edits of a source text that leave every other character as it is."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from unhack.audit.static_analysis.flow import Scope
from unhack.audit.static_analysis.labels import COMPLETION, VERDICTS, Function, name_of_call
from unhack.audit.static_analysis.outcome import SCORE_KEYS, credits_of
from unhack.audit.static_analysis.suspicions import Site
from unhack.audit.subject import tree_of

LAST_NUMBER = "last_number"
"""The need of an edit that calls this function."""
_LAST_NUMBER = '''\
def last_number(text):
    """The last number of a text; None where it has none."""
    found = re.findall(r"-?\\d+(?:\\.\\d+)?", str(text).replace(",", ""))
    return float(found[-1]) if found else None
'''


@dataclass(frozen=True)
class Edit:
    """Replaces the characters from `start` to `end`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Change:
    """Edits that belong together."""

    what: str
    """For people."""
    edits: tuple[Edit, ...]
    needs: str = ""
    """A module that must be imported."""
    flaw: str = ""
    """The flaw class that it is to close."""


class Page:
    """A source text with the places of its nodes."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.splitlines(keepends=True)
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line))

    def start(self, node: ast.AST) -> int:
        """Offset of a node's first character."""
        return self._offset(int(getattr(node, "lineno", 1)), int(getattr(node, "col_offset", 0)))

    def end(self, node: ast.AST) -> int:
        """Offset behind a node's last character."""
        line = getattr(node, "end_lineno", 1)
        return self._offset(int(line), int(getattr(node, "end_col_offset", 0)))

    def _offset(self, line: int, column: int) -> int:
        before = self._lines[line - 1].encode()[:column].decode()
        return self._starts[line - 1] + len(before)

    def of(self, node: ast.AST) -> str:
        """A node's own text."""
        return self.text[self.start(node) : self.end(node)]

    def replace(self, node: ast.AST, text: str) -> Edit:
        """A node replaced by text."""
        return Edit(self.start(node), self.end(node), text)

    def before(self, node: ast.stmt, lines: Sequence[str]) -> Edit | None:
        """Put statements before another; None where it does not begin its line."""
        at = self._starts[node.lineno - 1]
        indent = self.text[at : self.start(node)]
        if indent.strip() or self.text[self.start(node) :].startswith("elif"):
            return None
        return Edit(at, at, "".join(f"{indent}{line}\n" for line in lines))


def statement_of(node: ast.AST, scope: Scope, page: Page) -> ast.stmt | None:
    """The statement around a node before which others may be put."""
    parents = scope.flow.parents
    while node in parents and node is not scope.node:
        if isinstance(node, ast.stmt) and not page.text[page.start(node) :].startswith("elif"):
            return node
        node = parents[node]
    return None


def failing(scope: Scope, page: Page) -> str | None:
    """The value that the function returns for a wrong completion, as source text.

    None where it cannot return for one completion only, or gives no verdict.
    """
    if not isinstance(scope.node, Function) or scope.batch:
        return None
    values = [
        node.value
        for node in scope.nodes()
        if isinstance(node, ast.Return) and node.value is not None
    ]
    if not scope.root and COMPLETION in scope.returned and not scope.returned & VERDICTS:
        empty = [one for one in values if isinstance(one, ast.Constant) and not one.value]
        return page.of(empty[0]) if empty else None
    for credit in credits_of(scope):
        if credit.value <= 0 and isinstance(credit.statement, ast.Return):
            whole = credit.statement.value
            if whole is not None and _is_fixed(whole):
                return page.of(whole)
    for one in values:
        if isinstance(one, ast.Dict):
            keys = [key.value for key in one.keys if isinstance(key, ast.Constant)]
            named = [key for key in keys if key in SCORE_KEYS]
            return f"{{{named[0]!r}: 0.0}}" if named else None
        if isinstance(one, (ast.Tuple, ast.List)):
            return None
    truth = any(isinstance(one, (ast.Compare, ast.BoolOp)) or _is_bool(one) for one in values)
    return "False" if truth else "0.0"


def _is_fixed(node: ast.expr) -> bool:
    names = [one for one in ast.walk(node) if isinstance(one, (ast.Name, ast.IfExp))]
    return not names


def _is_bool(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return name_of_call(node) in ("all", "any", "bool", "isinstance")
    return isinstance(node, ast.Constant) and isinstance(node.value, bool)


def reject_before(site: Site, page: Page, condition: str) -> Edit | None:
    """A statement before that of the site that gives no credit when the condition holds."""
    statement = statement_of(site.node, site.scope, page)
    fails = failing(site.scope, page)
    if statement is None or fails is None:
        return None
    return page.before(statement, (f"if {condition}:", f"    return {fails}"))


def may_move_ahead(site: Site, nodes: Sequence[ast.AST]) -> bool:
    """Tell whether expressions may be evaluated ahead of the statement that they stand in."""
    parents = site.scope.flow.parents
    bound: set[str] = set()
    node = site.node
    while node in parents and not isinstance(node, ast.stmt):
        node = parents[node]
        if isinstance(node, ast.Lambda):
            return False
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp, ast.DictComp)):
            for part in node.generators:
                bound |= {one.id for one in ast.walk(part.target) if isinstance(one, ast.Name)}
    inside = [one for top in nodes for one in ast.walk(top)]
    used = {one.id for one in inside if isinstance(one, ast.Name)}
    odd = any(isinstance(one, (ast.NamedExpr, ast.Await, ast.Yield)) for one in inside)
    return not odd and not used & bound


def add_import(text: str, module: str) -> str:
    """The text with an import of a module, where it has none."""
    tree = ast.parse(text)
    for node in tree.body:
        names = node.names if isinstance(node, ast.Import) else []
        if any(one.name == module and one.asname in (None, module) for one in names):
            return text
    after = 0
    for at, node in enumerate(tree.body):
        docstring = at == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        future = isinstance(node, ast.ImportFrom) and node.module == "__future__"
        if not docstring and not future:
            break
        after = node.end_lineno or 0
    lines = text.splitlines(keepends=True)
    if after and not lines[after - 1].endswith("\n"):
        lines[after - 1] += "\n"
    return "".join([*lines[:after], f"import {module}\n", *lines[after:]])


def apply(text: str, changes: Sequence[Change]) -> tuple[str, list[Change]]:
    """The text after the changes that touch nothing in common and leave it a program."""
    done: list[Change] = []
    for change in changes:
        edits = [edit for one in done for edit in one.edits]
        if any(_collide(new, old) for new in change.edits for old in edits):
            continue
        if tree_of(_edit(text, [*edits, *change.edits])) is not None:
            done.append(change)
    text = _edit(text, list(dict.fromkeys(edit for one in done for edit in one.edits)))
    for module in dict.fromkeys(one.needs for one in done if one.needs):
        text = _with_last_number(text) if module == LAST_NUMBER else add_import(text, module)
    return text, done


def _with_last_number(text: str) -> str:
    """The text with that function before its first one."""
    text = add_import(text, "re")
    defined = [one for one in ast.parse(text).body if isinstance(one, Function | ast.ClassDef)]
    if not defined or any(one.name == LAST_NUMBER for one in defined):
        return text
    first = min(one.lineno for one in (defined[0], *defined[0].decorator_list)) - 1
    lines = text.splitlines(keepends=True)
    gap = "\n\n" if lines[first - 1 : first] and lines[first - 1].strip() else ""
    return "".join([*lines[:first], gap, _LAST_NUMBER, "\n\n", *lines[first:]])


def _collide(new: Edit, old: Edit) -> bool:
    if new == old:
        return False
    if new.start == new.end or old.start == old.end:
        return old.start < new.start < old.end or new.start < old.start < new.end
    return new.start < old.end and old.start < new.end


def _edit(text: str, edits: Sequence[Edit]) -> str:
    for edit in sorted(set(edits), key=lambda one: (one.start, one.end), reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text
