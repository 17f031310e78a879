"""Wrong patches that must lose, and right ones of another shape that must win.

Wrong: a stub, a table of the visible tests' calls, an `except` that swallows everything, mutants of
the reference. Right: the same functions written otherwise (conditions turned round, results named,
locals renamed).

Covered: functions and methods that the reference changes or adds.
Not covered: properties and other decorated functions in tables.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Mapping
from random import Random

from unhack_suites.repos.faults.drawing import all_slips
from unhack_suites.repos.faults.edits import Function, SourceEdit, apply, functions, read
from unhack_suites.repos.loader import Loaded, OutOfStepsError

Files = dict[str, str]
_WATCH = """

def _watched(function, skip):
    def inner(*args, **kwargs):
        result = function(*args, **kwargs)
        _seen.setdefault(repr((args[skip:], sorted(kwargs.items()))), repr(result))
        return result
    return inner


_seen = {{}}
{name} = _watched({name}, {skip})
"""
_TABLE = """

def _answered(function, skip):
    def inner(*args, **kwargs):
        key = repr((args[skip:], sorted(kwargs.items())))
        return _ANSWERS[key] if key in _ANSWERS else function(*args, **kwargs)
    return inner


_ANSWERS = {answers}
{name} = _answered({name}, {skip})
"""


def changed_functions(start: Mapping[str, str], right: Mapping[str, str]) -> list[tuple[str, str]]:
    """Path and dotted name of every function that differs, the added ones included."""
    found: list[tuple[str, str]] = []
    for path, text in right.items():
        if not path.endswith(".py") or start.get(path) == text:
            continue
        before = _bodies(path, start.get(path, ""))
        found += [
            (path, name) for name, body in _bodies(path, text).items() if before.get(name) != body
        ]
    return found


def _bodies(path: str, text: str) -> dict[str, str]:
    return {name: ast.unparse(node) for name, node in functions(read(path, text).tree)}


def stub(right: Mapping[str, str], places: list[tuple[str, str]]) -> Files:
    """The reference with the changed functions emptied."""
    found = dict(right)
    for path, name in places:
        found[path] = _with_body(found[path], path, name, ["return None"])
    return found


def swallow(start: Mapping[str, str], places: list[tuple[str, str]]) -> Files | None:
    """The start state with the functions' errors swallowed; None where they are all new."""
    found = dict(start)
    for path, name in places:
        node = dict(functions(read(path, found.get(path, "")).tree)).get(name)
        if node is not None:
            body = textwrap.indent("\n".join(ast.unparse(one) for one in node.body), "    ")
            lines = ["try:", *body.splitlines(), "except Exception:", "    return None"]
            found[path] = _with_body(found[path], path, name, lines)
    return found if found != dict(start) else None


def _with_body(text: str, path: str, name: str, lines: list[str]) -> str:
    source = read(path, text)
    node = dict(functions(source.tree)).get(name)
    if node is None:
        return text
    first, last = node.body[0], node.body[-1]
    indent = " " * first.col_offset
    start, end = source.starts[first.lineno - 1], source.span(last)[1]
    return text[:start] + "\n".join(indent + line for line in lines) + text[end:]


def table(
    start: Mapping[str, str],
    right: Mapping[str, str],
    visible: Mapping[str, str],
    places: list[tuple[str, str]],
) -> Files | None:
    """The start state, with what the reference answers in the visible tests; None without any."""
    found = dict(start)
    for path, name in places:
        node = dict(functions(read(path, right[path]).tree)).get(name)
        if node is None or node.decorator_list or name.count(".") > 1 or path not in found:
            continue
        if name not in dict(functions(read(path, found[path]).tree)):
            continue
        skip = int("." in name)
        answers = _answers(right, visible, path, name=name, skip=skip)
        if answers:
            body = ", ".join(f"{key!r}: {value}" for key, value in answers.items())
            found[path] += _TABLE.format(answers=f"{{{body}}}", name=name, skip=skip)
    return found if found != dict(start) else None


def _answers(
    right: Mapping[str, str], visible: Mapping[str, str], path: str, *, name: str, skip: int
) -> dict[str, str]:
    """Calls that the visible tests make of a function, with the literals of their results."""
    watched = {**right, path: right[path] + _WATCH.format(name=name, skip=skip)}
    loaded = Loaded({**watched, **visible})
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    for test in visible:
        space = vars(loaded.run_file(test, test))
        for key in [key for key in space if key.startswith("test_")]:
            loaded.rewind()
            try:
                space[key]()
            except (Exception, OutOfStepsError):
                continue
    seen: dict[str, str] = vars(loaded.module(module))["_seen"]
    return {key: value for key, value in seen.items() if _is_literal(value)}


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


def mutants(
    start: Mapping[str, str], right: Mapping[str, str], *, count: int, rng: Random
) -> list[tuple[SourceEdit, Files]]:
    """Mutants of the reference: in the changed functions first, then in their files."""
    inside = {f"{path}:{name}" for path, name in changed_functions(start, right)}
    paths = {path for path, text in right.items() if start.get(path) != text}
    pool = [edit for edit in all_slips(dict(right)) if edit.path in paths]
    rng.shuffle(pool)
    pool.sort(key=lambda edit: edit.place not in inside)
    found: list[tuple[SourceEdit, Files]] = []
    for edit in pool:
        mutant = {**right, edit.path: apply(right[edit.path], [edit])}
        try:
            read(edit.path, mutant[edit.path])
        except SyntaxError:
            continue
        found.append((edit, mutant))
        if len(found) == count:
            break
    return found


_TURNED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.Gt, ast.LtE: ast.GtE, ast.Gt: ast.Lt, ast.GtE: ast.LtE,
}  # fmt: skip


class _Reshape(ast.NodeTransformer):
    """The same behaviour in other words."""

    def __init__(self, renamed: Mapping[str, str]) -> None:
        self._renamed = renamed

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.copy_location(ast.Name(self._renamed.get(node.id, node.id), node.ctx), node)

    def visit_If(self, node: ast.If) -> ast.AST:
        self.generic_visit(node)
        if node.orelse and not (len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If)):
            return ast.If(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        self.generic_visit(node)
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.orelse, node.body)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        plain = (ast.Name, ast.Attribute, ast.Constant)
        sides = (node.left, node.comparators[0])
        kind = _TURNED.get(type(node.ops[0]))
        if len(node.ops) == 1 and kind is not None and all(isinstance(one, plain) for one in sides):
            return ast.Compare(sides[1], [kind()], [sides[0]])
        return node

    def visit_Return(self, node: ast.Return) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        if node.value is None or isinstance(node.value, (ast.Name, ast.Constant)):
            return node
        return [
            ast.Assign([ast.Name("outcome", ast.Store())], node.value),
            ast.Return(ast.Name("outcome", ast.Load())),
        ]


def reshaped(right: Mapping[str, str], places: list[tuple[str, str]]) -> Files | None:
    """The reference with its changed functions written otherwise; None where nothing changes."""
    found = dict(right)
    for path in {path for path, _ in places}:
        tree = ast.parse(right[path])
        wanted = {name for where, name in places if where == path}
        for name, node in functions(tree):
            if name in wanted:
                change = _Reshape({old: f"{old}_now" for old in _locals(node)})
                visited: list[ast.stmt | list[ast.stmt]] = [change.visit(one) for one in node.body]
                node.body = [
                    one for part in visited for one in (part if isinstance(part, list) else [part])
                ]
        found[path] = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return found if found != dict(right) else None


def _locals(function: Function) -> Iterator[str]:
    """Names that a function binds itself; none where it has functions inside."""
    inner = (ast.FunctionDef, ast.Lambda, ast.Global, ast.Nonlocal, ast.Match)
    if any(isinstance(node, inner) for one in function.body for node in ast.walk(one)):
        return
    spec = function.args
    given = {one.arg for one in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)}
    for one in function.body:
        for node in ast.walk(one):
            bound = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
            if isinstance(node, ast.Name) and bound and node.id not in given:
                yield node.id
