"""Slips at the borders of files, and silent ones: what no traceback points at.

Covered: parameters swapped in a definition that other files call, entries of a registry swapped or
changed, constants of a module; defaults, lost copies, keys that lost a part.
Not covered: lost exports and imports, which break the collection of every test.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping

from unhack_suites.repos.faults.edits import Function, ParsedFile, SourceEdit, functions

_COPIES = ("list", "dict", "set", "sorted", "tuple", "deque")


def border_slips(sources: Mapping[str, ParsedFile]) -> Iterator[SourceEdit]:
    """Slips whose cause and whose effect stand in different files."""
    for source in sources.values():
        others = "\n".join(one.text for one in sources.values() if one is not source)
        yield from _signatures(source, others)
        for node in source.tree.body:
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
                yield from _registry(source, node.value, node.lineno)


def _signatures(source: ParsedFile, others: str) -> Iterator[SourceEdit]:
    for name, function in functions(source.tree):
        called = function.name if function.name != "__init__" else name.split(".")[-2]
        spec = [one for one in function.args.args if one.arg not in ("self", "cls")]
        defaults = len(function.args.defaults)
        required = spec[: len(spec) - defaults] if defaults else spec
        if f"{called}(" not in others:
            continue
        for first, second in itertools.pairwise(required):
            (a, b), (c, d) = source.span(first), source.span(second)
            text = source.code(second) + source.text[b:c] + source.code(first)
            yield SourceEdit(
                source.path, a, d, text, "swapped parameters", name, first.lineno, crosses=True
            )


def _registry(source: ParsedFile, value: ast.expr, line: int) -> Iterator[SourceEdit]:
    match value:
        case ast.Constant(value=int() as number) if not isinstance(number, bool):
            yield _top(source, value, str(number + 1), "shared constant")
        case ast.Dict(keys=[_, _, *_]):
            for one, two in itertools.pairwise(value.values):
                (a, b), (c, d) = source.span(one), source.span(two)
                if source.code(one) != source.code(two):
                    text = source.code(two) + source.text[b:c] + source.code(one)
                    yield SourceEdit(
                        source.path, a, d, text, "swapped entries", "", one.lineno, crosses=True
                    )
        case ast.Dict() | ast.Tuple() | ast.List() | ast.Set():
            items = value.values if isinstance(value, ast.Dict) else value.elts
            for item in items:
                if isinstance(item, ast.Constant) and type(item.value) is int:
                    yield _top(source, item, str(item.value + 1), "shared constant")
        case _:
            pass


def _top(source: ParsedFile, node: ast.expr, text: str, operator: str) -> SourceEdit:
    start, end = source.span(node)
    return SourceEdit(source.path, start, end, text, operator, "", node.lineno, crosses=True)


def silent_slips(source: ParsedFile) -> Iterator[SourceEdit]:
    """Slips that raise nothing where they stand: defaults, copies, keys."""
    for name, function in functions(source.tree):
        for edit in itertools.chain(
            _defaults(source, function), _copies(source, function), _keys(source, function)
        ):
            line = source.text.count("\n", 0, edit.start) + 1
            yield SourceEdit(
                source.path, edit.start, edit.end, edit.text, edit.operator, name, line, silent=True
            )


def _defaults(source: ParsedFile, function: Function) -> Iterator[SourceEdit]:
    spec = function.args
    for default in (*spec.defaults, *(one for one in spec.kw_defaults if one is not None)):
        if isinstance(default, ast.Constant):
            start, end = source.span(default)
            value = default.value
            if isinstance(value, bool):
                yield SourceEdit(source.path, start, end, str(not value), "wrong default")
            elif isinstance(value, int):
                yield SourceEdit(source.path, start, end, str(value + 1), "wrong default")
            elif value == " ":
                yield SourceEdit(source.path, start, end, '""', "wrong default")


def _copies(source: ParsedFile, function: Function) -> Iterator[SourceEdit]:
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name), args=[only], keywords=[]) if (
                name in _COPIES and isinstance(only, (ast.Name, ast.Attribute))
            ):
                start, end = source.span(node)
                yield SourceEdit(source.path, start, end, source.code(only), "lost copy")
            case ast.Call(func=ast.Attribute(value=owner, attr="copy"), args=[]):
                start, end = source.span(node)
                yield SourceEdit(source.path, start, end, source.code(owner), "lost copy")
            case _:
                pass


def _keys(source: ParsedFile, function: Function) -> Iterator[SourceEdit]:
    """A part of a key that is left out: of a key that is assigned, returned or looked up by."""
    for node in ast.walk(function):
        keys: list[ast.expr] = []
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Tuple() as value) if (
                "key" in name
            ):
                keys = [value]
            case ast.Return(value=ast.Tuple() as value) if "key" in function.name:
                keys = [value]
            case ast.Subscript(slice=ast.Tuple() as value):
                keys = [value]
            case ast.Lambda(body=ast.Tuple() as value):
                keys = [value]
            case _:
                pass
        for key in keys:
            assert isinstance(key, ast.Tuple)
            for left in range(len(key.elts)):
                rest = [source.code(one) for at, one in enumerate(key.elts) if at != left]
                if rest and source.text[source.span(key)[0]] == "(":
                    text = f"({', '.join(rest)}{',' if len(rest) == 1 else ''})"
                    start, end = source.span(key)
                    yield SourceEdit(source.path, start, end, text, "lost part of a key")
