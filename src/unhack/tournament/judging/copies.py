"""Submissions that are the same program, up to names, comments and layout.

    same(mine, theirs)

Python is compared as its tree, C token by token. A name that the program gives itself (a variable,
function, argument, class, own module, macro) stands for its first place; the names of libraries,
constants and texts count. Docstrings, annotations and statements without effect do not.

Covered: renamed, reformatted, commented copies, renamed files, JSON in another layout.
Not covered: copies that were rewritten, or whose parts stand in another order: those differ. So
does every change of a number, a text, an operator: a small improvement is no copy.
"""

from __future__ import annotations

import ast
import contextlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

from unhack.core.parsing import parse_python
from unhack.tournament.contest import Files
from unhack.tournament.scan.reading.csource import CToken, tokens

_C = (".c", ".h", ".cu", ".cuh", ".cpp", ".cc")
_NOTES = (".md", ".txt", ".rst")
_TYPES = frozenset(
    """void char short int long float double signed unsigned const volatile restrict static inline
    struct union enum _Bool bool size_t ssize_t half __restrict __restrict__ auto register extern
    typedef""".split()  # noqa: SIM905
)
_LENGTH = 1 << 20
_Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def same(mine: Files, theirs: Files) -> bool:
    """Tell whether two submissions are one program. Notes are not looked at."""
    return _normal(mine) == _normal(theirs)


def _normal(files: Files) -> list[str]:
    code = {path: data for path, data in files.items() if not path.endswith(_NOTES)}
    trees: dict[str, ast.Module] = {}
    for path, data in code.items():
        if path.endswith(".py") and len(data) <= _LENGTH:
            with contextlib.suppress(SyntaxError, ValueError, RecursionError, MemoryError):
                trees[path] = parse_python(data)
    own = {path.rpartition("/")[2].removesuffix(".py") for path in trees}
    own.update(name for tree in trees.values() for name in _bound(tree))
    found: list[str] = []
    for path, data in code.items():
        try:
            found.append(repr(_python(trees[path], own) if path in trees else _other(path, data)))
        except RecursionError:
            found.append(repr(data))
    return sorted(found)


def _other(path: str, data: bytes) -> Any:
    if path.endswith(_C) and len(data) <= _LENGTH:
        return _c_words(tokens(data.decode("latin-1")))
    if path.endswith(".json") and len(data) <= _LENGTH:
        with contextlib.suppress(ValueError):
            return json.dumps(json.loads(data), sort_keys=True)
    return data


class _Numbers:
    """Own names by the order in which they come in their scope; names of libraries by what they
    stand for."""

    def __init__(
        self,
        own: Iterable[str],
        aliases: Mapping[str, str] | None = None,
        outer: _Numbers | None = None,
    ) -> None:
        self._own, self._aliases = set(own), dict(aliases or {})
        self._outer = outer
        self.top: _Numbers = outer.top if outer else self
        self._numbers: dict[str, str] = {}
        self._sign = f"{outer._sign}#" if outer else "#"

    def of(self, name: str) -> str:
        if name in self._aliases:
            return self._aliases[name]
        if name not in self._own:
            return self._outer.of(name) if self._outer else name
        return self._numbers.setdefault(name, f"{self._sign}{len(self._numbers)}")

    def within(self, function: _Function) -> _Numbers:
        """The names in a function: its own, then those around it."""
        return _Numbers(_local(function), outer=self)


def _python(tree: ast.Module, own: set[str]) -> Any:
    aliases: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            whence = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
            for item in node.names:
                if item.asname and whence.rstrip(".") not in own and item.name not in own:
                    aliases[item.asname] = whence + item.name if whence else item.name
    return _tree(tree, _Numbers(own - set(aliases), aliases))


def _bound(tree: ast.Module) -> Iterable[str]:
    """Names that the program gives."""
    for node in ast.walk(tree):
        yield from _bound_here(node)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def _bound_here(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.ClassDef(name=name):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            yield name
        case ast.ExceptHandler(name=str() as name):
            yield name
        case _:
            pass


def _tree(node: Any, names: _Numbers) -> Any:
    """A node as nested lists."""
    if isinstance(node, list):
        every = cast("list[Any]", node)
        return [_tree(item, names) for item in every if not _idle(item)]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Import | ast.ImportFrom):
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        return [names.of(module), sorted(names.of(item.name) for item in node.names)]
    if isinstance(node, ast.Global | ast.Nonlocal):
        return [type(node).__name__, *map(names.of, node.names)]
    found: list[Any] = [type(node).__name__]
    inner = names.within(node) if isinstance(node, _Function) else names
    for field, value in _fields(node).items():
        scope = inner if field in ("args", "body") else names
        if isinstance(value, str) and not isinstance(node, ast.Constant):
            # attributes and arguments by keyword are named in another scope
            scope = names.top if isinstance(node, ast.Attribute | ast.keyword) else scope
            found.append([field, scope.of(value)])
        else:
            found.append([field, _tree(value, scope)])
    return found


def _local(function: _Function) -> set[str]:
    """The names that a function gives, not those that functions within it give."""
    given = {one.arg for one in ast.walk(function.args) if isinstance(one, ast.arg)}
    shared: set[str] = set()
    left: list[ast.AST] = [function.body] if isinstance(function, ast.Lambda) else [*function.body]
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            given.add(node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            shared.update(node.names)
        elif not isinstance(node, ast.Lambda):
            given.update(_bound_here(node))
            left += ast.iter_child_nodes(node)
    return given - shared


def _fields(node: ast.AST) -> Mapping[str, Any]:
    """The fields of a node that count."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return {"target": node.target, "value": node.value}
    left_out = {"annotation", "returns", "type_comment", "ctx", "kind", "type_ignores"}
    return {field: value for field, value in ast.iter_fields(node) if field not in left_out}


def _idle(node: Any) -> bool:
    """Tell whether a statement does nothing."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _c_words(read: list[CToken]) -> list[str]:
    names = _Numbers(_declared(read))
    found: list[str] = []
    for token in read:
        if token.kind == "directive":
            found += [names.of(inner.text) for inner in tokens(token.text.lstrip("#"))]
        else:
            found.append(names.of(token.text) if token.kind == "word" else token.text)
    return found


def _declared(read: list[CToken]) -> Iterable[str]:
    """Names behind a type, also further ones of a list, and of macros."""
    listing = False
    for at, token in enumerate(read):
        if token.kind == "directive":
            words = token.text.lstrip("# \t").replace("(", " ").split()
            if words[:1] == ["define"] and len(words) > 1:
                yield words[1]
            continue
        if token.text in (";", "{", "}", "("):
            listing = False
        if token.kind != "word" or _is_type(token.text):
            continue
        before = at - 1
        while before > 0 and read[before].text == "*":
            before -= 1
        if before >= 0 and read[before].kind == "word" and _is_type(read[before].text):
            listing = True
            yield token.text
        elif listing and read[before].text == ",":
            yield token.text


def _is_type(word: str) -> bool:
    return word in _TYPES or word.endswith("_t") or word.startswith("__m")
