"""Calls of public functions to try on both sides of a commit, found by reading alone.

    found = find_calls(parts)         # ("shapes.core", "area(3, 5)"), …

Calls with literal arguments are taken from the code, its docs and the tests as they stand; literals
that stand near such calls, or in the code itself, are put in as arguments; then single literals are
changed a little.

Covered: functions and classes at the top of the changed modules and of those that import them,
chains of calls on their results. Not covered: arguments that are objects of other packages.
"""

from __future__ import annotations

import ast
import copy
import doctest
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice, product, zip_longest
from typing import Any

from unhack.environments.sources.mining.commit_parts import CommitParts
from unhack.environments.sources.mining.paths import PathKind, kind_of, module_of

MOST_CALLS = 4000
"""Calls that are tried for one commit."""
_MOST_EACH = 600
_MOST_LITERALS = 60
_MOST_CHARS = 160
_DOCS = (".md", ".rst", ".txt")
Call = tuple[str, str]
"""Module, and the text of a call in it."""
_Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(slots=True)
class _Target:
    """A public name, what is called with it, and literals that stand near."""

    module: str
    node: ast.stmt
    changed: bool
    calls: dict[str, None] = field(default_factory=dict[str, None])
    literals: dict[str, None] = field(default_factory=dict[str, None])


def find_calls(parts: CommitParts) -> list[Call]:
    """The calls, those of changed functions first and all functions in turn."""
    targets = _targets(parts)
    for tree in _trees(parts):
        for node in [*tree.body, *(one for top in tree.body for one in ast.iter_child_nodes(top))]:
            _collect(node, targets)
    made = [
        [(target.module, text) for text in _varied(name, target)]
        for name, target in sorted(targets.items(), key=lambda item: not item[1].changed)
    ]
    turns = (one for turn in zip_longest(*made) for one in turn if one is not None)
    return list(islice(dict.fromkeys(turns), MOST_CALLS))


def near_calls(calls: Sequence[Call]) -> list[Call]:
    """The same calls with one literal changed a little."""
    made = [(module, text) for module, call in calls for text in _mutations(call, ())]
    return [one for one in dict.fromkeys(made) if len(one[1]) <= _MOST_CHARS][:MOST_CALLS]


def _targets(parts: CommitParts) -> dict[str, _Target]:
    """Public names of the changed modules, and of those that import from them."""
    after = {path: data.decode(errors="replace") for path, data in parts.after().items()
             if kind_of(path) is PathKind.CODE}  # fmt: skip
    changed = [path for path in parts.reference if path in after and path in parts.files]
    words = {module_of(path).rpartition(".")[2] for path in changed}
    near = [path for path, text in after.items() if path not in changed and _imports(text, words)]
    found: dict[str, _Target] = {}
    for path in (*changed, *near):
        before = _tops(parts.files[path].decode(errors="replace")) if path in parts.files else {}
        for name, node in _tops(after[path]).items():
            if name in before and not name.startswith("_"):
                is_new = ast.dump(node) != ast.dump(before[name])
                target = _Target(module_of(path), node, changed=is_new)
                _take_literals(node, target)
                found.setdefault(name, target)
    return found


def _tops(text: str) -> dict[str, ast.stmt]:
    tree = _parsed(text)
    tops = () if tree is None else tree.body
    return {node.name: node for node in tops if isinstance(node, (*_Function, ast.ClassDef))}


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def _imports(text: str, words: Collection[str]) -> bool:
    if not any(word in text for word in words):
        return False
    tree = _parsed(text)
    return tree is not None and any(
        not set(words).isdisjoint([*(node.module or "").split("."), *(x.name for x in node.names)])
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
    )


def _trees(parts: CommitParts) -> Iterator[ast.Module]:
    """Everything there is to read: modules, tests, and the examples of docs and docstrings."""
    for path, data in sorted({**parts.files, **parts.after()}.items()):
        text = data.decode(errors="replace")
        if path.endswith(".py"):
            tree = _parsed(text)
            if tree is not None:
                yield tree
        if path.endswith((".py", *_DOCS)) and ">>>" in text:
            yield from _examples(text)


def _examples(text: str) -> Iterator[ast.Module]:
    for block in text.split('"""'):
        try:
            found = doctest.DocTestParser().get_examples(block)
        except ValueError:
            continue
        yield from filter(None, (_parsed(one.source) for one in found))


def _collect(node: ast.AST, targets: Mapping[str, _Target]) -> None:
    """The calls below a node, and its literals for each name that it calls."""
    named: dict[str, _Target] = {}
    held: dict[str, tuple[str, str]] = {}
    for one in ast.walk(node):
        if isinstance(one, ast.Assign) and isinstance(one.value, ast.Call):
            for name in map(_name_of, one.targets):
                held[name] = _closed(one.value, targets, held)
        if not isinstance(one, ast.Call):
            continue
        name = _name_of(one.func)
        if name in targets:
            named[name] = targets[name]
        text, root = _closed(one, targets, held)
        if text and len(text) <= _MOST_CHARS:
            targets[root].calls[text] = None
    for target in named.values():
        _take_literals(node, target)


def _take_literals(node: ast.AST, target: _Target) -> None:
    for one in ast.walk(node):
        if isinstance(one, (ast.Constant, ast.Tuple, ast.List)) and _is_literal(one):
            text = ast.unparse(one)
            if len(text) <= _MOST_CHARS // 2 and len(target.literals) < _MOST_LITERALS:
                target.literals[text] = None


def _name_of(node: ast.expr) -> str:
    return getattr(node, "id", "") or getattr(node, "attr", "")


def _closed(
    call: ast.Call, targets: Mapping[str, _Target], held: Mapping[str, tuple[str, str]]
) -> tuple[str, str]:
    """The text of a call of literals that begins with a target, and the target's name; `held` are
    the calls that names stand for."""
    func = call.func
    values = [*call.args, *(one.value for one in call.keywords)]
    if not all(_is_literal(one) for one in values) or any(not one.arg for one in call.keywords):
        return "", ""
    given = ", ".join([*map(ast.unparse, call.args), *map(ast.unparse, call.keywords)])
    if isinstance(func, ast.Attribute):
        inner = func.value
        known = held.get(_name_of(inner), ("", ""))
        if isinstance(inner, ast.Name) and isinstance(_node(targets, inner.id), ast.ClassDef):
            known = (inner.id, inner.id)
        text, root = _closed(inner, targets, held) if isinstance(inner, ast.Call) else known
        if text:
            return f"{text}.{func.attr}({given})", root
    name = _name_of(func)
    plain = isinstance(func, ast.Name) or isinstance(getattr(func, "value", None), ast.Name)
    return (f"{name}({given})", name) if name in targets and plain else ("", "")


def _node(targets: Mapping[str, _Target], name: str) -> ast.stmt | None:
    return targets[name].node if name in targets else None


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


def _varied(name: str, target: _Target) -> list[str]:
    """The calls of one name: as they were found, with literals put in, and changed a little."""
    found = dict(target.calls)
    literals = _ranked(target.literals)
    for values in _argument_lists(target.node, literals):
        found.setdefault(f"{name}({values})", None)
    for text in _ranked(target.calls)[:40]:
        found |= dict.fromkeys(_mutations(text, literals))
    texts = [text for text in found if len(text) <= _MOST_CHARS]
    return [*target.calls, *_ranked(one for one in texts if one not in target.calls)][:_MOST_EACH]


def _argument_lists(node: ast.stmt, literals: Sequence[str]) -> Iterator[str]:
    if not isinstance(node, _Function):
        return
    needed = len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)
    yield from (f"*{one}" for one in literals if one.startswith(("(", "[")))
    if needed in (0, 1):
        yield from literals
    elif needed in (2, 3):
        most = 16 if needed == 2 else 6
        yield from (", ".join(row) for row in product(literals[:most], repeat=needed))


def _mutations(text: str, literals: Sequence[str]) -> Iterator[str]:
    """A call with one of its literals changed."""
    tree = ast.parse(text, mode="eval")
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for at, place in enumerate(places[:6]):
        for value in _changed(place.value, literals):
            made = copy.deepcopy(tree)
            copies = [node for node in ast.walk(made) if isinstance(node, ast.Constant)]
            copies[at].value = value
            yield ast.unparse(made)


def _changed(value: object, literals: Sequence[str]) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int | float):
        return [value + 1, value - 1, -value, 0, value * 10, value / 2]
    if isinstance(value, str):
        near = [one for one in map(ast.literal_eval, literals) if isinstance(one, str)][:6]
        return ["", value.upper(), value.lower(), value[1:], value[:-1], value + value, f" {value}",
                *near, *(value + one for one in near)]  # fmt: skip
    return []


def _ranked(texts: Collection[str] | Iterator[str]) -> list[str]:
    """In an order that says nothing."""
    return sorted(texts, key=lambda text: sha256(text.encode(errors="replace")).digest())
